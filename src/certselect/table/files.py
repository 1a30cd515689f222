"""read_file: CSV and Parquet files -> Table."""

from __future__ import annotations

import io
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from certselect.errors import InvalidInput
from certselect.settings import Reading
from certselect.table.complete import name_columns
from certselect.table.model import Table
from certselect.table.parts import split_columns
from certselect.table.reading import read_table

if TYPE_CHECKING:
    import pyarrow

TEXT = (".csv", ".csv.gz", ".tsv", ".tsv.gz", ".txt", ".txt.gz")
PARQUET = (".parquet", ".pq")
_STREAM = "standard input"  # or another open file: what is in it is told by its first bytes
_PARQUET_MAGIC, _GZIP_MAGIC = b"PAR1", b"\x1f\x8b"
_UTF_16_MARKS = (b"\xff\xfe", b"\xfe\xff")
_LOOKED_AT = 1000  # bytes of a text in which no NUL may be
BLOCK_BYTES = 1 << 26  # no row may be longer; pyarrow's own 1 MiB is too short for 100 000 columns


def read_file(
    path: str | os.PathLike[str],
    target: str | Sequence[str],
    *,
    weight: str | None = None,
    task: str = Reading.task,
    missing: str = Reading.missing,
    kinds: Mapping[Any, str] | None = None,
    unread: Iterable[Any] | None = None,
    wanted: Iterable[Any] | None = None,
) -> Table:
    """Read a table with its target from a CSV or Parquet file.

    The suffix decides which: .csv, .tsv and .txt (also .gz) are text with a header
    line, separated by commas, semicolons or tabs, whichever the header uses;
    .parquet and .pq are Parquet. Empty cells are missing values.

    Parameters
    ----------
    path : path
    target : str, or sequence of str
        Name of the column that holds the class labels or numbers to predict, or several such;
        all others are features.
    weight : str, optional
        Name of the column of sample weights; it is not a feature.
    task, missing, kinds, unread, wanted
        As in `read_table`; "auto" makes missing values a level of their own.
    """
    features, targets, weights = split_columns(read_columns(Path(path)), target, weight)
    return read_table(
        features, targets, sample_weight=weights, task=task, missing=missing, kinds=kinds, unread=unread, wanted=wanted
    )


def read_columns(source: Path | BinaryIO) -> pyarrow.Table:
    """The columns of a file, by its suffix, or of an open one, such as standard input, by how it begins."""
    if not isinstance(source, Path):
        content = source.read()
        if not content:
            raise _empty(_STREAM)
        stream = io.BytesIO(content)
        if content.startswith(_PARQUET_MAGIC):
            return _read_parquet(stream, _STREAM)
        return _read_text(stream, _STREAM, zipped=content.startswith(_GZIP_MAGIC), tabs=False)
    file, named = source, repr(str(source))
    name = file.name.lower()
    if file.is_dir():
        raise InvalidInput(f"{named}, which is a folder", "a CSV or Parquet file", "Name a file in it.")
    if not name.endswith((*TEXT, *PARQUET)):
        raise InvalidInput(f"file {named}", "a name ending in " + ", ".join((*TEXT, *PARQUET)), "Rename or convert it.")
    if not file.is_file():
        raise InvalidInput(f"path {named}, where there is no file", "a CSV or Parquet file", "Check the path.")
    if file.stat().st_size == 0:
        raise _empty(f"file {named}")
    if name.endswith(PARQUET):
        return _read_parquet(file, f"file {named}")
    return _read_text(str(file), f"file {named}", zipped=name.endswith(".gz"), tabs=".tsv" in name)


def _read_parquet(file: Path | BinaryIO, what: str) -> pyarrow.Table:
    import pyarrow
    import pyarrow.parquet

    try:
        # Not read_table, which makes columns of folders named key=value.
        with pyarrow.parquet.ParquetFile(file) as parquet:
            return parquet.read()
    except (pyarrow.ArrowException, OSError) as error:
        raise unreadable(what, "Parquet", error) from error


def _read_text(file: str | BinaryIO, what: str, *, zipped: bool, tabs: bool) -> pyarrow.Table:
    import pyarrow
    import pyarrow.csv

    try:
        with pyarrow.input_stream(file, compression="gzip" if zipped else None) as stream:
            text = stream.read()
        parse, convert = csv_options(_header(text, what), tabs=tabs)
        columns = pyarrow.csv.read_csv(
            pyarrow.BufferReader(text),
            read_options=pyarrow.csv.ReadOptions(block_size=BLOCK_BYTES),
            parse_options=parse,
            convert_options=convert,
        )
    except (pyarrow.ArrowException, OSError) as error:
        raise unreadable(what, "text", error) from error
    undecoded = [field.name for field in columns.schema if pyarrow.types.is_binary(field.type)]
    if undecoded:
        raise not_utf_8(f"text that is not UTF-8 in column {name_columns(undecoded)} of {what}")
    return columns


def csv_options(header: str, *, tabs: bool) -> tuple[Any, Any]:
    """How Arrow is to take text apart, by its header line, and how to convert its cells."""
    import pyarrow.csv

    parse = pyarrow.csv.ParseOptions(delimiter="\t" if tabs else _separator(header), newlines_in_values=True)
    return parse, pyarrow.csv.ConvertOptions(strings_can_be_null=True)


def first_line(file: str, what: str, *, zipped: bool) -> str:
    """The header line of a text file."""
    import pyarrow

    try:
        with pyarrow.input_stream(file, compression="gzip" if zipped else None) as stream:
            return _header(stream.read(BLOCK_BYTES), what)
    except (pyarrow.ArrowException, OSError) as error:
        raise unreadable(what, "text", error) from error


def _header(text: bytes, what: str) -> str:
    if not text.strip():
        raise _empty(what)
    if text.startswith(_UTF_16_MARKS) or b"\0" in text[:_LOOKED_AT]:
        raise not_utf_8(f"{what}, which is UTF-16 or no text at all")
    try:
        return text.lstrip().split(b"\n", 1)[0].decode("utf-8-sig")
    except UnicodeDecodeError:
        raise not_utf_8(f"{what}, whose first line is not UTF-8") from None


def _separator(header: str) -> str:
    """The separator a header line uses most, outside quotes; the comma if it uses none."""
    bare = re.sub(r'"[^"]*"', "", header)
    return max(",;\t", key=bare.count)


def not_utf_8(got: str) -> InvalidInput:
    return InvalidInput(got, "CSV in UTF-8", "Save it as UTF-8.")


def _empty(what: str) -> InvalidInput:
    return InvalidInput(f"an empty {what}", "a header line and rows", "Check that it was written.")


def unreadable(what: str, kind: str, error: Exception) -> InvalidInput:
    expected = "a header line, and as many cells in every row" if kind == "text" else "a whole file of that kind"
    remedy = "Check what is sent there." if what == _STREAM else "Check that it is whole and has the right suffix."
    return InvalidInput(f"{what}, which cannot be read as {kind} ({error})", expected, remedy)
