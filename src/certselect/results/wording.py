"""Sentences about results: what is wrong with one, its constraints, and how columns were treated."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from certselect.errors import InvalidInput
from certselect.evaluation.feature_report import copy_decisions as copy_decisions
from certselect.names import harmless
from certselect.settings import Constraints
from certselect.settings.constraints import ALL_OR_NONE, AT_MOST_ONE
from certselect.table.model import Decision

LONGEST = 240  # characters of a reason
_LONGEST_GOT, _LONGEST_EXPECTED = 80, 110
MOST = 5  # reasons that are told


def one_line(text: str, longest: int = LONGEST) -> str:
    r"""The text, shortened, with escapes in place of what a terminal might obey.

    >>> one_line("a\x1b[2Jb\n")
    'a\\x1b[2Jb\\n'
    """
    safe = harmless(text[: 2 * longest])
    return safe if len(safe) <= longest else safe[: longest - 3] + "..."


def why(error: BaseException) -> str:
    """What an error says, without the remedy: what is wrong with a file is not mended by those who check it."""
    if isinstance(error, InvalidInput):
        return f"Got {one_line(error.got, _LONGEST_GOT)}; expected {one_line(error.expected, _LONGEST_EXPECTED)}"
    return one_line(str(error) or type(error).__name__)


_NAMES, _LONGEST_NAME = 3, 24


def constraints_in_words(stated: Constraints, names: Sequence[str]) -> str:
    """What subsets had to respect; empty if nothing.

    >>> constraints_in_words(Constraints(include=["a"], exclude=[1, "c"]), ["a", "b", "c"])
    "with 'a'; without 'b', 'c'"
    """
    plain = stated.to_dict()
    groups = plain["feature_groups"] or {}
    parts = [
        *(
            f"{word} {_some(plain[key], names)}"
            for word, key in (("with", "include"), ("without", "exclude"))
            if plain[key]
        ),
        *_groups("all or none of", groups.get(ALL_OR_NONE), names),
        *_groups("at most one of", groups.get(AT_MOST_ONE), names),
        *([f"cost at most {plain['budget']!r}"] if plain["budget"] is not None else []),
        *([f"respecting max_shared={plain['max_shared']:g}"] if plain["max_shared"] is not None else []),
    ]
    return _in_one_line(parts)


def _in_one_line(parts: Sequence[str]) -> str:
    """As many of the parts as there is room for, each whole, and how many more there are."""
    for kept in range(len(parts), 0, -1):
        more = [f"and {len(parts) - kept} more"] if kept < len(parts) else []
        line = "; ".join([*parts[:kept], *more])
        if len(line) <= LONGEST:
            return line
    return one_line("; ".join(parts))


def _groups(word: str, groups: Sequence[Sequence[str | int]] | None, names: Sequence[str]) -> Iterable[str]:
    listed = groups or []
    shown = [f"{word} {_some(group, names)}" for group in listed[:2]]
    return [*shown, f"{len(listed) - 2} more such groups"] if len(listed) > 2 else shown


def _some(features: Sequence[str | int], names: Sequence[str]) -> str:
    """The first of these features by name, and how many more there are."""
    listed = [
        names[feature] if isinstance(feature, int) and 0 <= feature < len(names) else str(feature)
        for feature in features[:_NAMES]
    ]
    more = len(features) - len(listed)
    return ", ".join(map(_quoted, listed)) + (f" and {more} more" if more else "")


def _quoted(name: str) -> str:
    """A name in quotes, cut if it is long.

    >>> _quoted("how old the patient was at the first visit")
    "'how old the patient was...'"
    """
    return repr(name if len(name) <= _LONGEST_NAME else f"{name[: _LONGEST_NAME - 1]}...")


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
