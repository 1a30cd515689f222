"""Joint counts of several columns taken as one, of each feature and of the class, with NumPy alone.

Where more than two features are looked at together, or where a measure is no sum over counts (the Gini impurity), the
counters of pairs have nothing to offer: here are the cells themselves. Like those, they are whole numbers.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np

from certselect.coding import CodedTable, SparseCodedTable
from certselect.information.kernels.cell_table import CellMeasures, counting_units, occurring
from certselect.information.kernels.entropy_sums import CountLogs

# Cells counted at a time: enough to amortise the calls, few enough to stay in cache.
_CHUNK = 1 << 19
# Of a table counted whole by the compiled kernels: one megabyte.
_MOST_CELLS = 1 << 17
# Samples x features counted without a compiler: loading the compiled kernels takes longer.
PLAIN_CELLS = 10_000_000
# A double holds whole numbers of so many bits.
_EXACT_BITS = 52


class Cells(NamedTuple):
    """Counts of the features from `start` up to `stop` beside a column: (features, cells, classes).

    Cells are combinations of a level of the column and one of the feature, those of one level of the column side by
    side; `starts` is where each level begins. `levels` is how many levels of each feature occur, where that matters.
    """

    start: int
    stop: int
    counts: np.ndarray
    starts: np.ndarray
    levels: np.ndarray


class JointCells:
    """What all features tell beside some columns taken together, or about the class in another measure than entropy.

    Parameters
    ----------
    table : CodedTable or SparseCodedTable
    correction : str
        Of the bias of few samples, for information; any but "chance".
    """

    def __init__(self, table: CodedTable | SparseCodedTable, correction: str) -> None:
        self._table = table
        self._correction, self._shrinks = correction, correction == "shrinkage"
        self._target = table.target.astype(np.int64)
        self._n_classes = len(table.classes)
        absent = None if isinstance(table, SparseCodedTable) else table.absent
        self._absent = np.full(len(table.levels), -1) if absent is None else absent
        # Where samples weigh the same and none is left out; Grassberger's phi of a cell depends on the table it is in.
        plain = isinstance(table, CodedTable) and table.weights is None and bool((self._absent < 0).all())
        self._can_compile = plain and correction in ("none", "miller_madow")
        self._samples = 0  # counted or about to be

    @property
    def coded(self) -> CodedTable | SparseCodedTable:
        """The codes that are counted."""
        return self._table

    @cached_property
    def _counting(self) -> tuple[np.ndarray | None, CountLogs]:
        """Weights as whole numbers, None where all are 1, and what their sums are looked up in: not made unasked."""
        return counting_units(self._table.weights, self._table.n_samples, self._correction)

    @cached_property
    def _weights(self) -> np.ndarray:
        weights = self._counting[0]
        return np.ones(self._table.n_samples, dtype=np.int64) if weights is None else weights

    @cached_property
    def _measures(self) -> CellMeasures:
        return CellMeasures(self._counting[1], self._shrinks)

    def information_given(self, columns: Sequence[int], features: np.ndarray) -> np.ndarray:
        """I(Xi;C|all these columns) of some features, from the rows where all of these columns and Xi have a value."""
        rows, column = self.together(columns)
        everyone = int(self._weights[rows].sum())
        if not self._shrinks and (self._absent < 0).all():
            # Where a level of the column has one class only, nothing is left to tell.
            rows, column = self._undecided(rows, column)
        if self._compiles(features, rows, column):
            return self._information_compiled(features, rows, column, everyone)
        result = np.zeros(len(features))
        for cells in self._counted(features, rows, column):
            counts = cells.counts
            n = len(counts)
            by_class = np.add.reduceat(counts, cells.starts, axis=1)
            both, given = counts.sum(axis=2), by_class.sum(axis=2)
            samples = given.sum(axis=1) if (self._absent >= 0).any() or self._shrinks else np.full(n, everyone)
            i, j, k = cells.levels, occurring(by_class.sum(axis=1)), occurring(given)
            tables = [counts.reshape(n, -1), both, by_class.reshape(n, -1), given]
            result[cells.start : cells.stop] = self._measures.information(tables, [i * j * k, i * k, j * k, k], samples)
        return result

    def impurity_gain(self, column: int | None) -> np.ndarray:
        """How far a feature, or each feature beside this column, lowers the Gini impurity of the class, (n,).

        G(X;C) = sum over x, c of p(x,c)^2 / p(x) - sum over c of p(c)^2, X being the pair or the feature.
        """
        rows, codes = self.together([] if column is None else [column])
        everyone = np.arange(len(self._absent))
        if self._compiles(everyone, rows, codes):
            return self._impurity_compiled(codes)
        result = np.zeros(len(everyone))
        for cells in self._counted(everyone, rows, codes):
            left = self._mean_squares(cells.counts)
            whole = self._mean_squares(cells.counts.sum(axis=1)[:, None, :])
            samples = np.maximum(cells.counts.sum(axis=(1, 2)), 1)
            result[cells.start : cells.stop] = np.maximum(left - whole, 0.0) / samples
        return result

    def _compiles(self, features: np.ndarray, rows: np.ndarray, column: np.ndarray) -> bool:
        """Whether the compiled kernels shall count: not for so little that loading them would take longer."""
        self._samples += len(features) * len(rows)
        if not self._can_compile or self._samples <= PLAIN_CELLS or not len(rows):
            return False
        return (int(column.max()) + 1) * int(self._table.levels[features].max()) * self._n_classes <= _MOST_CELLS

    def _information_compiled(
        self, features: np.ndarray, rows: np.ndarray, column: np.ndarray, everyone: int
    ) -> np.ndarray:
        from certselect.information.kernels.joint_kernels import sum_phi

        assert isinstance(self._table, CodedTable)
        target, n_column = self._target[rows], int(column.max()) + 1
        codes, levels = self._table.codes, self._table.levels[features]
        if len(features) < len(codes) or len(rows) < codes.shape[1]:
            codes = codes[np.ix_(features, rows)]
        sums = np.empty((len(features), 2), dtype=np.int64)
        sum_phi(codes, levels, column, n_column, target, self._n_classes, self._counting[1].table, sums)
        by_class = np.bincount(column * self._n_classes + target, minlength=n_column * self._n_classes)
        given = self._counting[1].of(np.bincount(column)).sum() - self._counting[1].of(by_class).sum()
        return self._measures.nats(sums[:, 0] - sums[:, 1] + given, np.full(len(features), everyone))

    def _impurity_compiled(self, column: np.ndarray) -> np.ndarray:
        from certselect.information.kernels.joint_kernels import sum_mean_squares

        assert isinstance(self._table, CodedTable)
        sums = np.empty(len(self._table.levels), dtype=np.int64)
        levels, n_column, unit = self._table.levels, int(column.max()) + 1, 2.0**self._square_bits
        target, n_classes = self._target, self._n_classes
        sum_mean_squares(self._table.codes, levels, column, n_column, target, n_classes, unit, sums)
        whole = self._mean_squares(np.bincount(target, minlength=n_classes)[None, None])
        return np.maximum(sums / unit - whole, 0.0) / len(target)

    @cached_property
    def _square_bits(self) -> int:
        """Of a fixed point in which all mean squares together are exact."""
        return _EXACT_BITS - math.ceil(math.log2(max(int(self._weights.sum()), 2)))

    def together(self, columns: Sequence[int]) -> tuple[np.ndarray, np.ndarray]:
        """Which rows have a value of all these columns, and one code for the combination that each of them has."""
        rows = np.arange(len(self._target))
        joint = np.zeros(len(rows), dtype=np.int64)
        for column in columns:
            codes = self.codes(np.array([column]))[0]
            # Renumbered after each column, so that no product of levels outgrows the rows times the next levels.
            joint = np.unique(joint * int(self._table.levels[column]) + codes, return_inverse=True)[1]
        for column in columns:
            if self._absent[column] >= 0:
                there = self.codes(np.array([column]))[0][rows] != self._absent[column]
                rows = rows[there]
        return rows, np.unique(joint[rows], return_inverse=True)[1]

    def _undecided(self, rows: np.ndarray, column: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The rows whose level of the column occurs with more than one class."""
        levels = int(column.max(initial=-1)) + 1
        counts = np.bincount(column * self._n_classes + self._target[rows], minlength=levels * self._n_classes)
        open_levels = np.count_nonzero(counts.reshape(levels, -1), axis=1) > 1
        left = open_levels[column]
        return rows[left], np.unique(column[left], return_inverse=True)[1]

    def _counted(self, features: np.ndarray, rows: np.ndarray, column: np.ndarray) -> Iterator[Cells]:
        n, m = len(features), len(rows)
        levels_of, absent_of = self._table.levels[features], self._absent[features]
        if m == 0:
            return
        n_column, target, weights = int(column.max()) + 1, self._target[rows], self._weights[rows]
        start = 0
        while start < n:
            stop = min(n, start + max(1, _CHUNK // m))
            widest = int(levels_of[start:stop].max())
            size = n_column * widest * self._n_classes
            if (stop - start) * size > 4 * _CHUNK and stop - start > 1:
                stop = start + max(1, 4 * _CHUNK // size)
                widest = int(levels_of[start:stop].max())
                size = n_column * widest * self._n_classes
            codes = self.codes(features[start:stop])[:, rows]
            if size > max(4 * _CHUNK, 8 * m):
                there = codes[0] != absent_of[start]
                yield _of_occurring(start, codes[0][there], column[there], target[there], weights[there])
                start += 1
                continue
            places = np.arange(stop - start)[:, None] * size + (column * widest * self._n_classes + target)
            places = (places + codes * self._n_classes).ravel()
            # Weights are added as floats, which is exact: all together are below 2**53.
            same = self._table.weights is None
            added = None if same else np.broadcast_to(weights, codes.shape).ravel()
            counts = np.bincount(places, added, minlength=(stop - start) * size).astype(np.int64)
            counts = counts.reshape(stop - start, n_column, widest, self._n_classes)
            partly = np.flatnonzero(absent_of[start:stop] >= 0)
            counts[partly, :, absent_of[start:stop][partly]] = 0
            # Only shrinkage asks how many levels there are.
            levels = np.count_nonzero(counts.any(axis=(1, 3)), axis=1) if self._shrinks else np.ones(stop - start)
            cells = counts.reshape(stop - start, -1, self._n_classes)
            yield Cells(start, stop, cells, np.arange(n_column) * widest, levels.astype(np.float64))
            start = stop

    def codes(self, features: np.ndarray) -> np.ndarray:
        """Codes of some features as a dense array of int64."""
        table = self._table
        if isinstance(table, CodedTable):
            return table.codes[features].astype(np.int64)
        codes = np.repeat(table.background[features, None], table.n_samples, axis=1)
        for row, feature in enumerate(features.tolist()):
            cells = slice(table.starts[feature], table.starts[feature + 1])
            codes[row, table.rows[cells]] = table.codes[cells]
        return codes

    def _mean_squares(self, counts: np.ndarray) -> np.ndarray:
        """Sums over cells of the sum of c^2 over the classes, divided by the sum of c, (features,).

        Every cell's part is rounded once, to a whole multiple of a small unit, so that no order of cells matters.
        """
        bits = self._square_bits
        totals = counts.sum(axis=2)
        squares = np.square(counts.astype(np.float64)).sum(axis=2)
        parts = np.divide(squares, totals, out=np.zeros_like(squares), where=totals > 0)
        return np.rint(np.ldexp(parts, bits)).astype(np.int64).sum(axis=1) * 2.0**-bits


def _of_occurring(place: int, codes: np.ndarray, column: np.ndarray, target: np.ndarray, weights: np.ndarray) -> Cells:
    """The cells of one feature whose table would have far more of them than rows: those that are not empty."""
    wide, n_classes = int(codes.max(initial=0)) + 1, int(target.max(initial=0)) + 1
    cells, of_row = np.unique(column * wide + codes, return_inverse=True)
    counts = np.zeros((max(1, len(cells)), n_classes), dtype=np.int64)
    np.add.at(counts, (of_row, target), weights)
    level = cells // wide
    starts = np.flatnonzero(np.append(True, level[1:] != level[:-1])) if len(cells) else np.zeros(1, dtype=np.intp)
    levels = np.array([len(np.unique(codes))], dtype=np.float64)
    return Cells(place, place + 1, counts[None], starts, levels)
