"""The plug-in estimator: mutual information of the observed frequencies, from exact counts."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from certselect.clock import Stopwatch
from certselect.coding import CodedTable, SparseCodedTable
from certselect.errors import InvalidInput, keyword
from certselect.information.chance import ChanceInformation, ChancePairs
from certselect.information.kernels.cell_table import SingleTerms, cell_table, counting_units, needs_cells
from certselect.information.kernels.cells_plain import PlainCellCounter
from certselect.information.kernels.entropy_sums import FEW_LEVELS, EntropySums
from certselect.information.kernels.joint_cells import JointCells
from certselect.information.kernels.plain import PlainCounter
from certselect.information.sound_pairs import SoundPairs
from certselect.information.terms import InformationTerms, PairTerms
from certselect.progress import report
from certselect.threads import thread_count

if TYPE_CHECKING:
    from certselect.information.kernels.cells_compiled import CompiledCellCounter
    from certselect.information.kernels.compiled import CompiledCounter
    from certselect.information.kernels.sparse import SparseCounter

    AnyCounter = PlainCounter | CompiledCounter | PlainCellCounter | CompiledCellCounter

# Cells (samples x features x features) counted without a compiler: in a hundredth of a second where columns have few
# levels, in some tenths where they have dozens. Loading the compiled kernels takes longer, compiling them much longer.
_PLAIN_CELLS = 10_000_000
# Kinds of tables this process has loaded machine code for: the next of the kind, however
# small, is counted by it, the first small one of another kind need not wait for a compiler.
_compiled_for: set[tuple[np.dtype, np.dtype, str]] = set()
# Cells of each kind that this process has counted without them. Who fits many small tables, as in cross-validation,
# gets the machine code once loading it is a small part of the whole, if it lies on the disk: at so many cells, which
# take up to as long as loading.
_MANY_PLAIN_CELLS = 10 * _PLAIN_CELLS
_counted_plainly: Counter[tuple[np.dtype, np.dtype, str]] = Counter()
_KERNELS = Path(__file__).parent / "kernels" / "__pycache__"


class CountedPairs(PairTerms):
    """Pair terms of a coded table, counted when asked for, in the cheaper of two ways.

    Both ways give the same integers and so the same floats: which one is used
    is a matter of time alone.
    """

    def __init__(self, table: CodedTable, correction: str, dtype: np.dtype, n_jobs: int | None) -> None:
        self._table = table
        self._correction = correction
        # Weights, rows left out and shrinkage: every pair from all cells of its own table.
        self._by_cells = cell_table(table, correction) if needs_cells(table, correction) else None
        self._dtype = dtype
        self._kind = self._needs()
        self._threads = thread_count(n_jobs)
        self._cells = 0  # counted or about to be
        self._plain: PlainCounter | PlainCellCounter | None = None
        self._compiled: CompiledCounter | CompiledCellCounter | None = None

    def sums(self) -> EntropySums | SingleTerms:
        """Terms of the single features."""
        return self._counter(1).sums

    def measured(self, kinds: tuple[str, ...], features: np.ndarray | None = None) -> tuple[np.ndarray, ...]:
        counter = self._counter(len(self._table.codes) if features is None else len(features))
        return counter.measured(kinds, features)

    @property
    def compiled(self) -> bool:
        """Whether the compiled kernels are in use."""
        return self._compiled is not None

    def _counter(self, n_rows: int) -> AnyCounter:
        """Who shall count `n_rows` more features with all."""
        if self._compiled is not None:
            return self._compiled
        kind, cells = self._kind, n_rows * self._table.codes.size
        self._cells += cells
        worth_it = self._cells > _PLAIN_CELLS or kind in _compiled_for
        if worth_it or (_counted_plainly[kind] > _MANY_PLAIN_CELLS and self._on_disk()):
            self._compiled = self._load_compiled()
            _compiled_for.add(kind)
            return self._compiled
        _counted_plainly[kind] += cells
        if self._plain is None and self._by_cells is not None:
            self._plain = PlainCellCounter(self._by_cells, self._dtype)
        elif self._plain is None:
            self._plain = PlainCounter(self._table, self._dtype, self._correction)
        return self._plain

    def _load_compiled(self) -> CompiledCounter | CompiledCellCounter:
        """Import the compiled kernels, and report to a listener if they have to be compiled first."""
        import_module("certselect.coding.narrowing")  # where the compiler is loaded, coding uses it too
        if self._by_cells is not None:
            from certselect.information.kernels import cell_kernels, cells_compiled

            _announce_compiling(cell_kernels.measure_pairs, any(way == "cells" for *_, way in _compiled_for))
            return cells_compiled.CompiledCellCounter(self._by_cells, self._threads, self._dtype)
        from certselect.information.kernels import bits, compiled

        _announce_compiling(bits.count_groups, any(way != "cells" for *_, way in _compiled_for))
        return compiled.CompiledCounter(self._table, self._threads, self._dtype, self._correction)

    def _on_disk(self) -> bool:
        """Whether machine code was kept where it is by default, told without loading the compiler."""
        return _has_kernel(_KERNELS, "bits.count_groups" if self._by_cells is None else "cell_kernels.measure_pairs")

    def _needs(self) -> tuple[np.dtype, np.dtype, str]:
        """What decides which machine code a table needs."""
        if self._by_cells is not None:
            return self._table.codes.dtype, self._dtype, "cells"
        wide = bool((self._table.levels > FEW_LEVELS).any())
        return self._table.codes.dtype, self._dtype, "bits and scattering" if wide else "bits"


def _announce_compiling(kernel: Any, loaded: bool) -> None:
    module = kernel.py_func.__module__.rpartition(".")[2]
    if not loaded and not _has_kernel(Path(str(kernel.stats.cache_path)), f"{module}.{kernel.py_func.__name__}"):
        report("compiling the kernels (once after installation)", 0, 1)


def _has_kernel(folder: Path, name: str) -> bool:
    return any(folder.glob(f"{name}*.nbi"))


def plugin_terms(
    table: CodedTable | SparseCodedTable, *, correction: str = "none", dtype: np.dtype, n_jobs: int | None
) -> InformationTerms:
    """Measure the information of coded columns from how often their levels occur together.

    Parameters
    ----------
    table : CodedTable or SparseCodedTable
        With weights, counts are sums of weights: whole numbers give the terms of
        the table with every row repeated so often, float for float (beyond four
        million rows in all: to about 1e-15). With codes for absent
        values, each term is that of the rows where all its features have one, and 0
        if there are none.
    correction : {"none", "miller_madow", "grassberger", "shrinkage", "chance"}
        Of the bias of few samples: none; (levels - 1) / 2N added to every entropy;
        Grassberger's estimate, ln N - sum of c G(c) / N; frequencies drawn towards equal ones (James
        and Stein), as far as the data do not speak against it; or the information that shuffled columns
        would have subtracted from every term, which is 0 where that is more.
    dtype : dtype
        Of the pair terms.
    n_jobs : int, optional
        Threads; all cores if None.
    """
    watch = Stopwatch()
    counted = "none" if correction == "chance" else correction
    if isinstance(table, SparseCodedTable):
        pairs = _sparse_counter(table, counted, dtype, n_jobs)
        sums = pairs.sums
    else:
        pairs = CountedPairs(table, counted, dtype, n_jobs)
        sums = pairs.sums()
    relevance = sums.relevance
    # Estimates that are corrected in another way have another expectation, which nobody knows.
    chance = ChanceInformation(table, relevance, n_jobs=n_jobs) if counted == "none" else None
    if correction == "chance" and chance is not None:
        relevance, pairs = np.maximum(relevance - chance.expected, 0.0), ChancePairs(pairs, chance)
    return InformationTerms(
        relevance=relevance,
        entropy=sums.entropy,
        target_entropy=sums.target_entropy,
        n_samples=table.n_samples,
        feature_names=table.feature_names,
        levels=table.levels,
        constant=table.constant,
        pairs=pairs,
        coding=table.coding,
        by_chance=chance,
        # What shuffled columns would have beside several others is not known.
        cells=None if correction == "chance" else JointCells(table, correction),
        seconds={"relevance": watch.seconds},
    )


def counted_terms(
    coded: CodedTable | SparseCodedTable, correction: str, *, dtype: np.dtype, n_jobs: int | None
) -> InformationTerms:
    """The information terms of a coded table, made to fit together where counts alone do not."""
    terms = plugin_terms(coded, correction=correction, dtype=dtype, n_jobs=n_jobs)
    # Plain counts of the same rows do: they are information, of the distribution that was observed.
    plain = correction == "none" and coded.coding.absent is None
    return terms if plain else replace(terms, pairs=SoundPairs(terms.pairs, terms.relevance, terms.entropy))


def _sparse_counter(table: SparseCodedTable, correction: str, dtype: np.dtype, n_jobs: int | None) -> SparseCounter:
    from certselect.information.kernels.sparse import SparseCounter

    if correction == "shrinkage":
        raise InvalidInput(
            f"a sparse matrix with {keyword('correction', 'shrinkage')}",
            "another correction: shrinkage looks at every cell of every pair",
            f"Use {keyword('correction', 'miller_madow')}, or pass X.toarray().",
        )
    weights, logs = counting_units(table.weights, table.n_samples, correction)
    return SparseCounter(table, logs, dtype, n_jobs, weights)
