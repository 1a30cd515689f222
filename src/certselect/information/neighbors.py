"""The nearest-neighbour estimator: mutual information of numbers as they are, without bins.

Around every row, the distance rho to its k-th nearest other row in all columns of a term
(the largest difference in any column) says how dense rows are there; counting the rows
within rho in the margins alone says how dense they would be without dependence. With
psi the digamma function, < > the mean over the N rows and n the count in some columns:

    I(X;Y)   = psi(N) + < psi(n_xy) - psi(n_x) - psi(n_y) >
    I(X,Y;C) = psi(N) + < psi(n_xyc) - psi(n_xy) - psi(n_c) >

n is the larger of two counts: the rows nearer than rho, the row itself included, and the
other rows no farther than rho. Where no distances tie, n_xy is k and the first formula is
that of Kraskov, Stoegbauer and Grassberger (2004) for two numbers and of Ross (2014) for a
number and labels. Where they tie, as between integers or among many zeros, k grows to all that
tie, as in Gao et al. (2017) and Mesner and Shalizi (2019): on rho = 0, n counts the other rows
with the same values. Distances that differ by less than one part in 10^9 tie.

- The interaction of two features is I(X;C) + I(Y;C) - I(X,Y;C), so that what a pair carries is
  measured in one ball; I(X;Y|C) is I(X;Y) less that. As a
  difference of I(X;Y) and I(X;Y|C), measured in balls of different size whose errors do not
  cancel, the interaction of copies came out far above what either of them carries.
- Numbers are measured in standard deviations of the rows the column has a value in, whichever
  of them a term uses.
- Discrete columns (bools, categories, labels) are equal or infinitely far apart. k is lowered
  where fewer rows than k are at any distance at all; rows on a level of their own are left out
  of a term of a discrete column and a number, as scikit-learn does. In I(X,Y;C) only rows alone
  in their class are; a row with no other at any distance has a ball of infinite size.
- Between discrete columns only there is no distance to choose: n counts the rows on the same
  levels, the row itself included. That is the plug-in value with ln n replaced by psi(n), which
  takes away most of its bias.
- Given labels, a term is measured within each class and averaged over rows; classes of one
  row are left out. For labels and numbers together, information about the labels and, within
  each class, about the numbers are added.
- I(X;X) is finite for numbers here, about ln(N / k).

Weights say how much a row counts: means are weighted, and a density is the weight of the rows near
one, but which rows are near, and how many, does not depend on weights (kernels/neighbor_psi.py
has the formula). Equal weights change nothing. A row that stands in the table several times is one
row of that weight, unless rows are equal by themselves (`repeated_rows`).

More neighbours give less noise and more bias. k = 3, which is usual, is noisy: among features of
little information each, noise decides what is chosen. With the default of 5 the features chosen
of made-up and real tables of 200 to 500 rows predict about as well as those chosen by counting.
Where columns depend on each other strongly and rows are few, too little is found: of the 1.96
nats of two normals correlated 0.99, 1.75 in 100 rows with 5 neighbours, 1.84 with 3, 1.54 with
10; from 300 rows on, less than 0.02 nats are missing.

Redundancy, relevance and I(X,Y;C) below 0, which chance gives, are 0.

References
----------
Kraskov, Stoegbauer, Grassberger: Estimating mutual information. Phys. Rev. E 69, 066138 (2004).
Ross: Mutual information between discrete and continuous data sets. PLoS ONE 9, e87357 (2014).
Gao, Kannan, Oh, Viswanath: Estimating mutual information for discrete-continuous mixtures. NIPS (2017).
Mesner, Shalizi: Conditional mutual information estimation for mixed, discrete and continuous data.
IEEE Trans. Inf. Theory 67, 464 (2021; preprint 2019).
"""

from __future__ import annotations

import math
from functools import cache, cached_property, partial
from numbers import Integral
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from certselect.clock import Stopwatch
from certselect.errors import InvalidInput, keyword
from certselect.information.kernels.neighbor_columns import (
    GroupedColumns,
    group_columns,
    psi_table,
    row_weights,
    standardise,
)
from certselect.information.kernels.weights import whole_weights
from certselect.information.numeric import NumericColumns, numeric_columns
from certselect.information.repeated_rows import merge_repeated_rows
from certselect.information.sound_pairs import SoundPairs
from certselect.information.terms import InformationTerms, PairTerms
from certselect.memory import large_array
from certselect.progress import report
from certselect.settings import Measuring
from certselect.threads import run_parts, thread_count

if TYPE_CHECKING:
    from certselect.table import Table

_ROW_PARTS = 4  # per thread, of one feature's terms with all
_WORTH_A_THREAD = 20_000  # samples x features below which a second thread costs more than it brings


class NeighborPairs(PairTerms):
    """Pair terms by nearest neighbours, each measured when asked for."""

    def __init__(self, table: Table, columns: NumericColumns, k: int, dtype: np.dtype, n_jobs: int | None) -> None:
        self._n, self._k, self._dtype = table.n_features, k, dtype
        self._threads = thread_count(n_jobs)
        self._psi, self._per_nat = psi_table(table.n_samples, table.weights)
        self._weights = None if table.weights is None else row_weights(table.weights, self._per_nat)
        self._labels = table.target
        self._n_classes = len(table.classes)
        self._n_targets = table.target_numbers.shape[1]
        # Behind the features stand the labels and the numbers of the target, columns like others.
        self._values = np.concatenate([columns.values, table.target[None], table.target_numbers.T])
        self._constant = columns.constant
        self._discrete = np.concatenate([columns.discrete, [True], np.zeros(self._n_targets, dtype=bool)])
        standardise(self._values, ~self._discrete, columns.complete)
        highest = np.fmax.reduce(self._values, axis=1, initial=0.0)
        self._levels = np.where(self._discrete, highest, 0.0).astype(np.int64) + 1

    @cached_property
    def entropy(self) -> np.ndarray:
        """I(Xi;Xi)."""
        kernel = partial(_load_kernels().pairs.sum_alone, self._whole, self._discrete)
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
            relevance += self._of_all("relevance", partial(_load_kernels().joint.sum_with_target, *self._by_target))
        return np.maximum(relevance, 0.0)

    @property
    def levels(self) -> np.ndarray:
        """How many levels each discrete feature has, 0 for numbers."""
        return np.where(self._discrete, self._levels, 0)[: self._n]

    def measured(self, kinds: tuple[str, ...], features: np.ndarray | None = None) -> tuple[np.ndarray, ...]:
        return tuple(self._all(kind) if features is None else self._some(kind, features) for kind in kinds)

    def _some(self, kind: str, features: np.ndarray) -> np.ndarray:
        """Redundancy or interaction of some features with all, (len(features), n)."""
        self._prepare(kind)
        out = np.empty((len(features), self._n), dtype=self._dtype)

        def measure(row: int, rights: np.ndarray) -> None:
            out[row, rights] = self._terms(kind, int(features[row]), rights)

        pieces = np.array_split(np.arange(self._n), self._row_parts())
        parts = [partial(measure, row, rights) for row in range(len(features)) for rights in pieces]
        run_parts("pairs", parts, self._threads)
        return out

    def _all(self, kind: str) -> np.ndarray:
        """Redundancy or interaction of all pairs, (n, n)."""
        self._prepare(kind)
        out = large_array((self._n, self._n), self._dtype)

        def measure(left: int) -> None:
            out[left, left:] = out[left:, left] = self._terms(kind, left, np.arange(left, self._n))

        run_parts("pairs", [partial(measure, left) for left in range(self._n)], self._threads)
        return out

    def _prepare(self, kind: str) -> None:
        """Sort what terms of a kind need before threads ask for it."""
        _ = self.entropy, self.relevance
        if kind == "interaction":
            _ = self._by_class
            _ = self._by_target if self._n_targets else None

    def _terms(self, kind: str, left: int, rights: np.ndarray) -> np.ndarray:
        """Redundancy or interaction of one feature with some."""
        if kind == "redundancy":
            shared, _ = self._measure(self._pair_kernel(self._whole, left), rights)
            return np.where(rights == left, self.entropy[left], np.maximum(shared, 0.0))
        joint, measured = self._joint_relevance(left, rights)
        interaction = self.relevance[left] + self.relevance[rights] - np.maximum(joint, 0.0)
        # Nothing is shared with a constant, nor seen of columns that no row has both of.
        interaction[~measured | self._constant[left] | self._constant[rights]] = 0.0
        return np.where(rights == left, self.relevance[left], interaction)

    def _joint_relevance(self, left: int, rights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The information one feature and each of some together carry about the target, and of which there are rows."""
        kernels = _load_kernels().joint
        joint, measured = np.zeros(len(rights)), np.zeros(len(rights), dtype=bool)
        if self._n_classes > 1:
            columns = (self._whole, self._by_class, self._discrete, self._levels, self._n, left)
            part, used = self._measure(partial(kernels.sum_joint_with_labels, *columns), rights)
            joint, measured = part, used > 0
        if self._n_targets:
            columns = (*self._by_target, self._discrete, left)
            part, used = self._measure(partial(kernels.sum_joint_with_target, *columns), rights)
            joint, measured = joint + part, measured | (used > 0)
        return joint, measured

    def _pair_kernel(self, rows: GroupedColumns, left: int) -> partial[None]:
        return partial(_load_kernels().pairs.sum_pairs, rows, self._discrete, self._levels, left)

    def _of_all(self, stage: str, kernel: partial[None]) -> np.ndarray:
        """One number for every feature, in parts."""
        out = np.empty(self._n)

        def measure(some: np.ndarray) -> None:
            out[some], _ = self._measure(kernel, some)

        pieces = np.array_split(np.arange(self._n), self._row_parts())
        run_parts(stage, [partial(measure, some) for some in pieces], self._threads)
        return out

    def _measure(self, kernel: partial[None], columns: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Call a kernel for some columns: nats from its sums of psi, 0 where no row is left, and the rows' weights."""
        sums, used = np.zeros(len(columns), dtype=np.int64), np.zeros(len(columns), dtype=np.int64)
        kernel(columns, self._k, self._psi, sums, used)
        # Each row was weighed against the heaviest.
        rows = np.maximum(used, 1) / (1 if self._weights is None else self._weights.largest)
        return sums / self._per_nat / rows, used

    def _row_parts(self) -> int:
        if self._threads == 1 or self._values.size < _WORTH_A_THREAD:
            return 1
        return min(self._n, _ROW_PARTS * self._threads)

    @cached_property
    def _whole(self) -> GroupedColumns:
        return self._grouped(self._values, np.array([0, len(self._labels)]), slice(None))

    @cached_property
    def _by_class(self) -> GroupedColumns:
        if self._n_classes == 1:
            return self._whole
        rows = np.argsort(self._labels, kind="stable")
        return self._grouped(self._values.take(rows, axis=1), self._class_at(), rows)

    @cached_property
    def _by_target(self) -> tuple[GroupedColumns, np.ndarray]:
        """The features class by class and by the first target number, and the target numbers."""
        rows = np.lexsort((self._values[self._n + 1], self._labels))
        values = self._values.take(rows, axis=1)
        values[self._discrete] *= _far_apart()
        return self._grouped(values[: self._n], self._class_at(), rows), values[self._n + 1 :]

    def _grouped(self, values: np.ndarray, group_at: np.ndarray, rows: np.ndarray | slice) -> GroupedColumns:
        """Columns whose rows stand in groups, `rows` being where they came from."""
        return group_columns(values, group_at, None if self._weights is None else self._weights.of(rows))

    def _class_at(self) -> np.ndarray:
        sizes = np.bincount(self._labels, minlength=self._n_classes)
        return np.concatenate([[0], np.cumsum(sizes)])


class _Kernels(NamedTuple):
    pairs: Any
    joint: Any


@cache
def _load_kernels() -> _Kernels:
    """Import the compiled kernels, and report to a listener if they have to be compiled first.

    Kept here and not by those who use them, who can be pickled so.
    """
    from certselect.information.kernels import neighbor_joint, neighbor_pairs

    compiled = Path(str(neighbor_pairs.sum_pairs.stats.cache_path))
    if not any(compiled.glob("neighbor_pairs.sum_pairs*.nbi")):
        report("compiling the kernels (once after installation)", 0, 1)
    return _Kernels(neighbor_pairs, neighbor_joint)


def _far_apart() -> float:
    from certselect.information.kernels.neighbor_near import FAR

    return FAR


def neighbor_terms(
    table: Table, *, n_neighbors: int = Measuring.n_neighbors, dtype: np.dtype, n_jobs: int | None
) -> InformationTerms:
    """Information terms of a table of numbers without cutting them into bins, by nearest neighbours.

    The docstring of this module describes what is estimated, and from which counts.

    Parameters
    ----------
    table : Table
        Dense; missing values with missing="pairwise" only, where each term is measured on the
        rows that have what it is about. Weights, whole or not, say how much a row counts.
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
    watch = Stopwatch()
    n_rows = table.n_samples
    if isinstance(n_neighbors, bool) or not isinstance(n_neighbors, Integral):
        raise InvalidInput(keyword("n_neighbors", n_neighbors), "a whole number", "Leave it out for its default.")
    if not 1 <= n_neighbors < table.n_samples:
        raise InvalidInput(
            f"{keyword('n_neighbors', n_neighbors)} for {table.n_samples} rows",
            f"1 to {table.n_samples - 1}",
            "A row has as many neighbours as there are other rows.",
        )
    table = merge_repeated_rows(table)
    n_neighbors = min(n_neighbors, table.n_samples - 1)
    columns = numeric_columns(table)
    pairs = NeighborPairs(table, columns, int(n_neighbors), dtype, n_jobs)
    target_entropy = float("nan")
    if table.task == "classification":
        weights = None if table.weights is None else whole_weights(table.weights)[0]
        counts = np.bincount(table.target, weights=weights)  # whole numbers: the order of rows does not matter
        shares = counts / counts.sum()
        target_entropy = math.fsum(-shares * np.log(shares))  # rounded once: nor does that of classes
    return InformationTerms(
        relevance=pairs.relevance,
        entropy=pairs.entropy,
        target_entropy=target_entropy,
        n_samples=n_rows,
        feature_names=table.feature_names,
        levels=pairs.levels,
        constant=columns.constant,
        pairs=SoundPairs(pairs, pairs.relevance, pairs.entropy),
        seconds={"relevance": watch.seconds},
    )
