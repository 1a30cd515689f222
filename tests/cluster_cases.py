"""A cluster on this machine, and what its workers are given: tables of every kind of column, and workers that die."""

import os
import signal
import threading
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet

from as_before import counted
from certselect.information.information_terms import measure_table
from certselect.settings import Settings
from certselect.table.streams.streamed_table import open_stream

PAIRS = ("redundancy", "conditional_redundancy", "interaction")
PATIENCE = 120  # seconds after which something that others wait for has failed


@contextmanager
def local_client(n_workers=2):
    """A client of processes of one thread each."""
    from distributed import Client, LocalCluster

    cluster = LocalCluster(
        n_workers=n_workers, threads_per_worker=1, processes=True, dashboard_address="127.0.0.1:0", memory_limit=0
    )
    with cluster, Client(cluster, timeout=PATIENCE) as client:
        yield client


def made_frame(m, *, gaps=False, seed=0):
    """Numbers, ties, integers, bools, texts, categories and dates, with a target `y` of three classes."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, m)
    frame = pd.DataFrame(
        {
            "number": rng.standard_normal(m) + y,
            "ties": np.round(rng.standard_normal(m), 1),
            "small": rng.standard_normal(m).astype(np.float32),
            "few": rng.integers(0, 4, m) * (y + 1) % 5,
            "many": rng.integers(-50, 100, m) + y,
            "bool": rng.random(m) < 0.4,
            "text": np.array(["a", "b", "c", "d"])[rng.integers(0, 4, m)],
            "words": np.array([f"w{k}" for k in range(90)])[rng.integers(0, 90, m)],
            "category": pd.Categorical(np.array(["x", "y", "z"])[(rng.integers(0, 2, m) + y) % 3]),
            "date": pd.to_datetime("2020-01-01") + pd.to_timedelta(rng.integers(0, 1000, m), unit="D"),
            "rank": np.arange(m),
            "gapped": np.where(rng.random(m) < 0.2, np.nan, rng.integers(0, 5, m)),
        }
    )
    if gaps:
        frame.loc[rng.random(m) < 0.1, "number"] = np.nan
        frame.loc[rng.random(m) < 0.1, "text"] = None
    return frame.assign(y=y)


def write_parquet(frame, file, rows_each):
    pa.parquet.write_table(pa.Table.from_pandas(frame, preserve_index=False), file, row_group_size=rows_each)
    return str(file)


def streamed(source, target="y", runner=None, **keywords):
    """The terms of a table that is read block by block, by plain counts where no other measure is named."""
    stated = Settings.from_keywords(counted(keywords), groups=("reading", "measuring"))
    table = open_stream(source, target, stated.reading, memory="64MB", runner=runner)
    return measure_table(table, stated.measuring)


def assert_same_terms(got, want):
    """The very same floats, names and decisions."""
    assert got.feature_names == want.feature_names
    assert (got.n_samples, got.target_entropy) == (want.n_samples, want.target_entropy)
    for name in ("levels", "constant", "relevance", "entropy", *PAIRS):
        np.testing.assert_array_equal(getattr(got, name), getattr(want, name), err_msg=name)
    assert got.copies == want.copies
    assert set(got.decisions) == set(want.decisions)


class Passed:
    """A source as it is; what is asked of it can be changed."""

    def __init__(self, source):
        self.source = source
        self.schema, self.units, self.n_rows = source.schema, source.units, source.n_rows
        self.n_bytes, self.identity, self.usual_missing = source.n_bytes, source.identity, source.usual_missing

    def check(self):
        self.source.check()

    def blocks(self, unit, columns, n_rows):
        return self.source.blocks(unit, columns, n_rows)

    def head(self, unit, columns, n_rows):
        return self.source.head(unit, columns, n_rows)


class Waiting(Passed):
    """A source that lets the process that reads one of its units wait, in the middle, until it is killed.

    Every reading of that unit is numbered, by files in a folder; those in `stops` wait. A pipe tells who does.
    """

    def __init__(self, source, folder, unit, stops):
        super().__init__(source)
        self.folder, self.unit, self.stops = Path(folder), unit, tuple(stops)
        for stop in stops:
            os.mkfifo(self._pipe(stop))

    def blocks(self, unit, columns, n_rows):
        for number, block in enumerate(super().blocks(unit, columns, n_rows)):
            yield block
            if unit == self.unit and number == 0 and (reading := self._numbered()) in self.stops:
                self._pipe(reading).write_text(str(os.getpid()))
                threading.Event().wait(PATIENCE)
                raise TimeoutError("nobody has killed this process")

    def _pipe(self, reading):
        return self.folder / f"waits-{reading}"

    def _numbered(self):
        reading = 0
        while True:
            try:
                (self.folder / f"read-{reading}").touch(exist_ok=False)
                return reading
            except FileExistsError:
                reading += 1

    def kill_who_waits(self, killed):
        """Kill each process that waits, and note which it was."""
        for stop in self.stops:
            pid = int(self._pipe(stop).read_text())  # as soon as there is one
            killed.append(pid)
            os.kill(pid, signal.SIGKILL)


class Deadly(Passed):
    """A source whose last unit kills who reads it, as one would that takes more memory than there is."""

    def blocks(self, unit, columns, n_rows):
        if unit == len(self.units) - 1:
            os.kill(os.getpid(), signal.SIGKILL)
        return super().blocks(unit, columns, n_rows)
