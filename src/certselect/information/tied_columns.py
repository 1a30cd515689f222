"""Columns whose values are equal too often to be ranked: they are counted, beside those that are ranked.

Ranks describe a column by its order, and equal values have none. Of a column that is 0 in most
rows, hardly anything is left: its mean rank for all zeros, and a class in which it is
constant. Such a column is coded into levels and counted instead, alone and in pairs; so are the
others where they stand in a pair with it. Terms of ranks are less what chance alone adds, so these
are too: for independent columns of a and b levels in N rows, (a - 1) (b - 1) / 2N nats on average.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from certselect.coding import CodedTable, code_table
from certselect.coding.masses import row_weights
from certselect.coding.target import cut_target, joint_classes
from certselect.information.normal_scores import FixedPoint, normal_scores
from certselect.information.plugin import CountedPairs
from certselect.information.sound_pairs import EstimatedPairs
from certselect.settings import Measuring
from certselect.table import Table

# Of all pairs of rows, those that have the same value: a column with more is counted. One of 33
# different values, all equally often, has as many; one that is 0 in 17 % of its rows, too.
MOST_TIED = 0.03
# Levels that a counted column has: as many as leave so many rows for each cell of a pair and the target.
_ROWS_PER_CELL = 5
_FEWEST_BINS, _MOST_BINS = 3, 10
_CODED_AT_ONCE = 1 << 20  # cells


def number_of_bins(table: Table) -> int:
    """Into how many bins of equal counts numbers are cut where some columns of a table are counted."""
    rows = table.n_samples if table.weights is None else float(table.weights.sum())
    cut = 2 + table.target_numbers.shape[1]  # two features and the numbers of the target
    bins = (rows / (_ROWS_PER_CELL * len(table.classes))) ** (1 / cut)
    return int(np.clip(np.floor(bins), _FEWEST_BINS, _MOST_BINS))


def tied_numbers_as_labels(table: Table, fixed: FixedPoint) -> Table:
    """The table with those numbers of the target that cannot be ranked as labels, in bins of equal counts."""
    if not table.target_numbers.shape[1]:
        return table
    ranked = normal_scores(table.target_numbers.T, fixed, fixed.weights)[1] <= MOST_TIED
    if ranked.all():
        return table
    tied = replace(table, target_numbers=table.target_numbers[:, ~ranked])
    weights = None if table.weights is None else row_weights(table.weights)
    target, classes = joint_classes(tied, cut_target(tied, number_of_bins(table), weights))
    return replace(table, target=target, classes=classes, target_numbers=table.target_numbers[:, ranked])


class CountedBesideRanked:
    """Terms of a table of which some columns are counted.

    Parameters
    ----------
    table : Table
    ranked : ndarray of bool (n,)
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
        table: Table,
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
        if any(block.missing is not None for block in table.blocks):
            table = replace(table, missing="pairwise")
        bins = number_of_bins(table)
        how = Measuring(discretize="quantile", bins=bins, integers="numbers", target_bins=bins)
        coded = code_table(table, how, n_jobs=n_jobs)
        assert isinstance(coded, CodedTable)  # sparse tables are refused before
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
        n, m = table.codes.shape
        self._present = None if table.absent is None else table.codes != table.absent[:, None]
        self._weights = np.ones(m) if fixed.weights is None else fixed.weights  # whole, so that sums are exact
        self._per_sample = fixed.per_sample
        self.levels = np.empty(n, dtype=np.int64)  # that occur
        n_classes, widest = len(table.classes), int(table.levels.max())
        self._in_classes = np.empty((n, n_classes))  # levels that occur in each
        step = max(1, _CODED_AT_ONCE // max(m, n_classes * widest))
        for start in range(0, n, step):
            codes = table.codes[start : start + step]
            seen = np.zeros((len(codes), n_classes, widest), dtype=bool)
            seen[np.arange(len(codes))[:, None], table.target, codes] = True
            if table.absent is not None:
                lacking = np.flatnonzero(table.absent[start : start + step] >= 0)
                seen[lacking, :, table.absent[start : start + step][lacking]] = False
            self._in_classes[start : start + step] = seen.sum(axis=2)
            self.levels[start : start + step] = seen.any(axis=1).sum(axis=1)

    def relevance(self) -> np.ndarray:
        """Of I(Xi;C), (n,)."""
        classes = (self._in_classes > 0).sum(axis=1)
        rows = self._weights.sum() if self._present is None else self._present @ self._weights
        return np.maximum(self.levels - 1, 0) * np.maximum(classes - 1, 0) / self._twice(rows)

    def pairs(self, kind: str, features: np.ndarray) -> np.ndarray:
        """Of "redundancy" or "interaction" of some features with all, (len(features), n)."""
        free = np.maximum(self.levels - 1, 0)
        chance = np.outer(free[features], free).astype(np.float64)
        if kind == "interaction":
            free = np.maximum(self._in_classes - 1, 0)
            chance -= free[features] @ free.T
        if self._present is None:
            return chance / self._twice(self._weights.sum())
        return chance / self._twice((self._present[features] * self._weights) @ self._present.T.astype(np.float64))

    def _twice(self, weight: np.ndarray) -> np.ndarray:
        return np.maximum(2 * weight / self._per_sample, 2.0)
