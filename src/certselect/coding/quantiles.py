"""Columns of numbers in order, by rank, and the edges that only need ranks: bins of equal counts, for all at once.

A column in order may be an array, an array with weights, the stored cells of a sparse column, or a column of which only
some ranks were ever looked for. Ranks count units of weight: rows are one unit each where they have no weights, and
weights are turned into whole multiples of a unit so small that all of them together make 2^52 units or less, the unit
being 1 where the weights are whole. Sums of units are exact in floating point, so no result depends on the order of
rows, and whole weights give the very edges that repeated rows would.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

FEWEST_IN_A_BIN = 10  # rows, where a number fills others
_EXACT_BITS = 52


@dataclass(frozen=True, eq=False)
class RowWeights:
    """What the rows weigh, in units of 2^-shift."""

    units: np.ndarray
    shift: int

    def of_rows(self, rows: np.ndarray) -> RowWeights:
        return RowWeights(self.units[rows], self.shift)


def row_weights(weights: np.ndarray) -> RowWeights:
    """Weights, above 0, in units."""
    shift = weight_shift(bool((weights == np.floor(weights)).all()), math.fsum(weights))
    return RowWeights(in_units(weights, shift), shift)


def weight_shift(whole: bool, total: float) -> int:
    """How many bits a unit of weights of this sum is smaller than 1."""
    return 0 if whole else _EXACT_BITS - math.frexp(total)[1]


def in_units(weights: np.ndarray, shift: int) -> np.ndarray:
    """Weights as whole numbers of units; however light, a row does not vanish."""
    return weights if shift == 0 else np.maximum(np.rint(np.ldexp(weights, shift)), 1)


class Ordered(Protocol):
    """Columns of numbers, each in ascending order."""

    @property
    def units(self) -> np.ndarray:
        """How many units each column has (p,): as many as it has numbers, where these have no weights."""
        ...

    @property
    def unit(self) -> int:
        """How many units a row of weight 1 has, a power of two."""
        ...

    def at(self, ranks: np.ndarray) -> np.ndarray:
        """The numbers of these ranks (p, q), which count units from 0."""
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
    unit = 1

    @property
    def units(self) -> np.ndarray:
        return np.full(len(self.ordered), self.ordered.shape[1])

    def at(self, ranks: np.ndarray) -> np.ndarray:
        return np.take_along_axis(self.ordered, ranks, axis=1)

    def run(self, numbers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return (self.ordered < numbers[:, None]).sum(axis=1), (self.ordered <= numbers[:, None]).sum(axis=1)

    def of(self, places: np.ndarray) -> DenseOrder:
        return DenseOrder(self.ordered[places])


@dataclass(frozen=True, eq=False)
class WeightedOrder:
    """Columns as their different numbers, ascending, and the units at each of them."""

    columns: Sequence[tuple[np.ndarray, np.ndarray]]
    unit: int

    @classmethod
    def of_rows(cls, columns: np.ndarray, weights: RowWeights) -> WeightedOrder:
        """The order of columns (p, m) whose rows weigh so much."""
        found = []
        for column in columns:
            numbers, place = np.unique(column, return_inverse=True)
            found.append((numbers, np.bincount(place, weights=weights.units).astype(np.int64)))
        return cls(found, 1 << weights.shift)

    @property
    def units(self) -> np.ndarray:
        return np.array([int(units.sum()) for _, units in self.columns])

    def at(self, ranks: np.ndarray) -> np.ndarray:
        found = np.empty(ranks.shape)
        for own, asked, (numbers, units) in zip(found, ranks, self.columns, strict=True):
            own[:] = numbers[np.searchsorted(np.cumsum(units), asked, side="right")]
        return found

    def run(self, numbers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        ends = [
            (int(units[own < number].sum()), int(units[own <= number].sum()))
            for number, (own, units) in zip(numbers, self.columns, strict=True)
        ]
        first, behind = np.array(ends).T
        return first, behind

    def of(self, places: np.ndarray) -> WeightedOrder:
        return WeightedOrder([self.columns[i] for i in places], self.unit)


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
    unit = 1

    @property
    def units(self) -> np.ndarray:
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
    edges = _quantiles(columns, columns.units, n_bins, most)
    filling = np.flatnonzero((edges[:, 1:] == edges[:, :-1]).any(axis=1))
    if len(filling):
        edges[filling] = _edges_around(columns.of(filling), _longest_run(edges[filling]), n_bins[filling], most)
    return edges


def quartiles_of_halves(columns: Ordered) -> np.ndarray:
    """The first and the third quartile (2, p) of the halves of all numbers, whose difference no column overflows."""
    return _quantiles(columns, columns.units, np.full(len(columns.units), 4), 3, scale=0.5)[:, [0, 2]].T


def _quantiles(
    columns: Ordered,
    units: np.ndarray,
    parts: np.ndarray,
    most: int,
    gap: tuple[np.ndarray, np.ndarray] | None = None,
    scale: float = 1.0,
) -> np.ndarray:
    """The quantiles t / parts of each column, t = 1 .. parts - 1, to the bit those of `numpy.quantile`.

    With a gap, the ranks from its first number to its last are left out, and `units` are those that remain. Row
    number r, counted from 0, is the first number up to which more than r of the weight lies.
    """
    steps = np.arange(1, most + 1)
    last = np.maximum(units - 1, 0)[:, None]
    place = np.minimum(steps / parts[:, None], 1.0) * np.maximum(units / columns.unit - 1, 0)[:, None]
    row = np.floor(place)
    part = place - row
    below = row.astype(np.int64) * columns.unit
    above = np.minimum(below + columns.unit, last)
    if gap is not None:
        first, behind = gap
        below, above = (
            np.where(ranks < first[:, None], ranks, ranks + (behind - first)[:, None]) for ranks in (below, above)
        )
        inside = (columns.units - 1)[:, None]  # where nothing remains, whatever is there is dropped below
        below, above = np.minimum(below, inside), np.minimum(above, inside)
    left, right = columns.at(below) * scale, columns.at(above) * scale
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
    rest = columns.units - (behind - first)
    below, above = first > 0, behind < columns.units
    count = np.maximum(1, np.minimum(n_bins - 1 - (below & above), rest // (FEWEST_IN_A_BIN * columns.unit)))
    edges = np.full((len(numbers), most + 2), np.nan)
    edges[:, :most] = _quantiles(columns, rest, count, most, (first, behind))
    # The smallest number above has an edge below it already.
    next_up = np.nextafter(numbers, np.inf)
    smallest = columns.at(np.minimum(behind, columns.units - 1)[:, None])
    again = (edges == smallest) & above[:, None]
    edges[again] = np.nextafter(edges[again], np.inf)
    edges[below, most] = numbers[below]
    edges[above, most + 1] = next_up[above]
    return np.sort(edges, axis=1)[:, :most]


def interpolated(left: np.ndarray, right: np.ndarray, part: np.ndarray) -> np.ndarray:
    """What lies this part of the way from left to right, as `numpy.quantile` computes it to the bit."""
    step = right - left
    return np.where(part >= 0.5, right - step * (1 - part), left + step * part)
