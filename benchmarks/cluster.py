"""How much faster two workers of a Dask cluster count than one, and that a killed worker changes no integer.

    python benchmarks/cluster.py [--rows 1000000] [--columns 300] [--levels 5] [--turns 3]

Run on a machine of two free cores. Workers are processes of one thread on this machine; the table is one of whole
numbers in Parquet files, of which all pairs are counted. Prints the ratio of the seconds, each the median of two runs a
turn; then one of two workers is killed at a random moment, five times. Exits with an error if the ratio is below
the goal or if a number differs.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import statistics
import sys
import tempfile
import threading
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet
from distributed import Client, LocalCluster

from certselect.information.information_terms import measure_table
from certselect.settings import Measuring, Reading
from certselect.table.files import open_files
from certselect.table.streams.cluster import ClusterRunner
from certselect.table.streams.streamed_table import open_stream

BUDGET = 1 << 30

GOAL = 1.6
KILLS = 5
FILES = 16
TERMS = ("relevance", "redundancy", "conditional_redundancy")


def write_table(folder: Path, rows: int, columns: int, levels: int) -> None:
    for number in range(FILES):
        rng = np.random.default_rng(number)
        m = rows // FILES
        y = rng.integers(0, 2, m, dtype=np.int8)
        cells = rng.integers(0, levels, (columns, m), dtype=np.int8)
        made = {f"x{j}": np.where(rng.random(m) < 0.3 / (1 + j), y, cells[j]) for j in range(columns)}
        pyarrow.parquet.write_table(pa.table({**made, "y": y}), folder / f"{number:03}.parquet", row_group_size=1 << 15)


def counted(folder: Path, client: Client) -> tuple[float, dict[str, np.ndarray]]:
    """Seconds that all terms of the table take, and the terms."""
    started = time.perf_counter()
    table = open_stream(open_files(folder), "y", Reading(), runner=ClusterRunner(client, BUDGET))
    terms: Any = measure_table(table, Measuring(measure="plugin", correction="none"))
    found = {name: getattr(terms, name) for name in TERMS}
    return time.perf_counter() - started, found


def cluster_of(n_workers: int, stack: ExitStack) -> Client:
    options: dict[str, Any] = {"threads_per_worker": 1, "processes": True, "dashboard_address": "127.0.0.1:0"}
    cluster = stack.enter_context(LocalCluster(n_workers=n_workers, **options))
    return stack.enter_context(Client(cluster))


def speed(folder: Path, turns: int) -> tuple[float, dict[str, np.ndarray]]:
    """How many times as fast two workers are, and what they count."""
    seconds: dict[int, list[float]] = {1: [], 2: []}
    found: dict[str, np.ndarray] = {}
    for _ in range(turns):
        for n, took in seconds.items():
            with ExitStack() as stack:  # one cluster at a time: an idle one takes some of the cores too
                client = cluster_of(n, stack)
                counted(folder, client)  # imports and compiles
                for _ in range(2):
                    again, found = counted(folder, client)
                    took.append(again)
    one, two = (statistics.median(took) for took in seconds.values())
    for n, took in seconds.items():
        print(f"{n} worker{'s' * (n > 1)}: {', '.join(f'{one:.2f}' for one in took)} s")
    print(f"one worker {one:.2f} s, two workers {two:.2f} s: {one / two:.2f} times as fast")
    return one / two, found


def kill_one(client: Client, after: float) -> threading.Thread:
    """Kill one of the workers after some seconds."""
    chance = random.Random(after)

    def kill() -> None:
        time.sleep(after)
        pids: Any = client.run(os.getpid)
        os.kill(chance.choice(sorted(pids.values())), signal.SIGKILL)

    killer = threading.Thread(target=kill)
    killer.start()
    return killer


def same_when_killed(folder: Path, want: dict[str, np.ndarray]) -> bool:
    same = True
    with ExitStack() as stack:
        client = cluster_of(2, stack)
        counted(folder, client)
        took, _ = counted(folder, client)
        for kill in range(KILLS):
            client.wait_for_workers(2)
            moment = random.Random(kill).uniform(0.05, 0.95) * took
            killer = kill_one(client, moment)
            seconds, found = counted(folder, client)
            killer.join()
            equal = all(np.array_equal(found[name], want[name]) for name in TERMS)
            print(f"a worker killed after {moment:.2f} s: {seconds:.2f} s, the same numbers: {equal}")
            same = same and equal
    return same


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    asked.add_argument("--rows", type=int, default=1_000_000)
    asked.add_argument("--columns", type=int, default=300)
    asked.add_argument("--levels", type=int, default=5)
    asked.add_argument("--turns", type=int, default=3)
    given = asked.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_table(folder, given.rows, given.columns, given.levels)
        ratio, want = speed(folder, given.turns)
        same = same_when_killed(folder, want)
    if ratio < GOAL or not same:
        sys.exit(f"Expected at least {GOAL} times as fast, and the same numbers.")


if __name__ == "__main__":
    main()
