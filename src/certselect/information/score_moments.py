"""Sums of products of normal scores, and what is left of a column when others are known.

All sums here are whole numbers below 2**53 (see `normal_scores`), and what follows them is
computed cell by cell, alike for (i, j) and (j, i): so no order of rows, no blocking and no
number of threads changes a bit, and pair terms are exactly symmetric.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

# What others leave of a column is nothing if it is this small beside the column: a column that
# follows from the others leaves the square of the scores' last bit, some 1e-11 for a million rows.
_NOTHING = 2.0**-30
CELLS_AT_ONCE = 1 << 20  # cells of the table in work at a time, for a thread
# A vector or, in sums of pairs of columns that miss values, a matrix; a number where rows are complete.
Sums = Any


@dataclass(frozen=True, eq=False)
class Side:
    """One column of a pair: the sum of its squares, and of its products with each of the known columns."""

    square: Sums
    known: list[Sums]


@dataclass(frozen=True, eq=False)
class PairSums:
    """Sums over the rows that both columns of a pair have, for pairs of some columns with some.

    `known[k][l]` for l <= k are the sums of products of the known columns, of which the first
    is 1 in every row: known[0][0] is the weight of the rows.
    """

    product: np.ndarray
    left: Side
    right: Side
    known: list[list[Sums]]


@dataclass(frozen=True, eq=False)
class ScoredRows:
    """Columns as normal scores over some of a table's rows, and the target's numbers likewise.

    Attributes
    ----------
    scores : ndarray of float32 (n, m)
        Whole numbers, 0 where missing.
    present : ndarray of bool (n, m), or None
        None if no value is missing.
    known : ndarray of float64 (1 + t, m)
        1 in every row, then the scores of the target's numbers.
    weights : ndarray of float64 (m,), or None
        Whole numbers.
    """

    scores: np.ndarray
    present: np.ndarray | None
    known: np.ndarray
    weights: np.ndarray | None

    def weighted(self, columns: np.ndarray) -> np.ndarray:
        return columns if self.weights is None else columns * self.weights

    @cached_property
    def known_sums(self) -> list[list[Sums]]:
        """Sums of products of the known columns over all rows."""
        sums = (self.weighted(self.known) @ self.known.T).tolist()
        return [row[: k + 1] for k, row in enumerate(sums)]

    @cached_property
    def sides(self) -> Side:
        """Every column's own sums, over the rows it has."""
        n, m = self.scores.shape
        square, known = np.empty(n), np.empty((len(self.known), n))
        for start in range(0, n, max(1, CELLS_AT_ONCE // m)):
            some = slice(start, start + max(1, CELLS_AT_ONCE // m))
            columns = self.scores[some].astype(np.float64)
            heavy = self.weighted(columns)
            square[some] = np.einsum("ij,ij->i", heavy, columns)
            known[:, some] = self.known @ heavy.T
        return Side(square, list(known))

    def own_known_sums(self, some: slice) -> list[list[Sums]]:
        """Sums of products of the known columns over the rows each of some columns has."""
        if self.present is None:
            return self.known_sums
        present = self.present[some].astype(np.float64)
        return [[present @ self.weighted(a * b) for b in self.known[: k + 1]] for k, a in enumerate(self.known)]

    def pair_sums(self, left: slice | np.ndarray, right: slice | np.ndarray, n_known: int) -> PairSums:
        """Of the pairs of some columns with some, and the first `n_known` of the known columns."""
        a = self.scores[left].astype(np.float64)
        b = a if left is right else self.scores[right].astype(np.float64)  # a a' takes half the time of a b'
        heavy_a = self.weighted(a)
        product = heavy_a @ b.T
        if self.present is None:
            square, known = self.sides.square, self.sides.known[:n_known]
            return PairSums(
                product,
                Side(square[left][:, None], [sums[left][:, None] for sums in known]),
                Side(square[right][None, :], [sums[right][None, :] for sums in known]),
                self.known_sums,
            )
        heavy_b = self.weighted(b)
        in_a, in_b = self.present[left].astype(np.float64), self.present[right].astype(np.float64)
        known = self.known[:n_known]
        return PairSums(
            product,
            Side((heavy_a * a) @ in_b.T, [(heavy_a * column) @ in_b.T for column in known]),
            Side(in_a @ (heavy_b * b).T, [in_a @ (heavy_b * column).T for column in known]),
            [[(in_a * self.weighted(one * other)) @ in_b.T for other in known[: k + 1]] for k, one in enumerate(known)],
        )


@dataclass(frozen=True, eq=False)
class Elimination:
    """How to take the known columns out of others: their Cholesky factor, without those that follow from the rest.

    `rank` is how many are left, 1 among them.
    """

    factor: list[list[Sums]]
    inverse: list[Sums]
    rank: Sums

    @classmethod
    def of(cls, known: list[list[Sums]]) -> Elimination:
        factor: list[list[Sums]] = []
        inverse: list[Sums] = []
        rank: Sums = 0
        for sums in known:
            row: list[Sums] = []
            for place, entry in enumerate(sums[:-1]):
                for j in range(place):
                    entry = entry - row[j] * factor[place][j]
                row.append(entry * inverse[place])
            pivot = sums[-1]
            for entry in row:
                pivot = pivot - entry * entry
            kept = pivot > _NOTHING * sums[-1]
            factor.append(row)
            inverse.append(np.where(kept, 1 / np.sqrt(np.where(kept, pivot, 1.0)), 0.0))
            rank = rank + kept
        return cls(factor, inverse, rank)

    def loadings(self, side: Side) -> list[Sums]:
        """What columns have of each of the known ones, in the directions these add to those before them."""
        out: list[Sums] = []
        for k, row in enumerate(self.factor):
            entry = side.known[k]
            for j, factor in enumerate(row):
                entry = entry - factor * out[j]
            out.append(entry * self.inverse[k])
        return out


def left_over(square: Sums, loadings: list[Sums]) -> Sums:
    """The sum of squares of what known columns leave of others: 0 where it is nothing but rounding."""
    rest = square
    for loading in loadings:
        rest = rest - loading * loading
    return np.where(rest > _NOTHING * square, rest, 0.0)


def squared_correlation(sums: PairSums, n_known: int) -> tuple[np.ndarray, Sums]:
    """Of pairs of columns when the first `n_known` of the known ones are taken out; and how many of these count."""
    elimination = Elimination.of(sums.known[:n_known])
    left, right = elimination.loadings(sums.left), elimination.loadings(sums.right)
    product = sums.product.copy()
    for one, other in zip(left, right, strict=True):
        product -= one * other
    spread = left_over(sums.left.square, left) * left_over(sums.right.square, right)
    product *= product
    np.divide(product, spread, out=product, where=spread > 0)
    product[spread == 0] = 0
    return np.minimum(product, 1, out=product), elimination.rank
