"""Work shared among processes, one thread of linear algebra in each, and word of how it goes."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from joblib import Parallel, parallel_config

# Takes `joblib.delayed` calls, gives their results.
Pool = Callable[[Iterable[Any]], Iterable[Any]]


@contextmanager
def processes(jobs: int) -> Iterator[Pool]:
    """A pool that yields results in order as they come; with one job everything runs in this process."""
    with (
        parallel_config(backend="loky", inner_max_num_threads=1),
        Parallel(n_jobs=jobs, return_as="generator") as pool,
    ):
        yield pool


def say(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()
