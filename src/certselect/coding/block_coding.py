"""StreamedCoding: blocks of rows -> codes, by edges and levels that are known."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from certselect.coding.model import Coding
from certselect.errors import InvalidInput
from certselect.table.streams.arrow_columns import numbers_of, read_cells
from certselect.table.streams.passes import digest
from certselect.table.streams.row_source import Rows
from certselect.threads import side_by_side

_TABULATED = 1 << 16  # largest span of integers that are looked up in a table


@dataclass(frozen=True, eq=False)
class NumberCoder:
    """Codes numbers by their edges."""

    name: str
    edges: np.ndarray
    missing_code: int
    words: Mapping[str, float] | None = None

    @property
    def what(self) -> object:
        return self.edges.tolist(), sorted((self.words or {}).items())

    def code(self, block: Rows, codes: np.ndarray, where: str) -> None:
        from certselect.coding.brackets import code_by_edges

        code_by_edges(numbers_of(block.column(self.name), self.name, self.words), self.edges, self.missing_code, codes)


@dataclass(frozen=True, eq=False)
class LevelCoder:
    """Codes values by their place among those that the first pass has met."""

    name: str
    values: tuple[Any, ...]
    missing_code: int

    @property
    def what(self) -> object:
        return self.values

    def code(self, block: Rows, codes: np.ndarray, where: str) -> None:
        from certselect.coding.brackets import look_up

        column = read_cells(block.column(self.name), self.name)
        values = column.values.view(np.uint8) if column.values.dtype == bool else column.values
        if column.kind == "category":
            code_of = {value: code for code, value in enumerate(self.values)}
            # Behind the words comes what has none.
            table = np.array([*(code_of.get(value, -1) for value in column.vocabulary), self.missing_code])
            known = look_up(
                values if column.missing is None else np.where(values < 0, len(table) - 1, values), 0, table, codes
            )
        elif values.dtype.kind in "iu" and self._table is not None and column.missing is None:
            known = look_up(values, np.int64(self.values[0]), self._table, codes)
        else:
            found = self._places(values)
            lacking = np.isnan(values) if values.dtype.kind == "f" else column.missing
            if lacking is not None:
                found = np.where(lacking, self.missing_code, found)
            known = int(found.min(initial=0)) >= 0
            codes[:] = found
        if not known:
            raise changed(f"a value of column {self.name!r} in {where} that was not there before")

    @cached_property
    def _table(self) -> np.ndarray | None:
        """Codes of integers by their distance from the smallest; None if they are too far apart."""
        first, last = self.values[0], self.values[-1]
        if isinstance(first, str) or not -(2**62) < first <= last < 2**62 or last - first > _TABULATED:
            return None
        table = np.full(int(last - first) + 1, -1)
        table[[int(value - first) for value in self.values]] = np.arange(len(self.values))
        return table

    def _places(self, numbers: np.ndarray) -> np.ndarray:
        """Codes of numbers, -1 for those that are none of the values."""
        kept = {"f": np.float64, "u": np.uint64}.get(numbers.dtype.kind, np.int64)
        known, numbers = np.array(self.values, dtype=kept), numbers.astype(kept, copy=False)
        places = np.minimum(np.searchsorted(known, numbers), len(known) - 1)
        return np.where(known[places] == numbers, places, -1)


@dataclass(frozen=True, eq=False)
class StreamedCoding:
    """How blocks of a stream become codes.

    Attributes
    ----------
    coding : Coding
        As of a table in memory.
    coders : tuple of NumberCoder, LevelCoder or None
        Of each feature; None for one that nobody looks at.
    target : NumberCoder or LevelCoder
    n_classes : int
        Codes of the target; not all of the bins of a number need occur.
    """

    coding: Coding
    coders: tuple[NumberCoder | LevelCoder | None, ...]
    target: NumberCoder | LevelCoder
    n_classes: int

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of the source that are read."""
        return tuple(coder.name for coder in (*self.coders, self.target) if coder is not None)

    @property
    def key(self) -> str:
        """What tells this coding from others."""
        coders = [coder and (coder.name, coder.missing_code, coder.what) for coder in (*self.coders, self.target)]
        return digest(coders)

    def code_block(self, block: Rows, where: str, n_threads: int) -> tuple[np.ndarray, np.ndarray]:
        """The codes (n, m) of a block, and the class of every row."""
        target = np.empty(block.num_rows, dtype=np.uint16)
        codes = np.zeros((len(self.coders), block.num_rows), dtype=np.min_scalar_type(int(self.coding.levels.max())))

        def one(place: int) -> None:
            coder = self.coders[place]
            if coder is not None:
                coder.code(block, codes[place], where)

        self.target.code(block, target, where)
        side_by_side(one, range(len(self.coders)), n_threads)
        return codes, target


def changed(what: str) -> InvalidInput:
    return InvalidInput(what, "a table that does not change while it is read", "Read a copy of it.")
