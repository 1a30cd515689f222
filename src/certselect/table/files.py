"""Files, folders and globs -> RowSource, or a table in memory; the format of a file is found by its suffix."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from certselect.errors import InvalidInput
from certselect.settings import Reading
from certselect.table.complete import name_columns
from certselect.table.formats import all_suffixes, format_of, format_of_content
from certselect.table.model import Table
from certselect.table.parts import split_columns
from certselect.table.reading import read_table

if TYPE_CHECKING:
    import pyarrow

    from certselect.table.streams.file_rows import FileRows

_WILD = "*?["
_KINDS_OF_FILES = "a CSV, Parquet or Feather file"


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
    """Read a table with its target from a file.

    The suffix decides how it is read: .csv, .tsv and .txt (also .gz) are text with a
    header line, separated by commas, semicolons or tabs, whichever the header uses;
    .parquet and .pq are Parquet; .feather, .arrow, .arrows and .ipc are Arrow IPC.
    `register_format` adds others. Empty cells of text are missing values.

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
    """The columns of a file, by its suffix, or of an open one, such as standard input, by its first bytes."""
    if isinstance(source, Path):
        if source.is_dir():
            raise InvalidInput(f"{str(source)!r}, which is a folder", _KINDS_OF_FILES, "Name a file in it.")
        return open_files(source).all_rows()
    from certselect.table.streams.file_rows import DataFile, empty

    file = DataFile(content=source.read())
    if not file.content:
        raise empty(file.called)
    return format_of_content(file.content).open([file], None).all_rows()


def open_files(path: str | os.PathLike[str]) -> FileRows:
    """The rows of a file, of all files of a folder (partitions of folders "key=value" among them), or of a glob."""
    from certselect.table.streams.file_rows import DataFile

    if not several_files(path) and format_of(os.path.basename(path)) is None:
        raise InvalidInput(
            f"file {str(path)!r}", "a name ending in " + ", ".join(all_suffixes()), "Rename or convert it."
        )
    files, folder = _listed(os.fspath(path))
    formats = {file: format_of(os.path.basename(file)) for file in files}
    odd = [file for file, found in formats.items() if found is None]
    if odd:
        raise InvalidInput(
            f"{name_columns(map(os.path.basename, odd))} among the files of {str(path)!r}",
            f"files that end in {', '.join(all_suffixes())}",
            "Name those that are meant, as in 'data/*.parquet'.",
        )
    found = {one.name: one for one in formats.values() if one is not None}
    if len(found) > 1:
        raise InvalidInput(
            f"files of several formats ({', '.join(sorted(found))}) together in {str(path)!r}",
            "files of one format",
            "Name those that are meant, as in 'data/*.parquet'.",
        )
    (format_found,) = found.values()
    rows = format_found.open([DataFile(file) for file in files], folder)
    rows.folder = os.fspath(path) if os.path.isdir(path) else None
    return rows


def several_files(path: str | os.PathLike[str]) -> bool:
    """Whether a path stands for a table in several files: a folder, or a name with wildcards that no file has."""
    text = os.fspath(path)
    return os.path.isdir(text) or (any(mark in text for mark in _WILD) and not os.path.exists(text))


def _listed(path: str) -> tuple[list[str], str | None]:
    """The files that a path stands for, in order, and the folder whose parts may be partitions."""
    from certselect.table.streams.saved_passes import is_hidden

    if os.path.isdir(path):
        found = [str(file) for file in sorted(Path(path).rglob("*")) if file.is_file() and not is_hidden(file, path)]
        if not found:
            raise InvalidInput(f"the folder {path!r}, in which there is no file", "a table", "Check the path.")
        return found, path
    if os.path.isfile(path):
        return [path], None
    found = sorted(glob.glob(path, recursive=True)) if any(mark in path for mark in _WILD) else []
    found = [file for file in found if os.path.isfile(file)]
    if not found:
        raise InvalidInput(f"path {path!r}, where there is no file", _KINDS_OF_FILES, "Check the path.")
    return found, _partitioned(path, found)


def _partitioned(path: str, files: Sequence[str]) -> str | None:
    """The folder before the first wildcard, if folders below it are called "key=value": partitions of a table."""
    parts = Path(path).parts
    wild = next(place for place, part in enumerate(parts) if any(mark in part for mark in _WILD))
    folder = Path(*parts[:wild])
    below = (Path(file).relative_to(folder).parts[:-1] for file in files)
    return str(folder) if any("=" in part for own in below for part in own) else None
