"""What each column is: numbers, levels, dates, or an identifier that is left out.

Columns come with the kinds that their types say. A column that the user named becomes what the user said; the others
are judged by the facts about their values, by one rule for tables in memory and in blocks: identifiers and texts of
too many levels are left out, texts that are dates become numbers. A column that is left out stays in the table as one
of zeros, which no search can choose.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Hashable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from certselect.errors import InvalidInput, keyword
from certselect.names import Columns
from certselect.table.columns import Column, gather
from certselect.table.facts import MOST_LEVELS_COUNTED, NEARLY_ALL, WHOLE_BELOW, ColumnFacts
from certselect.table.model import Block, Decision, gather_decisions
from certselect.table.times import dates_in_text

# Columns of so few different values are informative about more than one row.
MOST_LEVELS = 20
IDENTIFIER, TEXT, DATE = "identifier", "text", "date"
LEFT_OUT = (IDENTIFIER, TEXT)
SKIPPED = "skipped"
KEPT_OUT = (*LEFT_OUT, SKIPPED)
# Numbers that identify are handed out one after the other: their range is at most so many times the rows ...
DENSE = 2.0
# ... or their column is called what such columns are called.
_WORDS = ("id", "index", "record", "serial", "row", "unnamed", "number", "no", "nr")
_CALLED_SO = re.compile(
    r"(^|[^a-z])(u?u?id|guid|identifier)s?([^a-z]|$)"
    r"|^((row|record|serial)?[ _.-]?(index|record|serial|number|no|nr|row))$"
    r"|^unnamed: ?\d+$",
    re.I,
)
_CAMEL_CASE = re.compile(r"[a-z](Id|ID)$")
# Tables of ranks have such columns throughout, and no table has more than a few record numbers.
MOST_IN_A_ROW = 2
_FEW_ROWS = 16  # show of most columns of floats that they are not whole
_TILE_CELLS = 1 << 15  # of numbers that are compared at a time
# Texts of more levels than this share of the rows have a level for every row or two.
TOO_MANY = 0.5


class Verdict(NamedTuple):
    """What a column is because of its values, and the facts that led to it."""

    kind: str
    facts: Mapping[str, Any]


def judge(
    facts: Mapping[int, ColumnFacts],
    names: tuple[str, ...],
    given: Collection[int],
    kept: Collection[int],
    count: Callable[[Sequence[int]], Mapping[int, int]],
) -> dict[int, Verdict]:
    """The columns that are identifiers, texts of too many levels, or dates.

    Parameters
    ----------
    facts : mapping from column to ColumnFacts
        Columns that are neither identifiers, texts nor dates for other reasons may be absent.
    names : tuple of str
        Of all columns of the table.
    given : collection of int
        Columns whose kind the user gave: they are not judged.
    kept : collection of int
        Columns that are not left out.
    count : callable
        Counts how many different values columns have, where the facts of blocks only give an upper limit.
    """
    called = called_identifiers(names)
    asked = [i for i in facts if i not in given]
    doubtful = [i for i in asked if facts[i].overlapping and _may_identify(facts[i], i in called)]
    exact = count(doubtful) if doubtful else {}
    verdicts: dict[int, Verdict] = {}
    for i in asked:
        verdict = _verdict(facts[i], exact.get(i, facts[i].different), i in called)
        if verdict is not None and (verdict.kind == DATE or i not in kept):
            verdicts[i] = verdict
    ranks = [i for i, verdict in verdicts.items() if verdict.facts.get("numbers") and not verdict.facts["named_so"]]
    for i in ranks if len(ranks) > MOST_IN_A_ROW else ():
        del verdicts[i]
    return verdicts


def decisions_on(
    verdicts: Mapping[int, Verdict], kinds: Mapping[Any, str] | None, names: Sequence[str]
) -> tuple[Decision, ...]:
    """Verdicts, and what the user asked to skip, as decisions."""
    if not verdicts and not kinds:
        return ()
    made = gather_decisions((verdict.kind, verdict.facts, i) for i, verdict in verdicts.items())
    columns = Columns(names)
    skipped = tuple(sorted(columns.find("kinds", i) for i, kind in (kinds or {}).items() if kind == "skip"))
    return (*made, Decision(SKIPPED, skipped)) if skipped else made


def _verdict(facts: ColumnFacts, different: int, named_so: bool) -> Verdict | None:
    if facts.dated:
        return Verdict(DATE, {})
    if facts.boolean or facts.rows <= MOST_LEVELS:
        return None
    if facts.kind == "category":
        return _verdict_on_words(facts, different)
    if not _may_identify(facts, named_so) or different <= MOST_LEVELS or different < NEARLY_ALL * facts.present:
        return None
    return Verdict(IDENTIFIER, {"different": different, "rows": facts.present, "numbers": True, "named_so": named_so})


def _verdict_on_words(facts: ColumnFacts, different: int) -> Verdict | None:
    dated = dates_in_text(facts.values) if facts.values else None
    if dated is not None:
        return Verdict(DATE, dated[1])
    if facts.values is not None:
        different = len(facts.values)
    counted = {"different": different, "rows": facts.present}
    if different <= MOST_LEVELS:
        return None
    if different >= NEARLY_ALL * facts.present:
        return Verdict(IDENTIFIER, counted)
    if different > MOST_LEVELS_COUNTED:
        return Verdict(TEXT, {"more_than": MOST_LEVELS_COUNTED})
    return Verdict(TEXT, counted) if different > TOO_MANY * facts.present else None


def _may_identify(facts: ColumnFacts, named_so: bool) -> bool:
    """Whether a column has nearly as many different values as rows, unless those of its blocks are the same."""
    if facts.different < NEARLY_ALL * facts.present or facts.rows <= MOST_LEVELS:
        return False
    if facts.kind == "category":
        return facts.values is None
    if not (facts.kind == "integer" or (facts.kind == "number" and facts.whole)) or facts.low is None or facts.dated:
        return False
    return named_so or float(facts.high) - float(facts.low) < DENSE * facts.present


def settle_kinds(
    blocks: Sequence[Block],
    names: tuple[str, ...],
    given: Mapping[int, str],
    dates: Collection[int],
    kept: Collection[int] = (),
) -> tuple[tuple[Block, ...], dict[int, Verdict]]:
    """The blocks with every column of the kind it shall have, and the verdicts on columns the user said nothing about.

    `given` are the kinds the user named; `dates` the columns that were of a type for dates and are numbers now;
    `kept` those that are never left out.
    """
    facts = dict(_facts_of(blocks, names, {*given, *dates}))
    if dates:
        facts |= {i: ColumnFacts(dated=True) for i in dates}
    if not facts:  # as of most tables of numbers
        return _recast(blocks, names, given), {}
    # All rows were seen at once, so that no value was counted twice.
    verdicts = judge(facts, names, given, kept, lambda doubtful: {i: facts[i].different for i in doubtful})
    seconds = {i: "number" for i, verdict in verdicts.items() if verdict.kind == DATE and i not in dates}
    skipped = {i: "skip" for i, verdict in verdicts.items() if verdict.kind in LEFT_OUT}
    return _recast(blocks, names, {**given, **seconds, **skipped}), verdicts


def _facts_of(
    blocks: Sequence[Block], names: tuple[str, ...], known: Collection[int]
) -> Iterator[tuple[int, ColumnFacts]]:
    """The facts about columns that may be identifiers, texts or dates; numbers that cannot be are not looked at."""
    called = called_identifiers(names)
    for block in blocks:
        if block.values.dtype == bool or len(block.values) <= MOST_LEVELS:
            continue
        words = block.kind == "category"
        for place in range(len(block.positions)) if words else _places_to_examine(block, called):
            position = int(block.positions[place])
            if position not in known:
                facts = ColumnFacts(values=set() if words else None)
                facts.take(_column(block, place))
                yield position, facts


def _column(block: Block, place: int) -> Column:
    vocabulary = block.vocabularies[place] if block.vocabularies else ()
    return Column(int(block.positions[place]), block.kind, block.values[:, place], vocabulary, _missing(block, place))


def without_values(blocks: Sequence[Block]) -> tuple[tuple[Block, ...], list[int]]:
    """The blocks with columns without any value as numbers, whatever their types say; and which columns these are."""
    kept: list[Block] = []
    empty: list[int] = []
    moved: list[int] = []
    for block in blocks:
        lacking = None if block.missing is None else block.missing.all(axis=0)
        if lacking is None or not lacking.any():
            kept.append(block)
            continue
        positions = block.positions[lacking].tolist()
        empty.extend(positions)
        if block.kind == "number":
            kept.append(block)
            continue
        moved.extend(positions)
        if not lacking.all():
            kept.append(block.columns(np.flatnonzero(~lacking)))
    if moved:
        nothing = np.full((len(blocks[0].values), len(moved)), np.nan)
        kept.append(Block("number", np.array(sorted(moved), dtype=np.intp), nothing, missing=np.isnan(nothing)))
    return tuple(kept), empty


def zeros(n_rows: int, positions: Sequence[int]) -> Block:
    """Placeholder columns."""
    return Block("integer", np.array(positions, dtype=np.intp), np.zeros((n_rows, len(positions)), dtype=np.int8))


def whole_numbers_with_gaps(blocks: Sequence[Block], numbers: Collection[int]) -> tuple[Block, ...]:
    """Floats that are whole but for missing ones become the integers that pandas would hold without a gap.

    This does not apply to columns that were given, or judged, to be `numbers`.
    """
    settled: list[Block] = []
    for block in blocks:
        if block.kind != "number" or block.missing is None:
            settled.append(block)
            continue
        first = block.values[:_FEW_ROWS]
        doubtful = ((first == np.floor(first)) | np.isnan(first)).all(axis=0)
        if doubtful.any():
            doubtful &= block.missing.any(axis=0) & ~block.missing.all(axis=0)
            doubtful &= ~np.isin(block.positions, list(numbers))
        part = block if doubtful.all() else block.columns(np.flatnonzero(doubtful))
        values, whole = _as_integers(part.values, part.missing) if doubtful.any() else (part.values, doubtful)
        if not whole.any():
            settled.append(block)
            continue
        if not whole.all():
            part, values = part.columns(np.flatnonzero(whole)), values[:, whole]
        rest = ~np.isin(block.positions, part.positions)
        if rest.any():
            settled.append(block.columns(np.flatnonzero(rest)))
        settled.append(Block("integer", part.positions, values, missing=part.missing))
    return tuple(settled)


def _as_integers(values: np.ndarray, missing: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
    """Numbers (m, p) as int64, 0 where one is missing, and in which columns all numbers are whole and small enough.

    Some rows or columns at a time, whichever lie together, so that what is computed from them stays in the cache.
    """
    integers, whole = np.empty_like(values, dtype=np.int64), np.ones(values.shape[1], dtype=bool)
    along, across = (0, 1) if values.flags.c_contiguous else (1, 0)
    step = max(1, _TILE_CELLS // values.shape[across])
    for start in range(0, values.shape[along], step):
        rows, columns = slice(None), slice(None)
        if along == 0:
            rows = slice(start, start + step)
        else:
            columns = slice(start, start + step)
        tile = values[rows, columns]
        tile = tile if missing is None else np.where(missing[rows, columns], 0.0, tile)
        whole[columns] &= ((tile == np.floor(tile)) & (np.abs(tile) < WHOLE_BELOW)).all(axis=0)
        if not whole.any():
            break
        with np.errstate(invalid="ignore"):  # of columns whose numbers are too large
            integers[rows, columns] = tile
    return integers, whole


def _places_to_examine(block: Block, called: Collection[int]) -> list[int]:
    """Which columns of numbers are worth a closer look: those called so, and those dense in their range.

    Nearly all numbers of an identifier are whole and differ, so that already a tenth of the rows must
    span as many numbers as they are themselves, but for those that may be equal.
    """
    values = block.values
    places = np.arange(values.shape[1])
    if values.dtype.kind == "f":  # most columns of floats show by their first number that they count nothing
        places = np.flatnonzero((values[0] == np.floor(values[0])) | np.isnan(values[0]))
    for n_rows in (min(len(values), max(2 * MOST_LEVELS, len(values) // 10)), len(values)):
        rows = values[:n_rows] if len(places) == values.shape[1] else values[:n_rows, places]
        if block.missing is not None and rows.dtype.kind != "f":
            rows = np.where(block.missing[:n_rows, places], np.nan, rows)
        there = n_rows - (np.isnan(rows).sum(axis=0) if rows.dtype.kind == "f" else 0)
        least = there - (1.0 - NEARLY_ALL) * len(values) - 1
        span = _spans(rows)
        places = places[(span >= least) & (span < DENSE * len(values))]
        if not len(places):
            break
    named = {place for place, i in enumerate(block.positions.tolist()) if i in called} if called else set()
    return sorted({*places.tolist(), *named})


def _spans(values: np.ndarray) -> np.ndarray:
    """Largest minus smallest number of each column, NaN apart."""
    if values.dtype.kind != "f":
        return values.max(axis=0).astype(np.float64) - values.min(axis=0).astype(np.float64)
    with np.errstate(over="ignore", invalid="ignore"):
        return np.fmax.reduce(values, axis=0).astype(np.float64) - np.fmin.reduce(values, axis=0).astype(np.float64)


@lru_cache(maxsize=4)  # the same names are asked for again and again
def called_identifiers(names: tuple[str, ...]) -> frozenset[int]:
    """The columns that are called what identifiers are called."""
    together = "\n".join(names).casefold()
    if not any(word in together for word in _WORDS):
        return frozenset()
    return frozenset(i for i, name in enumerate(names) if _CALLED_SO.search(name) or _CAMEL_CASE.search(name))


def _recast(blocks: Sequence[Block], names: Sequence[str], kinds: Mapping[int, str]) -> tuple[Block, ...]:
    """The blocks with these columns taken out and put back as what they shall be."""
    if not kinds:
        return tuple(blocks)
    kept: list[Block] = []
    columns: list[Column] = []
    skipped: list[int] = []
    for block in blocks:
        changed = [place for place, i in enumerate(block.positions.tolist()) if i in kinds]
        if not changed:
            kept.append(block)
            continue
        stay = np.setdiff1d(np.arange(len(block.positions)), changed)
        if len(stay):
            kept.append(block.columns(stay))
        for place in changed:
            position = int(block.positions[place])
            if kinds[position] == "skip":
                skipped.append(position)
            elif kinds[position] == "number":
                columns.append(_as_number(block, place, position, names[position]))
            else:
                columns.append(_as_levels(block, place, position))
    if skipped:
        kept.append(zeros(len(blocks[0].values), sorted(skipped)))
    return (*kept, *gather(sorted(columns, key=lambda column: column.position)))


def _as_number(block: Block, place: int, position: int, name: str) -> Column:
    column, missing = block.values[:, place], _missing(block, place)
    if block.kind == "category":
        numbers = np.array(numbers_in_text(block.vocabularies[place], name) or [np.nan])
        return Column(position, "number", np.where(column >= 0, numbers[column], np.nan), missing=missing)
    numbers = column.astype(np.float64)
    if missing is not None:
        numbers[missing] = np.nan
    return Column(position, "number", numbers, missing=missing)


def numbers_in_text(words: Sequence[Hashable], name: str) -> list[float]:
    """The number, or the seconds of the date, that each word of a column stands for."""
    dated = dates_in_text(words)
    return [_to_float(word, name) for word in words] if dated is None else dated[0]


def _to_float(value: object, name: str) -> float:
    """A text as the number it stands for; refused are others, such as "nan" and "inf"."""
    try:
        number = float(value)  # pyright: ignore[reportArgumentType]
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if not math.isfinite(number):
        raise InvalidInput(
            f"{value!r:.60} in column {name!r}, which shall be a number",
            "numbers or dates in every row",
            f"Convert them first, or leave the column out of {keyword('kinds')}.",
        )
    return number


def _as_levels(block: Block, place: int, position: int) -> Column:
    if block.kind == "category":
        return Column(position, "category", block.values[:, place], block.vocabularies[place], _missing(block, place))
    column, missing = block.values[:, place], _missing(block, place)
    if missing is None and column.dtype.kind == "f" and np.isnan(column).any():
        missing = np.isnan(column)
    present = column if missing is None else column[~missing]
    vocabulary = np.unique(present + 0.0 if column.dtype.kind == "f" else present)
    codes = np.full(len(column), -1, dtype=np.int32)
    codes[slice(None) if missing is None else ~missing] = np.searchsorted(vocabulary, present)
    return Column(position, "category", codes, tuple(vocabulary.tolist()), missing)


def _missing(block: Block, place: int) -> np.ndarray | None:
    return None if block.missing is None or not block.missing[:, place].any() else block.missing[:, place]
