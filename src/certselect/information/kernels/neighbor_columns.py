"""What the nearest-neighbour kernels are given: columns in comparable units, sorted, and psi in whole numbers."""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np
from scipy.special import digamma

from certselect.information.kernels.weights import whole_weights


class WholeWeights(NamedTuple):
    """Weights of the rows and their squares as whole numbers, so that sums of them are exact.

    `largest` is the largest weight, whose square is `per_square`; `per_nat` are the units of psi in a nat.
    """

    whole: np.ndarray
    squares: np.ndarray
    largest: int
    per_square: float
    per_nat: float

    def of(self, rows: np.ndarray | slice) -> WholeWeights:
        """Those of some rows, or of all in another order."""
        return self._replace(whole=self.whole[rows], squares=self.squares[rows])


class GroupedColumns(NamedTuple):
    """All columns with their rows group by group.

    `values` (n, m) are numbers in units of their standard deviation or the codes of discrete
    columns, NaN where missing; `order` (n, m) sorts the rows of each group, counted from its
    first, missing ones last; group g has the rows group_at[g] .. group_at[g + 1] - 1.
    """

    values: np.ndarray
    order: np.ndarray
    group_at: np.ndarray
    weights: WholeWeights | None


def group_columns(values: np.ndarray, group_at: np.ndarray, weights: WholeWeights | None) -> GroupedColumns:
    order = np.empty(values.shape, dtype=np.int32)
    for begin, end in pairwise(group_at):
        order[:, begin:end] = np.argsort(values[:, begin:end], axis=1)
    return GroupedColumns(values, order, group_at, weights)


def standardise(values: np.ndarray, numbers: np.ndarray, complete: bool) -> None:
    """Divide columns of numbers by their standard deviations, in place; constants become 0.

    Sums run over sorted values: the order of rows changes no bit.
    """
    for column in np.flatnonzero(numbers):
        own = values[column]
        given = np.sort(own)
        if not complete:
            given = given[: len(given) - np.isnan(given).sum()]
        if not len(given):
            continue
        # A power of two first, which is exact: squares of huge numbers would overflow.
        exponent = int(np.frexp(max(-given[0], given[-1]))[1])
        given = np.ldexp(given, -exponent)
        deviation = float(np.sqrt(np.mean((given - np.mean(given)) ** 2)))
        values[column] = np.ldexp(own, -exponent) / deviation if given[0] < given[-1] else own * 0.0


def psi_table(n_samples: int, weights: np.ndarray | None) -> tuple[np.ndarray, float]:
    """psi(0..n_samples) as whole multiples of a small unit, psi(0) as 0, and how many of them are a nat.

    A sum takes five of them per row at most, each beside the logarithm of a mean of weights, and 62 bits hold it.
    """
    spread = 0.0 if weights is None else float(np.log(weights.max() / weights.min()))
    bits = 62 - int(np.ceil(np.log2(5.0 * n_samples * (max(1.0, np.log(n_samples)) + spread))))
    table = np.concatenate([[0.0], digamma(np.arange(1.0, n_samples + 1.0))])
    return np.rint(np.ldexp(table, bits)).astype(np.int64), 2.0**bits


def row_weights(weights: np.ndarray, per_nat: float) -> WholeWeights:
    """Weights as the kernels want them."""
    whole, _ = whole_weights(weights)
    per_square = 2.0 ** (62 - len(weights).bit_length())
    squares = np.rint(np.square(whole / whole.max()) * per_square).astype(np.int64)
    return WholeWeights(whole, squares, int(whole.max()), per_square, per_nat)
