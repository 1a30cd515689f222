"""RowSource: rows that can be read again and again, a block at a time, in units that stand for themselves.

A unit is what can be read without the others: a row group of a Parquet file, a CSV file, a partition
of a cluster. Everything that is learnt of a stream is learnt unit by unit and merged, so that units may be
read in any order, on any machine, and none twice.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from inspect import signature
from typing import Any, Protocol, TypeAlias

import pyarrow as pa

from certselect.errors import InvalidInput, keyword
from certselect.names import shown
from certselect.table.complete import name_columns
from certselect.table.model import Missing
from certselect.table.streams.row_sums import row_sum

Rows: TypeAlias = Any  # a block of rows, a pyarrow.RecordBatch
UNKNOWN = 1 << 62  # bytes of rows of which nobody knows how many there are: never all at once
_MOST_DIGITS = 38  # of decimals of 128 bits
_GROWTH = 2.5  # of record batches in memory: what is read, what is made of it, and a copy between
_ROWS_AT_ONCE = 1 << 17  # of a table that is read into memory


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

    def all_rows(self) -> pa.Table:
        """All rows in memory."""
        ...

    def rows_within(self, budget: int) -> pa.Table | None:
        """All rows in memory if they take no more than so many bytes there, about; None otherwise."""
        ...

    def check(self) -> None:
        """Refuse to go on, after a pass, if the rows are others by now than those that were opened."""
        ...

    @property
    def usual_missing(self) -> Missing:
        """What missing="auto" stands for."""
        ...


class FirstBlocks:
    """What sources do that have no way of their own: the first rows of a unit, and all rows, come out of blocks."""

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

    def all_rows(self: RowSource) -> pa.Table:
        names = self.schema.names
        blocks = [block for unit in range(len(self.units)) for block in self.blocks(unit, names, _ROWS_AT_ONCE)]
        return pa.Table.from_batches(blocks, schema=self.schema)

    def rows_within(self: RowSource, budget: int) -> pa.Table | None:
        return self.all_rows() if self.n_bytes <= budget else None


class BlockRows(FirstBlocks):
    """Rows that come as blocks, anew in every pass; other rows than in the first pass are noticed."""

    identity = ""
    n_rows = None
    units = ("the blocks",)
    n_bytes = UNKNOWN
    schema: pa.Schema
    called: str  # in errors
    seen: tuple[int, int] | None = None  # how many rows and their sum, after the first pass

    def opened(self) -> Iterable[Any]:
        """All blocks, from the first on: record batches, tables or data frames."""
        raise NotImplementedError

    def blocks(self, unit: int, columns: Sequence[str], n_rows: int) -> Iterator[pa.RecordBatch]:
        rows = total = 0
        for number, block in enumerate(self.opened()):
            given = as_arrow(block, number)
            if not given.num_rows:
                continue
            table = fitted(given, self.schema, f"block {number} of the table")
            rows, total = rows + table.num_rows, (total + row_sum(table)) % 2**64
            yield from table.select(list(columns)).combine_chunks().to_batches(max_chunksize=n_rows)
        if self.seen is None:
            self.seen = rows, total
        elif self.seen != (rows, total):
            raise self.other_rows()

    def other_rows(self) -> InvalidInput:
        return InvalidInput(
            f"{self.called} that brought other rows when it was called again",
            f"{self.called} that brings the same rows each time",
            "Open the data within it, and draw no new random numbers: an iterator that was made before is soon "
            "used up.",
        )


class BatchFactory(BlockRows):
    """Rows that a function of the user's brings, anew with every call: record batches, tables or data frames.

    Parameters
    ----------
    make : callable
        Without arguments; returns an iterable of blocks, all of one schema.
    """

    called = "a function"

    def __init__(self, make: Callable[[], Iterable[Any]]) -> None:
        self._make = make
        first: pa.Table | None = None
        for number, block in enumerate(self.opened()):
            own = first = as_arrow(block, number)
            if own.num_rows:  # the types of blocks without rows say little
                break
        if first is None:
            raise InvalidInput(
                "a function that brings no block of rows", "an iterable of record batches", "Check what it opens."
            )
        self.schema = plain_schema(first.schema)

    def opened(self) -> Iterable[Any]:
        try:
            signature(self._make).bind()
        except TypeError as error:
            raise InvalidInput(
                f"the function {shown(self._make)} ({error})",
                "a function without arguments that returns an iterable of record batches",
                "Wrap it: lambda: open_them(folder).",
            ) from None
        except ValueError:  # the parameters of some functions that are not written in Python are not known
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


class ArrowStream(BlockRows):
    """Rows of an object with ``__arrow_c_stream__``, which is asked for them anew in every pass.

    DuckDB relations, tables of ibis and others run their query again. A RecordBatchReader can be read once only.
    """

    def __init__(self, stream: Any) -> None:
        self.called = f"an object of type {type(stream).__name__}"
        self._stream, self._read_before = stream, 0
        reader = self._exported()
        self._reader: pa.RecordBatchReader | None = reader
        self.schema = plain_schema(reader.schema)

    def opened(self) -> Iterator[pa.RecordBatch]:
        if self._reader is None and isinstance(self._stream, pa.RecordBatchReader):
            raise InvalidInput(
                f"{self.called}, which can be read once only, of a table that does not fit into the memory to use",
                "rows that can be read again",
                f"Pass a function that returns a new reader, or raise {keyword('memory', spelled='')}.",
            )
        reader = self._exported() if self._reader is None else self._reader
        self._reader = None
        try:
            yield from reader
        finally:  # some databases answer nothing else while a result is open
            reader.close()

    def blocks(self, unit: int, columns: Sequence[str], n_rows: int) -> Iterator[pa.RecordBatch]:
        yield from super().blocks(unit, columns, n_rows)
        if self.seen is not None and self.seen[0] < self._read_before:
            raise self.other_rows()

    def rows_within(self, budget: int) -> pa.Table | None:
        parts, taken = [], 0.0
        for number, batch in enumerate(self.opened()):
            parts.append(fitted(pa.Table.from_batches([batch]), self.schema, f"block {number} of the table"))
            self._read_before += batch.num_rows
            taken += _GROWTH * parts[-1].nbytes
            if taken > budget:
                return None
        return pa.concat_tables(parts) if parts else self.schema.empty_table()

    def other_rows(self) -> InvalidInput:
        return InvalidInput(
            f"{self.called} that brought other rows when it was read again",
            "the same rows in the same order each time",
            "Order the query by its columns, or pass a function that returns new record batches with every call.",
        )

    def _exported(self) -> pa.RecordBatchReader:
        try:
            return pa.RecordBatchReader.from_stream(self._stream)
        except pa.ArrowException as error:
            raise InvalidInput(
                f"{self.called}, which cannot be read as record batches ({error})",
                "a table: rows of named columns",
                "Pass a data frame, or the array itself.",
            ) from error


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


def plain_schema(schema: pa.Schema) -> pa.Schema:
    """The columns of a table in the types in which they are read, without metadata."""
    plain = {kind: plain_type(kind) for kind in set(schema.types)}
    if all(kind == own for kind, own in plain.items()):
        return schema.remove_metadata()
    return pa.schema([field.with_type(plain[field.type]) for field in schema])


def plain_type(kind: pa.DataType) -> pa.DataType:
    """The type in which a column is read: no views and no runs, from which Arrow cannot take some rows.

    Decimals have as many digits as there can be, since later parts may need more of them.
    """
    if pa.types.is_run_end_encoded(kind):
        return plain_type(kind.value_type)
    if pa.types.is_decimal128(kind):
        return pa.decimal128(_MOST_DIGITS, kind.scale)
    return {pa.string_view(): pa.string(), pa.binary_view(): pa.binary()}.get(kind, kind)


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
        if pa.types.is_run_end_encoded(column.type):
            from pyarrow.compute import run_end_decode  # pyright: ignore[reportAttributeAccessIssue]

            column = run_end_decode(column)
        return column if column.type == field.type else column.cast(field.type)
    except pa.ArrowException as error:
        raise another_type(where, field.name, column.type, field.type) from error


def _holds(kind: pa.DataType, other: pa.DataType) -> bool:
    """Whether a column of another type may be read in this one. Arrow casts more: numbers to bools, texts to numbers,
    float64 to float32, where something is lost without notice."""
    other = plain_type(other)
    if _is_text(kind) and _is_text(other):
        return True
    if pa.types.is_integer(kind) and (pa.types.is_integer(other) or pa.types.is_floating(other)):
        return True  # whole numbers within its range; Arrow refuses others
    if pa.types.is_decimal(kind) and pa.types.is_decimal(other):
        return True  # where no digit is lost; Arrow refuses others
    try:
        return unified(kind, other) == kind
    except pa.ArrowException:
        return False


def unified(one: pa.DataType, other: pa.DataType) -> pa.DataType:
    """The type that holds the values of both; an ArrowException if there is none."""
    if _is_text(one) and _is_text(other) and one != other:
        one, other = (kind.value_type if pa.types.is_dictionary(kind) else kind for kind in (one, other))
    if pa.types.is_decimal128(one) and pa.types.is_decimal128(other):
        return pa.decimal128(_MOST_DIGITS, max(one.scale, other.scale))
    schemas = [pa.schema([pa.field("", kind)]) for kind in (one, other)]
    return pa.unify_schemas(schemas, promote_options="permissive").field(0).type


def _is_text(kind: pa.DataType) -> bool:
    own = kind.value_type if pa.types.is_dictionary(kind) else kind
    return pa.types.is_string(own) or pa.types.is_large_string(own) or pa.types.is_string_view(own)


def refuse_other_columns(schema: pa.Schema, expected: pa.Schema, where: str) -> None:
    """Refuse a part of a table that lacks columns of the whole, or has others."""
    there, wanted = dict.fromkeys(schema.names), dict.fromkeys(expected.names)  # in order, and found at once
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
