"""RowSource: rows that can be read again and again, a block at a time, in units that stand for themselves.

A unit is what can be read without the others: a row group of a Parquet file, a CSV file, a partition
of a cluster. Everything that is learnt of a stream is learnt unit by unit and merged, so that units may be
read in any order, on any machine, and none twice.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from hashlib import sha256
from inspect import signature
from typing import Any, Protocol, TypeAlias

import pyarrow as pa

from certselect.errors import InvalidInput
from certselect.names import shown
from certselect.table.complete import name_columns
from certselect.table.model import Missing
from certselect.table.streams.row_sums import row_sum

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

    def check(self) -> None:
        """Refuse to go on, after a pass, if the rows are others by now than those that were opened."""
        ...

    @property
    def usual_missing(self) -> Missing:
        """What missing="auto" stands for."""
        ...


class FirstBlocks:
    """What sources do that have no way of their own: the first rows of a unit come out of its blocks."""

    usual_missing: Missing = "level"

    def check(self) -> None:
        pass

    def head(self: RowSource, unit: int, columns: Sequence[str], n_rows: int) -> pa.Table:
        parts, left = [], n_rows
        for block in self.blocks(unit, columns, n_rows):
            parts.append(block.slice(0, left))
            left -= block.num_rows
            if left <= 0:
                break
        schema = pa.schema([self.schema.field(name) for name in columns])
        return pa.Table.from_batches(parts) if parts else schema.empty_table()


class FileRows(FirstBlocks):
    """Rows of files, which are known by their names, their lengths and the times when they were written."""

    schema: pa.Schema
    identity: str
    files: Sequence[str] = ()
    folder: str | None = None  # whose files they are, all of them

    def identify(self, files: Sequence[str]) -> None:
        self.files = files
        self.identity = _identity_of(files, self.schema)

    def check(self) -> None:
        if _identity_of(self.files, self.schema) != self.identity:
            raise InvalidInput(
                f"files that were written to while they were read, {shown(self.files[0])} the first of them",
                "a table that does not change while it is read",
                "Read a copy of it.",
            )


def _identity_of(files: Sequence[str], schema: pa.Schema) -> str:
    """A digest of what files are called, how long they are and when they were written; empty for rows elsewhere."""
    if not files:
        return ""
    digest = sha256(schema.to_string(show_field_metadata=False).encode())
    for file in files:
        try:
            known = os.stat(file)
        except OSError:  # on another machine
            return ""
        digest.update(repr((os.path.abspath(file), known.st_size, known.st_mtime_ns)).encode())
    return digest.hexdigest()


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
        self.schema = without_views(as_arrow(first, 0).schema)
        self._seen: tuple[int, int] | None = None  # how many rows and their sum, after the first pass

    def blocks(self, unit: int, columns: Sequence[str], n_rows: int) -> Iterator[pa.RecordBatch]:
        rows = total = 0
        for number, block in enumerate(self._opened()):
            table = fitted(as_arrow(block, number), self.schema, f"block {number} of the table")
            rows, total = rows + table.num_rows, (total + row_sum(table)) % 2**64
            yield from table.select(list(columns)).combine_chunks().to_batches(max_chunksize=n_rows)
        if self._seen is None:
            self._seen = rows, total
        elif self._seen != (rows, total):
            raise InvalidInput(
                "a function that brought other rows when it was called again",
                "a function that brings the same rows each time",
                "Open the data within it, and draw no new random numbers: an iterator that was made before is soon "
                "used up.",
            )

    def _opened(self) -> Iterable[Any]:
        try:
            signature(self._make).bind()
        except TypeError as error:
            raise InvalidInput(
                f"the function {shown(self._make)} ({error})",
                "a function without arguments that returns an iterable of record batches",
                "Wrap it: lambda: open_them(folder).",
            ) from None
        except ValueError:  # some that are not written in Python do not tell what they take
            pass
        made = self._make()
        framed = hasattr(made, "columns")  # which can be gone over too, column by column
        if framed or isinstance(made, pa.RecordBatch | pa.Table) or not isinstance(made, Iterable):
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


def without_views(schema: pa.Schema) -> pa.Schema:
    """A schema with plain texts for those that are kept as views, from which Arrow cannot take some rows."""
    plain = {pa.string_view(): pa.string(), pa.binary_view(): pa.binary()}
    return pa.schema([field.with_type(plain.get(field.type, field.type)) for field in schema])


def fitted(block: pa.Table, schema: pa.Schema, where: str) -> pa.Table:
    """A block with the types that the whole table has; refused with the column named if that is not possible."""
    block = block.replace_schema_metadata(None)
    if block.schema.equals(schema):
        return block
    refuse_other_columns(block.schema, schema, where)
    columns = []
    for field in schema:
        column = block.column(field.name)
        if column.type != field.type and not _holds(field.type, column.type):
            raise another_type(where, field.name, column.type, field.type)
        columns.append(cast(column, field, where))
    return pa.Table.from_arrays(columns, schema=schema)


def cast(column: Any, field: pa.Field, where: str) -> Any:
    """A column in the type of a field; refused where a value would be lost."""
    try:
        return column if column.type == field.type else column.cast(field.type)
    except pa.ArrowException as error:
        raise another_type(where, field.name, column.type, field.type) from error


def _holds(kind: pa.DataType, other: pa.DataType) -> bool:
    """Whether a type holds what another one does. Arrow casts more: numbers to bools, texts to numbers, float64 to
    float32, where something is lost that nobody hears of."""
    if _is_text(kind) and _is_text(other):
        return True
    if pa.types.is_integer(kind) and (pa.types.is_integer(other) or pa.types.is_floating(other)):
        return True  # whole numbers within its range; Arrow refuses others
    try:
        return unified(kind, other) == kind
    except pa.ArrowException:
        return False


def unified(one: pa.DataType, other: pa.DataType) -> pa.DataType:
    """The type that holds the values of both; an ArrowException if there is none."""
    schemas = [pa.schema([pa.field("", kind)]) for kind in (one, other)]
    return pa.unify_schemas(schemas, promote_options="permissive").field(0).type


def _is_text(kind: pa.DataType) -> bool:
    own = kind.value_type if pa.types.is_dictionary(kind) else kind
    return pa.types.is_string(own) or pa.types.is_large_string(own) or pa.types.is_string_view(own)


def refuse_other_columns(schema: pa.Schema, expected: pa.Schema, where: str) -> None:
    """Refuse a part of a table that lacks columns of the whole, or has others."""
    there, wanted = schema.names, expected.names  # lists that Arrow makes anew each time it is asked
    lacking = [name for name in wanted if name not in there]
    others = [name for name in there if name not in wanted]
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
