"""Text files with a header line, separated by commas, semicolons or tabs, also compressed by gzip.

The type of a column is the first of Arrow's types, in the order in which Arrow tries them, that suits all cells of
all files. So it does not depend on how rows are divided into files and blocks. Arrow itself takes the types of a stream
from its first block. Here each file is read once to settle them, and a type that does not suit a later cell is widened.
Whole numbers that 64 bits with a sign do not hold are unsigned integers or, where these do not hold them either, text:
Arrow would read floats, as which different numbers may be equal.
A table that fits into memory is parsed at once, by Arrow's own search for types, which follows the same order.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa

from certselect.progress import report
from certselect.table.complete import name_columns
from certselect.table.formats import Format
from certselect.table.parts import refuse_repeated_names
from certselect.table.streams.arrow_columns import numbers_of
from certselect.table.streams.file_rows import DataFile, FileUnits, empty, not_utf_8
from certselect.table.streams.row_source import refuse_other_columns

# In the order in which Arrow tries them: the first that suits every cell of a column is its type.
_TYPES = (
    pa.null(), pa.int64(), pa.bool_(), pa.date32(), pa.time32("s"),
    pa.timestamp("s"), pa.timestamp("ns"), pa.timestamp("s", "UTC"), pa.timestamp("ns", "UTC"),
    pa.float64(), pa.string(),
)  # fmt: skip
_UNSUITABLE = re.compile(r"In CSV column #(\d+): .*?CSV conversion error to [^:]+: [^']*'(.*)'", re.DOTALL)
# Numbers without a point, which Arrow takes for floats from here on; of some of them unsigned integers.
_WHOLE, _NOT_NEGATIVE = re.compile(r"\s*-?[0-9]+\s*"), re.compile(r"\s*[0-9]+\s*")
_LARGE, _MOST_UNSIGNED = 2.0**63, 2**64 - 1
_LONG_ROW = "straddling object"  # Arrow's words for a row that is longer than a block
_BLOCK, _LONGEST_BLOCK = 1 << 22, 1 << 26  # bytes; no row may be longer than the longest
_UTF_16_MARKS = (b"\xff\xfe", b"\xfe\xff")
_LOOKED_AT = 1 << 12  # bytes of a text in which no NUL may be
_GZIP_MAGIC = b"\x1f\x8b"


class CsvFiles(FileUnits):
    """Text files with the same header, each of which is a unit."""

    kind: ClassVar[str] = "text"
    growth: ClassVar[float] = 3.0

    def __init__(self, files: Sequence[DataFile], folder: str | None = None) -> None:
        super().__init__(files, folder)
        self._n_rows: dict[int, int] = {}
        self._block_of: dict[DataFile, int] = {}
        self._large: set[str] = set()  # columns in which numbers of 2^63 or more were seen

    def bytes_of(self, file: DataFile) -> int:
        return super().bytes_of(file) * (8 if _is_zipped(file) else 1)

    def rows_of(self, file: DataFile, columns: Sequence[str], n_rows: int) -> Iterator[pa.RecordBatch]:
        with self._stream(file, {field.name: field.type for field in self.schema}, columns) as reader:
            yield from reader

    @cached_property
    def schema(self) -> pa.Schema:
        return self._settle(self._types_by_blocks)

    @cached_property
    def rowless(self) -> set[int]:
        _ = self.schema  # rows are counted while their types are settled
        return {unit for unit, n_rows in self._n_rows.items() if not n_rows and len(self._files) > 1}

    def all_rows(self) -> pa.Table:
        """All rows in memory: each file is parsed once, and again where the other files ask for wider types."""
        parsed: dict[int, pa.Table] = {}

        def parse(unit: int, types: Mapping[str, pa.DataType]) -> pa.Schema:
            parsed[unit] = self._parsed(self._files[unit], types)
            self._note_large(parsed[unit])
            self._n_rows[unit] = parsed[unit].num_rows
            return parsed[unit].schema

        schema = self.schema = self._settle(parse)
        parts = []
        for unit, table in parsed.items():
            if unit in self.rowless:
                continue
            if not table.select(schema.names).schema.equals(schema):
                with self.reading(self.units[unit]):
                    table = self._parsed(self._files[unit], {field.name: field.type for field in schema})
            parts.append(table.select(schema.names))
        return pa.concat_tables(parts) if parts else schema.empty_table()

    def _settle(self, types_of: Callable[[int, Mapping[str, pa.DataType]], pa.Schema]) -> pa.Schema:
        """The types that suit all cells of all files; `types_of` finds those of one file, not before given ones."""
        schema = self._types_of_arrow(types_of)
        for name in sorted(self._large.intersection(schema.names)):
            place = schema.get_field_index(name)
            if schema.field(place).type == pa.float64():
                schema = schema.set(place, pa.field(name, self._type_of_large(name)))
        return schema

    def _note_large(self, rows: pa.Table | pa.RecordBatch) -> None:
        for field, column in zip(rows.schema, rows.columns, strict=True):
            if field.type == pa.float64() and field.name not in self._large:
                chunks = column.chunks if isinstance(column, pa.ChunkedArray) else [column]
                if any((np.abs(numbers_of(chunk, field.name, None)) >= _LARGE).any() for chunk in chunks):
                    self._large.add(field.name)

    def _type_of_large(self, name: str) -> pa.DataType:
        """The type of a column with large numbers: floats unless all cells are whole numbers."""
        unsigned = True
        for unit, file in enumerate(self._files):
            with self.reading(self.units[unit]), self._stream(file, {name: pa.string()}, [name]) as reader:
                for batch in reader:
                    for cell in filter(None, batch.column(0).to_pylist()):
                        if not _WHOLE.fullmatch(cell):
                            return pa.float64()
                        unsigned = unsigned and bool(_NOT_NEGATIVE.fullmatch(cell)) and int(cell) <= _MOST_UNSIGNED
        return pa.uint64() if unsigned else pa.string()

    def _types_of_arrow(self, types_of: Callable[[int, Mapping[str, pa.DataType]], pa.Schema]) -> pa.Schema:
        found: dict[int, pa.Schema] = {}
        for unit, file in enumerate(self._files):
            with self.reading(file.called):
                found[unit] = types_of(unit, {})
                refuse_repeated_names(found[unit].names)
                _refuse_other_encodings(found[unit], file.called)
            report("types of columns", unit + 1, len(self._files))
        asked = {unit: own for unit, own in found.items() if self._n_rows[unit]} or {0: found[0]}
        first = next(iter(asked.values()))
        for unit, own in asked.items():
            refuse_other_columns(own, first, self.units[unit])
        while len(asked) > 1:
            widest = {
                name: max((own.field(name).type for own in asked.values()), key=_TYPES.index) for name in first.names
            }
            narrow = {
                unit: {name: kind for name, kind in widest.items() if not _holds(kind, own.field(name).type)}
                for unit, own in asked.items()
            }
            if not any(narrow.values()):
                return pa.schema([(name, widest[name]) for name in first.names])
            for unit, types in narrow.items():
                if types:
                    with self.reading(self.units[unit]):
                        again = self._types_by_blocks(unit, types)
                    own = asked[unit]
                    asked[unit] = pa.schema([again.field(f.name) if f.name in types else f for f in own])
        return pa.schema([(field.name, field.type) for field in first])

    def _types_by_blocks(self, unit: int, types: Mapping[str, pa.DataType]) -> pa.Schema:
        """The first types that suit every cell of a file, from the given ones on."""
        widened, file = dict(types), self._files[unit]
        schema: pa.Schema | None = None
        while True:
            n_rows = 0
            try:
                with self._stream(file, widened, None) as reader:
                    schema = reader.schema
                    for batch in reader:
                        self._note_large(batch)
                        n_rows += batch.num_rows
                self._n_rows[unit] = n_rows
                return schema
            except pa.ArrowException as error:
                if _LONG_ROW in str(error) and self._block_of[file] < _LONGEST_BLOCK:
                    self._block_of[file] = _LONGEST_BLOCK
                    continue
                found = _UNSUITABLE.search(str(error))
                if found is None or schema is None:
                    raise
                field = schema.field(int(found.group(1)))
                widened[field.name] = _after(widened.get(field.name, field.type), found.group(2))

    def _stream(self, file: DataFile, types: Mapping[str, pa.DataType], columns: Sequence[str] | None) -> Any:
        import pyarrow.csv

        header = _header_of(file)
        # A few megabytes; more for tables so wide that a row may not fit into them.
        block = self._block_of.setdefault(file, min(_LONGEST_BLOCK, max(_BLOCK, 64 * len(header))))
        parse, convert = _options(header, file, types, columns)
        options = pyarrow.csv.ReadOptions(block_size=block)
        return pyarrow.csv.open_csv(_text(file), read_options=options, parse_options=parse, convert_options=convert)

    def _parsed(self, file: DataFile, types: Mapping[str, pa.DataType]) -> pa.Table:
        import pyarrow.csv

        parse, convert = _options(_header_of(file), file, types, None)
        with _text(file) as stream:
            text = stream.read()
        return pyarrow.csv.read_csv(
            pa.BufferReader(text),
            read_options=pyarrow.csv.ReadOptions(block_size=_LONGEST_BLOCK),
            parse_options=parse,
            convert_options=convert,
        )


def _is_zipped(file: DataFile) -> bool:
    return file.name.endswith(".gz") if file.content is None else file.content.startswith(_GZIP_MAGIC)


def _text(file: DataFile) -> Any:
    return pa.CompressedInputStream(file.opened(), "gzip") if _is_zipped(file) else file.opened()


def _options(header: str, file: DataFile, types: Mapping[str, pa.DataType], columns: Sequence[str] | None) -> Any:
    """How Arrow is to divide a file into cells, and how to convert these."""
    import pyarrow.csv

    separator = "\t" if ".tsv" in file.name else _separator(header)
    convert = pyarrow.csv.ConvertOptions(strings_can_be_null=True, column_types=dict(types))
    if columns is not None:
        convert.include_columns = list(columns)
    return pyarrow.csv.ParseOptions(delimiter=separator, newlines_in_values=True), convert


def _header_of(file: DataFile) -> str:
    text = b""
    with _text(file) as stream:
        while b"\n" not in text.lstrip() and len(text) < _LONGEST_BLOCK:
            more = stream.read(_LOOKED_AT + len(text))
            if not more:
                break
            text += more
    if not text.strip():
        raise empty(file.called)
    if text.startswith(_UTF_16_MARKS) or b"\0" in text[:_LOOKED_AT]:
        raise not_utf_8(f"{file.called}, which is UTF-16 or no text at all")
    try:
        return text.lstrip().split(b"\n", 1)[0].decode("utf-8-sig")
    except UnicodeDecodeError:
        raise not_utf_8(f"{file.called}, whose first line is not UTF-8") from None


def _separator(header: str) -> str:
    """The separator a header line uses most, outside quotes; the comma if it uses none."""
    bare = re.sub(r'"[^"]*"', "", header)
    return max(",;\t", key=bare.count)


def _refuse_other_encodings(schema: pa.Schema, where: str) -> None:
    undecoded = [field.name for field in schema if pa.types.is_binary(field.type)]
    if undecoded:
        raise not_utf_8(f"text that is not UTF-8 in column {name_columns(undecoded)} of {where}")


def _holds(kind: pa.DataType, other: pa.DataType) -> bool:
    """Whether a type suits all cells that another type suits, for certain."""
    return kind in (other, pa.string()) or other == pa.null() or (kind, other) == (pa.float64(), pa.int64())


def _after(kind: pa.DataType, cell: str) -> pa.DataType:
    """The next type that suits a cell which this one does not suit."""
    place = _TYPES.index(kind) if kind in _TYPES else len(_TYPES)
    return next((wider for wider in _TYPES[place + 1 :] if _suits(cell, wider)), pa.binary())


def _suits(cell: str, kind: pa.DataType) -> bool:
    import pyarrow.csv

    text = 'cell\n"' + cell.replace('"', '""') + '"\n'
    try:
        convert = pyarrow.csv.ConvertOptions(column_types={"cell": kind})
        parse = pyarrow.csv.ParseOptions(newlines_in_values=True)
        pyarrow.csv.read_csv(pa.py_buffer(text.encode()), parse_options=parse, convert_options=convert)
    except pa.ArrowException:
        return False
    return True


FORMAT = Format(
    "csv",
    (".csv", ".csv.gz", ".tsv", ".tsv.gz", ".txt", ".txt.gz"),
    CsvFiles,
    summary="text with a header line, separated by commas, semicolons or tabs, also compressed by gzip",
)
