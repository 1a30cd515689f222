"""What all settings have in common: fields that check themselves, explain themselves and are saved as plain JSON.

A field is declared once, by `setting`. Its metadata hold an `About`, from which the
constructor's checks, `to_dict`, the errors and the command line's options are made.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from functools import cache
from numbers import Integral, Real
from types import MappingProxyType
from typing import Any, Literal, Self

from certselect.errors import InvalidInput, keyword
from certselect.names import did_you_mean, shown

ABOUT = "about"  # the key of a field's metadata
_DEEPEST = 8  # nested lists and mappings that are saved


OptionKind = Literal[
    "text", "whole", "number", "flag", "bins", "columns", "groups", "costs", "relevance", "kinds", "assignments"
]


@dataclass(frozen=True)
class Option:
    """How the command line spells a setting, or one part of it.

    Attributes
    ----------
    kind : str
        What the option takes, and so how it is read; `cli.generated` has the table.
    flag : str
        "--seed", say; made of the field's name if empty.
    help, metavar : str
        The field's help and typer's metavar if empty.
    part : object
        Where a setting has several options: the value that a flag stands for, or the key of
        a mapping that a list goes to.
    default : object
        Where it is not the field's.
    """

    kind: OptionKind = "text"
    flag: str = ""
    help: str = ""
    metavar: str = ""
    part: Any = None
    default: Any = None


@dataclass(frozen=True)
class About:
    """What is known of a setting beside its name, type and default.

    Attributes
    ----------
    default : object
        What it is if not given.
    help : str
        One sentence without the full stop.
    panel : str
        The help panel of the command line.
    check : callable
        (name, value) -> the value to keep, or InvalidInput.
    plain : callable
        checked value -> what is saved: None, bool, int, float, str, lists and mappings of these.
    choices : mapping from str to str
        Names the setting takes, each with a few words about it, or none.
    names : str
        Where the choices are known to a registry only: "module:function" that lists them.
    options : tuple of Option
        How the command line spells it.
    """

    default: Any
    help: str
    panel: str
    check: Callable[[str, Any], Any]
    plain: Callable[[Any], Any]
    choices: Mapping[str, str]
    names: str
    options: tuple[Option, ...]


def setting(
    default: Any,
    help: str,
    panel: str,
    check: Callable[[str, Any], Any],
    *options: Option,
    plain: Callable[[Any], Any] | None = None,
    choices: Mapping[str, str] | None = None,
    names: str = "",
) -> Any:
    """A field of a settings dataclass."""
    about = About(default, help, panel, check, plain or as_plain, choices or {}, names, options or (Option(),))
    return field(default=default, metadata={ABOUT: about})


@dataclass(frozen=True)
class SettingsGroup:
    """Base of the four dataclasses of settings."""

    def __post_init__(self) -> None:
        self._check()

    def _check(self) -> None:
        """Check every field and keep its canonical value."""
        for name, about in described(type(self)).items():
            given = getattr(self, name)
            # A default is as it is kept, and most settings are left at theirs.
            kept = given if given is about.default else about.check(name, given)
            if kept is not given:
                object.__setattr__(self, name, kept)

    def _canonical(self) -> dict[str, Any]:
        """The canonical value of every field."""
        values = {}
        for name, about in described(type(self)).items():
            value = getattr(self, name)
            values[name] = value if value is about.default else about.check(name, value)
        return values

    def to_dict(self) -> dict[str, Any]:
        """The settings as plain JSON; `from_dict` reads them back."""
        values = self._canonical()
        return {name: about.plain(values[name]) for name, about in described(type(self)).items()}

    @classmethod
    def from_dict(cls, given: Any) -> Self:
        """The settings that `to_dict` wrote, checked like any others; what is not there has its default.

        Whoever wrote them was warned of idle ones, and the reader is not warned again.
        """
        check_keys(cls.__name__.lower(), given, described(cls))
        made = object.__new__(cls)
        for name, about in described(cls).items():
            object.__setattr__(made, name, given.get(name, about.default))
        made._check()
        return made


@cache
def described(group: type[SettingsGroup]) -> Mapping[str, About]:
    """What is known of each field, in the order of declaration."""
    return MappingProxyType({entry.name: entry.metadata[ABOUT] for entry in fields(group)})


def check_keys(what: str, given: Any, known: Mapping[str, Any]) -> None:
    """Refuse what is not a mapping with some of the known keys."""
    if not isinstance(given, Mapping):
        raise InvalidInput(keyword(what, given), "a mapping", f"Its keys may be {', '.join(known)}.")
    for key in given:
        if not isinstance(key, str) or key not in known:
            raise InvalidInput(
                f"{keyword(what)} with the key {shown(key)}",
                f"the keys {', '.join(known)}",
                did_you_mean(key, known) if isinstance(key, str) else "Keys are str.",
            )


def as_plain(value: Any, deepest: int = _DEEPEST) -> Any:
    """The value as plain JSON; null for what has no such form: an object, NaN, an infinite number."""
    if value is None or isinstance(value, bool | str):
        return value if value is None or isinstance(value, bool) else str(value)
    if isinstance(value, Integral):
        return int(value)
    if isinstance(value, Real):
        return as_float(value)
    if deepest and isinstance(value, list | tuple):
        return [as_plain(part, deepest - 1) for part in value]
    if deepest and isinstance(value, Mapping):
        return {str(key): as_plain(part, deepest - 1) for key, part in value.items()}
    if deepest and hasattr(value, "tolist"):  # arrays, and scalars of NumPy that are no numbers
        return as_plain(value.tolist(), deepest - 1)
    return None


def as_whole(value: object) -> int | None:
    """The value as an int, or None if it is no whole number; NumPy registers its own with `numbers`."""
    return int(value) if isinstance(value, Integral) and not isinstance(value, bool) else None


def as_float(value: object) -> float | None:
    """The value as a finite float, or None if it is no such number."""
    if not isinstance(value, Real) or isinstance(value, bool):
        return None
    try:
        number = float(value)
    except OverflowError:  # a whole number beyond the largest float
        return None
    return number if abs(number) < float("inf") else None
