"""Errors and warnings, in words that a user can act on.

Every message states what was got, what was expected and what to do. All errors
derive from `CertselectError`; those about arguments or data are `ValueError`s
too, so code written for scikit-learn catches them as it always did.

Messages name settings by the marks of `markup.py`. What Python shows has its keywords; `render` gives the same message
with other names, such as the options of the command line.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from typing import Any, Self

from certselect.markup import Mark, first_setting, render

# Code between a user's line and ours that a warning should not point at.
_NOT_THE_USERS = ("certselect", "sklearn", "joblib", "dataclasses")


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
