"""Edges of the numbers of a stream: those that the whole table in memory would have, to the bit.

Smallest and largest numbers and order statistics are exact, whatever the order of the rows and however they are
divided: a quick sample says about where an edge lies, and a pass keeps the numbers around it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from certselect.coding.cuts import bins_by_rows, bins_for_rows, edges_between, levels_between
from certselect.coding.quantiles import equal_count_edges
from certselect.coding.streamed_order import Bracketed, Brackets, StreamedOrder, first_brackets
from certselect.settings import Measuring
from certselect.settings.measuring import MOST_WHOLE_LEVELS
from certselect.table.streams.arrow_columns import numbers_of
from certselect.table.streams.row_sample import first_and_last, quick_sample, sample_numbers, sample_span
from certselect.table.streams.streamed_table import StreamedTable

_FEWEST_SAMPLED, _MOST_SAMPLED = 1 << 12, 1 << 17
_KEPT_BYTES = 16  # of a number within a bracket: itself, and how often it occurs


def survey_with_brackets(table: StreamedTable, measuring: Measuring) -> dict[str, Bracketed]:
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


def edges_of_numbers(
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
    others = [name for name in place_of if name not in found]  # found by now: who gets `known` takes it out of there
    if known:
        yield known
    group, left = [], _group_bytes(table)
    for name in others:
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


def edges_of_target(table: StreamedTable, bins: int, found: dict[str, Bracketed]) -> np.ndarray | None:
    assert table.target is not None, "settled by the survey"
    if table.target.kind != "number":
        return None
    facts = table.target.facts
    order = _order(table, [table.target_name], np.array([facts.present]), found, {})
    low, high = np.array([float(facts.low)]), np.array([float(facts.high)])
    return levels_between(equal_count_edges(order, np.array([bins])), low, high)[0]
