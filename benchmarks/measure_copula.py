"""How long the Gaussian-copula measure takes beside the two things it cannot do without, as ratios of one run.

Prints a Markdown table: all pairs of a table of numbers, against one product of matrices of the
same shape plus one sort of every column, on as many threads.
"""

from __future__ import annotations

import gc
import statistics
import sys
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from certselect.information.gaussian_copula import copula_terms
from certselect.table import Block, Table
from certselect.threads import run_parts

N_THREADS = 2
SHAPES = [(2000, 500), (2000, 2000)]
BAR = 3.0
TURNS = 9


def number_table(m: int, n: int) -> Table:
    """Normal columns that share a few factors, and two classes that depend on the first."""
    rng = np.random.default_rng(0)
    factors = rng.normal(size=(m, 10))
    X = factors @ rng.normal(size=(10, n)) / 5 + rng.normal(size=(m, n))
    target = (factors[:, 0] > 0).astype(np.int32)
    names = tuple(f"x{j}" for j in range(n))
    return Table((Block("number", np.arange(n), X),), names, target, (False, True), np.empty((m, 0)))


def sort_columns(columns: np.ndarray) -> None:
    """np.argsort of every column, each contiguous, shared by the threads."""

    def sort(part: np.ndarray) -> None:
        np.argsort(part, axis=1)

    run_parts("sort", [partial(sort, part) for part in np.array_split(columns, 8)], N_THREADS)


def median_seconds(contestants: dict[str, Callable[[], Any]]) -> dict[str, float]:
    """Contestants take turns, so that noise hits all alike."""
    seconds: dict[str, list[float]] = {name: [] for name in contestants}
    for _ in range(TURNS):
        for name, contestant in contestants.items():
            gc.collect()
            time.sleep(0.1)  # BLAS threads of the one before spin for a while
            started = time.perf_counter()
            contestant()
            seconds[name].append(time.perf_counter() - started)
    return {name: statistics.median(spent) for name, spent in seconds.items()}


def main() -> None:
    print(f"\n### Gaussian copula, redundancy of all pairs, {N_THREADS} threads\n")
    print("| samples x features | product (s) | sorting (s) | certselect (s) | ratio | asked at most |")
    print("| --- | ---: | ---: | ---: | ---: | ---: |")
    missed = False
    for m, n in SHAPES:
        table = number_table(m, n)
        X = np.asarray(table.blocks[0].values)
        columns = np.ascontiguousarray(X.T)
        seconds = median_seconds(
            {
                "product": lambda X=X: X.T @ X,
                "sorting": lambda columns=columns: sort_columns(columns),
                "ours": lambda table=table: (
                    copula_terms(table, dtype=np.dtype(np.float64), n_jobs=N_THREADS).redundancy
                ),
            }
        )
        ratio = seconds["ours"] / (seconds["product"] + seconds["sorting"])
        missed |= ratio > BAR
        print(
            f"| {m} x {n} | {seconds['product']:.4f} | {seconds['sorting']:.4f} | {seconds['ours']:.4f} "
            f"| {ratio:.2f} | {BAR} |",
            flush=True,
        )
    if missed:
        sys.exit("slower than asked")


if __name__ == "__main__":
    main()
