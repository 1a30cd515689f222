"""Errors and warnings, in words that a user can act on.

Every message states what was got, what was expected and what to do. All errors
derive from `CertselectError`; those about arguments or data are `ValueError`s
too, so code written for scikit-learn catches them as it always did.
"""

from __future__ import annotations

import sys
import warnings

# Code between a user's line and ours that a warning should not point at.
_NOT_THE_USERS = ("certselect", "sklearn", "joblib", "dataclasses")


class CertselectError(Exception):
    """Base of every error certselect raises on purpose."""


class InvalidInput(CertselectError, ValueError):
    """An argument or a table cannot be used as given."""

    def __init__(self, got: str, expected: str, remedy: str) -> None:
        self.got, self.expected, self.remedy = got, expected, remedy
        super().__init__(got, expected, remedy)

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


class FewerFeaturesWarning(UserWarning):
    """A selector was asked for more features than the table can give."""


class QuickerSearchWarning(UserWarning):
    """A table has too many features for COBRA, the default search, or for a good bound; quicker ways were used."""


class InterruptedWarning(UserWarning):
    """Ctrl-C ended a selector's search: it keeps the best subset found until then."""


class ColumnsLeftOutWarning(UserWarning):
    """Columns that only tell one row from another were left out."""


class TargetLeakWarning(UserWarning):
    """A column determines the target: it may be the target under another name, or be known only after it."""


class DeviceWarning(UserWarning):
    """A GPU was wanted but cannot be used, or has too little memory; the CPU was used."""


class IdleSettingWarning(UserWarning):
    """A setting has no effect beside another one."""


def warn_user(message: str, category: type[Warning]) -> None:
    """Warn of a line of the user's code: the nearest caller that is neither certselect nor scikit-learn."""
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] in _NOT_THE_USERS:
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)
