"""Rows of a `pyarrow.dataset.Dataset`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

import pyarrow as pa

from certselect.errors import InvalidInput
from certselect.names import shown
from certselect.table.formats.parquet import GROWTH, RowGroup
from certselect.table.streams.file_rows import FileRows, unreadable
from certselect.table.streams.row_source import UNKNOWN, plain_schema


class ArrowDataset(FileRows):
    """The rows of a `pyarrow.dataset.Dataset`; of Parquet files, each row group is a unit."""

    kind: ClassVar[str] = "its type says"

    def __init__(self, dataset: Any) -> None:
        if not hasattr(dataset, "get_fragments"):
            raise InvalidInput(shown(dataset), "a dataset, which can be read again", "Pass what it was made of.")
        self.schema = plain_schema(dataset.schema)
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
        self.held = int(GROWTH * sum(group.total_byte_size for group in groups)) if known else UNKNOWN
        files = [getattr(fragment, "path", None) for fragment in self._fragments]
        self.watch([] if None in files else sorted({str(file) for file in files}))

    def blocks(self, unit: int, columns: Sequence[str], n_rows: int) -> Iterator[pa.RecordBatch]:
        import pyarrow.dataset

        fragment, called = self._fragments[unit], self.units[unit]
        schema = pa.schema([self.schema.field(name) for name in columns])
        with self.reading(called):
            if getattr(fragment, "row_groups", None):
                keys = pyarrow.dataset.get_partition_keys(fragment.partition_expression)
                numbers = [group.id for group in fragment.row_groups]
                group = RowGroup(numbers, fragment.open, fragment.physical_schema.names, keys)
                yield from group.blocks(schema, n_rows, called)
            else:
                options = {"batch_size": n_rows, "batch_readahead": 2, "columns": list(columns)}
                yield from fragment.to_batches(**options, schema=self.schema)


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
