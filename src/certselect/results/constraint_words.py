"""The constraints of a result in one short line, as its settings state them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from certselect.results.reasons import LONGEST, one_line
from certselect.settings import Constraints
from certselect.settings.constraints import ALL_OR_NONE, AT_MOST_ONE

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
