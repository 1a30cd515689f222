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
from certselect.information.normal_scores import FixedPoint, normal_scores
from certselect.information.plugin import CountedPairs
from certselect.information.score_moments import ScoredRows
from certselect.information.sound_pairs import EstimatedPairs
from certselect.table import Table

# Of all pairs of rows, those that have the same value: a column with more is counted. One of 33
# different values, all equally often, has as many; one that is 0 in 17 % of its rows, too.
MOST_TIED = 0.03
# Levels that a counted column has: as many as leave so many rows for each cell of a pair and the target.
_ROWS_PER_CELL = 2
_FEWEST_BINS, _MOST_BINS = 3, 6


def number_of_bins(table: Table) -> int:
    """Into how many bins of equal counts numbers are cut where some columns of a table are counted."""
    rows = table.n_samples if table.weights is None else float(table.weights.sum())
    cut = 2 + table.target_numbers.shape[1]  # two features and the numbers of the target
    bins = (rows / (_ROWS_PER_CELL * len(table.classes))) ** (1 / cut)
    return int(np.clip(np.floor(bins), _FEWEST_BINS, _MOST_BINS))


def tied_numbers_as_labels(table: Table, fixed: FixedPoint) -> Table:
    """The table with those numbers of the target that cannot be ranked as labels, binned by their mean ranks."""
    if not table.target_numbers.shape[1]:
        return table
    scores, tied = normal_scores(table.target_numbers.T, fixed, fixed.weights)
    ranked = tied <= MOST_TIED
    if ranked.all():
        return table
    target, classes = _joint_classes(table.target, _bins(scores[~ranked], number_of_bins(table), fixed))
    return replace(table, target=target, classes=classes, target_numbers=table.target_numbers[:, ranked])


def code_by_ranks(table: Table, order: np.ndarray, rows: ScoredRows, fixed: FixedPoint) -> CodedTable:
    """Every column in bins of equal counts, as far as ties allow: a value is in the bin that its mean rank is in.

    So two values are in the same bin only if both together, and what is between them, fill less than two.
    `rows` are the scores of all columns, of the table's rows in this order.
    """
    bins = number_of_bins(table)
    codes = _bins(rows.scores, bins, fixed)
    levels, absent = np.full(len(codes), bins), None
    if rows.present is not None:
        codes[~rows.present] = bins
        lacking = ~rows.present.all(axis=1)
        levels, absent = levels + lacking, np.where(lacking, bins, -1)
    target, classes = _joint_classes(table.target[order], _bins(rows.known[1:], bins, fixed))
    weights = None if table.weights is None else table.weights[order]
    if len(rows.known) > 1:  # rows stand by class, as those of labels do already
        by_class = np.argsort(target, kind="stable")
        codes, target = np.ascontiguousarray(codes[:, by_class]), target[by_class]
        weights = None if weights is None else weights[by_class]
    coding = Coding("quantile", bins, "numbers", table.feature_names, classes, parts=())
    constant = (codes == codes[:, :1]).all(axis=1)
    return CodedTable(codes, levels, constant, target, classes, table.feature_names, coding, absent, weights)


def _bins(scores: np.ndarray, bins: int, fixed: FixedPoint) -> np.ndarray:
    """Which of some bins that normal numbers fall into equally often each score is in."""
    codes = np.zeros(scores.shape, dtype=np.uint8)
    for edge in np.rint(ndtri(np.arange(1, bins) / bins) * fixed.per_score):
        codes += scores >= edge  # rounded alike, so that a mean rank at an edge is surely not below it
    return codes


def _joint_classes(target: np.ndarray, bins: np.ndarray) -> tuple[np.ndarray, tuple[int, ...]]:
    """Classes by label and bins: their combinations that occur, in order."""
    joint = target.astype(np.int64)
    for column in bins:
        joint = np.unique(joint * _MOST_BINS + column, return_inverse=True)[1]
    return joint.astype(np.int32), tuple(range(int(joint.max()) + 1))


class CountedBesideRanked:
    """Terms of a table of which some columns are counted.

    Parameters
    ----------
    coded : CodedTable
        All columns, by `code_by_ranks`.
    ranked : ndarray of bool (n,)
        Columns that are not counted but where they stand beside one that is.
    ranked_pairs : EstimatedPairs, or None
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
        ranked_pairs: EstimatedPairs | None,
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
        self.relevance = np.maximum(sums.relevance - self._chance.relevance(), 0)
        self.entropy = np.array(sums.entropy)
        self.levels = np.where(ranked, 0, self._chance.levels)

    def rows(self, kind: str, features: np.ndarray) -> np.ndarray:
        """Pair terms of some features with all, (len(features), n)."""
        terms = self._without_chance(kind, self._counts.rows(kind, features), features)
        both = np.flatnonzero(np.isin(features, self._ranked))
        if self._ranked_pairs is not None and len(both):
            terms[np.ix_(both, self._ranked)] = self._ranked_pairs.rows(kind, self._place[features[both]])
        return terms

    def matrix(self, kind: str) -> np.ndarray:
        """All pair terms of one kind, (n, n)."""
        if self._ranked_pairs is None:
            return self._without_chance(kind, self._counts.matrix(kind), self._counted)
        of_ranked = self._ranked_pairs.matrix(kind)
        n = len(self._place)
        terms = np.empty((n, n), dtype=of_ranked.dtype)
        terms[np.ix_(self._ranked, self._ranked)] = of_ranked
        terms[self._counted] = self._without_chance(kind, self._counts.rows(kind, self._counted), self._counted)
        terms[:, self._counted] = terms[self._counted].T
        return terms

    def _without_chance(self, kind: str, terms: np.ndarray, features: np.ndarray) -> np.ndarray:
        terms -= self._chance.pairs(kind, features)
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
        classes, rows = len(self._table.classes), self._weights.sum()
        if self._present is not None:
            classes, rows = (self._in_classes > 0).sum(axis=1), self._present @ self._weights
        return np.maximum(self.levels - 1, 0) * np.maximum(classes - 1, 0) / self._twice(rows)

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
