"""Data frames -> Blocks, through narwhals: pandas, polars, Arrow and their kin; and rows and columns of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from certselect.errors import InvalidInput
from certselect.table.columns import Column, array_block, gather, is_sparse, read_values, readable_cells
from certselect.table.model import Block
from certselect.table.times import series_of_times

_ARROW_FLOATS = ("float", "double")
_ARROW_INTEGERS = tuple(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64))


def as_frame(X: Any) -> Any | None:
    """X as the data frame it is, out of a narwhals wrapper if need be; None if narwhals reads it as none."""
    import narwhals as nw

    X = nw.to_native(X, pass_through=True)
    if nw.dependencies.is_polars_lazyframe(X):
        raise InvalidInput("a polars LazyFrame", "data in memory", "Call .collect() on it first.")
    if nw.dependencies.is_pandas_dataframe(X) or nw.dependencies.is_pyarrow_table(X):
        return X  # these may hold a name twice, which from_native refuses without saying what to do
    return X if isinstance(nw.from_native(X, eager_only=True, pass_through=True), nw.DataFrame) else None


def frame_names(X: Any) -> tuple[str, ...]:
    """The column names as strings; asked of the frame itself, for narwhals refuses some that differ by type only."""
    names = X.column_names if hasattr(X, "column_names") else X.columns
    return tuple(map(str, names))


def frame_rows(X: Any, rows: np.ndarray) -> Any:
    """Those rows of a frame, as the frame it is."""
    import narwhals as nw

    if nw.dependencies.is_pandas_dataframe(X):
        return X.iloc[rows]
    if nw.dependencies.is_pyarrow_table(X):
        return X.take(rows)
    return nw.to_native(nw.from_native(X, eager_only=True)[rows, :])


def native_frame(X: Any) -> Any | None:
    """X as the data frame of the user's library that it is; None if it is none."""
    plain = X is None or isinstance(X, np.ndarray | list | tuple | str) or is_sparse(X)
    return None if plain else as_frame(X)


def take_cells(X: Any, rows: np.ndarray | None, columns: np.ndarray) -> Any:
    """These columns, in these rows or in all, of an array, a sparse matrix or a frame."""
    import narwhals as nw

    if native_frame(X) is None:
        part = X[:, columns]
        return part if rows is None else part[rows]
    if nw.dependencies.is_pandas_dataframe(X):
        part = X.iloc[:, columns]
    elif nw.dependencies.is_pyarrow_table(X):
        part = X.select(columns.tolist())
    else:
        part = nw.to_native(nw.from_native(X, eager_only=True)[:, columns.tolist()])
    return part if rows is None else frame_rows(part, rows)


def column_types(X: Any) -> list[str]:
    """What tells an estimator how to take each column: the library and the types of a frame, the dtype of an array."""
    if native_frame(X) is None:
        return [type(X).__name__, str(X.dtype)]
    return [type(X).__module__, *(str(column.dtype) for column in frame_columns(X))]


def frame_columns(X: Any) -> Iterable[Any]:
    """The columns of a frame as narwhals series, whatever their names."""
    import narwhals as nw

    if nw.dependencies.is_pandas_dataframe(X):
        return [nw.from_native(X.iloc[:, place], series_only=True) for place in range(X.shape[1])]
    if nw.dependencies.is_pyarrow_table(X):
        return [nw.from_native(column, series_only=True) for column in X.columns]
    return nw.from_native(X, eager_only=True).iter_columns()


def read_frame(X: Any, names: Sequence[str]) -> tuple[tuple[Block, ...], list[int]]:
    """Columns of a frame by kind, whole groups of numeric ones at once, the others one by one; and which are dates."""
    import narwhals as nw

    everything = np.arange(len(names), dtype=np.intp)
    if nw.dependencies.is_pandas_dataframe(X):
        dtypes = X.dtypes.unique()
        if len(dtypes) == 1 and isinstance(dtypes[0], np.dtype) and dtypes[0].kind in "biuf":
            # One dtype throughout is one array inside pandas: no look at each of 20 000 columns.
            block = array_block(X.to_numpy(), everything)
            assert block is not None
            return (block,), []
    if nw.dependencies.is_pyarrow_table(X):
        numbers = _arrow_blocks(X)
        if numbers is not None:
            return numbers, []
    if nw.dependencies.is_pandas_dataframe(X):
        X = X.set_axis(range(len(names)), axis=1)  # narwhals refuses a name that occurs twice
    elif nw.dependencies.is_pyarrow_table(X):
        X = X.rename_columns([str(place) for place in range(len(names))])
    frame = nw.from_native(X, eager_only=True)
    groups: dict[Any, list[int]] = {}
    for position, dtype in enumerate(frame.schema.values()):
        groups.setdefault(dtype, []).append(position)
    blocks: list[Block] = []
    columns: list[Column] = []
    for dtype, positions in groups.items():
        if dtype.is_temporal():
            columns.extend(_dated_column(frame[:, position], position, names[position]) for position in positions)
            continue
        whole = dtype.is_integer() or dtype == nw.Boolean
        if dtype in _numpy_dtypes(nw):
            values = _arrow_numbers(X, positions) if nw.dependencies.is_pyarrow_table(X) else None
            values = frame[:, positions].to_numpy() if values is None else values
            # Integers and bools come as floats or objects where nulls are among them.
            block = array_block(values, everything[positions]) if whole == (values.dtype.kind in "biu") else None
            if block is not None:
                blocks.append(block)
                continue
            if whole:
                columns.extend(_whole_column(frame[:, position], position) for position in positions)
                continue
            floats = np.stack([_floats(frame[:, position]) for position in positions], axis=1)
            block = array_block(floats, everything[positions])
            assert block is not None
            blocks.append(block)
        else:
            categories = dtype in (nw.Categorical, nw.Enum, nw.String)
            for position in positions:
                with readable_cells(f"column {names[position]!r}"):
                    values = frame[:, position].to_list()
                columns.append(read_values(values, position, names[position], categories=categories))
    columns.sort(key=lambda column: column.position)
    return (*blocks, *gather(columns)), [column.position for column in columns if column.dated]


def _arrow_blocks(X: Any) -> tuple[Block, ...] | None:
    """The columns of an Arrow table by type, if all of them are numbers; None if not.

    Without narwhals, which loads all functions of Arrow first: that takes longer than reading a small file.
    """
    groups: dict[Any, list[int]] = {}
    for position, dtype in enumerate(X.schema.types):
        groups.setdefault(dtype, []).append(position)
    blocks: list[Block] = []
    for positions in groups.values():
        values = _arrow_numbers(X, positions)
        block = None if values is None else array_block(values, np.array(positions, dtype=np.intp))
        if block is None:
            return None
        blocks.append(block)
    return tuple(blocks)


def _arrow_numbers(X: Any, positions: Sequence[int]) -> np.ndarray | None:
    """Columns of numbers of one type of an Arrow table as (m, p), NaN for null; None if one has no such form."""
    columns = [column for position in positions if (column := arrow_column(X.column(position))) is not None]
    return np.stack(columns, axis=1) if len(columns) == len(positions) else None


def arrow_column(column: Any) -> np.ndarray | None:
    """A column of numbers of an Arrow table, NaN for null; None for anything else and for integers with nulls.

    Not by Arrow's own way to NumPy, which loads pandas first: that takes longer than reading a small file.
    """
    kind = str(column.type)
    if kind not in _ARROW_FLOATS and (kind not in _ARROW_INTEGERS or column.null_count):
        return None
    array = column.combine_chunks()
    if not array.null_count:
        return np.from_dlpack(array)
    _, numbers = array.buffers()
    here = slice(array.offset, array.offset + len(array))
    known = np.from_dlpack(array.is_valid().cast("uint8")) == 1
    return np.where(known, np.frombuffer(numbers, dtype=f"f{array.type.bit_width // 8}")[here], np.nan)


def _dated_column(series: Any, position: int, name: str) -> Column:
    where = f"column {name!r}"
    with readable_cells(where):
        seconds, missing = series_of_times(series, where)
    return Column(position, "number", seconds, missing=missing if missing.any() else None, dated=True)


def _whole_column(series: Any, position: int) -> Column:
    """A column of integers or bools with nulls among them, which float64 would not hold without loss."""
    import narwhals as nw

    missing = np.asarray(series.is_null().to_numpy(), dtype=bool)
    filled = series.fill_null(False if series.dtype == nw.Boolean else 0)
    return Column(position, "integer", filled.to_numpy(), missing=missing if missing.any() else None)


def _floats(series: Any) -> np.ndarray:
    """A column of floats, NaN for null: several such columns of pandas come as an array of objects."""
    values = series.to_numpy()
    return (
        values if values.dtype.kind == "f" else np.array([np.nan if v is None else v for v in series.to_list()], float)
    )


def _numpy_dtypes(nw: Any) -> tuple[Any, ...]:
    signed = (nw.Int8, nw.Int16, nw.Int32, nw.Int64)
    unsigned = (nw.UInt8, nw.UInt16, nw.UInt32, nw.UInt64)
    return (nw.Boolean, *signed, *unsigned, nw.Float32, nw.Float64)
