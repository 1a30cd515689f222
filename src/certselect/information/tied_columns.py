"""Columns whose values are equal too often to be ranked: they are counted, beside those that are ranked.

Ranks describe a column by its order, and equal values have none. Of a column that is 0 in most
rows, hardly anything is left: its mean rank for all zeros, and a class in which it is
constant. Such a column is coded into levels and counted instead, alone and in pairs; so are the
others where they stand in a pair with it. Terms of ranks are less what chance alone adds, so these
are too: for independent columns of a and b levels in N rows, (a - 1) (b - 1) / 2N nats on average.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property

import numpy as np
from scipy.special import ndtri

from certselect.coding import CodedTable, Coding
from certselect.coding.tiles import slices
from certselect.information.chance import ChanceMoments
from certselect.information.normal_scores import FixedPoint, normal_scores, rank_scores
from certselect.information.plugin import CountedPairs
from certselect.information.score_moments import ScoredRows
from certselect.information.terms import PairTerms
from certselect.memory import large_array
from certselect.table import Table

# Of all pairs of rows, those that have the same value: a column with more is counted. With labels,
# one of 33 different values, all equally often, has as many, and one that is 0 in 17 % of its rows.
# With nothing but numbers to predict, mean ranks do well with fewer: one of 5 values has as many.
MOST_TIED, MOST_TIED_WITH_NUMBERS = 0.03, 0.2
# Levels that a counted column has: as many as leave so many rows for each cell of a pair and the target.
_ROWS_PER_CELL = 2
_FEWEST_BINS, _MOST_BINS = 3, 6
_ROWS_AT_ONCE = 256  # of a matrix that may be on disk
_FEWEST = 3  # rows of a class that say anything


def tied_numbers_as_labels(table: Table, fixed: FixedPoint) -> Table:
    """The table with those numbers of the target that cannot be ranked as labels."""
    if not table.target_numbers.shape[1]:
        return table
    ranks = normal_scores(table.target_numbers.T, fixed, fixed.weights)
    tied = np.flatnonzero(ranks.tied > MOST_TIED_WITH_NUMBERS)
    if not len(tied):
        return table
    bins = _bins_beside_mode(ranks.scores[tied], ranks.mode[tied], _number_of_bins(table), 1, 1, fixed)
    target, classes = _joint_classes(table.target, bins)
    return replace(table, target=target, classes=classes, target_numbers=np.delete(table.target_numbers, tied, axis=1))


def code_by_ranks(
    table: Table, order: np.ndarray, rows: ScoredRows, ranked: np.ndarray, mode: np.ndarray, fixed: FixedPoint
) -> CodedTable:
    """Every column in bins, by the mean ranks of its values.

    Columns that are ranked are cut into bins of equal counts. Of the others, the most frequent value is a level
    of its own, and the rest is cut into bins of equal counts: fewer where there are few.
    `rows` are the scores of all columns, of the table's rows in this order; `mode` as in `Ranks`.
    """
    bins = _number_of_bins(table)
    codes = np.empty(rows.scores.shape, dtype=np.uint8)
    codes[ranked] = _bins(rows.scores[ranked], bins, fixed)
    cut = 2 + table.target_numbers.shape[1]
    codes[~ranked] = _bins_beside_mode(rows.scores[~ranked], mode[~ranked], bins, len(table.classes), cut, fixed)
    levels, absent = np.full(len(codes), bins), None
    if rows.present is not None:
        codes[~rows.present] = bins
        lacking = ~rows.present.all(axis=1)
        levels, absent = levels + lacking, np.where(lacking, bins, -1)
    weights = None if table.weights is None else table.weights[order]
    target, _ = _joint_classes(table.target[order], _bins(rows.known[1:], bins, fixed))
    whole = None if weights is None else np.rint(weights * fixed.per_sample)  # sums of them are exact
    kept, target = np.unique(_without_small(target, whole, _FEWEST * fixed.per_sample), return_inverse=True)
    by_class = np.argsort(target, kind="stable")
    coding = Coding("quantile", bins, "numbers", table.feature_names, tuple(kept.tolist()), parts=())
    return CodedTable(
        np.ascontiguousarray(codes[:, by_class]),
        levels,
        (codes == codes[:, :1]).all(axis=1),
        target[by_class].astype(np.int32),
        coding.classes,
        table.feature_names,
        coding,
        absent,
        None if weights is None else weights[by_class],
    )


def _number_of_bins(table: Table) -> int:
    """Into how many bins numbers are cut where some columns of a table are counted."""
    rows = np.array(table.n_samples if table.weights is None else table.weights.sum())
    cut = 2 + table.target_numbers.shape[1]  # two features and the numbers of the target
    return int(np.clip(_bins_for(rows, len(table.classes), cut), _FEWEST_BINS, _MOST_BINS))


def _bins_for(rows: np.ndarray, n_classes: int, cut: int) -> np.ndarray:
    """How many bins leave enough rows for each cell, if so many columns are cut."""
    return np.floor((rows / (_ROWS_PER_CELL * n_classes)) ** (1 / cut))


def _bins(scores: np.ndarray, bins: int, fixed: FixedPoint) -> np.ndarray:
    """Which of some bins that normal numbers fall into equally often each score is in."""
    codes = np.zeros(scores.shape, dtype=np.uint8)
    for edge in np.rint(ndtri(np.arange(1, bins) / bins) * fixed.per_score):
        codes += scores >= edge  # rounded alike, so that a mean rank at an edge is surely not below it
    return codes


def _bins_beside_mode(
    scores: np.ndarray, mode: np.ndarray, bins: int, n_classes: int, cut: int, fixed: FixedPoint
) -> np.ndarray:
    """The last of some bins for the most frequent value, up to so many others of equal counts for the rest."""
    begin, end, total = mode.T
    rest = total - (end - begin)
    count = np.clip(_bins_for(rest / fixed.per_sample, n_classes, cut), 1, bins - 1)
    codes = np.zeros(scores.shape, dtype=np.uint8)
    for step in range(1, bins - 1):
        place = rest * (step / count)  # among the rest
        place = np.where(place < begin, place, place + (end - begin))  # among all
        edge = np.where(step < count, rank_scores(place, place, total, fixed), np.inf)
        codes += scores >= edge[:, None]
    codes[scores == rank_scores(begin, end, total, fixed)[:, None]] = bins - 1
    return codes


def _joint_classes(target: np.ndarray, bins: np.ndarray) -> tuple[np.ndarray, tuple[int, ...]]:
    """Classes by label and bins: their combinations that occur, in order."""
    joint = target.astype(np.int64)
    for column in bins:
        joint = np.unique(joint * _MOST_BINS + column, return_inverse=True)[1]
    return joint.astype(np.int32), tuple(range(int(joint.max()) + 1))


def _without_small(target: np.ndarray, weights: np.ndarray | None, fewest: float) -> np.ndarray:
    """Classes of less weight than says anything taken for one, -1, and that for the largest one if it is as small."""
    sizes = np.bincount(target, weights)
    small = sizes < fewest
    together = -1 if sizes[small].sum() >= fewest else np.argmax(sizes)
    return np.where(small[target], together, target)


class CountedBesideRanked(PairTerms):
    """Terms of a table of which some columns are counted.

    Parameters
    ----------
    coded : CodedTable
        All columns, by `code_by_ranks`.
    ranked : ndarray of bool (n,)
        Columns that are not counted but where they stand beside one that is.
    ranked_pairs : PairTerms, or None
        Pair terms of the columns that are ranked; None if there are none.
    fixed : FixedPoint
        Of the table's weights.

    Attributes
    ----------
    relevance, entropy : ndarray of float64 (n,)
        Of every column, as counted.
    levels : ndarray of int64 (n,)
        0 for columns that are ranked.
    """

    def __init__(
        self,
        coded: CodedTable,
        ranked: np.ndarray,
        ranked_pairs: PairTerms | None,
        fixed: FixedPoint,
        dtype: np.dtype,
        n_jobs: int | None,
    ) -> None:
        self._ranked = np.flatnonzero(ranked)
        self._counted = np.flatnonzero(~ranked)
        self._place = np.cumsum(ranked) - 1  # of a ranked column among the ranked ones
        self._ranked_pairs = ranked_pairs
        self._counts = CountedPairs(coded, "none", dtype, n_jobs)
        self._chance = _Chance(coded, fixed)
        sums = self._counts.sums()
        expected = self._chance.relevance()
        self.chance = ChanceMoments(sums.relevance - expected, expected, self._chance.freedom())
        self.relevance = np.maximum(self.chance.beyond_chance, 0)
        self.entropy = np.array(sums.entropy)
        self.levels = np.where(ranked, 0, self._chance.levels)

    def measured(self, kinds: tuple[str, ...], features: np.ndarray | None = None) -> tuple[np.ndarray, ...]:
        return tuple(self._all(kind) if features is None else self._some(kind, features) for kind in kinds)

    def _some(self, kind: str, features: np.ndarray) -> np.ndarray:
        terms = self._without_chance(kind, self._counts.rows(kind, features), features)
        both = np.flatnonzero(np.isin(features, self._ranked))
        if self._ranked_pairs is not None and len(both):
            terms[np.ix_(both, self._ranked)] = self._ranked_pairs.rows(kind, self._place[features[both]])
        return terms

    def _all(self, kind: str) -> np.ndarray:
        if self._ranked_pairs is None:
            return self._without_chance(kind, self._counts.matrix(kind), self._counted)
        of_ranked = self._ranked_pairs.matrix(kind)
        n = len(self._place)
        terms = large_array((n, n), of_ranked.dtype)
        for rows in slices(len(self._ranked), _ROWS_AT_ONCE):
            terms[np.ix_(self._ranked[rows], self._ranked)] = of_ranked[rows]
        for places in slices(len(self._counted), _ROWS_AT_ONCE):
            some = self._counted[places]
            terms[some] = self._without_chance(kind, self._counts.rows(kind, some), some)
            terms[:, some] = terms[some].T
        return terms

    def _without_chance(self, kind: str, terms: np.ndarray, features: np.ndarray) -> np.ndarray:
        for rows in slices(len(features), _ROWS_AT_ONCE):
            terms[rows] -= self._chance.pairs(kind, features[rows])
        if kind == "redundancy":
            np.maximum(terms, 0, out=terms)
            terms[np.arange(len(features)), features] = self.entropy[features]
        return terms


class _Chance:
    """What chance alone adds to the counted information of columns that are independent, on average."""

    def __init__(self, table: CodedTable, fixed: FixedPoint) -> None:
        self._table = table
        self._present = None if table.absent is None else table.codes != table.absent[:, None]
        # Whole weights, so that sums are exact.
        self._weights = np.ones(table.n_samples) if table.weights is None else np.rint(table.weights * fixed.per_sample)
        self._per_sample = fixed.per_sample
        self.levels = self._occurring(np.zeros(1, dtype=np.intp))[:, 0]  # of all rows

    @cached_property
    def _in_classes(self) -> np.ndarray:
        """How many levels of each column occur in each class."""
        return self._occurring(np.searchsorted(self._table.target, np.arange(len(self._table.classes))))

    def relevance(self) -> np.ndarray:
        """Of I(Xi;C), (n,)."""
        rows = self._weights.sum() if self._present is None else self._present @ self._weights
        return self.freedom() / self._twice(rows)

    def freedom(self) -> np.ndarray:
        """The degrees of freedom of I(Xi;C), (n,)."""
        classes = len(self._table.classes) if self._present is None else (self._in_classes > 0).sum(axis=1)
        return np.maximum(self.levels - 1, 0) * np.maximum(classes - 1, 0)

    def pairs(self, kind: str, features: np.ndarray) -> np.ndarray:
        """Of "redundancy" or "interaction" of some features with all, (len(features), n)."""
        free = np.maximum(self.levels - 1.0, 0)
        chance = np.outer(free[features], free)
        if kind == "interaction":
            free = np.maximum(self._in_classes - 1.0, 0)
            chance -= free[features] @ free.T
        if self._present is None:
            return chance / self._twice(self._weights.sum())
        return chance / self._twice((self._present[features] * self._weights) @ self._present.T.astype(np.float64))

    def _occurring(self, starts: np.ndarray) -> np.ndarray:
        """How many levels of each column occur in the rows from each of these on to the next."""
        codes, absent = self._table.codes, self._table.absent
        count = np.zeros((len(codes), len(starts)), dtype=np.int64)
        for level in range(int(self._table.levels.max())):
            seen = np.logical_or.reduceat(codes == level, starts, axis=1)
            if absent is not None:
                seen[absent == level] = False
            count += seen
        return count

    def _twice(self, weight: np.ndarray) -> np.ndarray:
        return np.maximum(2 * weight / self._per_sample, 2.0)
