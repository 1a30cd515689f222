"""Joint counts of sparse tables, whose features are listed by the cells that differ from their background.

A feature's rows that are listed bring with them the listed cells of all other features there:
these are gathered and counted, and every other joint count follows from what is known of the
single features. So a feature with all others costs the cells gathered plus one look-up per
feature and class, and nothing as large as samples x features is ever made.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np

from certselect.coding import SparseCodedTable
from certselect.information.kernels.entropy_sums import CountLogs, EntropySums
from certselect.information.terms import PairTerms
from certselect.memory import large_array
from certselect.threads import run_parts, thread_count

_GATHERED_AT_ONCE = 1 << 20  # cells
_FEATURES_PER_PART = 64  # between two reports of progress
_NONE = np.empty(0, dtype=np.int64)


@dataclass(frozen=True, eq=False)
class _Slices:
    """Listed cells counted by feature, level and class: a slice is the cells that agree in all three.

    Attributes
    ----------
    of_cell : ndarray of int64 (cells,)
        The slice of each of the table's cells.
    starts : ndarray of int64 (n + 1,)
        Feature i has the slices starts[i] .. starts[i + 1] - 1.
    feature, group, counts, phi : ndarray of int64 (slices,)
        Whose slice, of which class, how many samples, and phi of that.
    listed_phi : ndarray of int64 (n,)
        Sum of phi over a feature's slices.
    listed, rest : ndarray of int64 (n, classes)
        Samples of each class in which the feature is listed, and in which it has its background.
    """

    of_cell: np.ndarray
    starts: np.ndarray
    feature: np.ndarray
    group: np.ndarray
    counts: np.ndarray
    phi: np.ndarray
    listed_phi: np.ndarray
    listed: np.ndarray
    rest: np.ndarray


class SparseCounter(PairTerms):
    """Pair terms of a sparse coded table by the row or all at once, the same integers a dense table would give.

    Parameters
    ----------
    table : SparseCodedTable
    logs : CountLogs
        phi in fixed point.
    dtype : dtype
        Of the pair terms.
    n_jobs : int or None
        Threads; all cores if None.
    weights : ndarray of int64 (m,), or None
        How much each row counts, in the units `logs` counts in; None if every row counts once.
    """

    def __init__(
        self,
        table: SparseCodedTable,
        logs: CountLogs,
        dtype: np.dtype,
        n_jobs: int | None,
        weights: np.ndarray | None = None,
    ) -> None:
        self._dtype = dtype
        self._threads = thread_count(n_jobs)
        self._logs = logs
        self._weights = weights
        self._starts = table.starts
        self._rows = table.rows
        self._by_row = np.argsort(table.rows, kind="stable")
        self._row_lengths = np.bincount(table.rows, minlength=table.n_samples)
        self._row_starts = np.cumsum(self._row_lengths) - self._row_lengths
        everyone = np.zeros(table.n_samples, dtype=np.int64)
        self._whole = self._slices(table, everyone, 1)
        self._within = self._slices(table, table.target.astype(np.int64), len(table.classes))
        level, level_class = (
            slices.listed_phi + logs.of(slices.rest).sum(axis=1) for slices in (self._whole, self._within)
        )
        # Of any feature: its listed samples and the rest are all there are.
        sizes = self._within.rest[0] + self._within.listed[0]
        self.sums = EntropySums(level, level_class, int(logs.of(sizes).sum()), logs.total, logs.unit)

    def measured(self, kinds: tuple[str, ...], features: np.ndarray | None = None) -> tuple[np.ndarray, ...]:
        n = len(self._starts) - 1
        if features is None:
            found = tuple(large_array((n, n), self._dtype) for _ in kinds)
            self._fill(kinds, np.arange(n), found, _FEATURES_PER_PART)
        else:
            found = tuple(np.empty((len(features), n), dtype=self._dtype) for _ in kinds)
            self._fill(kinds, features, found, 1)
        return found

    def pair_sums(self, feature: int, conditional: bool) -> np.ndarray:
        """Of one feature with all: sums of phi over joint counts (n,), or over those within classes."""
        slices = self._within if conditional else self._whole
        first, last = slices.starts[feature], slices.starts[feature + 1]
        sums = slices.listed_phi[feature] + slices.listed_phi
        neither = slices.rest - slices.listed[feature]
        if first < last:
            # What is seen together: how many samples of each own slice fall into each slice of all.
            together, samples = self._gathered(feature, slices)
            other, own = np.divmod(together, last - first)
            np.add.at(sums, slices.feature[other], self._logs.of(samples))
            # The rest of another's slice has this feature's background ...
            touched, shared = _added(other, samples)
            less = self._logs.of(slices.counts[touched] - shared) - slices.phi[touched]
            np.add.at(sums, slices.feature[touched], less)
            # ... and the rest of an own slice has the other's.
            touched, shared = _added(slices.feature[other] * (last - first) + own, samples)
            other, own = np.divmod(touched, last - first)
            own += first
            np.add.at(sums, other, self._logs.of(slices.counts[own] - shared) - slices.phi[own])
            # Neither is listed: all samples, less those of either, plus those of both.
            np.add.at(neither.reshape(-1), other * neither.shape[1] + slices.group[own], shared)
        return sums + self._logs.of(neither).sum(axis=1)

    def _fill(self, kinds: tuple[str, ...], features: np.ndarray, out: tuple[np.ndarray, ...], per_part: int) -> None:
        def fill(start: int) -> None:
            for row in range(start, min(start + per_part, len(features))):
                for matrix, terms in zip(out, self._terms(kinds, int(features[row])), strict=True):
                    matrix[row] = terms

        run_parts("pairs", [partial(fill, start) for start in range(0, len(features), per_part)], self._threads)

    def _terms(self, kinds: tuple[str, ...], feature: int) -> list[np.ndarray]:
        terms: dict[str, np.ndarray] = {}
        if kinds != ("conditional_redundancy",):
            whole = self.pair_sums(feature, conditional=False)
            terms["redundancy"] = self.sums.redundancy(feature, whole)
        if kinds != ("redundancy",):
            within = self.pair_sums(feature, conditional=True)
            terms["conditional_redundancy"] = self.sums.conditional_redundancy(feature, within)
        if kinds == ("interaction",):
            terms["interaction"] = terms["redundancy"] - terms["conditional_redundancy"]
        return [terms[kind] for kind in kinds]

    def _gathered(self, feature: int, slices: _Slices) -> tuple[np.ndarray, np.ndarray]:
        """Which slices meet which of the feature's own, as slice * own ones + own, and in how many samples."""
        first, last = slices.starts[feature], slices.starts[feature + 1]
        cells = slice(self._starts[feature], self._starts[feature + 1])
        rows, own = self._rows[cells], slices.of_cell[cells] - first
        ends = np.cumsum(self._row_lengths[rows])
        meetings, samples = [_NONE], [_NONE]
        start = 0
        while start < len(rows):
            done = ends[start - 1] if start else 0
            stop = max(start + 1, int(np.searchsorted(ends, done + _GATHERED_AT_ONCE, side="right")))
            lengths = self._row_lengths[rows[start:stop]]
            skipped = self._row_starts[rows[start:stop]] - (ends[start:stop] - lengths - done)
            gathered = self._by_row[np.repeat(skipped, lengths) + np.arange(lengths.sum())]
            meeting = slices.of_cell[gathered] * (last - first) + np.repeat(own[start:stop], lengths)
            weights = None if self._weights is None else np.repeat(self._weights[rows[start:stop]], lengths)
            distinct, counts = _added(meeting, weights)
            meetings.append(distinct)
            samples.append(counts)
            start = stop
        if len(meetings) == 2:
            return meetings[1], samples[1]
        return _added(np.concatenate(meetings), np.concatenate(samples))

    def _slices(self, table: SparseCodedTable, groups: np.ndarray, n_groups: int) -> _Slices:
        """Count the listed cells by feature, level and group of samples."""
        n = len(table.starts) - 1
        features = np.repeat(np.arange(n), np.diff(table.starts))
        most = int(table.levels.max())
        keys = (features * most + table.codes) * n_groups + groups[table.rows]
        distinct, of_cell = np.unique(keys, return_inverse=True)
        feature, group = distinct // (most * n_groups), distinct % n_groups
        counts = self._totals(of_cell, table.rows, len(distinct))
        listed = np.zeros((n, n_groups), dtype=np.int64)
        np.add.at(listed, (feature, group), counts)
        phi = self._logs.of(counts)
        listed_phi = np.zeros(n, dtype=np.int64)
        np.add.at(listed_phi, feature, phi)
        sizes = self._totals(groups, np.arange(len(groups)), n_groups)
        starts = np.searchsorted(feature, np.arange(n + 1))
        return _Slices(of_cell, starts, feature, group, counts, phi, listed_phi, listed, sizes - listed)

    def _totals(self, keys: np.ndarray, rows: np.ndarray, n_keys: int) -> np.ndarray:
        """How many samples, rows given, have each of the keys 0 .. n_keys - 1."""
        if self._weights is None:
            return np.bincount(keys, minlength=n_keys)
        totals = np.zeros(n_keys, dtype=np.int64)
        np.add.at(totals, keys, self._weights[rows])
        return totals


def _added(keys: np.ndarray, samples: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
    """Distinct keys, ascending, and the samples of each, added up; every key counts once if None."""
    if samples is None:
        return np.unique(keys, return_counts=True)
    if not len(keys):
        return keys, samples
    order = np.argsort(keys)
    keys, samples = keys[order], samples[order]
    starts = np.flatnonzero(np.append(True, keys[1:] != keys[:-1]))
    return keys[starts], np.add.reduceat(samples, starts)
