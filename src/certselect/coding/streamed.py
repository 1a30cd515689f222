"""code_stream: StreamedTable -> StreamedCoding, which turns blocks of rows into codes.

Edges are those that the whole table in memory would have, to the bit. Smallest and largest numbers, order statistics,
sums and counts are exact, whatever the order of the rows and however they are divided: for order statistics a quick
sample shows about where an edge lies, and a pass keeps the numbers around it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from certselect.coding.block_coding import LevelCoder, NumberCoder, StreamedCoding
from certselect.coding.cuts import (
    MOST_BINS,
    bins_by_rows,
    bins_for_rows,
    bins_per_column,
    edges_between,
    moment_edges,
    order_edges,
)
from certselect.coding.fitting import bin_names
from certselect.coding.levels import Levels, NumberCuts
from certselect.coding.mdlp import class_cuts
from certselect.coding.model import BINNED, Coding
from certselect.coding.moments import exponents
from certselect.coding.quantiles import DenseOrder, weight_shift
from certselect.coding.streamed_order import Bracketed, Brackets, Sample, StreamedOrder, first_brackets
from certselect.coding.streamed_sums import Moments, NumbersByClass, Units, UnitSums
from certselect.errors import InvalidInput, keyword
from certselect.settings import Measuring
from certselect.settings.measuring import MOST_WHOLE_LEVELS
from certselect.table.streams.arrow_columns import numbers_of
from certselect.table.streams.row_sample import first_and_last, quick_sample, sample_numbers, sample_span
from certselect.table.streams.streamed_table import Feature, StreamedTable, too_many_levels

_FEWEST_SAMPLED, _MOST_SAMPLED = 1 << 12, 1 << 17
_KEPT_BYTES = 16  # of a number within a bracket: itself, and how often it occurs


def code_stream(table: StreamedTable, measuring: Measuring) -> StreamedCoding:
    """Learn what the columns of a stream are and where they are cut: one pass, or a few where numbers are uneven."""
    found = _survey_with_brackets(table, measuring)
    if measuring.integers == "levels":
        _refuse_many_levels(table)
    bins, target_bins = (
        bins_for_rows(table.total_weight) if given == "auto" else given
        for given in (measuring.bins, measuring.target_bins)
    )
    numbers = [i for i, one in enumerate(table.features) if _is_cut(one, measuring.integers)]
    weights = table.weights
    units = None if weights is None else Units(weights, weight_shift(weights.whole, weights.total))
    target_edges = _edges_of_target(table, int(target_bins), units, found)
    classes = table.classes if target_edges is None else tuple(bin_names(target_edges))
    target = _target_coder(table, target_edges)
    cut = _NumberColumns.of(table, numbers, units, found)
    if measuring.discretize == "mdlp":
        edges = _edges_by_class(cut, target, len(classes))
    elif measuring.discretize == "mean_std":
        edges = _edges_by_moments(cut)
    else:
        edges = _edges_of_bins(cut, measuring.discretize, bins)
    levels = [i for i in range(table.n_features) if i not in edges]
    counts = np.array([len(edges[i]) for i in numbers], dtype=np.int64)
    parts = []
    if levels:
        parts.append(Levels(np.array(levels), np.array([_n_levels(table.features[i]) for i in levels])))
    if numbers:
        flat = np.concatenate([edges[i] for i in numbers])
        parts.append(NumberCuts(np.array(numbers), flat, np.concatenate([[0], np.cumsum(counts)])))
    lacking = np.array([one.facts.missing > 0 and one.kind != "skip" for one in table.features])
    coding = Coding(
        measuring.discretize,
        bins if measuring.discretize in BINNED else None,
        measuring.integers,
        table.feature_names,
        classes,
        tuple(parts),
        None if target_edges is None else int(target_bins),
        () if target_edges is None else (target_edges,),
        table.missing,
        lacking if lacking.any() else None,
    )
    coders = tuple(_coder(table, i, edges.get(i), coding) for i in range(table.n_features))
    return StreamedCoding(coding, coders, target, len(classes))


def _refuse_many_levels(table: StreamedTable) -> None:
    for name, one in zip(table.feature_names, table.features, strict=True):
        if one.kind == "whole" and one.facts.values is None:
            raise too_many_levels(name)


def _is_cut(feature: Feature, integers: str) -> bool:
    """Whether a feature is measured as a number in bins."""
    if feature.kind != "whole":
        return feature.kind == "number" and feature.facts.present > 0
    if feature.facts.boolean or integers == "levels" or not feature.facts.present:
        return False
    return integers == "numbers" or not feature.values or len(feature.values) > MOST_WHOLE_LEVELS


def _n_levels(feature: Feature) -> int:
    return 1 if feature.kind == "skip" else len(feature.values) if feature.facts.present else 0


def _coder(table: StreamedTable, i: int, edges: np.ndarray | None, coding: Coding) -> NumberCoder | LevelCoder | None:
    feature, name = table.features[i], table.feature_names[i]
    if feature.kind == "skip":
        return None
    missing_code = int(coding.levels[i]) - 1 if feature.facts.missing else -1
    if edges is not None:
        return NumberCoder(name, edges, missing_code, feature.words)
    return LevelCoder(name, feature.values, missing_code) if feature.facts.present else None


def _target_coder(table: StreamedTable, edges: np.ndarray | None) -> NumberCoder | LevelCoder:
    if edges is not None:
        return NumberCoder(table.target_name, edges, -1)
    # Bools are read as 0 and 1.
    values = tuple(int(value) if isinstance(value, bool) else value for value in table.classes)
    return LevelCoder(table.target_name, values, -1)


# The first pass


def _survey_with_brackets(table: StreamedTable, measuring: Measuring) -> dict[str, Bracketed]:
    """The first pass: what columns are, and on the way the numbers around edges that a quick sample expects."""
    brackets: dict[str, np.ndarray] = {}
    floats, integers = table.typed_columns()
    n_rows, asked = table.source.n_rows, []
    # What weights are worth is known only after a pass over them.
    if n_rows is not None and measuring.discretize == "quantile" and table.reading.weight is None:
        asked = [*floats, *(_of_many_values(table, integers) if measuring.integers != "levels" else ())]
    if n_rows is not None and asked:
        room = table.budget // 16 // (8 * len(asked))
        rows = quick_sample(table.source, asked, int(np.clip(room, _FEWEST_SAMPLED, _MOST_SAMPLED)))
        bins = bins_for_rows(n_rows)
        left = table.budget // 4
        for name in asked:
            sample = sample_numbers(rows, name)
            given = measuring.target_bins if name == table.target_name else measuring.bins
            if name in integers and len(np.unique(sample)) <= MOST_WHOLE_LEVELS:
                continue
            own = first_brackets(sample, bins if given == "auto" else _expected_bins(sample, given, n_rows))
            left -= _inside_bytes(sample, own, n_rows)
            if left > 0:
                brackets[name] = own
    also = [Brackets(brackets, {}, table.n_threads)] if brackets else []
    learnt = table.survey(also, all_levels=measuring.integers == "levels")
    return dict(learnt[0].parts) if learnt else {}


def _of_many_values(table: StreamedTable, integers: Sequence[str]) -> list[str]:
    """The columns of integers that may have to be cut; of most others a glance shows a few levels."""
    if not integers:
        return []
    rows = first_and_last(table.source, integers, _FEWEST_SAMPLED)
    return [name for name in integers if sample_span(rows, name) >= MOST_WHOLE_LEVELS]


def _expected_bins(sample: np.ndarray, bins: int | str, n_rows: int) -> int:
    """About how many bins a rule will give a column of so many rows, by a sample of its numbers in order."""
    if not isinstance(bins, str):
        return bins
    if bins != "freedman_diaconis" or len(sample) < 2:
        return bins_by_rows(max(1, n_rows), "sturges" if bins == "freedman_diaconis" else bins)
    own = bins_per_column(DenseOrder(sample[None]), sample[:1], sample[-1:], bins)
    return int(min(MOST_BINS, own[0] * np.ceil((n_rows / len(sample)) ** (1 / 3))))


def _inside_bytes(sample: np.ndarray, brackets: np.ndarray, n_rows: int) -> int:
    """What the numbers within brackets will take, by a sample; equal numbers are kept once."""
    different = np.unique(sample)
    inside = sum(int(((different >= low) & (different <= high)).sum()) for low, high in brackets)
    return int(_KEPT_BYTES * n_rows * inside / max(1, len(sample)))


# Edges


@dataclass(frozen=True, eq=False)
class _NumberColumns:
    """Columns of a stream that are cut: their names, how many numbers they have, their ends, and their units of weight.

    `places` are those of features, `found` the numbers around edges that an earlier pass has kept: who uses them takes
    them out of there.
    """

    table: StreamedTable
    places: Sequence[int]
    names: tuple[str, ...]
    rows: np.ndarray
    low: np.ndarray
    high: np.ndarray
    weights: Units | None
    words: Mapping[str, Mapping[str, float]]
    found: dict[str, Bracketed] = field(default_factory=dict)

    @classmethod
    def of(
        cls, table: StreamedTable, places: Sequence[int], weights: Units | None, found: dict[str, Bracketed]
    ) -> _NumberColumns:
        features = [table.features[i] for i in places]
        names = tuple(table.feature_names[i] for i in places)
        words = {name: one.words for name, one in zip(names, features, strict=True) if one.words is not None}
        return cls._of_features(table, places, names, features, weights, words, found)

    @classmethod
    def of_target(cls, table: StreamedTable, weights: Units | None, found: dict[str, Bracketed]) -> _NumberColumns:
        assert table.target is not None, "settled by the survey"
        return cls._of_features(table, [0], (table.target_name,), [table.target], weights, {}, found)

    @classmethod
    def _of_features(
        cls,
        table: StreamedTable,
        places: Sequence[int],
        names: tuple[str, ...],
        features: Sequence[Feature],
        weights: Units | None,
        words: Mapping[str, Mapping[str, float]],
        found: dict[str, Bracketed],
    ) -> _NumberColumns:
        low = [float(one.facts.low) if one.words is None else min(one.words.values()) for one in features]
        high = [float(one.facts.high) if one.words is None else max(one.words.values()) for one in features]
        rows = np.array([one.facts.present for one in features], dtype=np.int64)
        return cls(table, places, names, rows, np.array(low), np.array(high), weights, words, found)

    def some(self, names: Sequence[str]) -> _NumberColumns:
        own = [self.names.index(name) for name in names]
        places = [self.places[j] for j in own]
        ends = self.low[own], self.high[own]
        return _NumberColumns(
            self.table, places, tuple(names), self.rows[own], *ends, self.weights, self.words, self.found
        )

    @property
    def room(self) -> int:
        """Bytes that a pass may keep; the rest is for merging it, and for blocks."""
        return self.table.budget // 4

    def units(self) -> np.ndarray:
        """How many units of weight each column has in the rows where it has a value."""
        if self.weights is None:
            return self.rows
        sums = self.table.run(UnitSums(self.names, self.words, self.weights), "weights").sums
        return np.array([sums[name] for name in self.names], dtype=np.int64)

    def sample(self, name: str) -> Sample:
        """Numbers of a column from rows that are spread over the whole table."""
        rows = self.table.kept_rows
        numbers = numbers_of(rows.column(name).combine_chunks(), name, self.words.get(name))
        if self.weights is None:
            return Sample.of(numbers, None)
        weight = rows.column(self.weights.name).combine_chunks()
        return Sample.of(numbers, numbers_of(weight, self.weights.name, None))

    def order(self) -> StreamedOrder:
        """The columns in ascending order."""

        def look(asked: dict[str, np.ndarray]) -> dict[str, Bracketed]:
            learnt = Brackets(asked, self.words, self.table.n_threads, self.weights)
            return self.table.run(learnt, "bins of equal counts").parts

        # Brackets of the quick sample where there are any, of rows from everywhere where those were missed. What the
        # first pass has kept is needed here for the last time.
        usable = {name: [self.found.pop(name)] for name in self.names if name in self.found}
        samples = {name: self.sample(name) for name in self.names}
        unit = 1 if self.weights is None else 1 << self.weights.shift
        room = self.room // _KEPT_BYTES
        return StreamedOrder(self.names, self.rows, samples, usable, look, room, self.units(), unit)

    def groups(self, needed: Mapping[str, int]) -> Iterator[_NumberColumns]:
        """Columns that are looked at together, as many as there is room for; those known from the first pass first."""
        known = [name for name in self.names if name in self.found]
        others = [name for name in self.names if name not in known]
        if known:
            yield self.some(known)
        group, left = [], self.room
        for name in others:
            if group and needed[name] > left:
                yield self.some(group)
                group, left = [], self.room
            group.append(name)
            left -= needed[name]
        if group:
            yield self.some(group)

    def split(self, flat: np.ndarray, counts: np.ndarray) -> dict[int, np.ndarray]:
        """The edges of each column by its place, of all edges one after the other."""
        return dict(zip(self.places, np.split(flat, np.cumsum(counts)[:-1]), strict=True))


def _edges_of_bins(columns: _NumberColumns, method: str, bins: int | str) -> dict[int, np.ndarray]:
    """Edges of bins of equal width or counts."""
    if not columns.names:
        return {}
    if method == "uniform" and bins != "freedman_diaconis":
        unit = 1 if columns.weights is None else 1 << columns.weights.shift
        edges = {}
        for j, units in enumerate(columns.units().tolist() if isinstance(bins, str) else columns.rows.tolist()):
            own = bins_by_rows(max(1, round(units / unit)), bins) if isinstance(bins, str) else bins
            edges[columns.places[j]] = edges_between(columns.low[[j]], columns.high[[j]], own)[0]
        return edges
    needed = {}
    for name, rows in zip(columns.names, columns.rows.tolist(), strict=True):
        if name not in columns.found:
            sample = columns.sample(name).numbers
            needed[name] = _inside_bytes(sample, first_brackets(sample, _expected_bins(sample, bins, rows)), rows)
    edges = {}
    for group in columns.groups(needed):
        edges |= group.split(*order_edges(group.order(), group.low, group.high, method, bins))
    return edges


def _edges_by_moments(columns: _NumberColumns) -> dict[int, np.ndarray]:
    """Edges at mean -+ deviation, in one more pass."""
    if not columns.names:
        return {}
    exponent = dict(zip(columns.names, exponents(columns.low, columns.high).tolist(), strict=True))
    learnt = Moments(exponent, columns.words, columns.weights, columns.table.n_threads)
    sums = columns.table.run(learnt, "means and deviations").sums
    ordered = np.array([sums[name] for name in columns.names], dtype=object)
    return columns.split(*moment_edges(ordered, columns.low, columns.high))


def _edges_by_class(columns: _NumberColumns, target: NumberCoder | LevelCoder, n_classes: int) -> dict[int, np.ndarray]:
    """Edges where the classes change, of columns whose different numbers fit into a quarter of the memory."""
    shift = None if columns.weights is None else columns.weights.shift
    bytes_each = 8 * (1 + n_classes)
    needed = {}
    for name, rows in zip(columns.names, columns.rows.tolist(), strict=True):
        sample = columns.sample(name).numbers
        different = len(np.unique(sample))
        grows = 2 * different > len(sample)
        needed[name] = bytes_each * (rows * different // max(1, len(sample)) if grows else different)
    edges: dict[int, np.ndarray] = {}
    waiting = list(columns.groups(needed))
    while waiting:
        group = waiting.pop(0)
        learnt = NumbersByClass(group.names, group.words, target, n_classes, columns.weights, group.room)
        found = columns.table.run(learnt, "cuts between classes").found
        for place, name in zip(group.places, group.names, strict=True):
            own = found[name]
            if own is not None:
                numbers, counts = own
                edges[place] = class_cuts(numbers, counts, shift) + 0.0
            elif len(group.names) > 1:
                waiting.append(group.some([name]))
            else:
                raise InvalidInput(
                    f"{keyword('discretize', 'mdlp')} with {n_classes} classes and column {name!r}, read block by "
                    "block",
                    f"at most {group.room // bytes_each:,} different numbers with this much memory",
                    f"Pass a larger {keyword('memory', spelled='')}, or use {keyword('discretize', 'quantile')}.",
                )
    return edges


def _edges_of_target(
    table: StreamedTable, bins: int, units: Units | None, found: dict[str, Bracketed]
) -> np.ndarray | None:
    assert table.target is not None, "settled by the survey"
    if table.target.kind != "number":
        return None
    own = _NumberColumns.of_target(table, units, found)
    return order_edges(own.order(), own.low, own.high, "quantile", bins)[0]
