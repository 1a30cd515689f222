"""A pass over a stream: every block is taken once, and what is learnt of units is merged."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from typing import Any, Protocol, Self, TypeVar

import numpy as np
import pyarrow as pa

from certselect.progress import report
from certselect.table.streams.file_rows import FileRows
from certselect.table.streams.row_source import RowSource
from certselect.table.streams.saved_passes import Position, SavedPasses

# Cells of a block: some megabytes; and bytes of the budget for each, since a block is decoded, coded and counted while
# the next is on its way.
_BLOCK_CELLS, _BYTES_PER_CELL = 1 << 22, 128
_FEWEST_ROWS, _MOST_ROWS = 1 << 10, 1 << 17
_Read = TypeVar("_Read")


class Learnt(Protocol):
    """What a pass has learnt so far of the rows it has seen. It can be sent to another process."""

    columns: tuple[str, ...]

    def take(self, block: pa.RecordBatch, where: str) -> None:
        """Learn from a block of rows; `where` is what its unit is called."""
        ...

    def add(self, other: Self) -> None:
        """Learn what another has learnt of other rows."""
        ...

    @property
    def key(self) -> str:
        """What is learnt, so that what was saved of something else is not taken for it."""
        ...

    def saved(self) -> dict[str, np.ndarray]:
        """What was learnt so far, as arrays."""
        ...

    def restore(self, saved: Mapping[str, np.ndarray]) -> None:
        """Know what was saved, and nothing else."""
        ...


class Runner(Protocol):
    """Who goes over the rows: this process, or a cluster."""

    def run(self, source: RowSource, learnt: Any, stage: str) -> Any:
        """What is learnt of all rows, by someone who knows nothing yet."""
        ...


class InThisProcess:
    """Block after block, each of which is taken on several threads.

    Parameters
    ----------
    budget : int
        Bytes that may be used.
    resume : SavedPasses, optional
        Where it is kept how far a pass is, now and then.
    """

    def __init__(self, budget: int, resume: SavedPasses | None = None) -> None:
        self._budget = budget
        self._resume = resume

    def run(self, source: RowSource, learnt: Any, stage: str) -> Any:
        n_rows = block_rows(len(learnt.columns), self._budget)
        # How far a pass is, is said in blocks: those of another budget are others.
        key = digest(learnt.key, n_rows)
        before, known = (Position(), None) if self._resume is None else self._resume.begin(key)
        if self._resume is not None and known is not None:
            with self._resume.reading():
                before.check(len(source.units), source.n_rows)
                learnt.restore(known)
        done, total = before.rows, source.n_rows
        units = range(before.units, 0 if before.whole else len(source.units))
        blocks = (
            (unit, number, block)
            for unit in units
            for number, block in enumerate(source.blocks(unit, learnt.columns, n_rows))
            if unit > before.units or number >= before.blocks
        )
        # What a user's function opens may belong to the thread that called it.
        for unit, number, block in _read_ahead(blocks) if isinstance(source, FileRows) else blocks:
            learnt.take(block, source.units[unit])
            done += block.num_rows
            report(stage, done if total else unit + 1, total or len(source.units))
            if self._resume is not None and self._resume.due:
                self._resume.save(Position(unit, number + 1, done), learnt.saved())
        if self._resume is not None and not before.whole:
            self._resume.save(Position(len(source.units), 0, done, True), learnt.saved())
        return learnt


def _read_ahead(blocks: Iterator[_Read]) -> Iterator[_Read]:
    """The same blocks, each of which is read while the one before it is worked on."""
    with ThreadPoolExecutor(1, thread_name_prefix="certselect-reader") as reader:
        coming = reader.submit(next, blocks, None)
        while (block := coming.result()) is not None:
            coming = reader.submit(next, blocks, None)
            yield block


def digest(*parts: object) -> str:
    """One text for what is to be learnt."""
    return sha256(repr(parts).encode()).hexdigest()


class Together:
    """Several things learnt in one pass."""

    def __init__(self, parts: Sequence[Learnt]) -> None:
        self.parts = list(parts)
        self.columns = tuple(dict.fromkeys(name for part in parts for name in part.columns))

    def take(self, block: pa.RecordBatch, where: str) -> None:
        for part in self.parts:
            part.take(block, where)

    def add(self, other: Together) -> None:
        for part, more in zip(self.parts, other.parts, strict=True):
            part.add(more)

    @property
    def key(self) -> str:
        return digest(*(part.key for part in self.parts))

    def saved(self) -> dict[str, np.ndarray]:
        return {
            f"{place}/{name}": array for place, part in enumerate(self.parts) for name, array in part.saved().items()
        }

    def restore(self, saved: Mapping[str, np.ndarray]) -> None:
        for place, part in enumerate(self.parts):
            own = f"{place}/"
            part.restore({name[len(own) :]: array for name, array in saved.items() if name.startswith(own)})


def block_rows(n_columns: int, budget: int) -> int:
    """How many rows of so many columns make a block, where so many bytes may be used."""
    cells = min(_BLOCK_CELLS, budget // _BYTES_PER_CELL)
    return min(max(cells // max(1, n_columns), _FEWEST_ROWS), _MOST_ROWS)
