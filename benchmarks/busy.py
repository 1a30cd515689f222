"""How long fits take beside programs that use the cores as well, as ratios to one thread on a quiet machine.

Run by `make busy`, on a machine that does nothing else. Prints a Markdown table; exits with an error if a fit
takes more than twice as long with one core in use as one thread takes alone.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from certselect import SubsetSelector
from certselect.threads import thread_count

TURNS = 3
MOST = 2.0
LIMIT = 5.0
# rows, columns, settings
FITS: dict[str, tuple[int, int, dict[str, Any]]] = {
    "500 x 1000, default": (500, 1000, {}),
    f"200 x 2000, exact, {LIMIT:.0f} s": (200, 2000, {"strategy": "exact", "max_seconds": LIMIT}),
}
PRODUCTS = "import numpy as np; A = np.random.default_rng(0).normal(size=(1000, 1000))\nwhile True: A @ A"
# What runs beside the fit, on how many threads; the goal is about those that keep one core busy.
NEIGHBOURS: dict[str, tuple[str, int] | None] = {
    "nobody": None,
    "a loop": ("while True: pass", 1),
    "products of matrices, one thread": (PRODUCTS, 1),
    "products of matrices, all threads": (PRODUCTS, thread_count(None)),
}


def fit(name: str, n_jobs: int | None) -> dict[str, float]:
    """Seconds of a fit, the median of a few, and the gap it came to."""
    rows, columns, settings = FITS[name]
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, rows)
    X = rng.standard_normal((rows, columns))
    X[:, ::10] += 0.5 * y[:, None]
    SubsetSelector(3).fit(X[:, :50], y)  # imports and compiles
    seconds, gaps = [], []
    for _ in range(TURNS):
        started = time.perf_counter()
        fitted = SubsetSelector(10, n_jobs=n_jobs, random_state=0, **settings).fit(X, y)
        seconds.append(time.perf_counter() - started)
        gaps.append(fitted.gap_)
    return {"seconds": statistics.median(seconds), "gap": statistics.median(gaps)}


def in_a_new_process(name: str, n_jobs: int | None) -> dict[str, float]:
    """The same by a process of its own, so that nothing is left of the one before."""
    command = [sys.executable, __file__, json.dumps([name, n_jobs])]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


@contextmanager
def beside(neighbour: tuple[str, int] | None) -> Iterator[None]:
    """A block in which another program runs."""
    if neighbour is None:
        yield
        return
    code, threads = neighbour
    running = subprocess.Popen([sys.executable, "-c", code], env={**os.environ, "OPENBLAS_NUM_THREADS": str(threads)})
    try:
        time.sleep(1.0)
        yield
    finally:
        running.kill()
        running.wait()


def main() -> None:
    """Print the table."""
    print(f"{thread_count(None)} cores; seconds, and in brackets how many times those of one thread alone\n")
    print(f"| fit | one thread alone | {' | '.join(f'beside {name}' for name in NEIGHBOURS)} | gaps |")
    print("| --- |" + " ---: |" * (len(NEIGHBOURS) + 2))
    slow = []
    for name in FITS:
        alone = in_a_new_process(name, 1)
        cells, gaps = [f"{alone['seconds']:.1f}"], [alone["gap"]]
        for neighbour, program in NEIGHBOURS.items():
            with beside(program):
                took = in_a_new_process(name, None)
            ratio = took["seconds"] / alone["seconds"]
            cells.append(f"{took['seconds']:.1f} ({ratio:.1f})")
            gaps.append(took["gap"])
            if ratio > MOST and (program is None or program[1] == 1):
                slow.append(f"{name} beside {neighbour}: {ratio:.1f} times")
        shown = f"{100 * min(gaps):.2g} % to {100 * max(gaps):.2g} %"
        print(f"| {name} | {' | '.join(cells)} | {shown} |", flush=True)
    if slow:
        sys.exit("; ".join(slow))


if __name__ == "__main__":
    if len(sys.argv) > 1:
        print(json.dumps(fit(*json.loads(sys.argv[1]))))
    else:
        main()
