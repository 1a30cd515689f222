"""Numbers as bins: a code is the number of edges that are not above the number."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from certselect.coding.tiles import row_tiles

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


def count_edges_of_cells(values: np.ndarray, columns: np.ndarray, edges: np.ndarray, starts: np.ndarray) -> np.ndarray:
    """How many of its column's edges each of the cells has reached: a binary search of all at once.

    Column j has edges[starts[j]:starts[j + 1]].
    """
    first = starts[columns]
    low, high = first.copy(), starts[columns + 1]
    most = int(np.diff(starts).max(initial=0))
    for _ in range(most.bit_length()):
        middle = (low + high) // 2
        between = low < high
        reached = between & (edges[np.minimum(middle, len(edges) - 1)] <= values)
        low = np.where(reached, middle + 1, low)
        high = np.where(between & ~reached, middle, high)
    return low - first


def count_edges(values: np.ndarray, edges: np.ndarray, counts: np.ndarray, codes: np.ndarray) -> None:
    """Write into codes (p, m) how many of its column's edges each number of (m, p) has reached.

    Column j owns the next counts[j] of the flat edges.
    """
    if values.dtype == np.float32:
        edges = _rounded_up(edges)
    most = int(counts.max())
    if most == 0:
        codes[:] = 0
    elif most <= _COMPARED:
        # One row per edge, filled up with infinities, which are above every number.
        filled = np.full((len(counts), most), np.inf, dtype=edges.dtype)
        filled[np.arange(most) < counts[:, None]] = edges
        _compare(values, np.ascontiguousarray(filled.T), codes)
    else:
        for j, own in enumerate(np.split(edges, np.cumsum(counts)[:-1])):
            codes[j] = np.searchsorted(own, values[:, j], side="right")


def _compare(values: np.ndarray, edges: np.ndarray, codes: np.ndarray) -> None:
    first, *others = edges
    for rows, tile in row_tiles(values):
        count = np.greater_equal(tile, first).view(np.uint8)
        reached = np.empty_like(count, dtype=bool)
        for edge in others:
            np.greater_equal(tile, edge, out=reached)
            count += reached.view(np.uint8)
        codes[:, rows] = count.T


def _rounded_up(edges: np.ndarray) -> np.ndarray:
    """The smallest float32 not below each edge: the same float32 numbers reach it as reach the edge."""
    with np.errstate(over="ignore"):  # an edge beyond all float32 is infinite, and no number reaches it
        near = edges.astype(np.float32)
        return np.where(near < edges, np.nextafter(near, np.float32(np.inf)), near)
