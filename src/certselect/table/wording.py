"""Sentences about columns, made when a decision is shown. What is stored and compared are its facts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from certselect.table.model import Decision


def why(decision: Decision) -> str:
    """The reason for a decision, such as "500 different values in 500 rows"."""
    return _REASONS[decision.kind](decision.facts)


def _identifier(facts: Mapping[str, Any]) -> str:
    if not facts.get("numbers"):
        return f"{facts['different']} different values in {facts['rows']} rows"
    how = "and called so" if facts["named_so"] else "one after the other"
    return f"{facts['different']} different whole numbers in {facts['rows']} rows, {how}"


def _text(facts: Mapping[str, Any]) -> str:
    if "more_than" in facts:
        return f"more than {facts['more_than']} levels, too many to count"
    return f"{facts['different']} levels in {facts['rows']} rows, too many to count"


def _date(facts: Mapping[str, Any]) -> str:
    return f"measured as a number, written {facts['written']}" if "written" in facts else "measured as a number"


_REASONS: dict[str, Callable[[Mapping[str, Any]], str]] = {
    "identifier": _identifier,
    "text": _text,
    "skipped": lambda facts: "as asked",
    "date": _date,
    "number": lambda facts: f"whole numbers of more than {facts['more_than']} different values, measured as numbers",
    "copy": lambda facts: f"says the same as {facts['of']!r}",
    "target": lambda facts: (
        f"{facts['different']} different whole numbers in {facts['rows']} rows are a number to predict, not classes"
    ),
}
