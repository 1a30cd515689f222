"""A pass over a stream: every block is taken once, and what is learnt of units is merged."""

from __future__ import annotations

from typing import Any, Protocol, Self

import pyarrow as pa

from certselect.progress import report
from certselect.table.streams.row_source import RowSource

# Cells of a block: some megabytes, so that a few of them, decoded and coded, are small beside any budget.
_BLOCK_CELLS = 1 << 22
_FEWEST_ROWS, _MOST_ROWS = 1 << 10, 1 << 17


class Learnt(Protocol):
    """What a pass has learnt so far of the rows it has seen. It can be sent to another process."""

    columns: tuple[str, ...]

    def take(self, block: pa.RecordBatch, where: str) -> None:
        """Learn from a block of rows; `where` is what its unit is called."""
        ...

    def add(self, other: Self) -> None:
        """Learn what another has learnt of other rows."""
        ...


class Runner(Protocol):
    """Who goes over the rows: this process, or a cluster."""

    def run(self, source: RowSource, learnt: Any, stage: str) -> Any:
        """What is learnt of all rows, by someone who knows nothing yet."""
        ...


class InThisProcess:
    """Block after block, each of which is taken on several threads."""

    def run(self, source: RowSource, learnt: Any, stage: str) -> Any:
        done = 0
        for unit, where in enumerate(source.units):
            for block in source.blocks(unit, learnt.columns, block_rows(len(learnt.columns))):
                learnt.take(block, where)
                done += block.num_rows
                report(stage, done if source.n_rows else unit, source.n_rows or len(source.units))
        return learnt


def block_rows(n_columns: int) -> int:
    """How many rows of so many columns make a block."""
    return min(max(_BLOCK_CELLS // max(1, n_columns), _FEWEST_ROWS), _MOST_ROWS)
