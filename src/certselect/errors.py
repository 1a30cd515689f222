"""Errors and warnings, in words that a user can act on.

Every message states what was got, what was expected and what to do. All errors
derive from `CertselectError`; those about arguments or data are `ValueError`s
too, so code written for scikit-learn catches them as it always did.

A message that names a setting marks it:

    InvalidInput(keyword("bins", 1), "2 or more", f"Leave {keyword('bins')} out.")

Python shows "bins=1" and "Leave bins out."; `render` gives the same message with other names, such as the options of
the command line. Marks are made of characters that Unicode reserves for use inside a program. Where values contain
them, they are escaped.
"""

from __future__ import annotations

import reprlib
import sys
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Literal, Self

# Code between a user's line and ours that a warning should not point at.
_NOT_THE_USERS = ("certselect", "sklearn", "joblib", "dataclasses")
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


class CertselectError(Exception):
    """Base of every error certselect raises on purpose."""


class InvalidInput(CertselectError, ValueError):
    """An argument or a table cannot be used as given.

    Attributes
    ----------
    got, expected, remedy : str
        The parts of the message.
    setting : str or None
        The parameter that the error is about: the first one that `got` names. An option of a strategy is an entry of
        "strategy_options".
    """

    def __init__(self, got: str, expected: str, remedy: str) -> None:
        self._marked = (got, expected, remedy)
        self.got, self.expected, self.remedy = self.render(str)
        self.setting = first_setting(got)
        super().__init__(self.got, self.expected, self.remedy)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), self._marked

    def render(self, spell: Callable[[Mark], str]) -> tuple[str, str, str]:
        """What was got, what was expected and what to do, with every setting as `spell` has it."""
        got, expected, remedy = (render(part, spell) for part in self._marked)
        return got, expected, remedy

    def changed(self, *, before: str = "", after: str = "", remedy: str | None = None) -> Self:
        """The same error with words around what was got, or another remedy."""
        got, expected, usual = self._marked
        return type(self)(f"{before}{got}{after}", expected, usual if remedy is None else remedy)

    def __str__(self) -> str:
        return f"Got {self.got}; expected {self.expected}. {self.remedy}"


class UnknownColumn(InvalidInput):
    """A column that is named is not in the table."""


class UnusableType(InvalidInput, TypeError):
    """The data are of a type that cannot be read at all (a `TypeError` too, as scikit-learn expects)."""


class DataUnavailable(CertselectError):
    """A data set is not on this computer and could not be fetched."""

    def __init__(self, got: str, expected: str, remedy: str) -> None:
        self.got, self.expected, self.remedy = got, expected, remedy
        super().__init__(got, expected, remedy)

    def __str__(self) -> str:
        return f"Got {self.got}; expected {self.expected}. {self.remedy}"


class CertselectWarning(UserWarning):
    """Base of the warnings.

    Attributes
    ----------
    setting : str or None
        The first parameter that the warning names.
    """

    def __init__(self, message: str) -> None:
        self._marked = message
        self.setting = first_setting(message)
        super().__init__(render(message))

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._marked,)

    def render(self, spell: Callable[[Mark], str]) -> str:
        """The message with every setting as `spell` has it."""
        return render(self._marked, spell)


class FewerFeaturesWarning(CertselectWarning):
    """A selector was asked for more features than the table can give."""


class QuickerSearchWarning(CertselectWarning):
    """A table has too many features for COBRA, the default search, or for a good bound; quicker ways were used."""


class InterruptedWarning(CertselectWarning):
    """Ctrl-C ended a selector's search: it keeps the best subset found until then."""


class ColumnsLeftOutWarning(CertselectWarning):
    """Columns that only tell one row from another were left out."""


class TargetLeakWarning(CertselectWarning):
    """A column determines the target: it may be the target under another name, or be known only after it."""


class DeviceWarning(CertselectWarning):
    """A GPU was wanted but cannot be used, or has too little memory; the CPU was used."""


class IdleSettingWarning(CertselectWarning):
    """A setting has no effect because of another one."""


def warn_user(message: str, category: type[CertselectWarning]) -> None:
    """Warn of a line of the user's code: the nearest caller that is neither certselect nor scikit-learn."""
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] in _NOT_THE_USERS:
        level, frame = level + 1, frame.f_back
    warnings.warn(category(message), stacklevel=level)
