"""How many samples have each level of each feature: the margins of joint tables, without the tables."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from certselect.coding import CodedTable, SparseCodedTable

# Cells looked at together: enough to amortise the calls, few enough to stay in cache.
_CHUNK = 1 << 19


@dataclass(frozen=True, eq=False)
class LevelCounts:
    """Samples of each level of each of several columns; levels that none has are left out.

    Column i has the counts counts[starts[i]:starts[i + 1]], whole numbers in units of the weights.
    """

    starts: np.ndarray
    counts: np.ndarray

    @property
    def levels(self) -> np.ndarray:
        """How many levels of each column occur, (columns,)."""
        return np.diff(self.starts)

    def summed(self, values: np.ndarray) -> np.ndarray:
        """Sums over the levels of each column, (columns,), of numbers that belong to the counts."""
        sums = np.add.reduceat(np.append(values, 0), self.starts[:-1])
        return np.where(self.levels > 0, sums, 0)


class Margins:
    """Counts levels of all features among some rows of a coded table.

    Parameters
    ----------
    table : CodedTable or SparseCodedTable
    weights : ndarray of int64 (m,), or None
        How much each row counts, in whole units; once if None.
    """

    def __init__(self, table: CodedTable | SparseCodedTable, weights: np.ndarray | None) -> None:
        self._table = table
        self._weights = np.ones(table.n_samples, dtype=np.int64) if weights is None else weights
        self._levels = table.levels.astype(np.int64)
        self._absent = None if isinstance(table, SparseCodedTable) else table.absent
        self._target = table.target.astype(np.int64)
        self.n_classes = len(table.classes)

    @property
    def complete(self) -> bool:
        """Whether every feature has a value in every row."""
        return self._absent is None or not bool((self._absent >= 0).any())

    def of_slices(self) -> LevelCounts:
        """Level counts of all features among all rows, then among those of each class: (1 + classes) n columns."""
        if isinstance(self._table, SparseCodedTable):
            return _sliced(*self._sparse_cells(self._table), len(self._levels))
        return self._counted(self._weights)

    def _counted(self, weights: np.ndarray) -> LevelCounts:
        alike = bool((weights == 1).all())
        owners, by_class = [], []
        for start, stop in self._chunks(max(len(self._target), self.n_classes * int(self._levels.max(initial=1)))):
            levels = self._levels[start:stop]
            offsets = np.cumsum(levels) - levels
            # Codes come in narrow types, and cells do not fit into them.
            cells = self._dense.codes[start:stop] + (offsets[:, None] + np.int64(0))
            cells *= self.n_classes
            cells += self._target
            each = None if alike else np.tile(weights.astype(np.float64), stop - start)
            counts = np.bincount(cells.ravel(), each, minlength=int(levels.sum()) * self.n_classes)
            counts = counts.astype(np.int64, copy=False).reshape(-1, self.n_classes)
            if self._absent is not None:
                absent = self._absent[start:stop]
                counts[(offsets + absent)[absent >= 0]] = 0
            there = counts.any(axis=1)
            owners.append(np.repeat(np.arange(start, stop), levels)[there])
            by_class.append(counts[there])
        return _sliced(np.concatenate(owners), np.concatenate(by_class), len(self._levels))

    def of_pairs(self, feature: int) -> tuple[LevelCounts, np.ndarray]:
        """Level counts of all features and of this one, among the rows where both have a value, in each slice.

        Returns them as `of_slices` does, and those of this feature as ((1 + classes) n, levels).
        """
        codes, levels = self._dense.codes[feature].astype(np.int64), int(self._levels[feature])
        having = codes != self._absent[feature] if self._absent is not None else np.ones(len(codes), dtype=bool)
        own = np.zeros((len(codes), levels * self.n_classes))
        own[np.arange(len(codes)), self._target * levels + codes] = self._weights * having
        others = np.empty((1 + self.n_classes, len(self._levels), levels), dtype=np.int64)
        for start, stop in self._chunks(len(codes)):
            there = np.ones((stop - start, len(codes)))
            if self._absent is not None:
                there = (self._dense.codes[start:stop] != self._absent[start:stop, None]).astype(np.float64)
            # Whole numbers, whose sums stay below 2**53: no order of summation matters.
            by_class = (there @ own).astype(np.int64).reshape(-1, self.n_classes, levels)
            others[1:, start:stop] = by_class.transpose(1, 0, 2)
        others[0] = others[1:].sum(axis=0)
        return self._counted(self._weights * having), others.reshape(-1, levels)

    @property
    def _dense(self) -> CodedTable:
        assert isinstance(self._table, CodedTable), "only dense tables have values that are left out"
        return self._table

    def _chunks(self, n_rows: int) -> list[tuple[int, int]]:
        n, per_chunk = len(self._levels), max(1, _CHUNK // max(1, n_rows))
        return [(start, min(n, start + per_chunk)) for start in range(0, n, per_chunk)]

    def _sparse_cells(self, table: SparseCodedTable) -> tuple[np.ndarray, np.ndarray]:
        """Whose level each is, and how often it occurs in each class, (levels, classes)."""
        n, most = len(self._levels), int(self._levels.max())
        features = np.repeat(np.arange(n), np.diff(table.starts))
        keys, places = np.unique(features * most + table.codes, return_inverse=True)
        cells = places * self.n_classes + self._target[table.rows]
        # Weights are added as floats, which is exact: all together are below 2**53.
        counts = np.bincount(cells, self._weights[table.rows], minlength=len(keys) * self.n_classes)
        counts = counts.astype(np.int64).reshape(-1, self.n_classes)
        listed = np.zeros((n, self.n_classes), dtype=np.int64)
        np.add.at(listed, keys // most, counts)
        sizes = np.bincount(self._target, self._weights, minlength=self.n_classes).astype(np.int64)
        rest = sizes - listed  # where the feature has its background
        some = np.flatnonzero(rest.any(axis=1))
        owners = np.concatenate([keys // most, some])
        order = np.argsort(owners, kind="stable")
        return owners[order], np.concatenate([counts, rest[some]])[order]


def _sliced(owners: np.ndarray, by_class: np.ndarray, n_features: int) -> LevelCounts:
    """Counts of levels by class, (levels, classes), as columns: of each feature among all rows, then in each class."""
    n_slices = 1 + by_class.shape[1]
    counts = np.concatenate([by_class.sum(axis=1)[None], by_class.T])
    group, level = np.nonzero(counts)
    listed = np.bincount(group * n_features + owners[level], minlength=n_slices * n_features)
    return LevelCounts(np.concatenate([[0], np.cumsum(listed)]), counts[group, level])


class CountedMargins:
    """The same of a table that is not in memory, from how often each level occurs in each class.

    Parameters
    ----------
    levels : ndarray of int64 (n,)
    counts : ndarray of int64 (classes, sum of levels)
        Feature by feature.
    absent : ndarray of int64 (n,), or None
        As in `CodedTable`. What pairs of features with gaps have by chance is not known from these counts.
    """

    def __init__(self, levels: np.ndarray, counts: np.ndarray, absent: np.ndarray | None) -> None:
        self._owners = np.repeat(np.arange(len(levels)), levels)
        self._n_features = len(levels)
        self._counts = counts.copy()
        self.n_classes = len(counts)
        self.complete = absent is None
        if absent is not None:
            gaps = absent >= 0
            self._counts[:, (np.cumsum(levels) - levels + absent)[gaps]] = 0

    def of_slices(self) -> LevelCounts:
        """As in `Margins`."""
        return _sliced(self._owners, self._counts.T, self._n_features)
