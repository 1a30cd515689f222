"""RowSample: some rows of a stream, evenly spread over all of it; and a quick one, of some of its units."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from certselect.table.streams.arrow_columns import read_cells
from certselect.table.streams.passes import digest
from certselect.table.streams.row_source import RowSource
from certselect.table.streams.saved_passes import packed_table, unpacked_table

# Units that a quick sample looks at: an eighth of them, since a unit of few rows is read whole for its first ones.
_FEWEST_UNITS, _MOST_UNITS, _OF_UNITS = 8, 32, 8


class RowSample:
    """Every so-manieth row; `Learnt` of a stream.

    Where nobody knows how many rows there are, all are kept at first, and every other one is
    dropped as often as they become too many.
    """

    def __init__(self, columns: Sequence[str], n_rows: int | None, most: int) -> None:
        self.columns = tuple(columns)
        self._most = most
        self._step = 1 if n_rows is None else max(1, n_rows // most)
        self._seen = 0
        self._kept: list[pa.Table] = []
        self._n_kept = 0

    def take(self, block: pa.RecordBatch, where: str) -> None:
        first = -self._seen % self._step
        self._seen += block.num_rows
        places = np.arange(first, block.num_rows, self._step)
        if len(places):
            part = pa.Table.from_batches([block.select(list(self.columns))]).take(places)
            self._kept.append(part)
            self._n_kept += part.num_rows
        self._thin()

    def add(self, other: RowSample) -> None:
        # Both with the larger step, else the rows of one would stand denser.
        step = max(self._step, other._step)
        self._kept = [*self._each(step), *other._each(step)]
        self._n_kept = sum(part.num_rows for part in self._kept)
        self._step = step
        self._seen += other._seen
        self._thin()

    def _each(self, step: int) -> list[pa.Table]:
        """The rows that a larger step leaves."""
        if step == self._step or not self._kept:
            return self._kept
        return [self.rows.take(np.arange(0, self._n_kept, step // self._step))]

    @property
    def key(self) -> str:
        return digest("sample", self.columns, self._most)

    def saved(self) -> dict[str, np.ndarray]:
        return {"seen": np.array([self._seen, self._step]), "rows": packed_table(self.rows)}

    def restore(self, saved: Mapping[str, np.ndarray]) -> None:
        self._seen, self._step = saved["seen"].tolist()
        rows = unpacked_table(saved["rows"])
        self._kept, self._n_kept = [rows], rows.num_rows

    def __getstate__(self) -> dict[str, Any]:
        """In one piece: a table of many small chunks travels as slowly as so many messages."""
        return {**self.__dict__, "_kept": packed_table(self.rows)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        rows = unpacked_table(state["_kept"])
        self.__dict__.update(state, _kept=[rows] if rows.num_rows else [])

    def _thin(self) -> None:
        while self._n_kept > 2 * self._most:
            rows = self.rows.take(np.arange(0, self._n_kept, 2))
            self._kept, self._n_kept, self._step = [rows], rows.num_rows, 2 * self._step

    @property
    def rows(self) -> pa.Table:
        return pa.concat_tables(self._kept, promote_options="permissive") if self._kept else pa.table({})


def quick_sample(source: RowSource, columns: Sequence[str], n_rows: int) -> pa.Table:
    """About so many rows from the beginnings of some units, spread over all of them: read in a moment."""
    n_units = int(np.clip(len(source.units) // _OF_UNITS, _FEWEST_UNITS, _MOST_UNITS))
    return _heads(source, columns, n_rows, n_units)


def first_and_last(source: RowSource, columns: Sequence[str], n_rows: int) -> pa.Table:
    """About so many rows from the beginnings of the first and the last unit."""
    return _heads(source, columns, n_rows, 2)


def _heads(source: RowSource, columns: Sequence[str], n_rows: int, n_units: int) -> pa.Table:
    units = np.unique(np.linspace(0, len(source.units) - 1, n_units).astype(int)).tolist()
    parts = [source.head(unit, columns, -(-n_rows // len(units))) for unit in units]
    return pa.concat_tables(parts, promote_options="permissive")


def sample_span(rows: pa.Table, name: str) -> int:
    """How far the integers of a column of a sample are apart."""
    values = rows.column(name).drop_null().to_numpy()
    return int(values.max()) - int(values.min()) if len(values) else 0


def sample_numbers(rows: pa.Table, name: str) -> np.ndarray:
    """The finite numbers of a column of a sample, ascending; infinite ones are refused by whoever meets them all."""
    column = read_cells(rows.column(name).combine_chunks(), name)
    values = column.values.astype(np.float64)
    return np.sort(values[np.isfinite(values)] if column.missing is None else values[~column.missing])
