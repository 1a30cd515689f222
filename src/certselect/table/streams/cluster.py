"""ClusterRunner: the workers of a Dask cluster go over the rows.

A task learns from some units what `InThisProcess` learns from all, and a tree of further tasks adds up what they have
learnt, so that little more than the sum travels to this process. No task changes what it is given: it can be run again
on another worker, after its own has died, and the result is the same.
"""

from __future__ import annotations

import pickle
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, Protocol, Self, runtime_checkable
from uuid import uuid4

import numpy as np

from certselect.errors import InvalidInput
from certselect.names import shown
from certselect.progress import report
from certselect.table.streams.dask_source import DaskRows, PartitionForm, column_sums
from certselect.table.streams.passes import InThisProcess, block_rows
from certselect.table.streams.row_source import BlockRows, RowSource
from certselect.table.streams.saved_passes import Position, SavedPasses
from certselect.threads import on_jobs

# Cells that a task goes over: about a second's work, beside which handing on what it has learnt takes little. There are
# some tasks for each thread in any case, so that none is idle for long while the last ones run.
_CELLS = 40_000_000
_FEWEST_EACH, _MOST_EACH = 4, 64
_ADDED_AT_ONCE = 4
_ALONG = 1 << 24  # bytes that may travel with the tasks of a pass, which saves waiting for them


@runtime_checkable
class Divisible(Protocol):
    """Something learnt that may be too large for one task, so that several learn a part of it each."""

    columns: tuple[str, ...]

    def divided(self) -> Sequence[Self]:
        """Parts that know nothing yet, of about equal cost."""
        ...

    def put_in(self, part: Self) -> None:
        """Know what a part has learnt of all rows."""
        ...


@dataclass(eq=False)
class ClusterRunner:
    """Runs passes on the workers of a cluster, which must be able to read what the source reads.

    Parameters
    ----------
    client : distributed.Client
    budget : int
        Bytes that may be used, by each worker.
    resume : SavedPasses, optional
        Where what passes have learnt is kept, once they are finished.
    """

    client: Any
    budget: int
    resume: SavedPasses | None = None

    def __post_init__(self) -> None:
        usable = all(hasattr(self.client, name) for name in ("scheduler_info", "nthreads", "status"))
        if not usable or getattr(self.client, "asynchronous", False) or self.client.status != "running":
            raise InvalidInput(
                f"client={shown(self.client)}",
                "a distributed.Client that is connected and not asynchronous",
                "Pass client=Client(address), or Client() for a cluster on this computer.",
            )
        grows = getattr(getattr(self.client, "cluster", None), "_adaptive", None) is not None
        if not grows and not self.client.nthreads():
            raise InvalidInput(
                f"client={shown(self.client)}, whose cluster has no workers",
                "one worker at least",
                "Start some, and call client.wait_for_workers(1).",
            )

    def run(self, source: RowSource, learnt: Any, stage: str) -> Any:
        if isinstance(source, BlockRows):  # what a function of the user's opens may be there in this process only
            return InThisProcess(self.budget, self.resume).run(source, learnt, stage)
        if self.resume is None:
            return self._learn(source, learnt, stage)
        before, known = self.resume.begin(learnt.key)
        if known is not None and before.whole:
            with self.resume.reading():
                before.check(len(source.units), source.n_rows)
                learnt.restore(known)
            return learnt
        found = self._learn(source, learnt, stage)
        self.resume.save(Position(len(source.units), 0, source.n_rows or 0, True), found.saved())
        return found

    def _learn(self, source: RowSource, learnt: Any, stage: str) -> Any:
        tasks = _Tasks(source, learnt.columns, block_rows(len(learnt.columns), self.budget))
        parts = learnt.divided() if isinstance(learnt, Divisible) else [learnt]
        groups = _groups(len(source.units), self._n_tasks(source, len(learnt.columns)) // len(parts))
        sums = [tasks.learn(part, groups) for part in parts]
        futures = self.client.get(tasks.graph, [*sums, *tasks.finished], sync=False)
        try:
            _follow(dict(zip(futures[len(sums) :], tasks.finished.values(), strict=True)), source, stage, len(parts))
            if not isinstance(learnt, Divisible):
                return _result(futures[0])
            for future in futures[: len(sums)]:
                learnt.put_in(_result(future))
                future.release()
            return learnt
        except BaseException:  # Ctrl-C too: what has not begun need not begin
            self.client.cancel(futures)
            raise

    def _n_tasks(self, source: RowSource, n_columns: int) -> int:
        n_threads = max(1, sum(self.client.nthreads().values()))
        worth = _MOST_EACH * n_threads if source.n_rows is None else source.n_rows * n_columns // _CELLS
        return min(max(worth, _FEWEST_EACH * n_threads), _MOST_EACH * n_threads)


def _follow(n_units: Mapping[Any, int], source: RowSource, stage: str, n_parts: int) -> None:
    """Report how much is done, as tasks are finished, and raise what one of them has raised."""
    from distributed import as_completed

    done, total = 0, source.n_rows or len(source.units)
    for future in as_completed(list(n_units)):
        told = _result(future)
        if isinstance(source, DaskRows):
            source.compare(told.sums)
        done += told.n_rows if source.n_rows else n_units[future]
        report(stage, done // n_parts, total)


def _result(future: Any) -> Any:
    from distributed import KilledWorker

    try:
        return future.result()
    except KilledWorker as error:
        raise InvalidInput(
            f"a part of the table at which worker after worker died ({error.allowed_failures + 1} of them)",
            "workers that have room for it",
            "Give them more memory, or divide the table into smaller partitions, files or row groups.",
        ) from error


@dataclass(frozen=True, eq=False)
class _Told:
    """Of how many rows a task has learnt, and sums that tell the columns of partitions from others."""

    n_rows: int
    sums: dict[tuple[int, str], int]


@dataclass(frozen=True, eq=False)
class _Part:
    """What a task has learnt, and of what."""

    learnt: Any
    told: _Told

    def __sizeof__(self) -> int:
        """Bytes, by which Dask decides where parts are added up and when a worker is full."""
        return object.__sizeof__(self) + int(getattr(self.learnt, "n_bytes", 0))


@dataclass(eq=False)
class _Tasks:
    """The graph of a pass; `finished` has tasks that say how many rows others have gone over, and how many units."""

    source: RowSource
    columns: tuple[str, ...]
    block_rows: int
    graph: dict[Hashable, Any] = field(default_factory=dict)
    finished: dict[Hashable, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._token = uuid4().hex
        if isinstance(self.source, DaskRows):
            self.graph, self._units = self.source.tasks(self.columns)
            self._reader = pickle.dumps(self.source.form)
        else:
            self._units = list(range(len(self.source.units)))
            self._reader = pickle.dumps(self.source)

    def learn(self, learnt: Any, groups: Sequence[tuple[int, int]]) -> Hashable:
        """Add the tasks that learn something of all units, group by group; returns that of the sum."""
        number = len(self.finished)
        # Each task makes its own of both.
        fresh = self._given(f"certselect-fresh-{self._token}-{number}", pickle.dumps(learnt), len(groups))
        reader = self._given(f"certselect-reader-{self._token}", self._reader, len(groups))
        found: list[Hashable] = []
        for first, end in groups:
            learn = (f"certselect-learn-{self._token}", number, first)
            rows = (f"certselect-rows-{self._token}", number, first)
            names, units = list(self.source.units[first:end]), self._units[first:end]
            self.graph[learn] = (_learn_units, fresh, reader, names, units, self.block_rows)
            self.graph[rows] = (_told, learn)
            self.finished[rows] = end - first
            found.append(learn)
        return self._sum(found, fresh, number)

    def _given(self, key: str, content: bytes, n_tasks: int) -> Hashable:
        """What tasks are given: the content, which comes with them, or the key of a task that has it, if large."""
        if len(content) * n_tasks <= _ALONG:
            return content
        self.graph[key] = content
        return key

    def _sum(self, found: list[Hashable], fresh: Hashable, number: int) -> Hashable:
        level = 0
        while len(found) > 1:
            sums: list[Hashable] = []
            for start in range(0, len(found), _ADDED_AT_ONCE):
                key = (f"certselect-add-{self._token}", number, level, start)
                self.graph[key] = (_add_up, fresh, found[start : start + _ADDED_AT_ONCE])
                sums.append(key)
            found, level = sums, level + 1
        last = (f"certselect-sum-{self._token}", number)
        self.graph[last] = (_learnt, found[0])
        return last


def _groups(n_units: int, most: int) -> list[tuple[int, int]]:
    """Units that stand side by side, in so many groups at most."""
    n_groups = min(n_units, max(1, most))
    return list(pairwise(np.linspace(0, n_units, n_groups + 1).astype(int).tolist()))


# On the workers


def _learn_units(fresh: bytes, given: bytes, names: Sequence[str], units: Iterable[Any], at_once: int) -> _Part:
    learnt, reader, n_rows, sums = pickle.loads(fresh), pickle.loads(given), 0, {}
    with on_jobs(1):  # every thread of a worker has a task of its own
        for name, unit in zip(names, units, strict=True):
            for block in _blocks(reader, unit, learnt.columns, at_once, sums):
                learnt.take(block, name)
                n_rows += block.num_rows
    return _Part(learnt, _Told(n_rows, sums))


def _blocks(reader: Any, unit: Any, columns: Sequence[str], at_once: int, sums: dict[tuple[int, str], int]) -> Any:
    if not isinstance(reader, PartitionForm):
        return reader.blocks(unit, columns, at_once)
    whole = reader.whole(unit, columns)
    sums.update(column_sums(unit[0], whole))
    return whole.to_batches(max_chunksize=at_once)


def _add_up(fresh: bytes, parts: Sequence[_Part]) -> _Part:
    both = pickle.loads(fresh)
    for part in parts:
        both.add(part.learnt)
    return _Part(both, _Told(sum(part.told.n_rows for part in parts), {}))


def _told(part: _Part) -> _Told:
    return part.told


def _learnt(part: _Part) -> Any:
    return part.learnt
