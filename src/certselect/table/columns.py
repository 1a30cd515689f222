"""Columns of any type -> Blocks, one per kind and dtype; values -> codes of categories; sparse matrices."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from decimal import Decimal
from itertools import repeat
from typing import Any

import numpy as np

from certselect.errors import InvalidInput, UnusableType, keyword
from certselect.table.model import Block, Kind, SparseBlock
from certselect.table.times import array_of_times, is_time, seconds_of

_WHOLE = (int, np.integer, np.bool_)
_REAL = (*_WHOLE, float, np.floating, Decimal)
_COMPLEX = (complex, np.complexfloating)
# Named, not imported: pandas is not loaded to look for its missing values.
_MISSING_TYPES = ("NoneType", "NAType", "NaTType")
_NEVER_MISSING = {str, int, bool, bytes}
_PLAIN = {*_NEVER_MISSING, float, type(None)}


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
        times = [is_time(kind) for kind in set(map(type, present))]
        dated = bool(times) and all(times)
        read = seconds_of if dated else numeric_array
        array = None if any(times) and not dated else read(present, where)
        if array is not None:
            kind = "number" if array.dtype.kind == "f" else "integer"
            spread = array if missing is None else _spread(array, missing)
            return Column(position, kind, spread, missing=missing, dated=dated)
    codes, vocabulary = encode(values, where)
    return Column(position, "category", codes, vocabulary, missing)


@contextmanager
def readable_cells(where: str) -> Iterator[None]:
    """Refuse cells that Python cannot represent with an error that names where they are."""
    try:
        yield
    except UnicodeDecodeError as error:
        raise InvalidInput(
            f"text that is not UTF-8 in {where}",
            "text in UTF-8",
            f"Decode it where the table is written, or leave that column out by {keyword('exclude', spelled='')}.",
        ) from error
    except OverflowError as error:
        raise InvalidInput(
            f"dates or durations in {where} that are out of range ({error})",
            "dates from the year 1 to 9999",
            f"Convert them to numbers, or leave that column out by {keyword('exclude', spelled='')}.",
        ) from error


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
    if any(is_time(kind) for kind in types):
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


def encode(values: Sequence[object], where: str) -> tuple[np.ndarray, tuple[Hashable, ...]]:
    """Number the distinct values, of a feature or a target: codes, -1 where one is missing, and the values in order."""
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


def is_sparse(X: Any) -> bool:
    """Asked of the name of its module, so that SciPy is not loaded for other tables."""
    return not isinstance(X, np.ndarray) and any(base.__module__.startswith("scipy.sparse") for base in type(X).__mro__)


def sparse_block(X: Any, rows: np.ndarray | None = None, unread: Sequence[int] = ()) -> SparseBlock:
    """All columns of a sparse matrix in any format, or these rows of them, column by column; X is not changed.

    Cells stored twice count as their sum, and stored zeros as zeros. Time and memory
    grow with the stored cells, the rows and the columns, not with their product. Columns that are
    `unread` come out empty.
    """
    from scipy.sparse import csc_array

    kind = X.dtype.kind
    if kind == "c":
        raise complex_data("X")
    if rows is not None:
        X = X.tocsr()[rows]
    columns = X.tocsc()
    # A matrix of one's own around the same arrays: flags of the caller's may be out of date, and none is set on it.
    values = csc_array((columns.data, columns.indices, columns.indptr), shape=X.shape)
    if not values.has_canonical_format or np.count_nonzero(values.data) < len(values.data):
        values = values.copy()
        values.sum_duplicates()
        values.eliminate_zeros()
    if len(unread):
        stored = np.diff(values.indptr)
        kept = ~np.isin(np.repeat(np.arange(len(stored)), stored), unread)
        stored[list(unread)] = 0
        starts = np.concatenate([[0], np.cumsum(stored)])
        values = csc_array((values.data[kept], values.indices[kept], starts), shape=X.shape)
    if kind == "f" and values.dtype not in (np.float32, np.float64):
        values = csc_array(values.astype(np.float64))
    return SparseBlock("number" if kind == "f" else "integer", np.arange(X.shape[1], dtype=np.intp), values)


def check_sparse_shape(X: Any) -> None:
    if X.ndim != 2:
        raise InvalidInput(
            f"a sparse array of shape {X.shape}: Expected 2D array, got {X.ndim}D array instead",
            "a table of rows and columns",
            "Reshape it with X.reshape(-1, 1) if it is one feature, X.reshape(1, -1) if it is one row.",
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
