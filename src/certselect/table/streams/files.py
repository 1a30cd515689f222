"""Files, folders, globs and Arrow datasets -> RowSource."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterator, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

import pyarrow as pa

from certselect.errors import InvalidInput
from certselect.names import shown
from certselect.table.complete import name_columns
from certselect.table.files import PARQUET, TEXT, unreadable
from certselect.table.streams.csv_files import CsvFiles
from certselect.table.streams.in_blocks import WILD
from certselect.table.streams.row_source import UNKNOWN, FirstBlocks, RowSource, another_type, refuse_other_columns

# Columns take more room in memory than decoded Parquet says: what is read, what becomes of it, and a copy between.
_GROWTH = 2.5


def open_files(path: str | os.PathLike[str]) -> RowSource:
    """The rows of a file, of all files of a folder (partitions of folders "key=value" among them), or of a glob."""
    files, folder = _listed(os.fspath(path))
    names = [file.lower() for file in files]
    if all(name.endswith(PARQUET) for name in names):
        return parquet_files(files, folder)
    if all(name.endswith(TEXT) for name in names):
        return CsvFiles(files)
    odd = [file for file in files if not file.lower().endswith((*PARQUET, *TEXT))]
    got = f"{name_columns(odd)} among the files of" if odd else "Parquet and text files together in"
    raise InvalidInput(
        f"{got} {str(path)!r}",
        "Parquet files, or CSV files, alone",
        "Name those that are meant, as in 'data/*.parquet'.",
    )


def _listed(path: str) -> tuple[list[str], str | None]:
    """The files that a path stands for, in order, and the folder whose parts may be partitions."""
    if os.path.isdir(path):
        found = [str(file) for file in sorted(Path(path).rglob("*")) if file.is_file() and not _hidden(file, path)]
        if not found:
            raise InvalidInput(f"the folder {path!r}, in which there is no file", "a table", "Check the path.")
        return found, path
    if os.path.exists(path):
        return [path], None
    found = sorted(glob.glob(path, recursive=True)) if any(mark in path for mark in WILD) else []
    found = [file for file in found if os.path.isfile(file)]
    if not found:
        raise InvalidInput(f"path {path!r}, where there is no file", "CSV or Parquet files", "Check the path.")
    return found, None


def _hidden(file: Path, folder: str) -> bool:
    """Whether a file is what those who write folders of files leave beside them: _SUCCESS, .part.crc, ..."""
    return any(part.startswith(("_", ".")) for part in file.relative_to(folder).parts)


def parquet_files(files: Sequence[str], folder: str | None) -> ArrowDataset:
    """Parquet files of the same columns as one source; types may differ where one holds the other's values."""
    import pyarrow.dataset

    schema = None
    for file in files:
        own = _parquet_schema(file)
        schema = own if schema is None else _unified(schema, own, f"file {file!r}")
    parts = pyarrow.dataset.partitioning(flavor="hive") if folder is not None else None
    try:
        dataset = pyarrow.dataset.dataset(
            list(files),
            format=_format(schema),
            partitioning=parts,
            partition_base_dir=folder,
            exclude_invalid_files=False,
        )
        keys = [field for field in dataset.schema if field.name not in (schema or dataset.schema).names]
        fields = [dataset.schema.field(f.name) if pa.types.is_string(f.type) else f for f in schema or ()]
        return ArrowDataset(dataset.replace_schema(pa.schema([*fields, *keys])))
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
            both = [pa.schema([pa.field(field.name, one.type)]) for one in (field, other)]
            fields.append(pa.unify_schemas(both, promote_options="permissive").field(0))
        except pa.ArrowException as error:
            raise another_type(where, field.name, other.type, field.type) from error
    return pa.schema(fields)


class ArrowDataset(FirstBlocks):
    """The rows of a `pyarrow.dataset.Dataset`; of Parquet files, each row group is a unit."""

    def __init__(self, dataset: Any) -> None:
        self.schema = dataset.schema.remove_metadata()
        self._fragments = [part for fragment in dataset.get_fragments() for part in _parts(fragment)]
        if not self._fragments:
            raise InvalidInput(f"{shown(dataset)} without any file", "a dataset with rows", "Check its path.")
        self.units = [_called(fragment) for fragment in self._fragments]
        groups = [group for fragment in self._fragments for group in getattr(fragment, "row_groups", None) or ()]
        known = bool(groups) and all(group.num_rows is not None for group in groups)
        self.n_rows = sum(group.num_rows for group in groups) if known else None
        self.n_bytes = int(_GROWTH * sum(group.total_byte_size for group in groups)) if known else UNKNOWN
        files = [getattr(fragment, "path", None) for fragment in self._fragments]
        self.identity = "" if None in files else identity_of(sorted({str(file) for file in files}), self.schema)

    def blocks(self, unit: int, columns: Sequence[str], n_rows: int) -> Iterator[pa.RecordBatch]:
        import pyarrow.dataset

        fragment = self._fragments[unit]
        options = {"batch_size": n_rows, "batch_readahead": 2, "columns": list(columns), "schema": self.schema}
        if getattr(fragment, "row_groups", None) is not None:
            # Decoding as it goes: whole row groups, which may be large, are never in memory.
            options["fragment_scan_options"] = pyarrow.dataset.ParquetFragmentScanOptions(pre_buffer=False)
        try:
            yield from fragment.to_batches(**options)
        except (pa.ArrowException, OSError) as error:
            raise unreadable(self.units[unit], "its type says", error) from error

    def head(self, unit: int, columns: Sequence[str], n_rows: int) -> pa.Table:
        """Decoded as far as is needed, which a scan of the dataset would not stop at."""
        fragment = self._fragments[unit]
        groups = getattr(fragment, "row_groups", None)
        if not groups or any(name not in fragment.physical_schema.names for name in columns):
            return super().head(unit, columns, n_rows)
        import pyarrow.parquet

        try:
            with pyarrow.parquet.ParquetFile(fragment.open(), pre_buffer=False) as file:
                rows = file.iter_batches(n_rows, row_groups=[group.id for group in groups], columns=list(columns))
                found = next(rows, None)
        except (pa.ArrowException, OSError) as error:
            raise unreadable(self.units[unit], "Parquet", error) from error
        schema = pa.schema([self.schema.field(name) for name in columns])
        if found is None:
            return schema.empty_table()
        return pa.Table.from_batches([found]).select(list(columns)).cast(schema)


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


def identity_of(files: Sequence[str], schema: pa.Schema) -> str:
    """A digest of what files are called, how long they are and when they were written."""
    digest = sha256(schema.to_string(show_field_metadata=False).encode())
    for file in files:
        try:
            known = os.stat(file)
        except OSError:  # on another machine
            return ""
        digest.update(repr((os.path.abspath(file), known.st_size, known.st_mtime_ns)).encode())
    return digest.hexdigest()
