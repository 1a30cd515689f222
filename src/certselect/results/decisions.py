"""What was made of the table's columns that was not asked for, in words."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from certselect.evaluation.feature_report import copy_decisions as copy_decisions
from certselect.table.model import Decision

_NAMED = 5


@dataclass(frozen=True)
class OlderDecision(Decision):
    """A decision out of a file of version 4, which has sentences in place of facts."""

    @property
    def why(self) -> str:
        """Not known: the sentence of a file is not believed."""
        return ""


def same_decisions(made: Sequence[Decision], stored: Sequence[Decision]) -> bool:
    """Whether a table gives the decisions that a file has; of those without facts their columns count."""
    if not any(isinstance(one, OlderDecision) for one in stored):
        return tuple(made) == tuple(stored)
    known = (one for one in stored if not isinstance(one, OlderDecision))
    return _columns(made) == _columns(stored) and all(one in made for one in known)


def _columns(decisions: Iterable[Decision]) -> set[tuple[str, int | None]]:
    return {(one.kind, i) for one in decisions for i in one.columns or (None,)}


def in_words(decisions: Iterable[Decision], names: Sequence[str]) -> list[str]:
    """A line for each decision: "'id' left out as an identifier: 500 different values in 500 rows"."""
    return [_line(one, names) for one in decisions]


def _line(one: Decision, names: Sequence[str]) -> str:
    if one.kind == "target":
        return one.why or "the target is a number to predict, not classes"
    some = ", ".join(repr(names[i]) for i in one.columns[:_NAMED])
    more = len(one.columns) - _NAMED
    what = some + (f" and {more} more" if more > 0 else "")
    made = {
        "identifier": "left out as an identifier",
        "text": "left out as text",
        "skipped": "not looked at",
        "date": "read as dates or times" if len(one.columns) > 1 else "read as a date or time",
        "number": "read as numbers" if len(one.columns) > 1 else "read as a number",
        "copy": "not chosen beside its copy" if len(one.columns) == 1 else "not chosen beside their copy",
    }[one.kind]
    return f"{what} {made}: {one.why}" if one.why else f"{what} {made}"
