"""Rows of files: what all formats have in common.

Files are known by their names, lengths and times of change, so that a table that changes between two passes is noticed.
`FileUnits` is the base of formats whose files are read from beginning to end: a subclass says what columns a file has
and yields its rows.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from typing import Any, ClassVar

import pyarrow as pa

from certselect.errors import InvalidInput
from certselect.names import shown
from certselect.progress import report
from certselect.table.parts import refuse_repeated_names
from certselect.table.streams.row_source import (
    FirstBlocks,
    another_type,
    fitted,
    plain_schema,
    refuse_other_columns,
    unified,
)

STREAM = "standard input"


@dataclass(frozen=True)
class DataFile:
    """A file by its path, or its content where it came by standard input."""

    path: str = ""
    content: bytes | None = None

    @property
    def called(self) -> str:
        """Its name in messages."""
        return f"file {self.path!r}" if self.content is None else STREAM

    @property
    def name(self) -> str:
        """The name without folders, in lower case; empty for standard input."""
        return os.path.basename(self.path).lower()

    @property
    def size(self) -> int:
        return os.path.getsize(self.path) if self.content is None else len(self.content)

    def opened(self) -> Any:
        """An Arrow file to read from any place."""
        return pa.OSFile(self.path) if self.content is None else pa.BufferReader(self.content)


class FileRows(FirstBlocks):
    """Rows of files that are noticed to change."""

    schema: pa.Schema
    units: Sequence[str]
    n_rows: int | None = None
    files: Sequence[str] = ()
    folder: str | None = None  # whose files they are, all of them
    kind: ClassVar[str] = ""  # what errors call the format
    held = 0  # bytes that all rows take in memory, about

    @property
    def n_bytes(self) -> int:
        return self.held

    def blocks(self, unit: int, columns: Sequence[str], n_rows: int) -> Iterator[pa.RecordBatch]:
        raise NotImplementedError

    def watch(self, files: Sequence[str]) -> None:
        """Remember which files these are, and how they are now."""
        self.files = files
        self._stamp = _stamp_of(files)

    @property
    def identity(self) -> str:
        if not self._stamp:
            return ""
        return sha256((self.schema.to_string(show_field_metadata=False) + self._stamp).encode()).hexdigest()

    def check(self) -> None:
        if _stamp_of(self.files) != self._stamp:
            raise InvalidInput(
                f"files that were written to while they were read, {shown(self.files[0])} the first of them",
                "a table that does not change while it is read",
                "Read a copy of it.",
            )

    @contextmanager
    def reading(self, called: str) -> Iterator[None]:
        """Errors of a file in words; if it was written to in the meantime, that is the error."""
        try:
            yield
        except (pa.ArrowException, OSError, LookupError, InvalidInput) as error:
            if _stamp_of(self.files):  # the files are there
                self.check()
            if isinstance(error, InvalidInput):
                raise
            raise unreadable(called, self.kind, error) from error


def _stamp_of(files: Sequence[str]) -> str:
    """Names, lengths and times of change of files; empty if there are none or one is not on this machine."""
    digest = sha256()
    for file in files:
        try:
            known = os.stat(file)
        except OSError:
            return ""
        digest.update(repr((os.path.abspath(file), known.st_size, known.st_mtime_ns)).encode())
    return digest.hexdigest() if files else ""


class FileUnits(FileRows):
    """Files with the same columns, each of which is a unit.

    A format defines `columns_of` and `rows_of`; both may raise errors of Arrow and of the operating system. Files
    without a row may have any columns.

    Parameters
    ----------
    files : sequence of DataFile
    folder : str, optional
        Not used: partitions "key=value" are for formats that read them.
    """

    kind: ClassVar[str] = "a table"
    growth: ClassVar[float] = 5.0  # bytes in memory for each byte of a file, about

    def __init__(self, files: Sequence[DataFile], folder: str | None = None) -> None:
        self._files = [file for file in files if file.size]  # writers of several files leave empty ones too
        if not self._files:
            if len(files) > 1:
                raise InvalidInput(f"files without a byte, {files[0].path!r} the first", "a table", "Check them.")
            raise empty(files[0].called)
        self.units = [file.called for file in self._files]
        self.held = sum(self.bytes_of(file) for file in self._files)
        self.watch([file.path for file in self._files if file.content is None])

    def columns_of(self, file: DataFile) -> pa.Schema:
        """The names and types of the columns of a file."""
        raise NotImplementedError

    def rows_of(self, file: DataFile, columns: Sequence[str], n_rows: int) -> Iterable[pa.RecordBatch]:
        """Record batches of these columns, of about `n_rows` rows where the format can choose."""
        raise NotImplementedError

    def bytes_of(self, file: DataFile) -> int:
        """What the rows of a file take in memory, about."""
        return int(self.growth * file.size)

    def has_rows(self, file: DataFile) -> bool:
        return any(batch.num_rows for batch in self.rows_of(file, self.columns_of(file).names[:1], 1))

    @cached_property
    def schema(self) -> pa.Schema:
        """The columns of all files, with types that hold the values of each."""
        found: pa.Schema | None = None
        for number, file in enumerate(self._files):
            with self.reading(file.called):
                own = plain_schema(self.columns_of(file))
                refuse_repeated_names(own.names)
                if number in self.rowless:
                    continue
                found = own if found is None else joined(found, own, file.called)
            report("types of columns", number + 1, len(self._files))
        if found is None:
            return plain_schema(self.columns_of(self._files[0]))
        return found

    @cached_property
    def rowless(self) -> set[int]:
        """The files without a row, if there are several files."""
        found = set()
        for number, file in enumerate(self._files if len(self._files) > 1 else ()):
            with self.reading(file.called):
                if not self.has_rows(file):
                    found.add(number)
        return found

    def blocks(self, unit: int, columns: Sequence[str], n_rows: int) -> Iterator[pa.RecordBatch]:
        schema = pa.schema([self.schema.field(name) for name in columns])
        if unit in self.rowless:
            return
        file = self._files[unit]
        with self.reading(file.called):
            for batch in self.rows_of(file, columns, n_rows):
                table = pa.Table.from_batches([batch]).select(list(columns))
                yield from fitted(table, schema, file.called).to_batches(max_chunksize=n_rows)


def joined(schema: pa.Schema, own: pa.Schema, where: str) -> pa.Schema:
    """The columns of a table so far, with types that hold those of another part as well."""
    if own.equals(schema):
        return schema
    refuse_other_columns(own, schema, where)
    fields = []
    for field in schema:
        other = own.field(field.name)
        try:
            fields.append(field.with_type(unified(field.type, other.type)))
        except pa.ArrowException as error:
            raise another_type(where, field.name, other.type, field.type) from error
    return pa.schema(fields)


def empty(what: str) -> InvalidInput:
    return InvalidInput(f"an empty {what}", "a table with named columns", "Check that it was written.")


def not_utf_8(got: str) -> InvalidInput:
    return InvalidInput(got, "CSV in UTF-8", "Save it as UTF-8.")


def unreadable(what: str, kind: str, error: Exception) -> InvalidInput:
    expected = "a header line, and as many cells in every row" if kind == "text" else "a whole file of that kind"
    remedy = "Check what is sent there." if what == STREAM else "Check that it is whole and has the right suffix."
    return InvalidInput(f"{what}, which cannot be read as {kind} ({error})", expected, remedy)
