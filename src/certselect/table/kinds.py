"""What kind each column is: numbers, levels, dates, or something that tells one row from another and no more.

Blocks come with the kinds that their types say. Here a column that the user named becomes what
they said it is, and others are judged by their values: identifiers and texts of too many levels
are left out, texts that are dates become numbers. A column that is left out stays in the table as
one of zeros, which no search can choose.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from certselect.errors import InvalidInput
from certselect.table.columns import Column, gather
from certselect.table.model import Block, Decision, gather_decisions
from certselect.table.times import dates_in_text

# Columns of so few different values tell something else than one row from another.
MOST_LEVELS = 20
IDENTIFIER, TEXT, DATE = "identifier", "text", "date"
LEFT_OUT = (IDENTIFIER, TEXT)
SKIPPED = "skipped"
KEPT_OUT = (*LEFT_OUT, SKIPPED)
# An identifier has nearly as many different values as rows: this share of them at least.
NEARLY_ALL = 0.95
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
# Whole numbers up to this are the same as floats and as integers.
EXACT = 2.0**53
# Texts of more levels than this share of the rows have a level for every row or two.
TOO_MANY = 0.5


@dataclass(frozen=True)
class _Judged:
    position: int
    kind: str
    facts: Mapping[str, Any]


def settle_kinds(
    blocks: Sequence[Block],
    names: tuple[str, ...],
    given: Mapping[int, str],
    dates: Iterable[int],
    kept: Collection[int] = (),
) -> tuple[tuple[Block, ...], tuple[Decision, ...]]:
    """The blocks with every column of the kind it shall have, and what was decided that the user did not say.

    `given` are the kinds the user named; `dates` the columns that were of a type for dates and are numbers now;
    `kept` those that are left out in no case.
    """
    judged = [verdict for block in blocks for verdict in _judge(block, names, given)]
    judged = [verdict for verdict in judged if verdict.kind not in LEFT_OUT or verdict.position not in kept]
    ranks = [verdict for verdict in judged if in_a_row(verdict.facts)]
    if len(ranks) > MOST_IN_A_ROW:
        judged = [verdict for verdict in judged if verdict not in ranks]
    seconds = {verdict.position: "number" for verdict in judged if verdict.kind == DATE}
    skipped = {verdict.position: "skip" for verdict in judged if verdict.kind in LEFT_OUT}
    settled = _recast(blocks, names, {**given, **seconds, **skipped})
    judged += [_Judged(i, DATE, {}) for i in dates if i not in given]
    return settled, gather_decisions((verdict.kind, verdict.facts, verdict.position) for verdict in judged)


def in_a_row(facts: Mapping[str, Any]) -> bool:
    """Whether a column is an identifier only because its numbers follow one another."""
    return bool(facts.get("numbers")) and not facts["named_so"]


def zeros(n_rows: int, positions: Sequence[int]) -> Block:
    """Columns that nobody looks at."""
    return Block("integer", np.array(positions, dtype=np.intp), np.zeros((n_rows, len(positions)), dtype=np.int8))


def whole_numbers_with_gaps(blocks: Sequence[Block], numbers: Collection[int]) -> tuple[Block, ...]:
    """Floats that are whole but for missing ones become the integers that pandas would hold without a gap.

    Not so columns that were said, or found, to be `numbers`.
    """
    kept: list[Block] = []
    columns: list[Column] = []
    for block in blocks:
        if block.kind != "number" or block.missing is None:
            kept.append(block)
            continue
        values = np.where(block.missing, 0.0, block.values)
        whole = block.missing.any(axis=0) & ~block.missing.all(axis=0)
        whole &= ~np.isin(block.positions, list(numbers))
        whole &= ((values == np.floor(values)) & (np.abs(values) < EXACT)).all(axis=0)
        if (~whole).any():
            kept.append(block.columns(np.flatnonzero(~whole)))
        columns.extend(
            Column(int(block.positions[j]), "integer", values[:, j].astype(np.int64), missing=block.missing[:, j])
            for j in np.flatnonzero(whole)
        )
    return (*kept, *gather(columns))


def _judge(block: Block, names: tuple[str, ...], given: Collection[int]) -> Iterable[_Judged]:
    if block.values.dtype == bool or len(block.values) <= MOST_LEVELS:
        return
    if block.kind == "category":
        for place, position in enumerate(block.positions.tolist()):
            if position not in given:
                yield from _judge_levels(block, place, position)
        return
    called = called_identifiers(names)
    for place in _may_identify(block, called):
        position = int(block.positions[place])
        if position not in given:
            yield from _judge_numbers(block, place, position, named_so=position in called)


def _judge_levels(block: Block, place: int, position: int) -> Iterable[_Judged]:
    vocabulary = block.vocabularies[place]
    codes = block.values[:, place]
    present, levels = int((codes >= 0).sum()), len(np.unique(codes[codes >= 0]))
    dated = dates_in_text(vocabulary)
    if dated is not None:
        yield _Judged(position, DATE, dated[1])
    elif levels > MOST_LEVELS and levels >= NEARLY_ALL * present:
        yield _Judged(position, IDENTIFIER, {"different": levels, "rows": present})
    elif levels > MOST_LEVELS and levels > TOO_MANY * present:
        yield _Judged(position, TEXT, {"different": levels, "rows": present})


def _judge_numbers(block: Block, place: int, position: int, *, named_so: bool) -> Iterable[_Judged]:
    column = block.values[:, place]
    if block.missing is not None:
        column = column[~block.missing[:, place]]
    elif column.dtype.kind == "f":
        column = column[~np.isnan(column)]
    if len(column) <= MOST_LEVELS or (column.dtype.kind == "f" and not (column == np.floor(column)).all()):
        return
    different = np.unique(column)
    dense = float(different[-1]) - float(different[0]) < DENSE * len(column)
    if len(different) > MOST_LEVELS and len(different) >= NEARLY_ALL * len(column) and (dense or named_so):
        facts = {"different": len(different), "rows": len(column), "numbers": True, "named_so": named_so}
        yield _Judged(position, IDENTIFIER, facts)


def _may_identify(block: Block, called: Collection[int]) -> list[int]:
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
        if block.missing is not None:
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


@lru_cache(maxsize=4)  # the names of a table are looked at for each of its blocks
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
        vocabulary = block.vocabularies[place]
        dated = dates_in_text(vocabulary)
        numbers = np.array(([to_float(text, name) for text in vocabulary] if dated is None else dated[0]) or [np.nan])
        return Column(position, "number", np.where(column >= 0, numbers[column], np.nan), missing=missing)
    numbers = column.astype(np.float64)
    if missing is not None:
        numbers[missing] = np.nan
    return Column(position, "number", numbers, missing=missing)


def to_float(value: object, name: str) -> float:
    """A text as the number it stands for; refused are others, such as "nan" and "inf"."""
    try:
        number = float(value)  # pyright: ignore[reportArgumentType]
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if not math.isfinite(number):
        raise InvalidInput(
            f"{value!r:.60} in column {name!r}, which shall be a number",
            "numbers or dates in every row",
            "Convert them first, or leave the column out of kinds.",
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
