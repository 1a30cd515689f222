"""Pair terms cell by cell with compiled kernels, on all cores."""

from __future__ import annotations

from functools import partial
from itertools import pairwise

import numpy as np

from certselect.information.kernels import cell_lists
from certselect.information.kernels.bits import BOTH, INTERACTION, REDUNDANCY
from certselect.information.kernels.cell_kernels import measure_pairs, measure_singles
from certselect.information.kernels.cell_table import CellTable, SingleTerms
from certselect.information.kernels.cells_plain import target_entropy
from certselect.information.terms import PairTerms
from certselect.memory import large_array
from certselect.threads import run_parts

_ALONE: dict[tuple[str, ...], int] = {("redundancy",): REDUNDANCY, ("interaction",): INTERACTION}
_RULES = {
    "none": cell_lists.COMPUTED,
    "miller_madow": cell_lists.MILLER_MADOW,
    "grassberger": cell_lists.GRASSBERGER,
}
_SAMPLE = 1.0  # nanoseconds a sample of a pair takes, roughly
_WORTH_A_THREAD = 5e5  # nanoseconds of work below which a second thread costs more than it brings
_PART = 5e7  # nanoseconds of work between two reports of progress


class CompiledCellCounter(PairTerms):
    """Pair terms of a table by the row or all at once, each pair from its own joint table."""

    def __init__(self, table: CellTable, n_threads: int, dtype: np.dtype) -> None:
        self._table = table
        self._threads = n_threads
        self._dtype = dtype
        self._class_order = np.argsort(table.target, kind="stable")
        logs = table.logs
        if table.shrinks:
            rule = cell_lists.SHRINKAGE
        elif logs.weight_bits == 0 and len(logs.table) > int(table.weights.sum()):
            rule = cell_lists.LOOKED_UP
        else:
            rule = _RULES[logs.correction]
        self._rule = (logs.table, logs.everyone_table), rule, 2.0**-logs.weight_bits, 2.0**logs.fraction_bits
        self.sums = self._single_terms()

    def measured(self, kinds: tuple[str, ...], features: np.ndarray | None = None) -> tuple[np.ndarray, ...]:
        what = _ALONE.get(kinds, BOTH)
        some = np.arange(len(self._table.codes)) if features is None else features
        found = self._all_pairs(what) if features is None else self._count_rows(what, some)
        found = found[-len(kinds) :] if what == BOTH else found[:1]
        for terms, kind in zip(found, kinds, strict=True):
            terms[np.arange(len(some)), some] = self.sums.diagonal(kind)[some]
        return found

    def _count_rows(self, what: int, features: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        n = len(self._table.codes)
        out, other = self._empty(len(features), what)
        parts = []
        cuts = np.linspace(0, n, 1 + min(n, self._part_count(n))).astype(int).tolist()
        for row, feature in enumerate(features.tolist()):
            for first, last in pairwise(cuts):
                parts.append(partial(self._measure, [feature], [row], [first], [last], what, False, out, other))
        run_parts("pairs", parts, self._threads)
        return out, other

    def _all_pairs(self, what: int) -> tuple[np.ndarray, np.ndarray]:
        n = len(self._table.codes)
        out, other = self._empty(n, what)
        n_parts = min(n, self._part_count(n * (n - 1) // 2))
        parts = []
        for first, last in pairwise(n * part // n_parts for part in range(n_parts + 1)):
            lefts = np.arange(first, last)  # neighbours, whose terms are written near to each other
            parts.append(
                partial(self._measure, lefts, lefts, lefts + 1, np.full(len(lefts), n), what, True, out, other)
            )
        run_parts("pairs", parts, self._threads)
        return out, other

    def _measure(self, lefts, left_rows, first, last, what, mirror, out, other) -> None:
        table = self._table
        target, n_classes, order = table.target, table.n_classes, self._class_order
        if what == REDUNDANCY:
            target, n_classes = np.zeros_like(target), 1
        logs, rule, weight_unit, fixed = self._rule
        measure_pairs(
            np.asarray(lefts), np.asarray(left_rows), np.asarray(first), np.asarray(last), table.codes, table.levels,
            table.absent, target, n_classes, order, table.weights, logs, rule, weight_unit, fixed, what, mirror, out,
            other,
        )  # fmt: skip

    def _single_terms(self) -> SingleTerms:
        table, n = self._table, len(self._table.codes)
        relevance, entropy, conditional = np.empty(n), np.empty(n), np.empty(n)
        cuts = np.linspace(0, n, 1 + min(n, self._part_count(n))).astype(int).tolist()
        parts = [
            partial(
                measure_singles, first, last, table.codes, table.levels, table.absent, table.target, table.n_classes,
                self._class_order, table.weights, *self._rule, relevance, entropy, conditional,
            )
            for first, last in pairwise(cuts)
        ]  # fmt: skip
        run_parts("features", parts, self._threads)
        return SingleTerms(relevance, entropy, conditional, target_entropy(table))

    def _empty(self, n_rows: int, what: int) -> tuple[np.ndarray, np.ndarray]:
        shape = n_rows, len(self._table.codes)
        out = large_array(shape, self._dtype)
        return out, large_array(shape, self._dtype) if what == BOTH else out

    def _part_count(self, n_pairs: int) -> int:
        cost = n_pairs * self._table.codes.shape[1] * _SAMPLE
        if cost < _WORTH_A_THREAD or self._threads == 1:
            return max(1, int(cost / _PART))
        return max(4 * self._threads, int(cost / _PART))
