"""What a column of a stream is measured as: a number, levels or nothing, by the facts that a pass has learnt of it."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from certselect.errors import InvalidInput
from certselect.table.kinds import (
    DATE,
    DENSE,
    IDENTIFIER,
    MOST_LEVELS,
    NEARLY_ALL,
    TEXT,
    TOO_MANY,
    to_float,
)
from certselect.table.labels import in_order
from certselect.table.times import dates_in_text

if TYPE_CHECKING:
    from certselect.table.streams.column_facts import ColumnFacts

# Levels of a column, and classes of a target, that are counted block by block.
MOST_NUMBERS = 1000


@dataclass(frozen=True, eq=False)
class Feature:
    """What a column is to be measured as.

    `kind` is "number", "levels" or "skip"; `values` are the levels in order, `words` what stands for each number
    where those are written as text.
    """

    kind: str
    facts: ColumnFacts
    values: tuple[Hashable, ...] = ()
    words: Mapping[str, float] | None = None


def feature_of(name: str, facts: ColumnFacts | None, given: str | None, judged: str) -> Feature:
    """What a column is measured as, by its facts, the kind that the user gave it and what its values look like."""
    if facts is None:
        from certselect.table.streams.column_facts import ColumnFacts

        return Feature("skip", ColumnFacts())
    if given == "skip":
        return Feature("skip", facts)
    if facts.infinite:
        raise InvalidInput(
            f"infinity or -infinity (inf) in column {name!r}, in {facts.infinite} of {facts.rows} rows",
            "finite numbers",
            "Replace the infinities or drop those rows or columns before selecting.",
        )
    if judged in (IDENTIFIER, TEXT):
        return Feature("skip", facts)
    if facts.kind == "category":
        if judged == DATE or given == "number":
            return Feature("number", facts, words=_numbers_of(facts, name))
        if facts.values is None or len(facts.values) > MOST_NUMBERS:
            raise too_many_levels(name)
        return Feature("levels", facts, in_order(list(facts.values)))
    if given == "number" or (facts.kind == "number" and given is None and not _is_gapped(facts)):
        return Feature("number", facts)
    if given == "levels":
        if facts.values is None:
            raise too_many_levels(name)
        return Feature("levels", facts, tuple(sorted(facts.values)))  # pyright: ignore[reportArgumentType]
    return Feature("whole", facts, () if facts.values is None else tuple(sorted(facts.values)))  # pyright: ignore[reportArgumentType]


def _is_gapped(facts: ColumnFacts) -> bool:
    """Whether floats are the integers that there would be without gaps."""
    return facts.whole and 0 < facts.missing < facts.rows and not facts.dated


def judge(column: ColumnFacts, exact: int | None, named_so: bool) -> tuple[str, dict[str, Any]] | None:
    """What a column is by its values, where nobody said it, and why; `exact` different ones, where that is known."""
    if column.dated:
        return DATE, {}
    if column.boolean or column.rows <= MOST_LEVELS:
        return None
    return _judge_words(column) if column.kind == "category" else _judge_numbers(column, exact, named_so)


def one_of_words(feature: Feature) -> bool:
    """Whether a column's kind is not the one that its type says."""
    return (feature.facts.kind == "category") != (feature.kind == "levels")


def _judge_words(column: ColumnFacts) -> tuple[str, dict[str, Any]] | None:
    known = column.values
    dated = dates_in_text(in_order(list(known))) if known else None
    if dated is not None:
        return DATE, dated[1]
    if known is None and column.different >= NEARLY_ALL * column.present:
        return IDENTIFIER, {"different": column.different, "rows": column.present}
    levels = column.different if known is None else len(known)
    if levels <= MOST_LEVELS:
        return None
    if levels >= NEARLY_ALL * column.present:
        return IDENTIFIER, {"different": levels, "rows": column.present}
    if known is not None and levels > TOO_MANY * column.present:
        return TEXT, {"different": levels, "rows": column.present}
    if known is None or levels > MOST_NUMBERS:
        return TEXT, {"more_than": MOST_NUMBERS}
    return None


def _judge_numbers(column: ColumnFacts, exact: int | None, named_so: bool) -> tuple[str, dict[str, Any]] | None:
    if not may_identify(column) or not (named_so or is_dense(column)):
        return None
    different = column.different if exact is None else exact
    if different < NEARLY_ALL * column.present or different <= MOST_LEVELS:
        return None
    return IDENTIFIER, {"different": different, "rows": column.present, "numbers": True, "named_so": named_so}


def may_identify(column: ColumnFacts) -> bool:
    whole = column.kind == "integer" or (column.kind == "number" and column.whole)
    return whole and column.low is not None and column.different >= NEARLY_ALL * column.present


def is_dense(column: ColumnFacts) -> bool:
    return float(column.high) - float(column.low) < DENSE * column.present


def _numbers_of(facts: ColumnFacts, name: str) -> dict[str, float]:
    """The number that each word of a column stands for."""
    if facts.values is None:
        raise InvalidInput(
            f"numbers or dates as text in column {name!r}, of more different ones than are told apart block by block",
            "a column of a type for numbers or dates",
            "Convert it, or read the table into memory.",
        )
    words = list(in_order(list(facts.values)))
    dated = dates_in_text(words)
    return dict(zip(map(str, words), dated[0] if dated else (to_float(word, name) for word in words), strict=True))


def too_many_levels(name: str) -> InvalidInput:
    return InvalidInput(
        f"column {name!r} of more than {MOST_NUMBERS} levels in a table that is read block by block",
        f"{MOST_NUMBERS} levels at most",
        f"Pass kinds={{{name!r}: 'skip'}} or 'number', or read the table into memory.",
    )
