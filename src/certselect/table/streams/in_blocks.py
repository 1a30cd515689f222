"""How a table that may be larger than memory is read, and which objects may be one; known without loading Arrow."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from certselect.errors import InvalidInput, keyword
from certselect.memory import memory_budget
from certselect.settings import Constraints, Reading

if TYPE_CHECKING:
    from certselect.table.streams.passes import Runner
    from certselect.table.streams.row_source import RowSource
    from certselect.table.streams.streamed_table import StreamedTable

# Libraries whose frames and columns are read as they are, whatever they export.
_IN_MEMORY = {"pyarrow", "pandas", "polars", "narwhals", "modin", "cudf"}


@dataclass(frozen=True)
class InBlocks:
    """How a table that does not fit into memory is read.

    Attributes
    ----------
    memory : int, str or None
        Bytes that may be used, such as "2GB"; a quarter of what is free if None.
    resume : path or None
        A file from which a killed run goes on.
    n_jobs : int or None
    client : distributed.Client or None
        A cluster whose workers go over the rows.
    """

    memory: int | str | None = None
    resume: str | os.PathLike[str] | None = None
    n_jobs: int | None = None
    client: Any = None

    def __post_init__(self) -> None:
        self.budget()  # a wrong amount is refused before anything is read

    def budget(self) -> int:
        return memory_budget(self.memory)

    def opened(
        self, rows: RowSource, target: Any, reading: Reading, constraints: Constraints | None = None
    ) -> StreamedTable:
        """A table to be gone over block by block, here or by a cluster."""
        from certselect.table.streams.passes import InThisProcess
        from certselect.table.streams.saved_passes import SavedPasses
        from certselect.table.streams.streamed_table import open_stream

        read = getattr(rows, "files", ()), getattr(rows, "folder", None)
        saved = None if self.resume is None else SavedPasses(self.resume, rows.identity, *read)
        if self.client is None:
            runner: Runner = InThisProcess(self.budget(), saved)
        else:
            from certselect.table.streams.cluster import ClusterRunner

            runner = ClusterRunner(self.client, self.budget(), saved)
        return open_stream(
            rows, one_name(target), reading, constraints, memory=self.memory, runner=runner, n_jobs=self.n_jobs
        )


def is_in_blocks(source: Any) -> bool:
    """Whether it is an Arrow dataset, a stream of record batches, or a function that returns rows."""
    if type(source).__module__.startswith("pyarrow._dataset") or is_arrow_stream(source):
        return True
    return callable(source) and not hasattr(source, "shape") and not hasattr(source, "columns")


def is_arrow_stream(source: Any) -> bool:
    """Whether an object exports record batches (`__arrow_c_stream__`) and is not a table or column in memory."""
    library = type(source).__module__.partition(".")[0]
    if library in _IN_MEMORY:
        return type(source).__name__ == "RecordBatchReader"
    return hasattr(type(source), "__arrow_c_stream__")


def is_dask(data: Any) -> bool:
    """Whether something is a collection of Dask's; nothing is loaded to know it."""
    return "dask" in sys.modules and hasattr(data, "__dask_graph__")


def one_name(target: Any) -> str:
    """The one name of a target; several are not counted block by block."""
    listed = [target] if isinstance(target, str) else list(target) if isinstance(target, list | tuple) else []
    if len(listed) != 1 or not isinstance(listed[0], str):
        raise InvalidInput(
            f"{keyword('target', target)} for a table that is read block by block",
            "the name of one of its columns",
            f"Name one, or pass {keyword('memory', spelled='')} enough to hold the table.",
        )
    return listed[0]
