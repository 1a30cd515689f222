"""Dask's data frames and arrays -> RowSource: each partition is a unit, which is computed anew in every pass."""

from __future__ import annotations

import sys
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from certselect.errors import InvalidInput, UnusableType
from certselect.names import shown
from certselect.table.model import Missing
from certselect.table.parts import refuse_repeated_names
from certselect.table.streams.in_blocks import is_dask
from certselect.table.streams.row_source import UNKNOWN, FirstBlocks, refuse_other_columns
from certselect.table.streams.row_sums import row_sum

_SAME_PARTITIONS = "Take y from the same collection as X, or name it as a column of X."


def open_dask(X: Any, y: Any) -> tuple[DaskRows, str]:
    """The rows of a Dask data frame or array with their target, and what the target is called among them.

    Parameters
    ----------
    X : dask.dataframe.DataFrame or dask.array.Array of shape (m, n)
        The columns of an array are x0, x1, ...
    y : str, dask.dataframe.Series, dask.array.Array or ndarray
        A column of X, or what has the same partitions as X. An ndarray is for arrays whose chunks have known sizes.
    """
    framed = hasattr(X, "columns") and hasattr(X, "dtypes")
    if not framed and getattr(X, "ndim", 0) != 2:
        raise UnusableType(
            f"X={shown(X)}", "a Dask data frame, or a Dask array of two dimensions", "Convert it to one of them."
        )
    if framed:
        refuse_repeated_names([str(name) for name in X.columns])
    if framed and isinstance(y, str):
        return DaskRows(X, None, _frame_types(X), None), y
    if isinstance(y, str):
        raise InvalidInput(f"y={shown(y)} beside an array", "an array of targets", "Pass them as a 1-d Dask array.")
    rows = X if framed else X.rechunk({1: -1})
    types = _frame_types(X) if framed else {f"x{i}": _array_type(X.dtype, "X") for i in range(X.shape[1])}
    here = isinstance(y, np.ndarray) and not framed
    target, kind = _divided_like(rows, y) if here else _open_target(y, rows, framed)
    name = _free_name(str(getattr(y, "name", None) or "y") if not is_array(y) else "y", types)
    return DaskRows(rows, target, {**types, name: kind}, name), name


class DaskRows(FirstBlocks):
    """The rows of a Dask collection, a partition at a time.

    `form` is how partitions become blocks; `tasks` is what a cluster has to compute of them.
    """

    n_rows = None
    n_bytes = UNKNOWN
    identity = ""  # names of collections say how they are computed, not what is read

    def __init__(self, rows: Any, target: Any, types: Mapping[str, pa.DataType], target_name: str | None) -> None:
        self._rows, self._target = rows, target
        self.schema = pa.schema(list(types.items()))
        self.form = PartitionForm(self.schema, target_name)
        self.units = [self.form.called(place) for place in range(_n_partitions(rows))]
        self.usual_missing: Missing = "error" if is_array(rows) else "level"
        self._sums: dict[tuple[int, str], int] = {}  # of the columns of partitions, as they were met first

    def blocks(self, unit: int, columns: Sequence[str], n_rows: int) -> Iterator[pa.RecordBatch]:
        parts = [part.partitions[unit] for part in self._asked(columns)]
        # What both are made of is computed once, but for a frame beside an array, which Dask warns of.
        alike = len({is_array(part) for part in parts}) == 1
        computed = [one for some in ([parts] if alike else [[part] for part in parts]) for one in _computed(some)]
        whole = self.form.whole((unit, *computed), columns)
        self.compare(column_sums(unit, whole))
        yield from whole.to_batches(max_chunksize=n_rows)

    def compare(self, sums: Mapping[tuple[int, str], int]) -> None:
        """Refuse partitions that are computed again with other cells: random ones, or of files that were written to."""
        for (unit, name), found in sums.items():
            if self._sums.setdefault((unit, name), found) != found:
                raise InvalidInput(
                    f"other cells in column {name!r} of {self.form.called(unit)} when it was computed again",
                    "a collection that is the same each time it is computed",
                    "Call persist() on it first, or draw no random numbers in it.",
                )

    def tasks(self, columns: Sequence[str]) -> tuple[dict[Hashable, Any], list[list[Any]]]:
        """A graph, and the units in it: the number of a partition and its keys, as `form.blocks` takes them."""
        from dask.core import flatten

        parts = [_optimized(part) for part in self._asked(columns)]
        graph: dict[Hashable, Any] = {}
        for part in parts:
            graph.update(part.__dask_graph__())
        keys = [list(flatten(part.__dask_keys__())) for part in parts]
        return graph, [[place, *own] for place, own in enumerate(zip(*keys, strict=True))]

    def _asked(self, columns: Sequence[str]) -> list[Any]:
        """The collections, with these columns only."""
        asked = [name for name in columns if name != self.form.target]
        parts = [self._projected(asked)] if asked else []
        return parts + [self._target] * (len(asked) < len(columns))

    def _projected(self, asked: Sequence[str]) -> Any:
        names = [name for name in self.schema.names if name != self.form.target]
        if list(asked) == names:
            return self._rows
        place = {name: i for i, name in enumerate(names)}
        if is_array(self._rows):
            return self._rows[:, [place[name] for name in asked]].rechunk({1: -1})
        return self._rows[[self._rows.columns[place[name]] for name in asked]]


@dataclass(frozen=True, eq=False)
class PartitionForm:
    """How a partition that was computed becomes blocks of rows; can be sent to a worker.

    Attributes
    ----------
    schema : pyarrow.Schema
        Of all columns, the target among them.
    target : str or None
        The name of the target if it has partitions of its own.
    """

    schema: pa.Schema
    target: str | None

    def called(self, place: int) -> str:
        return f"partition {place} of the collection"

    def whole(self, unit: Sequence[Any], columns: Sequence[str]) -> pa.Table:
        """`unit` is the number of a partition and what was computed of it: cells, targets or both."""
        place, *parts = unit
        where = self.called(place)
        _refuse_other_rows(parts, where)
        asked = [name for name in columns if name != self.target]
        cells: dict[str, Any] = {}
        for part in parts:
            cells.update(self._cells(part, asked, where))
        schema = pa.schema([self.schema.field(name) for name in columns])
        refuse_other_columns(pa.schema([(name, pa.null()) for name in cells]), schema, where)
        arrays = [_fitted(cells[field.name], field, where) for field in schema]
        return pa.Table.from_arrays(arrays, schema=schema).combine_chunks()

    def _cells(self, part: Any, asked: Sequence[str], where: str) -> dict[str, Any]:
        """The columns of what was computed, by their names."""
        if hasattr(part, "columns"):
            return {str(name): part.iloc[:, i] for i, name in enumerate(part.columns)}
        if part.ndim == 1:
            return {str(self.target): part}
        if not isinstance(part, np.ndarray) or part.shape[1] != len(asked):
            raise InvalidInput(
                f"{shown(part)} as {where}", f"a NumPy array of {len(asked)} columns", "Check what computes it."
            )
        return {name: part[:, i] for i, name in enumerate(asked)}


def column_sums(unit: int, rows: pa.Table) -> dict[tuple[int, str], int]:
    """What tells the columns of a partition from others, whatever the order of its rows."""
    return {(unit, name): row_sum(rows.select([name])) for name in rows.column_names}


def is_array(data: Any) -> bool:
    return hasattr(data, "ndim") and not hasattr(data, "index")


def _n_partitions(data: Any) -> int:
    return data.numblocks[0] if is_array(data) else data.npartitions


def _computed(parts: Sequence[Any]) -> tuple[Any, ...]:
    """In this process, unless they are kept on a cluster."""
    import dask

    scheduler = None if any(_is_kept(part) for part in parts) else "threads"
    return dask.compute(*parts, scheduler=scheduler)  # pyright: ignore[reportPrivateImportUsage]


def _is_kept(part: Any) -> bool:
    """Whether a collection was persisted on a cluster, without which it cannot be computed."""
    if "distributed" not in sys.modules:
        return False
    from distributed import futures_of

    return bool(futures_of(part))


def _optimized(part: Any) -> Any:
    if not is_array(part):
        return part.optimize()  # dask.optimize forgets, as of 2026.8, which columns were asked for
    import dask

    return dask.optimize(part)[0]  # pyright: ignore[reportPrivateImportUsage]


def _open_target(y: Any, rows: Any, framed: bool) -> tuple[Any, pa.DataType]:
    """A target with the partitions of the rows, and its type."""
    if not is_dask(y) or getattr(y, "ndim", 0) != 1:
        expected = "the name of a column or a Dask series" if framed else "a Dask or NumPy array of one dimension"
        raise UnusableType(f"y={shown(y)}", expected, _SAME_PARTITIONS)
    if is_array(y):
        if is_array(rows) and not np.isnan(y.shape[0] + rows.shape[0]):
            _refuse_other_shape(y, rows)
            y = y.rechunk((rows.chunks[0],))
        kind = _array_type(y.dtype, "y")
    else:
        kind = _frame_types(y.to_frame(name="y"))["y"]
    divided = [part.divisions for part in (rows, y) if getattr(part, "known_divisions", False)]
    if _n_partitions(y) != _n_partitions(rows) or len(set(divided)) > 1:
        raise InvalidInput(
            f"y in {_n_partitions(y)} partitions that are not those of X, which are {_n_partitions(rows)}",
            "the same rows in each partition of both",
            _SAME_PARTITIONS,
        )
    return y, kind


def _divided_like(rows: Any, y: np.ndarray) -> tuple[Any, pa.DataType]:
    """A target in memory as one with the partitions of the rows, and its type."""
    if np.isnan(rows.shape[0]):
        raise InvalidInput(
            "y as a NumPy array beside an array whose chunks have unknown sizes",
            "chunks of known sizes",
            "Call X.compute_chunk_sizes() first.",
        )
    _refuse_other_shape(y, rows)
    import dask.array

    chunks: Any = (rows.chunks[0],)
    return dask.array.from_array(y, chunks=chunks), _as_arrow(y).type


def _refuse_other_shape(y: Any, rows: Any) -> None:
    if y.shape != (rows.shape[0],):
        raise InvalidInput(
            f"y of shape {y.shape} for {rows.shape[0]} rows", "one target for every row", "Check how y was made."
        )


def _free_name(name: str, taken: Mapping[str, Any]) -> str:
    while name in taken:
        name += "_"
    return name


def _array_type(dtype: np.dtype, what: str) -> pa.DataType:
    if dtype.kind not in "iufbU":
        raise UnusableType(
            f"{what} of type {dtype}", "an array of numbers, bools or strings", "Convert it, or pass a Dask data frame."
        )
    return pa.array(np.empty(0, dtype=dtype)).type


def _frame_types(frame: Any) -> dict[str, pa.DataType]:
    """The types that the frame's meta says; where that says too little, those of the first cells that there are."""
    types = _types_of(frame._meta)
    names = dict(zip(types, frame.columns, strict=False))
    vague = [name for name, kind in types.items() if _is_vague(kind, frame, names[name])]
    for place in range(frame.npartitions):
        if not vague:
            break
        import dask

        some = frame[[names[name] for name in vague]].partitions[place].to_delayed()[0]
        (found,) = dask.compute(dask.delayed(_types_of)(some))  # pyright: ignore[reportPrivateImportUsage]
        settled = {name: kind for name, kind in found.items() if not pa.types.is_null(_values(kind))}
        types.update(settled)
        vague = [name for name in vague if name not in settled]
    return types


def _types_of(frame: Any) -> dict[str, pa.DataType]:
    return {str(name): _plain(_as_arrow(frame.iloc[:, i]).type) for i, name in enumerate(frame.columns)}


def _is_vague(kind: pa.DataType, frame: Any, name: Hashable) -> bool:
    return pa.types.is_null(kind) or (pa.types.is_dictionary(kind) and not frame[name].cat.known)


def _as_arrow(column: Any) -> Any:
    return pa.array(np.ascontiguousarray(column) if isinstance(column, np.ndarray) else column, from_pandas=True)


def _plain(kind: pa.DataType) -> pa.DataType:
    """Categories with codes that have room for those of every partition."""
    return pa.dictionary(pa.int32(), kind.value_type) if pa.types.is_dictionary(kind) else kind


def _values(kind: pa.DataType) -> pa.DataType:
    return kind.value_type if pa.types.is_dictionary(kind) else kind


def _fitted(cells: Any, field: pa.Field, where: str) -> Any:
    """A column of a partition as Arrow's, of the type that the whole collection has."""
    try:
        column = _as_arrow(cells)
        if column.null_count == len(column):  # nothing in it, of whatever type
            return pa.nulls(len(column), field.type)
        if column.type == field.type:
            return column
        if _alike(column.type, field.type):
            return column.cast(field.type)
    except (pa.ArrowException, TypeError) as error:
        raise InvalidInput(
            f"cells of column {field.name!r} in {where} that are not all {field.type}",
            "cells of the type that the collection's meta says",
            f"Convert that column. ({error})",
        ) from error
    raise InvalidInput(
        f"column {field.name!r} of type {column.type} in {where}",
        f"{field.type}, as the collection's meta says",
        "Convert that column in every partition, as by X.astype, or give the meta that is true.",
    )


def _alike(got: pa.DataType, expected: pa.DataType) -> bool:
    """Whether two types differ only in how they are kept."""
    if pa.types.is_dictionary(got) and pa.types.is_dictionary(expected):
        return _alike(got.value_type, expected.value_type)
    if pa.types.is_timestamp(got) and pa.types.is_timestamp(expected):
        return got.tz == expected.tz
    texts = (pa.types.is_string, pa.types.is_large_string)
    return got == expected or all(any(is_text(kind) for is_text in texts) for kind in (got, expected))


def _refuse_other_rows(parts: Sequence[Any], where: str) -> None:
    """Refuse targets that are not those of the rows beside them."""
    if len({len(part) for part in parts}) > 1:
        raise InvalidInput(
            f"{len(parts[0])} rows and {len(parts[1])} targets in {where}", "one target for every row", _SAME_PARTITIONS
        )
    indexes = [part.index for part in parts if hasattr(part, "index")]
    if len(indexes) == 2 and not indexes[0].equals(indexes[1]):
        raise InvalidInput(
            f"rows and targets with different indexes in {where}", "one target for every row", _SAME_PARTITIONS
        )
