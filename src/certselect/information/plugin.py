"""The plug-in estimator: mutual information of the observed frequencies, from exact counts."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import numpy as np

from certselect.coding import CodedTable
from certselect.information.kernels.entropy_sums import EntropySums
from certselect.information.kernels.plain import PlainCounter
from certselect.information.terms import InformationTerms
from certselect.progress import report
from certselect.threads import thread_count

# Cells (samples x features x features) counted without a compiler, in about 0.2 s;
# loading the compiled kernels takes longer, compiling them the first time much longer.
_PLAIN_CELLS = 10_000_000
_KERNELS = "certselect.information.kernels.compiled"


class CountedPairs:
    """Pair terms of a coded table, counted when asked for, in the cheaper of two ways.

    Both ways give the same integers and so the same floats: which one is used
    is a matter of time alone.
    """

    def __init__(self, table: CodedTable, dtype: np.dtype, n_jobs: int | None) -> None:
        self._table = table
        self._dtype = dtype
        self._threads = thread_count(n_jobs)
        self._cells = 0  # counted or about to be
        self._plain: PlainCounter | None = None
        self._compiled = None

    def sums(self) -> EntropySums:
        """Entropy sums of the single features."""
        return self._counter(1).sums

    def rows(self, kind: str, features: np.ndarray) -> np.ndarray:
        counter = self._counter(len(features))
        if not isinstance(counter, PlainCounter):
            return counter.rows(kind, features)
        return np.array([self._terms(kind, counter, int(feature)) for feature in features], dtype=self._dtype)

    def matrix(self, kind: str) -> np.ndarray:
        counter = self._counter(len(self._table.codes))
        if not isinstance(counter, PlainCounter):
            return counter.matrix(kind)
        return self.rows(kind, np.arange(len(self._table.codes)))

    def both(self) -> tuple[np.ndarray, np.ndarray]:
        """Redundancy and conditional redundancy of all pairs; they share their counts."""
        counter = self._counter(len(self._table.codes))
        if not isinstance(counter, PlainCounter):
            return counter.both()
        return self.matrix("redundancy"), self.matrix("conditional_redundancy")

    def _counter(self, n_rows: int):
        self._cells += n_rows * self._table.codes.size
        if self._compiled is None and (self._cells > _PLAIN_CELLS or _KERNELS in sys.modules):
            self._compiled = _load_compiled()(self._table, self._threads, self._dtype)
        if self._compiled is not None:
            return self._compiled
        if self._plain is None:
            self._plain = PlainCounter(self._table)
        return self._plain

    @staticmethod
    def _terms(kind: str, counter: PlainCounter, feature: int) -> np.ndarray:
        sums = counter.sums
        whole, within = counter.pair_sums(feature, kind != "redundancy")
        redundancy = np.maximum(whole - sums.level[feature] - sums.level + sums.total, 0) * sums.unit
        if kind == "redundancy":
            return redundancy
        conditional = within - sums.level_class[feature] - sums.level_class + sums.classes
        conditional = np.maximum(conditional, 0) * sums.unit
        return conditional if kind == "conditional_redundancy" else redundancy - conditional


def _load_compiled():
    """Import the compiled kernels, telling whoever listens if they are yet to be compiled."""
    from certselect.information.kernels import bits, compiled

    if not any(Path(str(bits.count_groups.stats.cache_path)).glob("bits.count_groups*.nbi")):
        report("compiling the kernels, once after installation", 0, 1)
    return compiled.CompiledCounter


def plugin_terms(table: CodedTable, *, dtype: np.dtype, n_jobs: int | None) -> InformationTerms:
    """Information terms of a coded table by the plug-in estimator."""
    started = time.perf_counter()
    pairs = CountedPairs(table, dtype, n_jobs)
    sums = pairs.sums()
    return InformationTerms(
        relevance=sums.relevance,
        entropy=sums.entropy,
        target_entropy=sums.target_entropy,
        n_samples=table.codes.shape[1],
        feature_names=table.feature_names,
        levels=table.levels,
        constant=table.constant,
        pairs=pairs,
        coding=table.coding,
        seconds={"relevance": time.perf_counter() - started},
    )
