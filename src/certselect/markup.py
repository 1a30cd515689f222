"""Names of settings inside messages: the keyword in Python, the option on the command line.

A message that names a setting marks it:

    InvalidInput(keyword("bins", 1), "2 or more", f"Leave {keyword('bins')} out.")

The text then contains marks, which `render` spells in one of two ways: "bins=1" and "Leave bins out.", or "--bins 1"
and "Leave --bins out.". Marks are made of characters that Unicode reserves for use inside a program. Where values
contain them, they are escaped.
"""

from __future__ import annotations

import reprlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal

_OPEN, _NEXT, _CLOSE = "\ufdd0", "\ufdd1", "\ufdd2"
_ESCAPED = str.maketrans({mark: repr(mark)[1:-1] for mark in (_OPEN, _NEXT, _CLOSE)})

_short = reprlib.Repr()
_short.maxstring = _short.maxother = 80

Kind = Literal["name", "value", "entry", "option", "either"]
_FEWEST: dict[str, int] = {"name": 1, "value": 1, "entry": 3, "option": 1, "either": 2}  # parts of a mark


@dataclass(frozen=True)
class Mark:
    """A setting, or a phrase about one, in a message.

    Attributes
    ----------
    kind : {"name", "value", "entry", "option", "either"}
        "name" is a setting, "value" a setting and its values, "entry" a setting, a key and the value there. "option"
        is an option of a strategy with its value, if it has one. "either" is a text for Python and one for the
        command line.
    parts : tuple of str
        The name, then keys and values as Python spells them.
    """

    kind: Kind
    parts: tuple[str, ...]

    @property
    def name(self) -> str:
        """The setting that a caller changes; empty for a phrase."""
        return {"option": "strategy_options", "either": ""}.get(self.kind, self.parts[0])

    def __str__(self) -> str:
        """As Python spells it."""
        first, *more = self.parts
        if self.kind == "value":
            return f"{first}={' or '.join(more)}"
        if self.kind == "entry":
            return f"{first}[{more[0]}]={more[1]}"
        return f"{first}={more[0]}" if self.kind == "option" and more else first


def shown(value: object) -> str:
    """A value as an error message shows it: `repr`, but never long and never failing."""
    try:
        return escaped(_short.repr(value))
    except Exception:  # whatever a foreign __repr__ raises must not hide the error it is shown in
        return f"<{type(value).__name__}>"


def escaped(text: str) -> str:
    """Text in which nothing is read as a mark."""
    return text.translate(_ESCAPED)


def keyword(name: str, *values: object, key: object = None, spelled: str | None = None) -> str:
    """A setting in a message: its name, or the name and a value, or several with "or" between them.

    With a `key`, the value is that of an entry of a mapping. `spelled` is how a value is written where `shown` is not;
    if it is empty, the text is "bins=".
    """
    if not values and spelled is None:
        return name if _OPEN in name else _mark("name", name)
    texts = [shown(value) for value in values] if spelled is None else [spelled] if spelled else []
    if _OPEN in name:  # part of a setting, such as a group of feature_groups
        return f"{name}={' or '.join(texts)}"
    return _mark("value", name, *texts) if key is None else _mark("entry", name, shown(key), *texts)


def option(name: str, *value: object, spelled: str | None = None) -> str:
    """An option of a strategy in a message, with its value if there is one."""
    texts = [shown(each) for each in value] if spelled is None else [spelled]
    return _mark("option", name, *texts)


def either(python: str, shell: str) -> str:
    """A phrase of a message that the command line words differently."""
    return _mark("either", python, shell)


def _mark(kind: Kind, *parts: str) -> str:
    return f"{_OPEN}{_NEXT.join([kind, *map(escaped, parts)])}{_CLOSE}"


def pieces(text: str) -> Iterator[str | Mark]:
    """The text between marks, and the marks. What only looks like a mark is text."""
    before, *rest = text.split(_OPEN)
    yield escaped(before)
    for piece in rest:
        inside, closed, after = piece.partition(_CLOSE)
        kind, *parts = inside.split(_NEXT)
        if closed and len(parts) >= _FEWEST.get(kind, len(parts) + 1):
            yield Mark(kind, tuple(parts))  # type: ignore[arg-type]
            yield escaped(after)
        else:
            yield escaped(_OPEN + piece)


def render(text: str, spell: Callable[[Mark], str] = str) -> str:
    """The text with every mark as `spell` has it: as Python does, unless another is given."""
    return "".join(spell(piece) if isinstance(piece, Mark) else piece for piece in pieces(text))


def first_setting(text: str) -> str | None:
    """The first setting that the text names; None if it names none."""
    return next((piece.name for piece in pieces(text) if isinstance(piece, Mark) and piece.name), None)
