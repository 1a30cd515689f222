"""What the library says, in the words of the command line: `--bins 1` for `bins=1`.

Errors and warnings mark the settings that they name (`certselect.errors`). Here, and nowhere else, such marks become
options, as the settings declare them.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from certselect.errors import CertselectError, CertselectWarning, InvalidInput, Mark, render
from certselect.settings import all_settings

# Parameters of functions and selectors that are not settings, by the options that state them.
_PARAMETERS = {
    "checkpoint": "--resume",
    "cv": "--cv",
    "k": "-k",
    "memory": "--memory",
    "n_features_to_select": "-k",
    "n_jobs": "--jobs",
    "protocol": "--protocol",
    "resume": "--resume",
    "sample_weight": "--weight",
    "scoring": "--scoring",
    "sizes": "--sizes",
    "target": "--target",
}
# Parameters of functions that have a name of their own on the command line, but no option.
_NAMES = {"y": "the target"}
_PLAIN = "_./+-"  # what needs no quotes in a shell, as letters and digits do not


def in_options(message: str | Exception | Warning) -> str:
    """The message with options in the place of Python's keywords.

    >>> from certselect.errors import keyword
    >>> in_options(f"Leave {keyword('bins')} out, or pass {keyword('discretize', 'mdlp')}. No column 'bins=1'.")
    "Leave --bins out, or pass --discretize mdlp. No column 'bins=1'."
    """
    if isinstance(message, InvalidInput):
        got, expected, remedy = message.render(spelled)
        return f"Got {got}; expected {expected}. {remedy}"
    if isinstance(message, CertselectWarning):
        return message.render(spelled)
    return render(str(message), spelled)


def parts_in_options(error: CertselectError) -> tuple[str, str, str] | None:
    """What was got, what was expected and what to do; None for an error without these parts."""
    if isinstance(error, InvalidInput):
        return error.render(spelled)
    got = getattr(error, "got", "")
    return (got, getattr(error, "expected", ""), getattr(error, "remedy", "")) if got else None


def spelled(mark: Mark) -> str:
    """A marked setting or phrase as the command line has it; what it has no option for stays as Python spells it."""
    first, *more = mark.parts
    if mark.kind == "either":
        return more[0]
    if mark.kind == "option":
        return f"--option {mark}"
    if mark.kind == "name" and first in _NAMES:
        return _NAMES[first]
    options = _options().get(first)
    if options is None:
        return str(mark)
    if mark.kind == "entry":
        return f"{options[0][0]} {_bare(more[0])}={_bare(more[1])}"
    return " or ".join([_option(options, more[0] if more else ""), *map(_bare, more[1:])])


@cache
def _options() -> Mapping[str, tuple[tuple[str, object], ...]]:
    """Every setting's options, each with the value it stands for or None."""
    declared = {
        name: tuple((option.flag or f"--{name.replace('_', '-')}", option.part) for option in about.options)
        for name, about in all_settings().items()
    }
    return declared | {name: ((flag, None),) for name, flag in _PARAMETERS.items()}


def _option(options: tuple[tuple[str, object], ...], value: str) -> str:
    """A setting with its value: of several options for it the one that stands for the value, or all of them."""
    meant = [flag for flag, part in options if part is not None and value in (repr(part), str(part))]
    if meant:
        return meant[0]
    flags = [flag for flag, _ in options]
    if not value or value[0] in "[{" or len(flags) > 1:
        return " or ".join(flags)
    return f"{flags[0]} {_bare(value)}"


def _bare(value: str) -> str:
    """A value without the quotes that Python puts around it, where a shell needs none."""
    inner = value[1:-1]
    quoted = inner and value[0] == value[-1] and value[0] in "'\""
    return inner if quoted and all(mark.isalnum() or mark in _PLAIN for mark in inner) else value
