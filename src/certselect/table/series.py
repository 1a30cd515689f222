"""Lists, arrays, series and frames that go beside a table, targets and weights -> their columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from certselect.errors import InvalidInput, UnusableType, keyword
from certselect.table.columns import (
    complex_data,
    dates_and_times,
    is_sparse,
    missing_cells,
    numeric_array,
    readable_cells,
    unmasked,
)
from certselect.table.frames import arrow_column, as_frame, frame_columns, frame_names

# A bool, integer or float array where every value is a number, else the values.
Values = np.ndarray | Sequence[object]


def columns_of(y: Any, name: str) -> list[Values]:
    """The columns of anything of one or two dimensions, as arrays or lists; `name` is for errors."""
    if not isinstance(y, np.ndarray) and is_sparse(y):
        raise UnusableType(f"{name} as a sparse matrix ({type(y).__name__})", "a dense array", "Pass y.toarray().")
    if isinstance(y, list | tuple):
        if not y or not all(isinstance(row, list | tuple | np.ndarray) for row in y):
            return [y]
        if len(set(map(np.shape, y))) > 1:
            raise InvalidInput(
                f"rows of different lengths in {keyword(name)}", "as many values in every row", "Check the rows."
            )
        y = np.array([tuple(row) for row in y], dtype=object)
    elif not isinstance(y, np.ndarray):
        y = _out_of_library(y, name)
        if isinstance(y, list):
            return [_plain(column, name) for column in y]
    if isinstance(y, np.ma.MaskedArray):
        y = unmasked(y)
    if y.ndim not in (1, 2) or (y.ndim == 2 and y.shape[1] == 0):
        raise InvalidInput(
            f"{name} of shape {y.shape}",
            "one value per row, or a column for each of several targets",
            f"{name} should be a 1d array, or a 2d array with a row for every row of X.",
        )
    return [_plain(y, name)] if y.ndim == 1 else [_plain(column, name) for column in y.T]


def names_of(y: Any) -> tuple[str, ...]:
    """The names of the columns that a series or a frame brings along; empty if it has none."""
    if y is None or isinstance(y, np.ndarray | list | tuple):
        return ()
    frame = as_frame(y)
    names = [getattr(y, "name", None)] if frame is None else frame_names(frame)
    named = tuple(name for name in names if isinstance(name, str) and name)
    return named if len(named) == len(names) else ()


def checked(values: Values, name: str, noun: str) -> Values:
    """The same values as an array if they are numbers; refused if any is missing or infinite."""
    if isinstance(values, np.ndarray):
        missing = np.isnan(values) if values.dtype.kind == "f" else None
    else:
        missing = missing_cells(values)
    if missing is not None:
        refuse_gaps(int(np.count_nonzero(missing)), len(missing), name, noun)
    array = values if isinstance(values, np.ndarray) else numeric_array(values, name)
    if array is None:
        return values
    if array.dtype.kind == "f" and not np.isfinite(array).all():
        raise InvalidInput(
            f"infinity (inf) in {keyword(name)}", f"finite {noun}s", f"Drop those rows or give them other {noun}s."
        )
    return array


def refuse_gaps(missing: int, n_samples: int, name: str, noun: str) -> None:
    """Refuse missing values in a target or in weights."""
    if missing:
        raise InvalidInput(
            f"missing {noun}s (NaN, None or null) in {keyword(name)}, in {missing} of {n_samples} rows",
            f"a {noun} for every row",
            "Drop those rows before selecting.",
        )


def _plain(column: np.ndarray, name: str) -> Values:
    if column.dtype.kind == "c":
        raise complex_data(name)
    if column.dtype.kind in "mM":
        raise dates_and_times(name)
    return column if column.dtype.kind in "biuf" else column.tolist()


def _out_of_library(y: Any, name: str) -> np.ndarray | list[np.ndarray]:
    """The columns of a frame, the values of a series, or the array that anything else turns into."""
    import narwhals as nw

    frame = as_frame(y)
    if frame is not None:
        columns = frame.columns if nw.dependencies.is_pyarrow_table(frame) else frame_columns(frame)
        return [_series_values(column, name) for column in columns] or np.empty((frame.shape[0], 0))
    series = nw.from_native(y, eager_only=True, allow_series=True, pass_through=True)
    return _series_values(series, name) if isinstance(series, nw.Series) else np.asarray(y)


def _series_values(column: Any, name: str) -> np.ndarray:
    import narwhals as nw

    native = nw.to_native(column, pass_through=True)
    numbers = arrow_column(native) if nw.dependencies.is_pyarrow_chunked_array(native) else None
    if numbers is not None:
        return numbers
    series = nw.from_native(native, series_only=True)
    dtype = series.dtype
    if dtype.is_temporal():
        raise dates_and_times(name)
    numeric = (dtype.is_numeric() and not dtype.is_decimal()) or dtype == nw.Boolean
    if numeric and (dtype.is_float() or not series.null_count()):
        return series.to_numpy()
    with readable_cells(name):
        return np.fromiter(series.to_list(), dtype=object, count=len(series))
