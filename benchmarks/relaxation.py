"""How fast the relaxation's two methods are beside themselves, as ratios within one run; others' are in contestants/.

    python benchmarks/relaxation.py                      # all but the long ones
    python benchmarks/relaxation.py path
    python benchmarks/relaxation.py copies
    python benchmarks/relaxation.py low_rank             # n = 5000, some minutes
    python benchmarks/relaxation.py large                # n = 20000 in single precision, half an hour

Problems: mutual information of three-state columns from a factor model (mRMR), so
that pair terms are redundancies as real data have them.
"""

from __future__ import annotations

import resource
import sys
import time
from collections.abc import Callable

import numpy as np

from certselect.certificate import upper_bound
from certselect.relaxation import Relaxation, solve
from contestants.problems import gaussian_problem, mrmr_problem


def seconds(work: Callable[[], object], repeats: int = 1) -> float:
    best = float("inf")
    for _ in range(repeats):
        began = time.perf_counter()
        work()
        best = min(best, time.perf_counter() - began)
    return best


def path() -> None:
    print("k = 10..19 one after another, each from the last (goal: well under the sum of cold solves)")
    for method in ("interior_point", "low_rank"):
        cold = warm = 0.0
        previous: Relaxation | None = None
        iterations = [0, 0]
        for k in range(10, 20):
            Q = mrmr_problem(500, k)
            alone = solve(Q, k, method)
            previous = solve(Q, k, method, warm_start=previous)
            cold, warm = cold + alone.seconds, warm + previous.seconds
            iterations = [iterations[0] + alone.iterations, iterations[1] + previous.iterations]
        print(f"  {method:14s} {warm / cold:.2f} of the time, {iterations[1]} instead of {iterations[0]} iterations")


def copies() -> None:
    k = 12
    print("every other feature a copy of one before it, against the same but for the twelfth digit")
    for n in (500, 1000):
        original = np.repeat(np.arange(n // 2), 2)
        Q = mrmr_problem(n // 2, k)[np.ix_(original, original)]
        own = -Q.diagonal()[0:n:2] / (2 * (k - 1))
        Q[np.arange(0, n, 2), np.arange(1, n, 2)] = Q[np.arange(1, n, 2), np.arange(0, n, 2)] = own
        apart = Q + np.diag(1e-12 * np.abs(Q).max() * np.arange(n) / n)
        merged, whole = (seconds(lambda one=one: solve(one, k), repeats=3) for one in (Q, apart))
        print(f"  n={n:5d}: {whole / merged:.1f} times faster merged")


def low_rank() -> None:
    n, k = 5000, 50
    Q = mrmr_problem(n, k)
    print(f"n={n}, k={k}: low_rank and interior point to a gap of 1e-3")
    answer = solve(Q, k, "low_rank")
    bound = upper_bound(Q, k, answer.multipliers)
    print(
        f"  low_rank       {answer.seconds:6.1f} s, {answer.iterations} iterations, {answer.status.value}, "
        f"certified gap {(bound - answer.primal_value) / abs(answer.primal_value):.1e}"
    )
    dense = solve(Q, k, "interior_point", tol=1e-3)
    print(
        f"  interior_point {dense.seconds:6.1f} s, {dense.iterations} iterations, {dense.status.value}, "
        f"gap {dense.gap:.1e}"
    )


def large() -> None:
    n, k = 20000, 50
    Q = gaussian_problem(n, k, np.float32)
    answer = solve(Q, k, "low_rank")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(
        f"n={n}, k={k}: {answer.seconds:.0f} s, {answer.iterations} iterations, {answer.status.value}, "
        f"gap {answer.gap:.1e}, peak {peak:.1f} GB (goal: 24)"
    )


RUNS = {run.__name__: run for run in (path, copies, low_rank, large)}

if __name__ == "__main__":
    for chosen in sys.argv[1:] or ("path", "copies"):
        RUNS[chosen]()
