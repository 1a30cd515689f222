"""Bins of equal counts, for all columns at once: edges at the quantiles, and around a number that fills bins.

Everything is read off columns in order, by rank. A sparse column is in order without its zeros
being written down, so that time and memory grow with the cells that are stored.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from certselect.coding.masses import interpolated

FEWEST_IN_A_BIN = 10  # rows, where a number fills others


class Ordered(Protocol):
    """Columns of numbers, each in ascending order."""

    @property
    def rows(self) -> np.ndarray:
        """How many numbers each column has (p,)."""
        ...

    def at(self, ranks: np.ndarray) -> np.ndarray:
        """The numbers of these ranks (p, q), from 0."""
        ...

    def run(self, numbers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Where among the ranks each column's number begins, and where it ends."""
        ...

    def of(self, places: np.ndarray) -> Ordered:
        """Some of the columns."""
        ...


@dataclass(frozen=True, eq=False)
class DenseOrder:
    """Columns as rows of (p, m), sorted."""

    ordered: np.ndarray

    @property
    def rows(self) -> np.ndarray:
        return np.full(len(self.ordered), self.ordered.shape[1])

    def at(self, ranks: np.ndarray) -> np.ndarray:
        return np.take_along_axis(self.ordered, ranks, axis=1)

    def run(self, numbers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return (self.ordered < numbers[:, None]).sum(axis=1), (self.ordered <= numbers[:, None]).sum(axis=1)

    def of(self, places: np.ndarray) -> DenseOrder:
        return DenseOrder(self.ordered[places])


@dataclass(frozen=True, eq=False)
class SparseOrder:
    """Columns of stored numbers, none of them 0, ascending within a column, and how many zeros lie among them.

    Column j has data[starts[j]:ends[j]].
    """

    data: np.ndarray
    starts: np.ndarray
    ends: np.ndarray
    zeros: np.ndarray
    negative: np.ndarray

    @property
    def rows(self) -> np.ndarray:
        return self.ends - self.starts + self.zeros

    def at(self, ranks: np.ndarray) -> np.ndarray:
        behind = (self.negative + self.zeros)[:, None]
        stored = np.where(ranks < self.negative[:, None], ranks, ranks - self.zeros[:, None])
        cells = np.minimum(self.starts[:, None] + np.maximum(stored, 0), max(len(self.data) - 1, 0))
        numbers = self.data[cells] if len(self.data) else np.zeros(ranks.shape)
        return np.where((ranks >= self.negative[:, None]) & (ranks < behind), 0.0, numbers)

    def run(self, numbers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        first, behind = self.negative.copy(), self.negative + self.zeros
        for place in np.flatnonzero(numbers != 0.0):
            own, number = self.data[self.starts[place] : self.ends[place]], numbers[place]
            passed = self.zeros[place] if number > 0.0 else 0
            first[place] = np.searchsorted(own, number, side="left") + passed
            behind[place] = np.searchsorted(own, number, side="right") + passed
        return first, behind

    def of(self, places: np.ndarray) -> SparseOrder:
        return SparseOrder(self.data, self.starts[places], self.ends[places], self.zeros[places], self.negative[places])


def equal_count_edges(columns: Ordered, n_bins: np.ndarray) -> np.ndarray:
    """Edges (p, most), ascending, NaN where a column has fewer: its quantiles, by linear interpolation.

    A number at which two or more quantiles lie, and of several such the one at which most lie, has a
    bin of its own, and the others are cut apart from it. Without that, a column of which most
    numbers are 0 would be cut into 0 and all else.
    """
    most = int(n_bins.max()) - 1
    edges = _quantiles(columns, columns.rows, n_bins, most)
    filling = np.flatnonzero((edges[:, 1:] == edges[:, :-1]).any(axis=1))
    if len(filling):
        edges[filling] = _edges_around(columns.of(filling), _longest_run(edges[filling]), n_bins[filling], most)
    return edges


def _quantiles(
    columns: Ordered, rows: np.ndarray, parts: np.ndarray, most: int, gap: tuple[np.ndarray, np.ndarray] | None = None
) -> np.ndarray:
    """The quantiles t / parts of each column, t = 1 .. parts - 1, to the bit those of `numpy.quantile`.

    With a gap, the ranks from its first number to its last are left out, and `rows` are those that remain.
    """
    steps = np.arange(1, most + 1)
    place = np.minimum(steps / parts[:, None], 1.0) * np.maximum(rows - 1, 0)[:, None]
    rank = np.floor(place).astype(np.intp)
    part = place - rank
    below, above = rank, np.minimum(rank + 1, np.maximum(rows - 1, 0)[:, None])
    if gap is not None:
        first, behind = gap
        below, above = (
            np.where(ranks < first[:, None], ranks, ranks + (behind - first)[:, None]) for ranks in (below, above)
        )
        inside = (columns.rows - 1)[:, None]  # where nothing remains, whatever is there is dropped below
        below, above = np.minimum(below, inside), np.minimum(above, inside)
    left, right = columns.at(below), columns.at(above)
    with np.errstate(over="ignore", invalid="ignore"):
        found = interpolated(left, right, part)
        far = np.isinf(right - left)
    if far.any():  # halves of numbers too far apart for their difference; doubling gives them back
        found[far] = 2 * interpolated(left[far] / 2, right[far] / 2, part[far])
    found[steps[None, :] >= parts[:, None]] = np.nan
    return found


def _longest_run(edges: np.ndarray) -> np.ndarray:
    """The edge that occurs most often in each row, the lowest of several such."""
    best, best_length, length = edges[:, 0].copy(), np.ones(len(edges)), np.ones(len(edges))
    for t in range(1, edges.shape[1]):
        length = np.where(edges[:, t] == edges[:, t - 1], length + 1, 1)
        longer = (length > best_length) & ~np.isnan(edges[:, t])
        best[longer], best_length[longer] = edges[longer, t], length[longer]
    return best


def _edges_around(columns: Ordered, numbers: np.ndarray, n_bins: np.ndarray, most: int) -> np.ndarray:
    first, behind = columns.run(numbers)
    rest = columns.rows - (behind - first)
    below, above = first > 0, behind < columns.rows
    count = np.maximum(1, np.minimum(n_bins - 1 - (below & above), rest // FEWEST_IN_A_BIN))
    edges = np.full((len(numbers), most + 2), np.nan)
    edges[:, :most] = _quantiles(columns, rest, count, most, (first, behind))
    # The smallest number above has an edge below it already.
    next_up = np.nextafter(numbers, np.inf)
    smallest = columns.at(np.minimum(behind, columns.rows - 1)[:, None])
    again = (edges == smallest) & above[:, None]
    edges[again] = np.nextafter(edges[again], np.inf)
    edges[below, most] = numbers[below]
    edges[above, most + 1] = next_up[above]
    return np.sort(edges, axis=1)[:, :most]
