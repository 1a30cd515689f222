"""Weighted columns: their distinct numbers and how much weight lies at each.

Weights are turned into whole multiples of a unit so small that all of them together
make 2^52 units or less, the unit being 1 where the weights are whole. Sums of units are
exact in floating point, so no result depends on the order of rows, and whole weights
give the very numbers that repeated rows would.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

_EXACT_BITS = 52
_REPEATED = 20_000_000  # most rows that a column is written out to


@dataclass(frozen=True, eq=False)
class RowWeights:
    """What the rows weigh, in units of 2^-shift; `whole` if a weight of 3 stands for three rows."""

    units: np.ndarray
    shift: int
    whole: bool

    def of_rows(self, rows: np.ndarray) -> RowWeights:
        return RowWeights(self.units[rows], self.shift, self.whole)


def row_weights(weights: np.ndarray) -> RowWeights:
    """Weights, above 0, in units."""
    if (weights == np.floor(weights)).all():
        return RowWeights(weights, 0, whole=True)
    shift = _EXACT_BITS - math.frexp(math.fsum(weights))[1]
    return RowWeights(np.maximum(np.rint(np.ldexp(weights, shift)), 1), shift, whole=False)


@dataclass(frozen=True, eq=False)
class Masses:
    """The distinct numbers of a column, ascending, and the units of weight at each."""

    numbers: np.ndarray
    units: np.ndarray
    shift: int
    whole: bool

    @property
    def total(self) -> float:
        return math.ldexp(float(self.units.sum()), -self.shift)

    def quantiles(self, shares: np.ndarray) -> np.ndarray:
        """Quantiles by linear interpolation: of the repeated rows, where weights are whole.

        Row number r of the column in order, counted from 0, is the first number up to which
        more than r of the weight lies, and a quantile lies between two of these rows.
        """
        # Halves of numbers too far apart for their difference; doubling gives them back.
        far = math.isinf(float(self.numbers[-1]) - float(self.numbers[0]))
        numbers = self.numbers / 2 if far else self.numbers
        below = np.cumsum(self.units)
        place = np.maximum(shares * (self.total - 1), 0)
        rank = np.floor(place)
        left, right = (
            numbers[np.minimum(np.searchsorted(below, np.ldexp(row, self.shift), side="right"), len(numbers) - 1)]
            for row in (rank, rank + 1)
        )
        between = interpolated(left, right, place - rank)
        return between * 2 if far else between

    def repeated(self) -> np.ndarray | None:
        """The column in order with every row written out; None if weights are not whole, or too many."""
        if not self.whole or self.units.sum() > _REPEATED:
            return None
        return np.repeat(self.numbers, self.units.astype(np.int64))

    def mean_and_deviation(self) -> tuple[float, float]:
        """Weighted mean and population deviation; sums run over the numbers in order."""
        share = self.units / self.units.sum()
        mean = float((share * self.numbers).sum())
        return mean, math.sqrt(float((share * np.square(self.numbers - mean)).sum()))


def interpolated(left: np.ndarray, right: np.ndarray, part: np.ndarray) -> np.ndarray:
    """What lies this part of the way from left to right, as `numpy.quantile` computes it to the bit."""
    step = right - left
    return np.where(part >= 0.5, right - step * (1 - part), left + step * part)


def masses(column: np.ndarray, weights: RowWeights) -> Masses:
    """Put together the rows of a column that hold the same number."""
    numbers, place = np.unique(column, return_inverse=True)
    return Masses(numbers, np.bincount(place, weights=weights.units), weights.shift, weights.whole)
