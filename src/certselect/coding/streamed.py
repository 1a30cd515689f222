"""code_stream: StreamedTable -> StreamedCoding, which turns blocks of rows into codes.

Edges are those that the whole table in memory would have, to the bit: smallest and largest numbers and order
statistics are exact, whatever the order of the rows and however they are divided.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from certselect.coding.cuts import bins_by_rows, bins_for_rows, edges_between, levels_between
from certselect.coding.levels import Levels
from certselect.coding.model import Coding
from certselect.coding.numbers import NumberCuts
from certselect.coding.quantiles import equal_count_edges
from certselect.coding.streamed_order import Bracketed, Brackets, StreamedOrder, first_brackets
from certselect.coding.target import bin_names
from certselect.errors import InvalidInput
from certselect.settings import Measuring
from certselect.settings.measuring import MOST_WHOLE_LEVELS
from certselect.table.streams.arrow_columns import numbers_of, read_cells
from certselect.table.streams.passes import digest
from certselect.table.streams.row_sample import first_and_last, quick_sample
from certselect.table.streams.row_source import Rows
from certselect.table.streams.streamed_table import Feature, StreamedTable, sample_numbers, sample_span
from certselect.threads import side_by_side

_FEWEST_SAMPLED, _MOST_SAMPLED = 1 << 12, 1 << 17
_KEPT_BYTES = 16  # of a number within a bracket: itself, and how often it occurs
_NOT_STREAMED = "for a table that is read block by block"
_TABULATED = 1 << 16  # largest span of integers that are looked up in a table


@dataclass(frozen=True, eq=False)
class NumberCoder:
    """Codes numbers by their edges."""

    name: str
    edges: np.ndarray
    missing_code: int
    words: Mapping[str, float] | None = None

    @property
    def what(self) -> object:
        return self.edges.tolist(), sorted((self.words or {}).items())

    def code(self, block: Rows, codes: np.ndarray, where: str) -> None:
        from certselect.coding.brackets import code_by_edges

        code_by_edges(numbers_of(block.column(self.name), self.name, self.words), self.edges, self.missing_code, codes)


@dataclass(frozen=True, eq=False)
class LevelCoder:
    """Codes values by their place among those that the first pass has met."""

    name: str
    values: tuple[Any, ...]
    missing_code: int

    @property
    def what(self) -> object:
        return self.values

    def code(self, block: Rows, codes: np.ndarray, where: str) -> None:
        from certselect.coding.brackets import look_up

        column = read_cells(block.column(self.name), self.name)
        values = column.values.view(np.uint8) if column.values.dtype == bool else column.values
        if column.kind == "category":
            code_of = {value: code for code, value in enumerate(self.values)}
            # Behind the words comes what has none.
            table = np.array([*(code_of.get(value, -1) for value in column.vocabulary), self.missing_code])
            known = look_up(
                values if column.missing is None else np.where(values < 0, len(table) - 1, values), 0, table, codes
            )
        elif values.dtype.kind in "iu" and self._table is not None and column.missing is None:
            known = look_up(values, np.int64(self.values[0]), self._table, codes)
        else:
            found = self._places(values)
            lacking = np.isnan(values) if values.dtype.kind == "f" else column.missing
            if lacking is not None:
                found = np.where(lacking, self.missing_code, found)
            known = int(found.min(initial=0)) >= 0
            codes[:] = found
        if not known:
            raise changed(f"a value of column {self.name!r} in {where} that was not there before")

    @cached_property
    def _table(self) -> np.ndarray | None:
        """Codes of integers by their distance from the smallest; None if they are too far apart."""
        first, last = self.values[0], self.values[-1]
        if isinstance(first, str) or not -(2**62) < first <= last < 2**62 or last - first > _TABULATED:
            return None
        table = np.full(int(last - first) + 1, -1)
        table[[int(value - first) for value in self.values]] = np.arange(len(self.values))
        return table

    def _places(self, numbers: np.ndarray) -> np.ndarray:
        """Codes of numbers, -1 for those that are none of the values."""
        known = np.array(self.values, dtype=np.float64 if numbers.dtype.kind == "f" else None)
        places = np.minimum(np.searchsorted(known, numbers), len(known) - 1)
        return np.where(known[places] == numbers, places, -1)


@dataclass(frozen=True, eq=False)
class StreamedCoding:
    """How blocks of a stream become codes.

    Attributes
    ----------
    coding : Coding
        As of a table in memory.
    coders : tuple of NumberCoder, LevelCoder or None
        Of each feature; None for one that nobody looks at.
    target : NumberCoder or LevelCoder
    n_classes : int
        Codes of the target; not all of the bins of a number need occur.
    """

    coding: Coding
    coders: tuple[NumberCoder | LevelCoder | None, ...]
    target: NumberCoder | LevelCoder
    n_classes: int

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of the source that are read."""
        return tuple(coder.name for coder in (*self.coders, self.target) if coder is not None)

    @property
    def key(self) -> str:
        """What tells this coding from others."""
        coders = [coder and (coder.name, coder.missing_code, coder.what) for coder in (*self.coders, self.target)]
        return digest(coders)

    def code_block(self, block: Rows, where: str, n_threads: int) -> tuple[np.ndarray, np.ndarray]:
        """The codes (n, m) of a block, and the class of every row."""
        target = np.empty(block.num_rows, dtype=np.uint16)
        codes = np.zeros((len(self.coders), block.num_rows), dtype=np.min_scalar_type(int(self.coding.levels.max())))

        def one(place: int) -> None:
            coder = self.coders[place]
            if coder is not None:
                coder.code(block, codes[place], where)

        self.target.code(block, target, where)
        side_by_side(one, range(len(self.coders)), n_threads)
        return codes, target


def code_stream(table: StreamedTable, measuring: Measuring) -> StreamedCoding:
    """Learn what the columns of a stream are and where they are cut: one pass, or a few where numbers are uneven."""
    _refuse_unstreamed(measuring)
    found = _survey_with_brackets(table, measuring)
    rows = table.n_samples
    bins = bins_for_rows(rows) if measuring.bins == "auto" else measuring.bins
    target_bins = int(bins_for_rows(rows) if measuring.target_bins == "auto" else measuring.target_bins)
    numbers = [i for i, one in enumerate(table.features) if _is_cut(one, measuring.integers)]
    edges = _edges(table, numbers, measuring.discretize, bins, found)
    levels = [i for i in range(table.n_features) if i not in edges]
    counts = np.array([len(edges[i]) for i in numbers], dtype=np.int64)
    parts = []
    if levels:
        parts.append(Levels(np.array(levels), np.array([_n_levels(table.features[i]) for i in levels])))
    if numbers:
        flat = np.concatenate([edges[i] for i in numbers])
        parts.append(NumberCuts(np.array(numbers), flat, np.concatenate([[0], np.cumsum(counts)])))
    lacking = np.array([one.facts.missing > 0 and one.kind != "skip" for one in table.features])
    target_edges = _target_edges(table, target_bins, found)
    classes = table.classes if target_edges is None else tuple(bin_names(target_edges))
    coding = Coding(
        measuring.discretize,
        bins,
        measuring.integers,
        table.feature_names,
        classes,
        tuple(parts),
        None if target_edges is None else target_bins,
        () if target_edges is None else (target_edges,),
        table.missing,
        lacking if lacking.any() else None,
    )
    coders = tuple(_coder(table, i, edges.get(i), coding) for i in range(table.n_features))
    return StreamedCoding(coding, coders, _target_coder(table, target_edges), len(classes))


def changed(what: str) -> InvalidInput:
    return InvalidInput(what, "a table that does not change while it is read", "Read a copy of it.")


def _refuse_unstreamed(measuring: Measuring) -> None:
    remedy = "Pass memory= enough to hold the table, or a sample of its rows."
    if measuring.measure not in ("plugin", "auto"):
        raise InvalidInput(f"measure={measuring.measure!r} {_NOT_STREAMED}", "measure='plugin'", remedy)
    if measuring.discretize not in ("quantile", "uniform"):
        raise InvalidInput(f"discretize={measuring.discretize!r} {_NOT_STREAMED}", "'quantile' or 'uniform'", remedy)
    if measuring.bins == "freedman_diaconis":
        raise InvalidInput(f"bins={measuring.bins!r} {_NOT_STREAMED}", "a number, 'auto', 'sturges' or 'sqrt'", remedy)


def _survey_with_brackets(table: StreamedTable, measuring: Measuring) -> dict[str, Bracketed]:
    """The first pass: what columns are, and on the way the numbers around edges that a quick sample expects."""
    brackets: dict[str, np.ndarray] = {}
    floats, integers = table.typed_columns()
    n_rows, asked = table.source.n_rows, []
    if n_rows is not None and measuring.discretize == "quantile":
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
            own = first_brackets(sample, given if isinstance(given, int) else bins)
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


def _inside_bytes(sample: np.ndarray, brackets: np.ndarray, n_rows: int) -> int:
    """What the numbers within brackets will take, by a sample; equal numbers are kept once."""
    different = np.unique(sample)
    inside = sum(int(((different >= low) & (different <= high)).sum()) for low, high in brackets)
    return int(_KEPT_BYTES * n_rows * inside / max(1, len(sample)))


def _is_cut(feature: Feature, integers: str) -> bool:
    """Whether a feature is measured as a number in bins."""
    if feature.kind != "whole":
        return feature.kind == "number" and feature.facts.present > 0
    if feature.facts.boolean or integers == "levels" or not feature.facts.present:
        return False
    return integers == "numbers" or not feature.values or len(feature.values) > MOST_WHOLE_LEVELS


def _n_levels(feature: Feature) -> int:
    return 1 if feature.kind == "skip" else len(feature.values) if feature.facts.present else 0


def _edges(
    table: StreamedTable,
    numbers: Sequence[int],
    method: str,
    bins: int | str,
    found: dict[str, Bracketed],
) -> dict[int, np.ndarray]:
    """The interior cut points of the features that are numbers."""
    if not numbers:
        return {}
    features = [table.features[i] for i in numbers]
    low = np.array([float(one.facts.low) if one.words is None else min(one.words.values()) for one in features])
    high = np.array([float(one.facts.high) if one.words is None else max(one.words.values()) for one in features])
    present = np.array([one.facts.present for one in features])
    n_bins = np.array([bins_by_rows(m, bins) if isinstance(bins, str) else bins for m in present.tolist()])
    if method == "uniform":
        flat = [edges_between(low[[j]], high[[j]], int(n_bins[j]))[0] for j in range(len(numbers))]
        return dict(zip(numbers, flat, strict=True))
    place_of = {table.feature_names[i]: place for place, i in enumerate(numbers)}
    edges: dict[int, np.ndarray] = {}
    for group in _groups(table, place_of, n_bins, found):
        some = np.array([place_of[name] for name in group])
        words = {name: table.features[numbers[place_of[name]]].words for name in group}
        order = _order(
            table, group, present[some], found, {name: own for name, own in words.items() if own is not None}
        )
        flat, counts = levels_between(equal_count_edges(order, n_bins[some]), low[some], high[some])
        edges |= zip([numbers[j] for j in some], np.split(flat, np.cumsum(counts)[:-1]), strict=True)
    return edges


def _groups(
    table: StreamedTable, place_of: Mapping[str, int], n_bins: np.ndarray, found: Mapping[str, Bracketed]
) -> Iterator[list[str]]:
    """Columns that are looked at together: those known from the first pass, then as many as there is room for."""
    known = [name for name in place_of if name in found]
    if known:
        yield known
    group, left = [], _group_bytes(table)
    for name in place_of:
        if name in found:
            continue
        sample = _spread(table, name, table.features[table.feature_names.index(name)].words)
        needed = _inside_bytes(sample, first_brackets(sample, int(n_bins[place_of[name]])), table.n_samples)
        if group and needed > left:
            yield group
            group, left = [], _group_bytes(table)
        group.append(name)
        left -= needed
    if group:
        yield group


def _group_bytes(table: StreamedTable) -> int:
    """What the numbers may take that a pass keeps; the rest is for merging them, and for blocks."""
    return table.budget // 4


def _spread(table: StreamedTable, name: str, words: Mapping[str, float] | None) -> np.ndarray:
    """Numbers of a column from rows that are spread over the whole table, ascending."""
    own = np.sort(numbers_of(table.kept_rows.column(name).combine_chunks(), name, words))
    return own[: len(own) - int(np.isnan(own).sum())]


def _order(
    table: StreamedTable,
    names: Sequence[str],
    present: np.ndarray,
    found: dict[str, Bracketed],
    words: Mapping[str, Mapping[str, float]],
) -> StreamedOrder:
    spread = {name: _spread(table, name, words.get(name)) for name in names}

    def look(asked: dict[str, np.ndarray]) -> dict[str, Bracketed]:
        return table.run(Brackets(asked, words, table.n_threads), "bins of equal counts").parts

    # Brackets of the quick sample where there are any, of rows from everywhere where those were missed. What the first
    # pass has kept is needed here for the last time.
    usable = {name: [found.pop(name)] for name in names if name in found}
    return StreamedOrder(names, present, spread, usable, look, _group_bytes(table) // _KEPT_BYTES)


def _target_edges(table: StreamedTable, bins: int, found: dict[str, Bracketed]) -> np.ndarray | None:
    assert table.target is not None, "settled by the survey"
    if table.target.kind != "number":
        return None
    facts = table.target.facts
    order = _order(table, [table.target_name], np.array([facts.present]), found, {})
    low, high = np.array([float(facts.low)]), np.array([float(facts.high)])
    return levels_between(equal_count_edges(order, np.array([bins])), low, high)[0]


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
