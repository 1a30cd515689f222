"""Ranks and counts together: numbers to predict, whose order counts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np

from certselect.coding import CodedTable, SparseCodedTable
from certselect.coding.tiles import slices
from certselect.information.chance import ChanceInformation, ChanceMoments
from certselect.information.gaussian_copula import CopulaPairs
from certselect.information.measure import COUNTS_AND_RANKS, Measure
from certselect.information.normal_scores import fixed_point
from certselect.information.numeric import NumericColumns, numeric_columns
from certselect.information.plugin import plugin_terms
from certselect.information.sound_pairs import SoundPairs
from certselect.information.streamed_terms import whole_terms
from certselect.information.terms import InformationTerms, LessChance, PairTerms
from certselect.information.tied_columns import MOST_TIED, MOST_TIED_WITH_NUMBERS
from certselect.settings import Measuring
from certselect.settings.measuring import CORRECTIONS, COUNTING_SETTINGS
from certselect.table import StreamedTable, Table
from certselect.threads import thread_count

_ROWS_AT_ONCE = 256  # of a matrix that may be on disk


def mixed_terms(
    coded: CodedTable | SparseCodedTable, measuring: Measuring, *, table: Table, dtype: np.dtype, n_jobs: int | None
) -> InformationTerms:
    """Information terms that are the mean of those of ranks and of counts, where both can be had.

    Counts see dependence of any shape, but not what happens within a bin. Ranks see that, but only what rises or
    falls. Columns of numbers whose values are not equal too often have both, and so do pairs of two such columns: their
    terms are the mean of both. All other columns and pairs are counted. Terms of ranks are always less what chance
    gives, as those of counts are with `correction="chance"`.

    Where missing values are a level of their own, they have the mean rank.
    """
    counted = plugin_terms(coded, correction=measuring.correction, dtype=dtype, n_jobs=n_jobs)
    places, ranks = _ranked_columns(table, dtype, n_jobs)
    pairs, relevance, known = counted.pairs, counted.relevance, counted.by_chance
    by_chance, less_chance = known, counted.less_chance
    if ranks is not None:
        relevance, pairs = relevance.copy(), MixedPairs(counted, places, ranks)
        relevance[places] = 0.5 * relevance[places] + 0.5 * ranks.single_terms()[0]
        less_chance = MixedChance(counted, places, ranks.chance(), known)
        by_chance = None if known is None else less_chance
    return replace(
        counted,
        relevance=relevance,
        pairs=SoundPairs(pairs, relevance, counted.entropy),
        by_chance=by_chance,
        less_chance=less_chance,
        cells=None,  # several columns together are not ranked
    )


class MixedPairs(PairTerms):
    """Pair terms of counts; where both columns are ranked, the mean with those of ranks."""

    def __init__(self, counted: InformationTerms, places: np.ndarray, ranks: CopulaPairs) -> None:
        self._counted = counted.pairs
        self._entropy = counted.entropy
        self._places, self._ranks = places, ranks
        self._place = np.full(counted.n_features, -1)  # of a column among the ranked ones
        self._place[places] = np.arange(len(places))

    def measured(self, kinds: tuple[str, ...], features: np.ndarray | None = None) -> tuple[np.ndarray, ...]:
        found = self._counted.measured(kinds, features)
        for kind, terms in zip(kinds, found, strict=True):
            self._mix(kind, terms, features)
        return found

    def overlap(self, features: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray | None]:
        overlap, redundancy = self._counted.overlap(features)
        self._mix("overlap", overlap, features)
        if redundancy is not None:
            self._mix("redundancy", redundancy, features)
        return overlap, redundancy

    def _mix(self, kind: str, terms: np.ndarray, features: np.ndarray | None) -> None:
        """Replace counted terms of some features with all by the mean, where both of a pair are ranked."""
        some = np.arange(len(terms)) if features is None else features
        rows = np.flatnonzero(self._place[some] >= 0)
        whole = self._ranks.measured((kind,))[0] if features is None else None
        for part in slices(len(rows), _ROWS_AT_ONCE):
            mine = rows[part]
            own = self._place[some[mine]]
            ranked = self._ranks.measured((kind,), own)[0] if whole is None else whole[own]
            at = np.ix_(mine, self._places)
            terms[at] = 0.5 * terms[at] + 0.5 * ranked
        if kind == "redundancy":  # with itself a column shares what it has as levels
            terms[np.arange(len(some)), some] = self._entropy[some]


class MixedChance:
    """What chance gives the relevance of single features: the mean of counts and ranks where a column has both."""

    def __init__(
        self, counted: InformationTerms, places: np.ndarray, ranks: ChanceMoments, known: ChanceInformation | None
    ) -> None:
        self._counted, self._known = counted, known
        self._places, self._ranks = places, ranks

    @property
    def coded(self) -> Any:
        """The codes that were counted."""
        return getattr(self._known, "coded", None)

    @cached_property
    def expected(self) -> np.ndarray:
        """The mean of the relevance of each feature for a shuffled target, (n,), before it is subtracted."""
        return self._mean(self._of_counts.expected, self._ranks.expected)

    @cached_property
    def p_values(self) -> np.ndarray:
        """How probable as much information about a shuffled target is, by counts or by ranks, (n,).

        Twice the smaller of both: one of two tests is significant more often than one.
        """
        p_values = self._of_counts.p_values.copy()
        p_values[self._places] = np.minimum(1.0, 2.0 * np.minimum(p_values[self._places], self._ranks.p_values))
        return p_values

    @cached_property
    def beyond_chance(self) -> np.ndarray:
        """As in `LessChance`."""
        counted = self._counted.relevance if self._known is None else self._known.beyond_chance
        return self._mean(counted, self._ranks.beyond_chance)

    @cached_property
    def deviation(self) -> np.ndarray:
        """As in `LessChance`."""
        counted = np.zeros(self._counted.n_features) if self._known is None else self._known.deviation
        return self._mean(counted, self._ranks.deviation)

    @property
    def _of_counts(self) -> ChanceInformation:
        assert self._known is not None, "corrections without a chance level have no p-values"
        return self._known

    def _mean(self, counted: np.ndarray, ranked: np.ndarray) -> np.ndarray:
        mean = counted.copy()
        mean[self._places] = 0.5 * mean[self._places] + 0.5 * ranked
        return mean


def _ranked_columns(table: Table, dtype: np.dtype, n_jobs: int | None) -> tuple[np.ndarray, CopulaPairs | None]:
    """The columns that are ranked: numbers whose values are not equal too often; and their pair terms."""
    most = MOST_TIED if len(table.classes) > 1 else MOST_TIED_WITH_NUMBERS
    places, columns = _numbers(table, most)
    if not len(places):
        return places, None
    gaps = np.isnan(columns.values)
    if table.missing != "pairwise":
        columns = replace(columns, complete=True)  # a score of 0, the mean, where a value is missing
    fixed = fixed_point(table.weights, table.n_samples)
    every = CopulaPairs(table, columns, fixed, dtype, thread_count(n_jobs))
    tied = every.tied
    if table.missing != "pairwise" and gaps.any():
        weights = np.ones(table.n_samples) if table.weights is None else table.weights
        missing = gaps @ weights / weights.sum()
        tied = tied * (1.0 - missing) ** 2 + missing**2
    ranked = (tied <= most) & ~columns.constant
    if not ranked.any():
        return places[:0], None
    return places[ranked], every if ranked.all() else every.of_columns(np.flatnonzero(ranked))


def _numbers(table: Table, most_tied: float) -> tuple[np.ndarray, NumericColumns]:
    """The columns that have an order, and their values; of a sparse matrix, those that are not mostly 0."""
    if table.sparse is not None:
        values = table.sparse.values
        weights = np.ones(table.n_samples) if table.weights is None else table.weights
        stored = np.add.reduceat(np.append(weights[values.indices], 0.0), values.indptr[:-1])
        stored = np.where(np.diff(values.indptr) > 0, stored, 0.0)
        places = np.flatnonzero(np.maximum(1.0 - stored / weights.sum(), 0.0) ** 2 <= 1.1 * most_tied)
        dense = np.ascontiguousarray(values[:, places].toarray().T, dtype=np.float64)
        complete = not np.isnan(dense).any()
        lowest, highest = np.nanmin(dense, axis=1, initial=np.inf), np.nanmax(dense, axis=1, initial=-np.inf)
        return places, NumericColumns(dense, np.zeros(len(places), dtype=bool), lowest >= highest, complete)
    places = np.concatenate([block.positions for block in table.blocks if block.kind != "category"] or [np.zeros(0)])
    places, columns = np.sort(places.astype(np.intp)), numeric_columns(table)
    if len(places) == table.n_features:
        return places, columns
    values, discrete, constant = columns.values[places], columns.discrete[places], columns.constant[places]
    return places, NumericColumns(values, discrete, constant, not np.isnan(values).any())


def _in_blocks(
    table: StreamedTable,
    measuring: Measuring,
    dtype: np.dtype,
    measure_whole: Callable[[Table, Measuring], InformationTerms],
) -> InformationTerms:
    table.survey()
    return whole_terms(table, measuring, measure_whole)


MEASURE = Measure(
    "mixed",
    mixed_terms,
    "mean of ranks and counts: numbers to predict, any table of up to some 10 000 rows",
    COUNTS_AND_RANKS,
    uses=COUNTING_SETTINGS,
    corrections=tuple(CORRECTIONS),
    missing=("level", "pairwise"),
    sparse=True,
    in_blocks=_in_blocks,
)
