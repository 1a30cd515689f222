"""The Gaussian-copula estimator: mutual information of numbers from their ranks, in closed form."""

from __future__ import annotations

import copy
import time
from collections.abc import Callable
from dataclasses import replace
from functools import cached_property, partial

import numpy as np

from certselect.coding import CodedTable
from certselect.coding.tiles import slices
from certselect.information.chance import ChanceMoments
from certselect.information.gaussian_information import (
    ClassMean,
    entropy_or_nothing,
    known_chance,
    known_information,
    label_information,
    pair_information,
    shared_information,
    shown,
)
from certselect.information.normal_scores import FixedPoint, fixed_point, normal_scores
from certselect.information.numeric import NumericColumns, numeric_columns
from certselect.information.score_moments import CELLS_AT_ONCE, ScoredRows, Side
from certselect.information.sound_pairs import SoundPairs
from certselect.information.terms import InformationTerms, PairTerms
from certselect.information.tied_columns import (
    MOST_TIED,
    MOST_TIED_WITH_NUMBERS,
    CountedBesideRanked,
    code_by_ranks,
    tied_numbers_as_labels,
)
from certselect.memory import large_array
from certselect.table import Table
from certselect.threads import one_blas_thread, run_parts, thread_count

# Columns on a side: pairs of so many stay in cache, and products of fewer are slow.
_LARGEST_TILE, _SMALLEST_TILE = 256, 32
_FEWEST = 3  # rows of a class that can show a dependence
_RANKED_AT_ONCE = 1 << 16  # cells, for a thread: what sorting needs stays in cache


def copula_terms(table: Table, *, dtype: np.dtype, n_jobs: int | None) -> InformationTerms:
    """Information terms of a table of numbers, without cutting them into bins.

    Every column is replaced by the normal quantiles of its ranks, so only the order of values
    matters; terms are those of normal distributions with the correlations of these scores,
    minus what chance alone adds [1]_. That is exact for monotone functions of jointly normal
    variables, too little where columns depend on each other in another way, and blind to
    dependence that is neither rising nor falling.

    Columns with many equal values, which have no order, are coded into levels and counted, and so are
    pairs one of whose columns is such: see `tied_columns`. Where fewer are equal, they count as
    all the ranks they fill.

    With labels C and target numbers Y, relevance is I(X;C) + I(X;Y|C), the second an average over
    classes, and interaction likewise I(Xi;Xj;C) + I(Xi;Xj;Y|C). N samples distinguish no more than
    ln N nats: that is the term of a column with itself or a copy, and no other is larger.

    Parameters
    ----------
    table : Table
        Of integers, bools and numbers.
    dtype : dtype
        Of the pair terms, float32 or float64.
    n_jobs : int or None
        Threads; all cores if None. The result does not depend on it.

    References
    ----------
    .. [1] Ince, Giordano, Kayser, Rousselet, Gross and Schyns (2017), "A statistical framework for
       neuroimaging data analysis based on mutual information estimated via a Gaussian copula",
       Human Brain Mapping 38, 1541-1573.
    """
    started = time.perf_counter()
    columns = numeric_columns(table)
    fixed = fixed_point(table.weights, table.n_samples)
    with_labels = tied_numbers_as_labels(table, fixed)
    every = CopulaPairs(with_labels, columns, fixed, dtype, thread_count(n_jobs))
    ranked = every.tied <= (MOST_TIED if len(with_labels.classes) > 1 else MOST_TIED_WITH_NUMBERS)
    levels = np.zeros(table.n_features, dtype=np.int64)
    if ranked.all():
        pairs = every
        relevance, entropy = every.single_terms()
        chance = every.chance()
    else:
        ranks = every.of_columns(np.flatnonzero(ranked)) if ranked.any() else None
        pairs = CountedBesideRanked(every.coded(with_labels, ranked), ranked, ranks, fixed, dtype, n_jobs)
        relevance, entropy, levels = pairs.relevance.copy(), pairs.entropy.copy(), pairs.levels
        chance = pairs.chance
        if ranks is not None:
            relevance[ranked], entropy[ranked] = ranks.single_terms()
            chance = chance.replaced(np.flatnonzero(ranked), ranks.chance())
    return InformationTerms(
        relevance=relevance,
        entropy=entropy,
        target_entropy=np.nan if table.task == "regression" else every.class_entropy(),
        n_samples=table.n_samples,
        feature_names=table.feature_names,
        levels=levels,
        constant=columns.constant,
        pairs=SoundPairs(pairs, relevance, entropy),
        less_chance=chance,
        seconds={"relevance": time.perf_counter() - started},
    )


class CopulaPairs(PairTerms):
    """Pair terms of normal scores, by the row or all at once.

    `tied` says how tied each column is, from 0 to 1.
    """

    def __init__(
        self, table: Table, columns: NumericColumns, fixed: FixedPoint, dtype: np.dtype, n_threads: int
    ) -> None:
        self._dtype = dtype
        self._threads = n_threads
        self._fixed = fixed
        # Rows of a class side by side, so that a class is a slice.
        order = self._order = np.argsort(table.target, kind="stable")
        self._values = columns.values if (np.diff(order) == 1).all() else columns.values[:, order]
        self._present = None if columns.complete else ~np.isnan(self._values)
        self._weights = None if self._fixed.weights is None else self._fixed.weights[order]
        self._numbers = table.target_numbers[order].T
        self._starts = np.searchsorted(table.target[order], np.arange(len(table.classes)))
        self.tied, self._mode = np.empty(len(self._values)), np.empty((len(self._values), 3))
        self._spread = np.zeros((len(self._values), len(self._starts)))  # of ties, added up by class
        self._whole = self._scored(slice(0, table.n_samples), whole=True)
        self._class_mean = ClassMean(self._whole.known_sums[0][0] / self._fixed.per_sample)

    def of_columns(self, places: np.ndarray) -> CopulaPairs:
        """The same of some columns alone."""
        some = copy.copy(self)
        for derived in ("_label_estimates", "_label_terms", "_number_estimates", "_number_terms", "_classes"):
            some.__dict__.pop(derived, None)
        some._values, some._spread = self._values[places], self._spread[places]
        some.tied, some._mode = self.tied[places], self._mode[places]
        some._present = None if self._present is None else self._present[places]
        some._whole = replace(self._whole, scores=self._whole.scores[places], present=some._present)
        return some

    def coded(self, table: Table, ranked: np.ndarray) -> CodedTable:
        """All columns in bins, to be counted, as suits those that are ranked and those that are not."""
        return code_by_ranks(table, self._order, self._whole, ranked, self._mode, self._fixed)

    def measured(self, kinds: tuple[str, ...], features: np.ndarray | None = None) -> tuple[np.ndarray, ...]:
        return tuple(self._all(kind) if features is None else self._some(kind, features) for kind in kinds)

    def overlap(self, features: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray | None]:
        return self.measured(("overlap",), features)[0], None

    def _some(self, kind: str, features: np.ndarray) -> np.ndarray:
        """Pair terms of some features with all, (len(features), n)."""
        n, m = self._values.shape
        out = np.empty((len(features), n), dtype=self._dtype)

        def fill(some: slice) -> None:
            out[:, some] = self._tile(kind, features, some)

        self._run_tiles(
            kind, [partial(fill, some) for some in slices(n, max(1, CELLS_AT_ONCE // max(m, len(features))))]
        )
        return out

    def _all(self, kind: str) -> np.ndarray:
        """All pair terms, (n, n)."""
        n, m = self._values.shape
        out = large_array((n, n), self._dtype)

        def fill(left: slice, right: slice) -> None:
            tile = self._tile(kind, left, right)
            out[left, right] = tile
            out[right, left] = tile.T

        side = min(CELLS_AT_ONCE // m, n // 4)  # threads want several tiles of a small table
        sides = list(slices(n, min(_LARGEST_TILE, max(_SMALLEST_TILE, side))))
        self._run_tiles(kind, [partial(fill, one, other) for k, one in enumerate(sides) for other in sides[k:]])
        return out

    def single_terms(self) -> tuple[np.ndarray, np.ndarray]:
        """Relevance and entropy of every column."""
        per_sample = self._fixed.per_sample
        relevance, entropy = self._label_terms + self._mean_of_classes(self._number_terms), np.empty(len(self._values))
        self._prepare()
        for some in self._some_columns():
            known = self._whole.own_known_sums(some)
            entropy[some] = entropy_or_nothing(_part(self._whole.sides, some), known, per_sample)
        return relevance, entropy

    def _mean_of_classes(self, terms: list[np.ndarray]) -> np.ndarray:
        """The average over classes of what the target's numbers add in each, (n,)."""
        mean = np.zeros(len(self._values))
        for some in self._some_columns() if len(self._numbers) else ():
            added = 0.0
            for sample, of_class in zip(self._classes, terms, strict=True):
                size = sample.own_known_sums(some)[0][0] / self._fixed.per_sample
                added = added + self._class_mean.weigh(size, of_class[some])
            rows = self._whole.own_known_sums(some)[0][0] / self._fixed.per_sample
            mean[some] = self._class_mean.mean(added, rows)
        return mean

    def chance(self) -> ChanceMoments:
        """What chance gives the relevance of every column."""
        beyond = self._label_estimates + self._mean_of_classes(self._number_estimates)
        expected, freedom = np.zeros((2, len(self._values)))
        per_sample, n_classes = self._fixed.per_sample, len(self._starts)
        for some in self._some_columns():
            rows = self._whole.own_known_sums(some)[0][0] / per_sample
            free = 2.0 * (n_classes - 1)  # of a mean and a variance for each class
            mean = free / (2.0 * np.maximum(rows, 1.0))
            for sample in self._classes if len(self._numbers) else ():
                own = sample.own_known_sums(some)
                of_class, known = known_chance(own, per_sample)
                mean = mean + of_class * (own[0][0] / per_sample) / np.maximum(rows, 1.0)
                free = free + known
            expected[some], freedom[some] = mean, free
        return ChanceMoments(beyond, expected, freedom)

    def class_entropy(self) -> float:
        """H(C)."""
        sizes = self._class_sums(np.ones((1, self._values.shape[1]))) / self._fixed.per_sample
        total = sizes.sum()
        added = self._class_mean.weigh(sizes, np.log(total / np.maximum(sizes, 1e-300))).sum()
        return float(self._class_mean.mean(added, total))

    @cached_property
    def _label_terms(self) -> np.ndarray:
        """I(X;C) of every column."""
        return np.maximum(self._label_estimates, 0)

    @cached_property
    def _label_estimates(self) -> np.ndarray:
        """The same, below 0 where it is less than by chance."""
        terms = np.zeros(len(self._values))

        def fill(some: slice) -> None:
            scores = self._whole.scores[some].astype(np.float64)
            present = np.ones((1, scores.shape[1])) if self._present is None else self._present[some].astype(np.float64)
            sizes, sums, squares = (self._class_sums(cells) for cells in (present, scores, scores * scores))
            squares += self._spread[some]
            per_sample = self._fixed.per_sample
            terms[some] = label_information(
                sizes / per_sample, sums / per_sample, squares / per_sample, self._class_mean
            )

        if len(self._starts) > 1:
            run_parts("relevance", [partial(fill, some) for some in self._some_columns()], self._threads)
        return terms

    @cached_property
    def _number_terms(self) -> list[np.ndarray]:
        """I(X;Y|c) of every column in each class."""
        return [np.maximum(estimates, 0) for estimates in self._number_estimates]

    @cached_property
    def _number_estimates(self) -> list[np.ndarray]:
        """The same, below 0 where it is less than by chance."""
        out = [np.zeros(len(self._values)) for _ in self._classes]

        def fill(some: slice) -> None:
            for sample, terms in zip(self._classes, out, strict=True):
                own = sample.own_known_sums(some)
                terms[some] = known_information(_part(sample.sides, some), own, self._fixed.per_sample)

        for sample in self._classes:
            _ = sample.sides, sample.known_sums
        if len(self._numbers):
            with one_blas_thread(True):
                run_parts("relevance", [partial(fill, some) for some in self._some_columns()], self._threads)
        return out

    def _some_columns(self) -> list[slice]:
        n, m = self._values.shape
        return list(slices(n, max(1, CELLS_AT_ONCE // m)))

    def _class_sums(self, cells: np.ndarray) -> np.ndarray:
        """Sums over each class's rows, (p, classes)."""
        return np.add.reduceat(self._whole.weighted(cells), self._starts, axis=1)

    def _run_tiles(self, kind: str, tiles: list[Callable[[], None]]) -> None:
        self._prepare()
        if kind == "interaction":
            _ = self._label_terms, self._number_terms
        with one_blas_thread(True):
            run_parts("pairs", tiles, self._threads)

    def _prepare(self) -> None:
        """Make what threads share."""
        _ = self._whole.sides, self._whole.known_sums

    def _tile(self, kind: str, left: slice | np.ndarray, right: slice) -> np.ndarray:
        """Terms of a kind of some features with some."""
        if kind == "interaction":
            return self._interaction(left, right)
        if kind == "overlap":
            return self._overlap(left, right)
        sums = self._whole.pair_sums(left, right, 1)
        return shown(pair_information(sums, 1, self._fixed.per_sample), sums.known[0][0] / self._fixed.per_sample)

    def _interaction(self, left: slice | np.ndarray, right: slice) -> np.ndarray:
        """I(Xi;Xj;C) + I(Xi;Xj;Y|C) of some features with some."""
        n_known, per_sample, labelled = 1 + len(self._numbers), self._fixed.per_sample, len(self._starts) > 1
        whole = self._whole.pair_sums(left, right, 1 if labelled else n_known)
        alone = pair_information(whole, 1, per_sample)
        within = by_numbers = np.zeros_like(alone)
        for sample, terms in zip(self._classes, self._number_terms, strict=True):
            sums = sample.pair_sums(left, right, n_known) if labelled else whole
            own = pair_information(sums, 1, per_sample) if labelled else alone
            size = sums.known[0][0] / per_sample
            within = within + self._class_mean.weigh(size, np.minimum(own, np.log(np.maximum(size, 1))))
            if n_known > 1:
                given = pair_information(sums, n_known, per_sample)
                shared = shared_information(own, given, terms[left][:, None], terms[right], size)
                by_numbers = by_numbers + self._class_mean.weigh(size, shared)
        rows = whole.known[0][0] / per_sample
        terms = self._class_mean.mean(by_numbers, rows)
        if labelled:
            alone = np.minimum(alone, np.log(np.maximum(rows, 1)))
            labels = self._label_terms
            within = self._class_mean.mean(within, rows)
            terms = terms + shared_information(alone, within, labels[left][:, None], labels[right], rows)
        return terms

    def _overlap(self, left: slice | np.ndarray, right: slice) -> np.ndarray:
        """I(Xi;Xj) - I(Xi;Xj|C), each not below 0; with labels and numbers, that of the labels plus that of the rest."""
        n_known, per_sample, labelled = 1 + len(self._numbers), self._fixed.per_sample, len(self._starts) > 1
        whole = self._whole.pair_sums(left, right, 1 if labelled else n_known)
        rows = whole.known[0][0] / per_sample
        alone = shown(pair_information(whole, 1, per_sample), rows)
        within = given_all = np.zeros_like(alone)
        for sample in self._classes:
            sums = sample.pair_sums(left, right, n_known) if labelled else whole
            size = sums.known[0][0] / per_sample
            if labelled:
                within = within + self._class_mean.weigh(size, shown(pair_information(sums, 1, per_sample), size))
            if n_known > 1:
                given = shown(pair_information(sums, n_known, per_sample), size)
                given_all = given_all + self._class_mean.weigh(size, given)
        # I(Xi;Xj) - I(Xi;Xj|labels) + I(Xi;Xj|labels) - I(Xi;Xj|labels and numbers)
        return alone - self._class_mean.mean(given_all if n_known > 1 else within, rows)

    @cached_property
    def _classes(self) -> list[ScoredRows]:
        """The rows of each class that has enough of them, ranked within it."""
        if len(self._starts) == 1:
            return [self._whole]
        weights = self._class_sums(np.ones((1, self._values.shape[1])))[0] / self._fixed.per_sample
        ends = np.append(self._starts[1:], self._values.shape[1])
        return [
            self._scored(slice(start, end))
            for start, end, weight in zip(self._starts, ends, weights, strict=True)
            if weight >= _FEWEST
        ]

    def _scored(self, rows: slice, *, whole: bool = False) -> ScoredRows:
        """Every column as scores over some rows; over the whole, what is to be known of ties is kept."""
        values = self._values[:, rows]
        weights = None if self._weights is None else self._weights[rows]
        scores = np.empty(values.shape, dtype=np.float32)
        labelled = len(self._starts) > 1

        def fill(some: slice) -> None:
            ranks = normal_scores(values[some], self._fixed, weights, with_spread=whole and labelled)
            scores[some] = ranks.scores
            if whole:
                self.tied[some], self._mode[some] = ranks.tied, ranks.mode
            if ranks.spread is not None:
                heavy = ranks.spread if weights is None else ranks.spread * weights
                self._spread[some] = np.add.reduceat(heavy, self._starts, axis=1)

        n, m = values.shape
        run_parts("ranks", [partial(fill, some) for some in slices(n, max(1, _RANKED_AT_ONCE // m))], self._threads)
        known = np.ones((1 + len(self._numbers), m))
        if len(self._numbers):
            known[1:] = normal_scores(self._numbers[:, rows], self._fixed, weights).scores
        present = None if self._present is None else self._present[:, rows]
        return ScoredRows(scores, present, known, weights)


def _part(sides: Side, some: slice) -> Side:
    return Side(sides.square[some], [sums[some] for sums in sides.known])
