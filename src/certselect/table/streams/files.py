"""Files, folders, globs and Arrow datasets -> RowSource."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyarrow.fs import LocalFileSystem

from certselect.errors import InvalidInput
from certselect.names import shown
from certselect.table.complete import name_columns
from certselect.table.files import PARQUET, TEXT, unreadable
from certselect.table.parts import refuse_repeated_names
from certselect.table.streams.csv_files import CsvFiles
from certselect.table.streams.in_blocks import WILD
from certselect.table.streams.row_source import (
    UNKNOWN,
    FileRows,
    RowSource,
    another_type,
    cast,
    refuse_other_columns,
    unified,
    without_views,
)
from certselect.table.streams.saved_passes import is_hidden

# Columns take more room in memory than decoded Parquet says: what is read, what becomes of it, and a copy between.
_GROWTH = 2.5
_PAGE_BYTES = 1 << 16  # of a column that is read from a file at a time


def open_files(path: str | os.PathLike[str]) -> RowSource:
    """The rows of a file, of all files of a folder (partitions of folders "key=value" among them), or of a glob."""
    rows = _opened(path)
    rows.folder = os.fspath(path) if os.path.isdir(path) else None
    return rows


def _opened(path: str | os.PathLike[str]) -> ArrowDataset | CsvFiles:
    files, folder = _listed(os.fspath(path))
    names = [file.lower() for file in files]
    if all(name.endswith(PARQUET) for name in names):
        return parquet_files(files, folder)
    if all(name.endswith(TEXT) for name in names):
        return CsvFiles(files)
    odd = [file for file in files if not file.lower().endswith((*PARQUET, *TEXT))]
    got = (
        f"{name_columns(map(os.path.basename, odd))} among the files of"
        if odd
        else "Parquet and text files together in"
    )
    raise InvalidInput(
        f"{got} {str(path)!r}",
        "Parquet files, or CSV files, alone",
        "Name those that are meant, as in 'data/*.parquet'.",
    )


def _listed(path: str) -> tuple[list[str], str | None]:
    """The files that a path stands for, in order, and the folder whose parts may be partitions."""
    if os.path.isdir(path):
        found = [str(file) for file in sorted(Path(path).rglob("*")) if file.is_file() and not is_hidden(file, path)]
        if not found:
            raise InvalidInput(f"the folder {path!r}, in which there is no file", "a table", "Check the path.")
        return found, path
    if os.path.exists(path):
        return [path], None
    found = sorted(glob.glob(path, recursive=True)) if any(mark in path for mark in WILD) else []
    found = [file for file in found if os.path.isfile(file)]
    if not found:
        raise InvalidInput(f"path {path!r}, where there is no file", "CSV or Parquet files", "Check the path.")
    return found, _partitioned(path, found)


def _partitioned(path: str, files: Sequence[str]) -> str | None:
    """The folder before the first wildcard, if folders below it are called "key=value": partitions of a table."""
    parts = Path(path).parts
    wild = next(place for place, part in enumerate(parts) if any(mark in part for mark in WILD))
    folder = Path(*parts[:wild])
    below = (Path(file).relative_to(folder).parts[:-1] for file in files)
    return str(folder) if any("=" in part for own in below for part in own) else None


def parquet_files(files: Sequence[str], folder: str | None) -> ArrowDataset:
    """Parquet files of the same columns as one source; types may differ where one holds the other's values."""
    import pyarrow.dataset

    schema = None
    for file in files:
        own = _parquet_schema(file)
        schema = own if schema is None else _unified(schema, own, f"file {file!r}")
    if schema is not None:
        refuse_repeated_names(schema.names)
    try:
        options = pyarrow.dataset.FileSystemFactoryOptions(
            partition_base_dir=folder,
            partitioning=None if folder is None else pyarrow.dataset.HivePartitioning.discover(),
            exclude_invalid_files=False,
        )
        factory = pyarrow.dataset.FileSystemDatasetFactory(LocalFileSystem(), list(files), _format(schema), options)
        known = factory.inspect(promote_options="permissive")
        keys = [field for field in known if field.name not in (schema or known).names]
        fields = [known.field(f.name) if pa.types.is_string(f.type) else f for f in schema or ()]
        return ArrowDataset(factory.finish(pa.schema([*fields, *keys])))
    except (pa.ArrowException, OSError) as error:
        raise unreadable(f"the files of {folder or files[0]!r}", "Parquet", error) from error


def _format(schema: pa.Schema | None) -> Any:
    """Texts stay the dictionaries that most files hold them as: neither written out nor looked up again."""
    import pyarrow.dataset

    texts = [field.name for field in schema or () if pa.types.is_string(field.type)]
    return pyarrow.dataset.ParquetFileFormat(dictionary_columns=texts)


def _parquet_schema(file: str) -> pa.Schema:
    import pyarrow.parquet

    try:
        return pyarrow.parquet.read_schema(file).remove_metadata()
    except (pa.ArrowException, OSError) as error:
        raise unreadable(f"file {file!r}", "Parquet", error) from error


def _unified(schema: pa.Schema, own: pa.Schema, where: str) -> pa.Schema:
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


class ArrowDataset(FileRows):
    """The rows of a `pyarrow.dataset.Dataset`; of Parquet files, each row group is a unit."""

    def __init__(self, dataset: Any) -> None:
        if not hasattr(dataset, "get_fragments"):
            raise InvalidInput(shown(dataset), "a dataset, which can be read again", "Pass what it was made of.")
        self.schema = without_views(dataset.schema.remove_metadata())
        try:
            self._fragments = [part for fragment in dataset.get_fragments() for part in _parts(fragment)]
        except ValueError as error:  # Arrow's own, and ours
            if isinstance(error, InvalidInput | pa.ArrowException):
                raise
            raise InvalidInput(
                "an Arrow dataset with a filter, or of some of its columns",
                "a dataset as its files are",
                "Pass a function that returns dataset.to_batches().",
            ) from error
        if not self._fragments:
            raise InvalidInput(f"{shown(dataset)} without any file", "a dataset with rows", "Check its path.")
        self.units = [_called(fragment) for fragment in self._fragments]
        groups = [group for fragment in self._fragments for group in getattr(fragment, "row_groups", None) or ()]
        known = bool(groups) and all(group.num_rows is not None for group in groups)
        self.n_rows = sum(group.num_rows for group in groups) if known else None
        self.n_bytes = int(_GROWTH * sum(group.total_byte_size for group in groups)) if known else UNKNOWN
        files = [getattr(fragment, "path", None) for fragment in self._fragments]
        self.identify([] if None in files else sorted({str(file) for file in files}))

    def blocks(self, unit: int, columns: Sequence[str], n_rows: int) -> Iterator[pa.RecordBatch]:
        fragment = self._fragments[unit]
        schema = pa.schema([self.schema.field(name) for name in columns])
        try:
            if getattr(fragment, "row_groups", None):
                for batch in _decoded(fragment, schema, n_rows):
                    yield from _filled(batch, fragment, schema, self.units[unit]).to_batches()
            else:
                options = {"batch_size": n_rows, "batch_readahead": 2, "columns": list(columns)}
                yield from fragment.to_batches(**options, schema=self.schema)
        except (pa.ArrowException, OSError) as error:
            raise unreadable(self.units[unit], "its type says", error) from error


def _decoded(fragment: Any, schema: pa.Schema, n_rows: int) -> Iterator[pa.RecordBatch]:
    """Columns of a row group, page by page: a scan of the dataset would have all of it in memory, twice."""

    groups = [group.id for group in fragment.row_groups]
    there = fragment.physical_schema.names
    # A column is read in any case, since it says how many rows there are.
    written = [field.name for field in schema if field.name in there] or there[:1]
    words = [field.name for field in schema if pa.types.is_dictionary(field.type)]
    taken = 0
    try:
        for batch in _pages(fragment, groups, written, words, n_rows):
            yield batch
            taken += batch.num_rows
    except (pa.ArrowNotImplementedError, OSError) as error:
        # Some encodings of text cannot be read as dictionaries, perhaps those of later pages only.
        if not words or "Not yet implemented" not in str(error):
            raise
        for batch in _pages(fragment, groups, written, [], n_rows):
            left = batch.slice(min(taken, batch.num_rows))
            taken -= batch.num_rows - left.num_rows
            if left.num_rows:
                yield left


def _pages(
    fragment: Any, groups: Sequence[int], written: Sequence[str], words: Sequence[str], n_rows: int
) -> Iterator[pa.RecordBatch]:
    import pyarrow.parquet

    with pyarrow.parquet.ParquetFile(
        fragment.open(),
        read_dictionary=words,
        pre_buffer=False,
        buffer_size=_PAGE_BYTES,
        page_checksum_verification=True,
    ) as file:
        yield from file.iter_batches(n_rows, row_groups=list(groups), columns=list(written))


def _filled(batch: pa.RecordBatch, fragment: Any, schema: pa.Schema, where: str) -> pa.Table:
    """A batch with the columns that its folder's name tells, and with the types that the whole dataset has."""
    import pyarrow.dataset

    keys = pyarrow.dataset.get_partition_keys(fragment.partition_expression)
    read = dict(zip(batch.schema.names, batch.columns, strict=True))  # Arrow makes both anew each time it is asked
    columns = []
    for field in schema:
        if field.name not in read:
            columns.append(pa.repeat(pa.scalar(keys.get(field.name), field.type), batch.num_rows))
            continue
        columns.append(cast(read[field.name], field, where))
    return pa.Table.from_arrays(columns, schema=schema)


def _parts(fragment: Any) -> Sequence[Any]:
    if not hasattr(fragment, "split_by_row_group"):
        return [fragment]
    try:
        return fragment.split_by_row_group() or [fragment]
    except (pa.ArrowException, OSError) as error:
        raise unreadable(_called(fragment), "Parquet", error) from error


def _called(fragment: Any) -> str:
    path = getattr(fragment, "path", None)
    return f"file {path!r}" if path is not None else "the dataset"
