"""RowSource: rows that can be read again and again, a block at a time, in units that stand for themselves.

A unit is what can be read without the others: a row group of a Parquet file, a CSV file, a partition
of a cluster. Everything that is learnt of a stream is learnt unit by unit and merged, so that units may be
read in any order, on any machine, and none twice.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Protocol, TypeAlias

import pyarrow as pa

from certselect.errors import InvalidInput
from certselect.names import shown
from certselect.table.complete import name_columns

Rows: TypeAlias = Any  # a block of rows, a pyarrow.RecordBatch
UNKNOWN = 1 << 62  # bytes of rows of which nobody knows how many there are: never all at once


class RowSource(Protocol):
    """Rows of one schema in blocks.

    Attributes
    ----------
    schema : pyarrow.Schema
    units : sequence of str
        What each unit is called in messages.
    n_rows : int or None
        Of all units, where that is known before they are read.
    n_bytes : int
        What the rows take in memory, all at once, about.
    identity : str
        A digest that other data would not have; empty where that cannot be told without reading it all.
    """

    @property
    def schema(self) -> pa.Schema: ...
    @property
    def units(self) -> Sequence[str]: ...
    @property
    def n_rows(self) -> int | None: ...
    @property
    def n_bytes(self) -> int: ...
    @property
    def identity(self) -> str: ...

    def blocks(self, unit: int, columns: Sequence[str], n_rows: int) -> Iterator[pa.RecordBatch]:
        """These columns of a unit, in blocks of about `n_rows` rows; the same blocks each time."""
        ...

    def head(self, unit: int, columns: Sequence[str], n_rows: int) -> pa.Table:
        """The first rows of a unit, about so many, without much work."""
        ...


class FirstBlocks:
    """The first rows of a unit out of its blocks, for sources that have no quicker way."""

    def head(self: RowSource, unit: int, columns: Sequence[str], n_rows: int) -> pa.Table:
        parts, left = [], n_rows
        for block in self.blocks(unit, columns, n_rows):
            parts.append(block.slice(0, left))
            left -= block.num_rows
            if left <= 0:
                break
        schema = pa.schema([self.schema.field(name) for name in columns])
        return pa.Table.from_batches(parts) if parts else schema.empty_table()


class BatchFactory(FirstBlocks):
    """Rows that a function of the user's brings, anew with every call: record batches, tables or data frames.

    Parameters
    ----------
    make : callable
        Without arguments; returns an iterable of blocks, all of one schema.
    """

    identity = ""
    n_rows = None
    units = ("the blocks",)
    n_bytes = UNKNOWN

    def __init__(self, make: Callable[[], Iterable[Any]]) -> None:
        self._make = make
        first = next(iter(self._opened()), None)
        if first is None:
            raise InvalidInput(
                "a function that brings no block of rows", "an iterable of record batches", "Check what it opens."
            )
        self.schema = as_arrow(first, 0).schema

    def blocks(self, unit: int, columns: Sequence[str], n_rows: int) -> Iterator[pa.RecordBatch]:
        for number, block in enumerate(self._opened()):
            table = fitted(as_arrow(block, number), self.schema, f"block {number} of the table")
            yield from table.select(list(columns)).combine_chunks().to_batches(max_chunksize=n_rows)

    def _opened(self) -> Iterable[Any]:
        made = self._make()
        if isinstance(made, pa.RecordBatch | pa.Table) or not isinstance(made, Iterable):
            raise InvalidInput(
                f"a function that returns {shown(made)}",
                "a function that returns an iterable of record batches",
                "Return a list, a generator or a RecordBatchReader.",
            )
        return made


def as_arrow(block: Any, number: int) -> pa.Table:
    """A block of rows as an Arrow table, whatever library it is of."""
    if isinstance(block, pa.RecordBatch):
        return pa.Table.from_batches([block])
    if isinstance(block, pa.Table):
        return block
    import narwhals as nw

    frame = nw.from_native(block, eager_only=True, pass_through=True)
    if not isinstance(frame, nw.DataFrame):
        raise InvalidInput(
            f"{shown(block)} as block {number} of a table", "a record batch or a data frame", "Yield record batches."
        )
    return frame.to_arrow()


def fitted(block: pa.Table, schema: pa.Schema, where: str) -> pa.Table:
    """A block with the types that the whole table has; refused with the column named if that is not possible."""
    block = block.replace_schema_metadata(None)
    if block.schema.equals(schema):
        return block
    refuse_other_columns(block.schema, schema, where)
    columns = []
    for field in schema:
        column = block.column(field.name)
        try:
            columns.append(column if column.type == field.type else column.cast(field.type))
        except pa.ArrowException as error:
            raise another_type(where, field.name, column.type, field.type) from error
    return pa.Table.from_arrays(columns, schema=schema)


def refuse_other_columns(schema: pa.Schema, expected: pa.Schema, where: str) -> None:
    """Refuse a part of a table that lacks columns of the whole, or has others."""
    lacking = [name for name in expected.names if name not in schema.names]
    others = [name for name in schema.names if name not in expected.names]
    if lacking or others:
        said = [f"without column {name_columns(lacking)}"] if lacking else []
        said += [f"with column {name_columns(others)}, which others do not have"] if others else []
        raise InvalidInput(
            f"{where} {' and '.join(said)}", "the same columns in every part of a table", "Check how it was written."
        )


def another_type(where: str, column: str, got: pa.DataType, expected: pa.DataType) -> InvalidInput:
    return InvalidInput(
        f"column {column!r} of type {got} in {where}",
        f"{expected}, as in the parts before it",
        "Write all parts with the same types, or convert that column.",
    )
