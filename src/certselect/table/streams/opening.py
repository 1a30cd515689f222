"""Whatever may be larger than memory -> RowSource."""

from __future__ import annotations

import os
from typing import Any

import pyarrow as pa

from certselect.errors import InvalidInput
from certselect.table.streams.files import ArrowDataset, open_files
from certselect.table.streams.in_blocks import is_dask
from certselect.table.streams.passes import block_rows
from certselect.table.streams.row_source import BatchFactory, RowSource


def row_source(source: Any, target: Any) -> tuple[RowSource, Any]:
    """The rows of files, of an Arrow dataset, of Dask's, or of a function that brings them; and the target's name."""
    if is_dask(source):
        from certselect.table.streams.dask_source import open_dask

        return open_dask(source, target)
    return _named_rows(source), target


def _named_rows(source: Any) -> RowSource:
    if isinstance(source, str | os.PathLike):
        return open_files(source)
    if isinstance(source, pa.RecordBatchReader):
        raise InvalidInput(
            "a RecordBatchReader, which can be read once only",
            "rows that can be read again",
            "Pass a function that opens it, or a pyarrow dataset.",
        )
    make: Any = source
    return BatchFactory(make) if callable(source) else ArrowDataset(source)


def all_rows(rows: RowSource) -> pa.Table:
    """All rows in memory."""
    names = rows.schema.names
    n_rows = block_rows(len(names), rows.n_bytes)
    blocks = [block for unit in range(len(rows.units)) for block in rows.blocks(unit, names, n_rows)]
    return pa.Table.from_batches(blocks, schema=rows.schema)
