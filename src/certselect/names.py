"""Finding what a user named, whatever the case, or the name that was probably meant; and columns, by name or index."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from functools import cached_property
from numbers import Integral
from typing import Any

from certselect.errors import InvalidInput, either, keyword
from certselect.errors import shown as shown

# Types of values, which the command line has no names for.
AS_TEXT = either("as a str", "as text")
AS_WHOLE = either("as an int", "as a whole number")
AS_FLAG = either("as a bool", "as true or false")
_LONGEST_NAME = 100  # of a name that is compared with the known ones; a file may hold anything


def find_name(what: str, given: object, known: Iterable[str], *, also: str = "", key: object = None) -> str:
    """The known name that `given` spells without regard to case.

    `what` is the parameter that errors name, or the mapping of which `given` is the value at `key`; `also` is what
    the parameter takes other than a name.

    >>> find_name("criterion", "mRMR", ["jmi", "mrmr"])
    'mrmr'
    """
    names = list(known)
    # Backwards, so that of two names that differ in case alone the first one known is found.
    spelled = {name.casefold(): name for name in reversed(names)}
    if isinstance(given, str) and given.casefold() in spelled:
        return spelled[given.casefold()]
    one_of = f"one of {', '.join(names)}" if len(names) != 1 else names[0]
    raise InvalidInput(
        keyword(what, given, key=key),
        f"{also}, or {one_of}" if also else one_of,
        did_you_mean(given, names) if isinstance(given, str) else f"Pass the name {AS_TEXT}.",
    )


def did_you_mean(given: str, known: Iterable[str]) -> str:
    """The sentence that answers a name nobody knows."""
    spelled = {name.casefold(): name for name in known}
    close = get_close_matches(given[:_LONGEST_NAME].casefold(), spelled, n=1)
    return f"Did you mean {spelled[close[0]]!r}?" if close else "Check the spelling."


class Columns:
    """Finds the columns of a table by name or index."""

    def __init__(self, names: Sequence[str]) -> None:
        self.names = names

    @cached_property
    def times(self) -> Counter[str]:
        return Counter(self.names)

    @cached_property
    def index(self) -> dict[str, int]:
        return {name: i for i, name in enumerate(self.names)}

    def find(self, where: str, feature: Any) -> int:
        if isinstance(feature, str):
            if self.times[feature] == 1:
                return self.index[feature]
            if self.times[feature] > 1:
                raise InvalidInput(
                    f"{feature!r} in {keyword(where)}, the name of {self.times[feature]} columns",
                    "a name that one column has",
                    "Name it by its index.",
                )
            close = get_close_matches(feature, self.names, n=1)
            raise InvalidInput(
                f"{feature!r} in {keyword(where)}",
                "the name of a feature" + (f", {close[0]!r} perhaps" if close else ""),
                "Check the spelling.",
            )
        if isinstance(feature, Integral) and not isinstance(feature, bool):
            if 0 <= int(feature) < len(self.names):
                if self.index.get(str(int(feature)), int(feature)) != int(feature):
                    raise InvalidInput(
                        f"{int(feature)} in {keyword(where)}, the index of one column and the name of another",
                        "a column that is meant without doubt",
                        f"Name it as {str(int(feature))!r}, or rename the columns.",
                    )
                return int(feature)
            raise InvalidInput(
                f"index {feature} in {keyword(where)}",
                f"0 to {len(self.names) - 1}",
                "Indices count the columns from 0.",
            )
        raise InvalidInput(
            f"{feature!r} in {keyword(where)}",
            "the name or the index of a feature",
            "Name features by str, number them by int.",
        )


def harmless(text: str) -> str:
    r"""Text in one line that changes nothing but the place it is printed at.

    Line ends, escape sequences and marks that turn the direction of writing are spelled out.

    >>> harmless("a\x1b[2Jb\n")
    'a\\x1b[2Jb\\n'
    """
    if text.isprintable():
        return text
    return "".join(mark if mark.isprintable() else repr(mark)[1:-1] for mark in text)
