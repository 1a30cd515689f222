"""Columns of any type -> Blocks, one per kind and dtype."""

from __future__ import annotations

import datetime
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal

import numpy as np

from certselect.errors import InvalidInput
from certselect.table.labels import encode
from certselect.table.model import Block, Kind

_WHOLE = (int, np.integer, np.bool_)
_REAL = (*_WHOLE, float, np.floating, Decimal)
_COMPLEX = (complex, np.complexfloating)
_TIMES = (datetime.date, datetime.time, datetime.timedelta, np.datetime64, np.timedelta64)


@dataclass(frozen=True, eq=False)
class Column:
    """One column read by itself."""

    position: int
    kind: Kind
    values: np.ndarray
    vocabulary: tuple[Hashable, ...] = ()


def array_block(values: np.ndarray, positions: np.ndarray) -> Block | None:
    """A block of a numeric array, not copied unless its dtype is an odd one; None if it is not numeric."""
    kind = values.dtype.kind
    if kind in "biu":
        return Block("integer", positions, values)
    if kind == "f":
        if values.dtype.itemsize < 4:
            values = values.astype(np.float32)
        elif values.dtype not in (np.float32, np.float64):  # longer, or of foreign byte order
            values = values.astype(np.float64)
        return Block("number", positions, values)
    if kind == "c":
        raise complex_data("X")
    if kind in "mM":
        raise dates_and_times("X")
    return None


def unmasked(values: np.ndarray) -> np.ndarray:
    """A masked array as a plain one, None where a cell is masked."""
    mask, plain = np.ma.getmaskarray(values), np.asarray(values)
    if mask.any():
        plain = plain.astype(object)
        plain[mask] = None
    return plain


def read_values(values: Sequence[object], position: int, name: str) -> Column:
    """A column of Python values: integers if all are, numbers if all are, else categories."""
    where = f"column {name!r}"
    array = numeric_array(values, where)
    if array is not None:
        return Column(position, "number" if array.dtype.kind == "f" else "integer", array)
    codes, vocabulary = encode(values, where)
    return Column(position, "category", codes, vocabulary)


def numeric_array(values: Sequence[object], where: str) -> np.ndarray | None:
    """Values as a bool, integer or float array where every one is a real number, else None."""
    types = {kind for kind in set(map(type, values)) if kind.__name__ != "NaTType"}
    if any(issubclass(kind, _COMPLEX) for kind in types):
        raise complex_data(where)
    if any(issubclass(kind, _TIMES) for kind in types):
        raise dates_and_times(where)
    if not types or not all(issubclass(kind, _REAL) for kind in types):
        return None
    if not all(issubclass(kind, _WHOLE) for kind in types):
        return np.array([float(value) for value in values])  # pyright: ignore[reportArgumentType]
    if all(issubclass(kind, bool | np.bool_) for kind in types):
        return np.array(values, dtype=bool)
    array = np.array([int(value) for value in values])  # pyright: ignore[reportArgumentType]
    # Integers that no integer dtype holds are told apart as categories; as floats some would become equal.
    return array if array.dtype.kind in "iu" else None


def gather(columns: Iterable[Column]) -> tuple[Block, ...]:
    """Columns of one kind and dtype put together, in order of their first column."""
    groups: dict[tuple[Kind, np.dtype], list[Column]] = {}
    for column in columns:
        groups.setdefault((column.kind, column.values.dtype), []).append(column)
    return tuple(
        Block(
            kind,
            np.array([column.position for column in group], dtype=np.intp),
            np.stack([column.values for column in group]).T,
            tuple(column.vocabulary for column in group) if kind == "category" else (),
        )
        for (kind, _), group in groups.items()
    )


def complex_data(where: str) -> InvalidInput:
    return InvalidInput(
        f"complex numbers in {where}",
        "real numbers or categories",
        "Complex data not supported: split them into real and imaginary parts.",
    )


def dates_and_times(where: str) -> InvalidInput:
    return InvalidInput(
        f"dates or times in {where}",
        "numbers or categories",
        "Convert them first, for example to days since a fixed date or to the day of the week.",
    )
