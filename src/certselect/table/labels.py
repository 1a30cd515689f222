"""Python values -> small integers: categories of a feature, classes of a target."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from itertools import repeat

import numpy as np

from certselect.errors import UnusableType

# Named, not imported: pandas is not loaded to look for its missing values.
_MISSING_TYPES = ("NoneType", "NAType", "NaTType")
_NEVER_MISSING = {str, int, bool, bytes}
_PLAIN = {*_NEVER_MISSING, float, type(None)}


def encode(values: Sequence[object], where: str) -> tuple[np.ndarray, tuple[Hashable, ...]]:
    """Number the distinct values: codes, -1 where a value is missing, and the values in order."""
    vocabulary = in_order(_distinct(values, where))
    code_of = {label: code for code, label in enumerate(vocabulary)}
    # A missing value is not in the vocabulary, NaN not even when it is the same object.
    codes = np.fromiter(map(code_of.get, values, repeat(-1)), dtype=np.int32, count=len(values))
    return codes, vocabulary


def missing_cells(values: Sequence[object]) -> np.ndarray | None:
    """Which values are missing (None, NaN, pandas' NA and NaT), or None if none is."""
    types = set(map(type, values))
    if types <= _NEVER_MISSING:
        return None
    test = _is_missing_plain if types <= _PLAIN else _is_missing
    missing = np.fromiter(map(test, values), dtype=bool, count=len(values))
    return missing if missing.any() else None


def _distinct(values: Sequence[object], where: str) -> list[Hashable]:
    """Every value once, missing ones left out, in an order that the rows' does not change, but for strings."""
    types = set(map(type, values))
    try:
        if str in types:
            present = [value for value in dict.fromkeys(values) if not _is_missing(value)]
            words = [value for value in present if type(value) is str]
            if len(words) == len(present):  # sorting them later is enough, and quicker where there are 200 000
                return [*words]
        if len(types) > 1:
            # 1, 1.0 and True are equal: which of them stands for all must not depend on which comes first.
            pairs = dict.fromkeys(zip(map(type, values), values, strict=True))
            seen = [value for _, value in pairs]
        else:
            seen = list(dict.fromkeys(values))
    except TypeError as error:
        raise UnusableType(
            f"a cell in {where} that cannot be hashed ({error})",
            "cells that can be compared: an argument must be a string, a number or another hashable value",
            "Convert lists, dictionaries and arrays inside cells to columns of their own.",
        ) from error
    kept = [value for value in seen if not _is_missing(value)]
    kept.sort(key=lambda value: (type(value).__name__, repr(value)))
    return list(dict.fromkeys(kept))


def in_order(labels: list[Hashable]) -> tuple[Hashable, ...]:
    try:
        return tuple(sorted(labels))  # pyright: ignore[reportArgumentType]
    except TypeError:  # no order among them, such as 1 < "a": keep that of type name and repr
        return tuple(labels)


def _is_missing_plain(value: object) -> bool:
    return value is None or value != value


def _is_missing(value: object) -> bool:
    if type(value).__name__ in _MISSING_TYPES:
        return True
    try:
        return bool(value != value)  # NaN of any type
    except ArithmeticError:  # a decimal's signalling NaN says so by an error
        return True
    except (TypeError, ValueError):
        return False
