"""The nearest-neighbour estimator: mutual information of numbers as they are, without bins.

Around every row, the distance rho to its k-th nearest other row in all columns of a term
(the largest difference in any column) says how dense rows are there; counting the rows
within rho in the margins alone says how dense they would be without dependence. With
psi the digamma function, < > the mean over the N rows and n the count in some columns:

    I(X;Y)   = psi(N) + < psi(n_xy) - psi(n_x) - psi(n_y) >
    I(X;Y|Z) = < psi(n_xyz) - psi(n_xz) - psi(n_yz) + psi(n_z) >

n is the larger of two counts: the rows nearer than rho, the row itself included, and the
other rows no farther than rho. Where no distances tie, n_xy is k and the first formula is
that of Kraskov, Stoegbauer and Grassberger (2004) for two numbers and of Ross (2014) for a
number and labels; the second is that of Frenzel and Pompe (2007). Where they tie, as between
integers or among many zeros, k grows to all that tie, as in Gao et al. (2017) and Mesner and
Shalizi (2019): on rho = 0, n counts the other rows with the same values. Distances that
differ by less than one part in 10^9 tie.

- Numbers are measured in standard deviations of the rows the column has a value in, whichever
  of them a term uses.
- Discrete columns (bools, categories, labels) are equal or infinitely far apart. k is lowered
  where fewer rows than k are at any distance at all; rows on a level of their own are left out
  of a term of a discrete column and a number, as scikit-learn does.
- Between two discrete columns there is no distance to choose: n counts the rows on the same
  levels, the row itself included. That is the plug-in value with ln n replaced by psi(n), which
  takes away most of its bias.
- Given labels, a term is measured within each class and averaged over rows; classes of one
  row are left out. Given labels and numbers, Z is the numbers within each class.
- I(X;X) is finite for numbers here, about ln(N / k); I(X;X|C) is I(X;X) - I(X;C).

Values below 0, which chance gives, are 0.

References
----------
Kraskov, Stoegbauer, Grassberger: Estimating mutual information. Phys. Rev. E 69, 066138 (2004).
Frenzel, Pompe: Partial mutual information for coupling analysis of multivariate time series.
Phys. Rev. Lett. 99, 204101 (2007).
Ross: Mutual information between discrete and continuous data sets. PLoS ONE 9, e87357 (2014).
Gao, Kannan, Oh, Viswanath: Estimating mutual information for discrete-continuous mixtures. NIPS (2017).
Mesner, Shalizi: Conditional mutual information estimation for mixed, discrete and continuous data.
IEEE Trans. Inf. Theory 67, 464 (2021; preprint 2019).
"""

from __future__ import annotations

import math
import time
from dataclasses import replace
from functools import cache, cached_property, partial
from numbers import Integral
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from certselect.errors import InvalidInput
from certselect.information.kernels.neighbor_columns import GroupedColumns, group_columns, psi_table, standardise
from certselect.information.numeric import NumericColumns, numeric_columns
from certselect.information.terms import InformationTerms
from certselect.progress import report
from certselect.settings import Measuring
from certselect.threads import run_parts, thread_count

if TYPE_CHECKING:
    from certselect.table import Table

_MOST_REPEATED = 1_000_000  # rows that weights may stand for
_ROW_PARTS = 4  # per thread, of one feature's terms with all
_WORTH_A_THREAD = 20_000  # samples x features below which a second thread costs more than it brings


class NeighborPairs:
    """Pair terms by nearest neighbours, each measured when asked for."""

    def __init__(self, table: Table, columns: NumericColumns, k: int, dtype: np.dtype, n_jobs: int | None) -> None:
        self._n, self._k, self._dtype = table.n_features, k, dtype
        self._threads = thread_count(n_jobs)
        self._psi, self._unit = psi_table(table.n_samples)
        self._labels = table.target
        self._n_classes = len(table.classes)
        self._n_targets = table.target_numbers.shape[1]
        # Behind the features stand the labels and the numbers of the target, columns like others.
        self._values = np.concatenate([columns.values, table.target[None], table.target_numbers.T])
        self._discrete = np.concatenate([columns.discrete, [True], np.zeros(self._n_targets, dtype=bool)])
        standardise(self._values, ~self._discrete, columns.complete)
        highest = np.fmax.reduce(self._values, axis=1, initial=0.0)
        self._levels = np.where(self._discrete, highest, 0.0).astype(np.int64) + 1

    @cached_property
    def entropy(self) -> np.ndarray:
        """I(Xi;Xi)."""
        kernel = partial(_load_kernels().pairs.sum_alone, self._whole.values, self._whole.order, self._discrete)
        return self._of_all("features", kernel)

    @cached_property
    def relevance(self) -> np.ndarray:
        """The information of each feature about the labels, and within each class about the target's numbers."""
        relevance = np.zeros(self._n)
        if self._n_classes > 1:
            relevance += self._of_all("relevance", self._pair_kernel(self._whole, self._n))
        if self._n_targets == 1:
            relevance += self._of_all("relevance", self._pair_kernel(self._by_class, self._n + 1))
        elif self._n_targets > 1:
            relevance += self._of_all("relevance", partial(_load_kernels().targets.sum_with_target, *self._by_target))
        return np.maximum(relevance, 0.0)

    @property
    def levels(self) -> np.ndarray:
        """How many levels each discrete feature has, 0 for numbers."""
        return np.where(self._discrete, self._levels, 0)[: self._n]

    def rows(self, kind: str, features: np.ndarray) -> np.ndarray:
        """Pair terms of some features with all, (len(features), n)."""
        self._prepare(kind)
        out = np.empty((len(features), self._n), dtype=self._dtype)

        def measure(row: int, rights: np.ndarray) -> None:
            out[row, rights] = self._terms(kind, int(features[row]), rights)

        pieces = np.array_split(np.arange(self._n), self._row_parts())
        parts = [partial(measure, row, rights) for row in range(len(features)) for rights in pieces]
        run_parts("pairs", parts, self._threads)
        return out

    def matrix(self, kind: str) -> np.ndarray:
        """All pair terms of one kind, (n, n)."""
        return self._matrices(kind)[0]

    def both(self) -> tuple[np.ndarray, np.ndarray]:
        """Redundancy and conditional redundancy of all pairs."""
        redundancy, conditional = self._matrices("redundancy", "conditional_redundancy")
        return redundancy, conditional

    def _matrices(self, *kinds: str) -> list[np.ndarray]:
        for kind in kinds:
            self._prepare(kind)
        out = [np.empty((self._n, self._n), dtype=self._dtype) for _ in kinds]

        def measure(left: int) -> None:
            for kind, matrix in zip(kinds, out, strict=True):
                matrix[left, left:] = matrix[left:, left] = self._terms(kind, left, np.arange(left, self._n))

        run_parts("pairs", [partial(measure, left) for left in range(self._n)], self._threads)
        return out

    def _prepare(self, kind: str) -> None:
        """Sort what terms of a kind need before threads ask for it."""
        _ = self.entropy, self.relevance
        if kind != "redundancy":
            _ = self._by_target if self._n_targets else self._by_class

    def _terms(self, kind: str, left: int, rights: np.ndarray) -> np.ndarray:
        """Pair terms of one feature with some."""
        if kind == "interaction":
            return self._terms("redundancy", left, rights) - self._terms("conditional_redundancy", left, rights)
        if kind == "redundancy":
            kernel, own = self._pair_kernel(self._whole, left), self.entropy[left]
        else:
            own = max(self.entropy[left] - self.relevance[left], 0.0)
            if self._n_targets:
                kernel = partial(_load_kernels().targets.sum_given_target, *self._by_target, left)
            else:
                kernel = self._pair_kernel(self._by_class, left)
        return np.where(rights == left, own, np.maximum(self._measure(kernel, rights), 0.0))

    def _pair_kernel(self, rows: GroupedColumns, left: int) -> partial[None]:
        return partial(
            _load_kernels().pairs.sum_pairs, rows.values, rows.order, rows.group_at, self._discrete, self._levels, left
        )

    def _of_all(self, stage: str, kernel: partial[None]) -> np.ndarray:
        """One number for every feature, in parts."""
        out = np.empty(self._n)

        def measure(some: np.ndarray) -> None:
            out[some] = self._measure(kernel, some)

        pieces = np.array_split(np.arange(self._n), self._row_parts())
        run_parts(stage, [partial(measure, some) for some in pieces], self._threads)
        return out

    def _measure(self, kernel: partial[None], columns: np.ndarray) -> np.ndarray:
        """Call a kernel for some columns and turn its sums of psi into nats; 0 where no row is left."""
        sums, used = np.zeros(len(columns), dtype=np.int64), np.zeros(len(columns), dtype=np.int64)
        kernel(columns, self._k, self._psi, sums, used)
        return sums * self._unit / np.maximum(used, 1)

    def _row_parts(self) -> int:
        if self._threads == 1 or self._values.size < _WORTH_A_THREAD:
            return 1
        return min(self._n, _ROW_PARTS * self._threads)

    @cached_property
    def _whole(self) -> GroupedColumns:
        return group_columns(self._values, np.array([0, len(self._labels)]))

    @cached_property
    def _by_class(self) -> GroupedColumns:
        if self._n_classes == 1:
            return self._whole
        rows = np.argsort(self._labels, kind="stable")
        return group_columns(self._values.take(rows, axis=1), self._class_at())

    @cached_property
    def _by_target(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Columns and target numbers by class and first target number, and where classes begin."""
        rows = np.lexsort((self._values[self._n + 1], self._labels))
        values = self._values.take(rows, axis=1)
        values[self._discrete] *= _far_apart()
        return values[: self._n], values[self._n + 1 :], self._class_at()

    def _class_at(self) -> np.ndarray:
        sizes = np.bincount(self._labels, minlength=self._n_classes)
        return np.concatenate([[0], np.cumsum(sizes)])


class _Kernels(NamedTuple):
    pairs: Any
    targets: Any


@cache
def _load_kernels() -> _Kernels:
    """Import the compiled kernels, and report to a listener if they have to be compiled first.

    Kept here and not by those who use them, who can be pickled so.
    """
    from certselect.information.kernels import neighbor_pairs, neighbor_targets

    compiled = Path(str(neighbor_pairs.sum_pairs.stats.cache_path))
    if not any(compiled.glob("neighbor_pairs.sum_pairs*.nbi")):
        report("compiling the kernels (once after installation)", 0, 1)
    return _Kernels(neighbor_pairs, neighbor_targets)


def _far_apart() -> float:
    from certselect.information.kernels.neighbor_counts import FAR

    return FAR


def _with_repeated_rows(table: Table) -> Table:
    """Whole weights as the repeated rows they stand for; no row is a fraction of a neighbour."""
    if table.weights is None:
        return table
    if (table.weights != np.floor(table.weights)).any():
        raise InvalidInput(
            "weights that are not whole numbers, with measure='neighbors'",
            "rows that count once each, or whole numbers of times",
            "Use measure='plugin' or 'gaussian_copula'.",
        )
    if table.weights.sum() > _MOST_REPEATED:
        raise InvalidInput(
            f"weights that stand for {table.weights.sum():.0f} rows, with measure='neighbors'",
            f"at most {_MOST_REPEATED:,} rows, for each is looked at",
            "Use measure='plugin' or 'gaussian_copula', or divide the weights.",
        )
    repeated = np.repeat(np.arange(table.n_samples), table.weights.astype(np.intp))
    return replace(table.rows(repeated), weights=None)


def neighbor_terms(
    table: Table, *, n_neighbors: int = Measuring.n_neighbors, dtype: np.dtype, n_jobs: int | None
) -> InformationTerms:
    """Information terms of a table of numbers without cutting them into bins, by nearest neighbours.

    The docstring of this module describes what is estimated, and from which counts.

    Parameters
    ----------
    table : Table
        Dense; missing values with missing="pairwise" only, where each term is measured on the
        rows that have what it is about. Whole weights repeat rows, and a repeated row is its
        own nearest neighbour: they mean "this was seen so often", not "this matters so much".
    n_neighbors : int
        k: more neighbours give less variance and more bias.
    dtype : dtype
        Of the pair terms.
    n_jobs : int or None
        Threads; the result does not depend on them.

    Returns
    -------
    InformationTerms
        `entropy` is the diagonal of `redundancy`; `target_entropy` is NaN where the target has numbers.
    """
    started = time.perf_counter()
    n_rows, table = table.n_samples, _with_repeated_rows(table)
    if isinstance(n_neighbors, bool) or not isinstance(n_neighbors, Integral):
        raise InvalidInput(f"n_neighbors={n_neighbors!r}", "a whole number", "3 is usual.")
    if not 1 <= n_neighbors < table.n_samples:
        raise InvalidInput(
            f"n_neighbors={n_neighbors} for {table.n_samples} rows",
            f"1 to {table.n_samples - 1}",
            "A row has as many neighbours as there are other rows; 3 is usual.",
        )
    columns = numeric_columns(table, "neighbors")
    pairs = NeighborPairs(table, columns, int(n_neighbors), dtype, n_jobs)
    target_entropy = float("nan")
    if table.task == "classification":
        shares = np.bincount(table.target) / table.n_samples
        target_entropy = math.fsum(-shares * np.log(shares))  # rounded once: the order of classes does not matter
    return InformationTerms(
        relevance=pairs.relevance,
        entropy=pairs.entropy,
        target_entropy=target_entropy,
        n_samples=n_rows,
        feature_names=table.feature_names,
        levels=pairs.levels,
        constant=columns.constant,
        pairs=pairs,
        seconds={"relevance": time.perf_counter() - started},
    )
