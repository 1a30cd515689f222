"""CSV files as a RowSource: their types are settled by all their cells before the first block is taken."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pyarrow as pa

from certselect.errors import InvalidInput
from certselect.progress import report
from certselect.table.files import BLOCK_BYTES, csv_options, first_line, not_utf_8, unreadable
from certselect.table.parts import refuse_repeated_names
from certselect.table.streams.row_source import FileRows, refuse_other_columns

# In the order in which Arrow tries them: the first that suits every cell of a column is its type.
_TYPES = (
    pa.null(), pa.int64(), pa.bool_(), pa.date32(), pa.time32("s"),
    pa.timestamp("s"), pa.timestamp("ns"), pa.timestamp("s", "UTC"), pa.timestamp("ns", "UTC"),
    pa.float64(), pa.string(),
)  # fmt: skip
_UNSUITABLE = re.compile(r"In CSV column #(\d+): .*?CSV conversion error to [^:]+: [^']*'(.*)'", re.DOTALL)
# Of two types of a family the later one holds what both hold.
_FAMILIES = (
    (pa.int64(), pa.float64()),
    (pa.date32(), pa.timestamp("s"), pa.timestamp("ns")),
    (pa.timestamp("s", "UTC"), pa.timestamp("ns", "UTC")),
)
_GROWTH = 3.0  # of text in memory


class CsvFiles(FileRows):
    """Text files with the same header; each is a unit.

    Arrow takes the types of a stream of text from its first block. Here they are those of all
    cells, as if the files were one and read at once: each file is gone through, and what a later cell does not suit
    is widened.
    """

    n_rows = None

    def __init__(self, files: Sequence[str]) -> None:
        self._files = [file for file in files if os.path.getsize(file)]  # who writes in parts leaves empty ones too
        if not self._files:
            raise InvalidInput(f"files without a byte, {files[0]!r} the first", "a header line and rows", "Check them.")
        self.units = [f"file {file!r}" for file in self._files]
        self.n_bytes = int(_GROWTH * sum(map(_unpacked, self._files)))
        self.schema = self._settled()
        self.identify(self._files)

    def blocks(self, unit: int, columns: Sequence[str], n_rows: int) -> Iterator[pa.RecordBatch]:
        try:
            for batch in self._opened(unit, {field.name: field.type for field in self.schema}, columns):
                for start in range(0, batch.num_rows, n_rows):
                    yield batch.slice(start, n_rows)
        except (pa.ArrowException, OSError) as error:
            raise unreadable(self.units[unit], "text", error) from error

    def _settled(self) -> pa.Schema:
        schema: pa.Schema | None = None
        for unit in range(len(self._files)):
            own = self._own_types(unit)
            refuse_repeated_names(own.names)
            if schema is not None:
                refuse_other_columns(own, schema, self.units[unit])
                own = pa.schema([pa.field(f.name, _wider(f.type, own.field(f.name).type)) for f in schema])
            schema = own
            report("types of columns", unit + 1, len(self._files))
        assert schema is not None
        undecoded = [field.name for field in schema if pa.types.is_binary(field.type)]
        if undecoded:
            raise not_utf_8(f"text that is not UTF-8 in column {undecoded[0]!r}")
        return schema

    def _own_types(self, unit: int) -> pa.Schema:
        """The types that suit every cell of a file."""
        widened: dict[str, pa.DataType] = {}
        schema: pa.Schema | None = None
        while True:
            try:
                with self._opened(unit, widened, None) as reader:
                    schema = reader.schema
                    for _ in reader:
                        pass
                return schema
            except (pa.ArrowException, OSError) as error:
                found = _UNSUITABLE.search(str(error))
                if found is None or schema is None:
                    raise unreadable(self.units[unit], "text", error) from error
                field = schema.field(int(found.group(1)))
                widened[field.name] = _after(widened.get(field.name, field.type), found.group(2))

    def _opened(self, unit: int, types: Mapping[str, pa.DataType], columns: Sequence[str] | None) -> Any:
        import pyarrow.csv

        file = self._files[unit]
        zipped = file.lower().endswith(".gz")
        header = first_line(file, self.units[unit], zipped=zipped)
        parse, convert = csv_options(header, tabs=".tsv" in os.path.basename(file).lower())
        convert.column_types = dict(types)
        if columns is not None:
            convert.include_columns = list(columns)
        stream = pa.input_stream(file, compression="gzip" if zipped else None)
        options = pyarrow.csv.ReadOptions(block_size=_block_bytes(header))
        return pyarrow.csv.open_csv(stream, read_options=options, parse_options=parse, convert_options=convert)


def _block_bytes(header: str) -> int:
    """A few megabytes; more for tables so wide that a row may not fit into them."""
    return min(BLOCK_BYTES, max(1 << 22, 64 * len(header)))


def _unpacked(file: str) -> int:
    return os.path.getsize(file) * (8 if file.lower().endswith(".gz") else 1)


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


def _wider(one: pa.DataType, other: pa.DataType) -> pa.DataType:
    """The type that holds what two files hold in one column; text holds everything."""
    if one == other or other == pa.null():
        return one
    if one == pa.null():
        return other
    for family in _FAMILIES:
        if one in family and other in family:
            return max(one, other, key=family.index)
    return pa.string()
