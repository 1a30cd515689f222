"""Numbers as bins: a code is the number of edges that are not above the number."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from certselect.coding.tiles import TILE_BYTES, over_columns, slices

_COMPARED = 16  # most edges for which comparing with each beats a binary search


@dataclass(frozen=True, eq=False)
class NumberCuts:
    """The edges of some number columns, flat: column j has edges[starts[j]:starts[j + 1]], ascending.

    The edges alone define the codes, bin j being [edge j-1, edge j): no formula
    is evaluated again that might put a number beside its bin.
    """

    positions: np.ndarray
    edges: np.ndarray
    starts: np.ndarray

    @property
    def levels(self) -> np.ndarray:
        return np.diff(self.starts) + 1

    def column_edges(self, place: int) -> np.ndarray:
        return self.edges[self.starts[place] : self.starts[place + 1]]

    def code(self, values: np.ndarray) -> np.ndarray:
        """Codes (p, m) of numbers (m, p), float32 or float64."""
        edges = _rounded_up(self.edges) if values.dtype == np.float32 else self.edges
        most = int(self.levels.max()) - 1
        codes = np.zeros(values.shape[::-1], dtype=np.min_scalar_type(most))
        if 0 < most <= _COMPARED:
            _compare(values, self._matrix(edges, most), codes)
        elif most:
            self._search(values, edges, codes)
        return codes

    def _matrix(self, edges: np.ndarray, most: int) -> np.ndarray:
        """Edges as rows (most, p), filled up with infinities, which are above every number."""
        filled = np.full((len(self.positions), most), np.inf, dtype=edges.dtype)
        filled[np.arange(most) < np.diff(self.starts)[:, None]] = edges
        return np.ascontiguousarray(filled.T)

    def _search(self, values: np.ndarray, edges: np.ndarray, codes: np.ndarray) -> None:
        def search(columns: slice) -> None:
            for j in range(columns.start, columns.stop):
                codes[j] = np.searchsorted(edges[self.starts[j] : self.starts[j + 1]], values[:, j], side="right")

        over_columns(search, values.shape[1], values.shape[0], 64)


def _compare(values: np.ndarray, edges: np.ndarray, codes: np.ndarray) -> None:
    m, p = values.shape
    width = 512
    height = max(1, TILE_BYTES // (width * values.itemsize))

    def compare(columns: slice) -> None:
        for rows in slices(m, height):
            tile = values[rows, columns]
            count = np.greater_equal(tile, edges[0, columns]).view(np.uint8)
            above = np.empty(count.shape, dtype=bool)
            for edge in edges[1:, columns]:
                np.greater_equal(tile, edge, out=above)
                count += above.view(np.uint8)
            codes[columns, rows] = count.T

    over_columns(compare, p, m, width)


def _rounded_up(edges: np.ndarray) -> np.ndarray:
    """The smallest float32 not below each edge: the same float32 numbers reach it as reach the edge."""
    with np.errstate(over="ignore"):
        near = edges.astype(np.float32)
    return np.where(near < edges, np.nextafter(near, np.float32(np.inf)), near)
