"""read_file: CSV and Parquet files -> Table."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from certselect.errors import InvalidInput
from certselect.settings import Reading
from certselect.table.complete import name_columns
from certselect.table.model import Table
from certselect.table.parts import split_columns
from certselect.table.reading import read_table

if TYPE_CHECKING:
    import pyarrow

_TEXT = (".csv", ".csv.gz", ".tsv", ".tsv.gz", ".txt", ".txt.gz")
_PARQUET = (".parquet", ".pq")
_BLOCK_BYTES = 1 << 26  # no row may be longer; pyarrow's own 1 MiB is too short for 100 000 columns


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
    file = Path(path)
    name = file.name.lower()
    if not name.endswith((*_TEXT, *_PARQUET)):
        raise InvalidInput(
            f"file {str(file)!r}", "a name ending in " + ", ".join((*_TEXT, *_PARQUET)), "Rename or convert it."
        )
    if not file.is_file():
        raise InvalidInput(f"path {str(file)!r}, where there is no file", "a CSV or Parquet file", "Check the path.")
    if file.stat().st_size == 0:
        raise _empty(file)
    columns = _read_parquet(file) if name.endswith(_PARQUET) else _read_text(file, tabs=".tsv" in name)
    features, targets, weights = split_columns(columns, target, weight)
    return read_table(
        features, targets, sample_weight=weights, task=task, missing=missing, kinds=kinds, unread=unread, wanted=wanted
    )


def _read_parquet(file: Path) -> pyarrow.Table:
    import pyarrow
    import pyarrow.parquet

    try:
        # Not read_table, which makes columns of folders named key=value.
        with pyarrow.parquet.ParquetFile(file) as parquet:
            return parquet.read()
    except (pyarrow.ArrowException, OSError) as error:
        raise _unreadable(file, "Parquet", error) from error


def _read_text(file: Path, *, tabs: bool) -> pyarrow.Table:
    import pyarrow
    import pyarrow.csv

    try:
        with pyarrow.input_stream(
            str(file), compression="gzip" if file.name.lower().endswith(".gz") else None
        ) as stream:
            text = stream.read()
        if not text.strip():
            raise _empty(file)
        header = text.lstrip().split(b"\n", 1)[0].decode("utf-8-sig")
        columns = pyarrow.csv.read_csv(
            pyarrow.BufferReader(text),
            read_options=pyarrow.csv.ReadOptions(block_size=_BLOCK_BYTES),
            parse_options=pyarrow.csv.ParseOptions(
                delimiter="\t" if tabs else _separator(header), newlines_in_values=True
            ),
            convert_options=pyarrow.csv.ConvertOptions(strings_can_be_null=True),
        )
    except (pyarrow.ArrowException, OSError, UnicodeDecodeError) as error:
        raise _unreadable(file, "text", error) from error
    undecoded = [field.name for field in columns.schema if pyarrow.types.is_binary(field.type)]
    if undecoded:
        raise InvalidInput(
            f"text that is not UTF-8 in column {name_columns(undecoded)} of {str(file)!r}",
            "a file in UTF-8",
            "Save it as UTF-8.",
        )
    return columns


def _separator(header: str) -> str:
    """The separator a header line uses most, outside quotes; the comma if it uses none."""
    bare = re.sub(r'"[^"]*"', "", header)
    return max(",;\t", key=bare.count)


def _empty(file: Path) -> InvalidInput:
    return InvalidInput(f"an empty file {str(file)!r}", "a header line and rows", "Check that it was written.")


def _unreadable(file: Path, kind: str, error: Exception) -> InvalidInput:
    return InvalidInput(
        f"file {str(file)!r}, which cannot be read as {kind} ({error})",
        "a file of the kind that its suffix names",
        "Check that it is whole and has the right suffix.",
    )
