"""Parquet files: each row group is a unit; partitions in folders "key=value" are columns."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import pyarrow as pa

from certselect.table.formats import Format
from certselect.table.parts import refuse_repeated_names
from certselect.table.streams.file_rows import DataFile, FileRows, empty, joined
from certselect.table.streams.row_source import cast, plain_schema

# Columns take more room in memory than decoded Parquet says: what is read, what is made of it, and a copy between.
GROWTH = 2.5
_PAGE_BYTES = 1 << 16  # of a column that is read from a file at a time
_WORDS = pa.dictionary(pa.int32(), pa.string())


class RowGroup(NamedTuple):
    """One or several row groups of a file.

    Attributes
    ----------
    numbers : list of int
        Which row groups.
    opened : callable
        Returns the file, open for reading.
    written : list of str
        The columns of the file.
    keys : mapping
        The values of the columns that the name of the file's folder holds.
    """

    numbers: list[int]
    opened: Callable[[], Any]
    written: list[str]
    keys: Mapping[str, Any]

    def blocks(self, schema: pa.Schema, n_rows: int | None, where: str) -> Iterator[pa.RecordBatch]:
        """Columns in blocks of rows, or at once, with the types of the whole table; null where the file lacks one."""
        for batch in self._decoded(schema, n_rows):
            read = dict(zip(batch.schema.names, batch.columns, strict=True))  # Arrow makes both anew with each call
            columns = [
                cast(read[field.name], field, where)
                if field.name in read
                else pa.repeat(pa.scalar(self.keys.get(field.name), field.type), batch.num_rows)
                for field in schema
            ]
            yield from pa.Table.from_arrays(columns, schema=schema).to_batches()

    def _decoded(self, schema: pa.Schema, n_rows: int | None) -> Iterator[pa.RecordBatch]:
        """Columns page by page: a scan of a dataset would have all of a row group in memory, twice."""
        # A column is read in any case, since it shows how many rows there are.
        written = set(self.written)
        read = [field.name for field in schema if field.name in written] or self.written[:1]
        words = [field.name for field in schema if pa.types.is_dictionary(field.type)]
        taken = 0
        try:
            for batch in self._pages(read, words, n_rows):
                yield batch
                taken += batch.num_rows
        except (pa.ArrowNotImplementedError, OSError) as error:
            # Some encodings of text cannot be read as dictionaries, perhaps those of later pages only.
            if not words or "Not yet implemented" not in str(error):
                raise
            for batch in self._pages(read, [], n_rows):
                left = batch.slice(min(taken, batch.num_rows))
                taken -= batch.num_rows - left.num_rows
                if left.num_rows:
                    yield left

    def _pages(self, read: Sequence[str], words: Sequence[str], n_rows: int | None) -> Iterator[pa.RecordBatch]:
        import pyarrow.parquet

        sparing = {} if n_rows is None else {"pre_buffer": False, "buffer_size": _PAGE_BYTES}
        with pyarrow.parquet.ParquetFile(
            self.opened(), read_dictionary=words, page_checksum_verification=True, **sparing
        ) as file:
            if n_rows is None:
                yield from file.read_row_groups(self.numbers, columns=list(read)).to_batches()
            else:
                yield from file.iter_batches(n_rows, row_groups=self.numbers, columns=list(read))


class ParquetFiles(FileRows):
    """Parquet files with the same columns; types may differ where one holds the values of the other.

    Files without a row may have any columns. Texts are read as the dictionaries that most files hold them as.
    """

    kind: ClassVar[str] = "Parquet"

    def __init__(self, files: Sequence[DataFile], folder: str | None = None) -> None:
        import pyarrow.parquet

        self.watch([file.path for file in files if file.content is None])
        footers = []
        for file in files:
            if not file.size:
                raise empty(file.called)
            with self.reading(file.called), pyarrow.parquet.ParquetFile(file.opened()) as opened:
                footers.append((file, plain_schema(opened.schema_arrow), opened.metadata))
            refuse_repeated_names(footers[-1][1].names)
        with self.reading(f"the files of {folder!r}"):
            keys, values = _partition_keys(files, folder)
        with_rows = [footer for footer in footers if footer[-1].num_rows] or footers[:1]
        self.units, self._parts, self._whole = [], [], []
        self.n_rows = sum(footer.num_rows for *_, footer in with_rows)
        whole = with_rows[0][1]
        for file, own, footer in with_rows:
            whole = joined(whole, own, file.called)
            there = file.opened, own.names, values.get(file.path, {})
            self._whole.append((file.called, RowGroup(list(range(footer.num_row_groups)), *there)))
            for number in range(footer.num_row_groups):
                self.units.append(file.called)
                self._parts.append(RowGroup([number], *there))
                self.held += int(GROWTH * footer.row_group(number).total_byte_size)
        if not self.units:
            self.units = [files[0].called]
        fields = [field.with_type(_WORDS) if _is_words(field.type) else field for field in whole]
        self.schema = pa.schema([*fields, *(key for key in keys if key.name not in whole.names)])

    def blocks(self, unit: int, columns: Sequence[str], n_rows: int) -> Iterator[pa.RecordBatch]:
        schema = pa.schema([self.schema.field(name) for name in columns])
        if unit < len(self._parts):
            with self.reading(self.units[unit]):
                yield from self._parts[unit].blocks(schema, n_rows, self.units[unit])

    def all_rows(self) -> pa.Table:
        blocks: list[pa.RecordBatch] = []
        for called, part in self._whole:
            with self.reading(called):
                blocks.extend(part.blocks(self.schema, None, called))
        return pa.Table.from_batches(blocks, schema=self.schema)


def _is_words(kind: pa.DataType) -> bool:
    return pa.types.is_string(kind.value_type if pa.types.is_dictionary(kind) else kind)


def _partition_keys(files: Sequence[DataFile], folder: str | None) -> tuple[list[pa.Field], dict[str, Any]]:
    """The columns that the names of folders below a folder hold, and their values for each file."""
    below = (
        [] if folder is None else [part for file in files for part in Path(file.path).relative_to(folder).parts[:-1]]
    )
    if not any("=" in part for part in below):
        return [], {}  # pyarrow.dataset takes longer to load than a small file to read
    import pyarrow.dataset
    from pyarrow.fs import LocalFileSystem

    options = pyarrow.dataset.FileSystemFactoryOptions(
        partition_base_dir=folder, partitioning=pyarrow.dataset.HivePartitioning.discover(), exclude_invalid_files=False
    )
    factory = pyarrow.dataset.FileSystemDatasetFactory(
        LocalFileSystem(), [file.path for file in files], pyarrow.dataset.ParquetFileFormat(), options
    )
    known = factory.inspect(promote_options="permissive")
    parts = factory.finish(known).get_fragments()
    values = {part.path: pyarrow.dataset.get_partition_keys(part.partition_expression) for part in parts}
    return [field for field in known if any(field.name in own for own in values.values())], values


FORMAT = Format("parquet", (".parquet", ".pq"), ParquetFiles, (b"PAR1",), "Parquet files, row group by row group")
