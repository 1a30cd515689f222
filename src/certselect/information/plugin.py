"""The plug-in estimator: mutual information of the observed frequencies, from exact counts."""

from __future__ import annotations

import time
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from certselect.coding import CodedTable
from certselect.information.kernels.entropy_sums import FEW_LEVELS, EntropySums
from certselect.information.kernels.plain import PlainCounter
from certselect.information.terms import InformationTerms
from certselect.progress import report
from certselect.threads import thread_count

if TYPE_CHECKING:
    from certselect.information.kernels.compiled import CompiledCounter

# Cells (samples x features x features) counted without a compiler, in about 0.2 s;
# loading the compiled kernels takes longer, compiling them the first time much longer.
_PLAIN_CELLS = 10_000_000
# Kinds of tables this process has loaded machine code for: the next of the kind, however
# small, is counted by it, the first small one of another kind need not wait for a compiler.
_compiled_for: set[tuple[np.dtype, np.dtype, bool]] = set()


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
        self._compiled: CompiledCounter | None = None

    def sums(self) -> EntropySums:
        """Entropy sums of the single features."""
        return self._counter(1).sums

    def rows(self, kind: str, features: np.ndarray) -> np.ndarray:
        return self._counter(len(features)).rows(kind, features)

    def matrix(self, kind: str) -> np.ndarray:
        return self._counter(len(self._table.codes)).matrix(kind)

    def both(self) -> tuple[np.ndarray, np.ndarray]:
        return self._counter(len(self._table.codes)).both()

    def _counter(self, n_rows: int) -> PlainCounter | CompiledCounter:
        """Who shall count `n_rows` more features with all."""
        self._cells += n_rows * self._table.codes.size
        if self._compiled is None and (self._cells > _PLAIN_CELLS or self._needs() in _compiled_for):
            self._compiled = _load_compiled()(self._table, self._threads, self._dtype)
            _compiled_for.add(self._needs())
        if self._compiled is not None:
            return self._compiled
        if self._plain is None:
            self._plain = PlainCounter(self._table, self._dtype)
        return self._plain

    def _needs(self) -> tuple[np.dtype, np.dtype, bool]:
        """What decides which machine code a table needs."""
        return self._table.codes.dtype, self._dtype, bool((self._table.levels > FEW_LEVELS).any())


def _load_compiled() -> type[CompiledCounter]:
    """Import the compiled kernels, telling whoever listens if they are yet to be compiled."""
    from certselect.information.kernels import bits, compiled

    if not _compiled_for and not any(Path(str(bits.count_groups.stats.cache_path)).glob("bits.count_groups*.nbi")):
        report("compiling the kernels (once after installation)", 0, 1)
    import_module("certselect.coding.narrowing")  # where the compiler is loaded, coding uses it too
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
