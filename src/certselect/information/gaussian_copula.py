"""The Gaussian-copula estimator: mutual information of numbers from their ranks, in closed form."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial

import numpy as np

from certselect.coding.tiles import slices
from certselect.errors import InvalidInput
from certselect.information.gaussian_information import (
    ClassMean,
    entropy_or_nothing,
    known_information,
    label_information,
    pair_information,
)
from certselect.information.normal_scores import fixed_point, normal_scores
from certselect.information.numeric import NumericColumns, numeric_columns
from certselect.information.score_moments import CELLS_AT_ONCE, ScoredRows, Side
from certselect.information.terms import InformationTerms
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

    With labels C and target numbers Y, relevance is I(X;C) + I(X;Y|C) and conditional redundancy
    I(Xi;Xj|Y,C), each an average over classes. N samples distinguish no more than ln N
    nats: that is the term of a column with itself or a copy, and no term is larger.

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
    _refuse_categories(table)
    columns = numeric_columns(table, "gaussian_copula")
    pairs = CopulaPairs(table, columns, dtype, thread_count(n_jobs))
    relevance, entropy = pairs.single_terms()
    return InformationTerms(
        relevance=relevance,
        entropy=entropy,
        target_entropy=np.nan if table.task == "regression" else pairs.class_entropy(),
        n_samples=table.n_samples,
        feature_names=table.feature_names,
        levels=np.zeros(table.n_features, dtype=np.int64),
        constant=columns.constant,
        pairs=pairs,
        seconds={"relevance": time.perf_counter() - started},
    )


class CopulaPairs:
    """Pair terms of normal scores, by the row or all at once."""

    def __init__(self, table: Table, columns: NumericColumns, dtype: np.dtype, n_threads: int) -> None:
        self._dtype = dtype
        self._threads = n_threads
        self._fixed = fixed_point(table.weights, table.n_samples)
        # Rows of a class side by side, so that a class is a slice.
        order = np.argsort(table.target, kind="stable")
        self._values = columns.values if (np.diff(order) == 1).all() else columns.values[:, order]
        self._present = None if columns.complete else ~np.isnan(self._values)
        self._weights = None if self._fixed.weights is None else self._fixed.weights[order]
        self._numbers = table.target_numbers[order].T
        self._starts = np.searchsorted(table.target[order], np.arange(len(table.classes)))
        self._whole = self._scored(slice(0, table.n_samples))
        self._within: list[ScoredRows] | None = None  # by class, once asked for
        self._class_mean = ClassMean(self._whole.known_sums[0][0] / self._fixed.per_sample)

    def rows(self, kind: str, features: np.ndarray) -> np.ndarray:
        """Pair terms of some features with all, (len(features), n)."""
        n, m = self._values.shape
        out = np.empty((len(features), n), dtype=self._dtype)

        def fill(some: slice) -> None:
            out[:, some] = self._tile((kind,), features, some)[0]

        self._run_tiles(
            (kind,), [partial(fill, some) for some in slices(n, max(1, CELLS_AT_ONCE // max(m, len(features))))]
        )
        return out

    def matrix(self, kind: str) -> np.ndarray:
        """All pair terms, (n, n)."""
        return self._all_pairs((kind,))[0]

    def both(self) -> tuple[np.ndarray, np.ndarray]:
        """Redundancy and conditional redundancy of all pairs; from one product if rows have no labels."""
        redundancy, conditional = self._all_pairs(("redundancy", "conditional_redundancy"))
        return redundancy, conditional

    def single_terms(self) -> tuple[np.ndarray, np.ndarray]:
        """Relevance and entropy of every column."""
        n, m = self._values.shape
        relevance, entropy = np.zeros(n), np.empty(n)
        per_sample = self._fixed.per_sample

        def fill(some: slice) -> None:
            known = self._whole.own_known_sums(some)
            entropy[some] = entropy_or_nothing(_part(self._whole.sides, some), known, per_sample)
            if len(self._starts) > 1:
                relevance[some] = self._label_information(some)
            if len(self._numbers):
                added = 0.0
                for sample in self._classes():
                    own = sample.own_known_sums(some)
                    information = known_information(_part(sample.sides, some), own, per_sample)
                    added = added + self._class_mean.weigh(own[0][0] / per_sample, information)
                relevance[some] += self._class_mean.mean(added, known[0][0] / per_sample)

        self._prepare(conditional=len(self._numbers) > 0)
        with one_blas_thread(True):
            run_parts(
                "relevance", [partial(fill, some) for some in slices(n, max(1, CELLS_AT_ONCE // m))], self._threads
            )
        return relevance, entropy

    def class_entropy(self) -> float:
        """H(C)."""
        sizes = self._class_sums(np.ones((1, self._values.shape[1]))) / self._fixed.per_sample
        total = sizes.sum()
        added = self._class_mean.weigh(sizes, np.log(total / np.maximum(sizes, 1e-300))).sum()
        return float(self._class_mean.mean(added, total))

    def _label_information(self, some: slice) -> np.ndarray:
        scores = self._whole.scores[some].astype(np.float64)
        present = np.ones((1, scores.shape[1])) if self._present is None else self._present[some].astype(np.float64)
        per_sample = self._fixed.per_sample
        sizes, sums, squares = (self._class_sums(cells) / per_sample for cells in (present, scores, scores * scores))
        return label_information(sizes, sums, squares, self._class_mean)

    def _class_sums(self, cells: np.ndarray) -> np.ndarray:
        """Sums over each class's rows, (p, classes)."""
        return np.add.reduceat(self._whole.weighted(cells), self._starts, axis=1)

    def _all_pairs(self, kinds: tuple[str, ...]) -> list[np.ndarray]:
        n, m = self._values.shape
        out = [np.empty((n, n), dtype=self._dtype) for _ in kinds]

        def fill(left: slice, right: slice) -> None:
            for matrix, tile in zip(out, self._tile(kinds, left, right), strict=True):
                matrix[left, right] = tile
                matrix[right, left] = tile.T

        side = min(CELLS_AT_ONCE // m, n // 4)  # threads want several tiles of a small table
        sides = list(slices(n, min(_LARGEST_TILE, max(_SMALLEST_TILE, side))))
        self._run_tiles(kinds, [partial(fill, one, other) for k, one in enumerate(sides) for other in sides[k:]])
        return out

    def _run_tiles(self, kinds: tuple[str, ...], tiles: list[Callable[[], None]]) -> None:
        self._prepare(conditional=kinds != ("redundancy",))
        with one_blas_thread(True):
            run_parts("pairs", tiles, self._threads)

    def _tile(self, kinds: tuple[str, ...], left: slice | np.ndarray, right: slice) -> list[np.ndarray]:
        """Terms of each kind of some features with some."""
        terms: dict[str, np.ndarray] = {}
        n_known, per_sample = 1 + len(self._numbers), self._fixed.per_sample
        whole = None
        if kinds != ("conditional_redundancy",):
            whole = self._whole.pair_sums(left, right, 1 if kinds == ("redundancy",) else n_known)
            terms["redundancy"] = pair_information(whole, 1, per_sample)
        if kinds != ("redundancy",):
            added = np.float64(0)
            for sample in self._classes():
                sums = whole if whole is not None and sample is self._whole else sample.pair_sums(left, right, n_known)
                information = pair_information(sums, n_known, per_sample)
                added = added + self._class_mean.weigh(sums.known[0][0] / per_sample, information)
            weight = self._whole.shared_weight(left, right) / per_sample
            terms["conditional_redundancy"] = self._class_mean.mean(added, weight)
        if kinds == ("interaction",):
            terms["interaction"] = terms["redundancy"] - terms["conditional_redundancy"]
        return [terms[kind] for kind in kinds]

    def _prepare(self, conditional: bool) -> None:
        """Make what the threads share."""
        samples = [self._whole, *(self._classes() if conditional else [])]
        for sample in samples:
            _ = sample.sides, sample.known_sums

    def _classes(self) -> list[ScoredRows]:
        """The rows of each class that has enough of them, ranked within it."""
        if self._within is None:
            if len(self._starts) == 1:
                self._within = [self._whole]
            else:
                weights = self._class_sums(np.ones((1, self._values.shape[1])))[0] / self._fixed.per_sample
                ends = np.append(self._starts[1:], self._values.shape[1])
                self._within = [
                    self._scored(slice(start, end))
                    for start, end, weight in zip(self._starts, ends, weights, strict=True)
                    if weight >= _FEWEST
                ]
        return self._within

    def _scored(self, rows: slice) -> ScoredRows:
        """Every column as scores over some rows."""
        values = self._values[:, rows]
        weights = None if self._weights is None else self._weights[rows]
        scores = np.empty(values.shape, dtype=np.float32)

        def fill(some: slice) -> None:
            scores[some] = normal_scores(values[some], self._fixed, weights)

        n, m = values.shape
        run_parts("ranks", [partial(fill, some) for some in slices(n, max(1, _RANKED_AT_ONCE // m))], self._threads)
        known = np.ones((1 + len(self._numbers), m))
        if len(self._numbers):
            known[1:] = normal_scores(self._numbers[:, rows], self._fixed, weights)
        present = None if self._present is None else self._present[:, rows]
        return ScoredRows(scores, present, known, weights)


def _part(sides: Side, some: slice) -> Side:
    return Side(sides.square[some], [sums[some] for sums in sides.known])


def _refuse_categories(table: Table) -> None:
    names = [
        table.feature_names[place] for block in table.blocks if block.kind == "category" for place in block.positions
    ]
    if names:
        shown = ", ".join(map(repr, names[:5])) + (f" and {len(names) - 5} more" if len(names) > 5 else "")
        raise InvalidInput(
            f"categories in column{'s' if len(names) > 1 else ''} {shown} with measure='gaussian_copula'",
            "columns whose values have an order: integers, bools and numbers",
            "Use measure='plugin' or 'neighbors', or leave these columns out.",
        )
