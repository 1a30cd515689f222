"""Arrow IPC files (also called Feather, version 2) and streams, compressed or not."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

import pyarrow as pa

from certselect.errors import InvalidInput
from certselect.table.formats import Format
from certselect.table.streams.file_rows import DataFile, FileUnits

_FILE, _STREAM, _VERSION_1 = b"ARROW1", b"\xff\xff\xff\xff", b"FEA1"


class FeatherFiles(FileUnits):
    """Arrow IPC files and streams, each of which is a unit: their record batches are read one by one."""

    kind: ClassVar[str] = "Arrow IPC"
    growth: ClassVar[float] = 2.5  # what is read, what is made of it, and a copy between

    def columns_of(self, file: DataFile) -> pa.Schema:
        with _opened(file, None) as reader:
            return reader.schema

    def rows_of(self, file: DataFile, columns: Sequence[str], n_rows: int) -> Iterator[pa.RecordBatch]:
        places = {name: place for place, name in enumerate(self.columns_of(file).names)}
        with _opened(file, [places[name] for name in columns]) as reader:
            yield from _batches(reader)

    def bytes_of(self, file: DataFile) -> int:
        """By the first record batch, since files may be compressed."""
        with self.reading(file.called), _opened(file, None) as reader:
            first = next(_batches(reader), None)
            if first is None:
                return 0
            if hasattr(reader, "num_record_batches"):
                return int(self.growth * first.nbytes * reader.num_record_batches)
        return int(self.growth * max(file.size, first.nbytes))


def _opened(file: DataFile, columns: list[int] | None) -> Any:
    options = pa.ipc.IpcReadOptions(included_fields=columns)
    with file.opened() as source:
        begins = source.read(len(_FILE))
    if begins.startswith(_VERSION_1):
        raise InvalidInput(
            f"{file.called}, which is Feather of version 1", "Arrow IPC, or Feather of version 2", "Write it again."
        )
    if begins.startswith(_FILE):
        return pa.ipc.open_file(file.opened(), options=options)
    return pa.ipc.open_stream(file.opened(), options=options)


def _batches(reader: Any) -> Iterator[pa.RecordBatch]:
    if not hasattr(reader, "num_record_batches"):
        yield from reader
        return
    for number in range(reader.num_record_batches):
        yield reader.get_batch(number)


FORMAT = Format(
    "feather",
    (".feather", ".arrow", ".arrows", ".ipc"),
    FeatherFiles,
    (_FILE, _STREAM, _VERSION_1),
    "Arrow IPC files and streams, such as Feather",
)
