"""What was made of the table's columns that was not asked for, in words."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from certselect.criteria import SubsetProblem
from certselect.table.model import Decision, gather_decisions

_NAMED = 5


def copy_decisions(problem: SubsetProblem | None) -> tuple[Decision, ...]:
    """The features that were left out because they say the same as others."""
    if problem is None:
        return ()
    names = problem.feature_names
    return gather_decisions(("copy", {"of": names[kept]}, left_out) for left_out, kept in problem.copies.items())


def in_words(decisions: Iterable[Decision], names: Sequence[str]) -> list[str]:
    """A line for each decision: "'id' left out as an identifier: 500 different values in 500 rows"."""
    return [_line(one, names) for one in decisions]


def _line(one: Decision, names: Sequence[str]) -> str:
    if one.kind == "target":
        return one.why
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
    return f"{what} {made}: {one.why}"
