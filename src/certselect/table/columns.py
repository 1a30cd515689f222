"""Columns of any type -> Blocks, one per kind and dtype."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal

import numpy as np

from certselect.errors import InvalidInput
from certselect.table.labels import encode, missing_cells
from certselect.table.model import Block, Kind
from certselect.table.times import TIMES, array_of_times, seconds_of

_WHOLE = (int, np.integer, np.bool_)
_REAL = (*_WHOLE, float, np.floating, Decimal)
_COMPLEX = (complex, np.complexfloating)


@dataclass(frozen=True, eq=False)
class Column:
    """One column read by itself; `missing` marks the cells without a value, None if all have one.

    `dated` if its numbers are the seconds of dates, times or durations.
    """

    position: int
    kind: Kind
    values: np.ndarray
    vocabulary: tuple[Hashable, ...] = ()
    missing: np.ndarray | None = None
    dated: bool = False


def array_block(values: np.ndarray, positions: np.ndarray, masked: np.ndarray | None = None) -> Block | None:
    """A block of a numeric array, not copied unless its dtype is an odd one; None if it is not numeric.

    Cells that are `masked` have no value, nor have NaNs, which are looked for later.
    """
    kind = values.dtype.kind
    if kind in "biu":
        return Block(
            "integer",
            positions,
            values if masked is None else np.where(masked, 0, values).astype(values.dtype),
            missing=masked,
        )
    if kind == "f":
        values = _usual_floats(values)
        return Block(
            "number", positions, values if masked is None else np.where(masked, np.nan, values), missing=masked
        )
    if kind == "c":
        raise complex_data("X")
    if kind in "mM":
        return array_block(array_of_times(values), positions, masked)
    return None


def _usual_floats(values: np.ndarray) -> np.ndarray:
    if values.dtype.itemsize < 4:
        return values.astype(np.float32)
    if values.dtype not in (np.float32, np.float64):  # longer, or of foreign byte order
        return values.astype(np.float64)
    return values


def unmasked(values: np.ndarray) -> np.ndarray:
    """A masked array as a plain one, None where a cell is masked."""
    mask, plain = np.ma.getmaskarray(values), np.asarray(values)
    if mask.any():
        plain = plain.astype(object)
        plain[mask] = None
    return plain


def read_values(values: Sequence[object], position: int, name: str, *, categories: bool = False) -> Column:
    """A column of Python values: integers if all are, numbers if all are or all are dates, else categories.

    Missing cells do not count: integers and None are integers. With `categories` the
    values are categories whatever their type.
    """
    where = f"column {name!r}"
    missing = missing_cells(values)
    if not categories:
        present = values if missing is None else [values[row] for row in np.flatnonzero(~missing).tolist()]
        times = [issubclass(kind, TIMES) for kind in set(map(type, present))]
        dated = bool(times) and all(times)
        read = seconds_of if dated else numeric_array
        array = None if any(times) and not dated else read(present, where)
        if array is not None:
            kind = "number" if array.dtype.kind == "f" else "integer"
            spread = array if missing is None else _spread(array, missing)
            return Column(position, kind, spread, missing=missing, dated=dated)
    codes, vocabulary = encode(values, where)
    return Column(position, "category", codes, vocabulary, missing)


def _spread(present: np.ndarray, missing: np.ndarray) -> np.ndarray:
    """The values that are there at their places, and between them NaN for numbers, 0 for integers."""
    values = np.full(len(missing), np.nan if present.dtype.kind == "f" else 0, dtype=present.dtype)
    values[~missing] = present
    return values


def numeric_array(values: Sequence[object], where: str) -> np.ndarray | None:
    """Values, none of them missing, as a bool, integer or float array where every one is a real number, else None."""
    types = set(map(type, values))
    if any(issubclass(kind, _COMPLEX) for kind in types):
        raise complex_data(where)
    if any(issubclass(kind, TIMES) for kind in types):
        raise dates_and_times(where)
    if not types or not all(issubclass(kind, _REAL) for kind in types):
        return None
    if not all(issubclass(kind, _WHOLE) for kind in types):
        try:
            return np.array([float(value) for value in values])  # pyright: ignore[reportArgumentType]
        except OverflowError:  # beyond all floats: kept apart as categories
            return None
    if all(issubclass(kind, bool | np.bool_) for kind in types):
        return np.array(values, dtype=bool)
    whole = [int(value) for value in values]  # pyright: ignore[reportArgumentType]
    array = np.array(whole)
    if array.dtype.kind == "f" and min(whole) >= 0:  # NumPy makes floats of 2^64 - 1 beside 0
        return np.array(whole, dtype=np.uint64)
    # Integers that no integer dtype holds are kept apart as categories; as floats some would become equal.
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
            _masks(group),
        )
        for (kind, _), group in groups.items()
    )


def _masks(group: Sequence[Column]) -> np.ndarray | None:
    if all(column.missing is None for column in group):
        return None
    complete = np.zeros(len(group[0].values), dtype=bool)
    return np.stack([complete if column.missing is None else column.missing for column in group]).T


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
