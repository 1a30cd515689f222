"""How fast the relaxation is, as ratios within one run: seconds alone say little on a shared machine.

    python benchmarks/relaxation.py                      # all but the long ones
    python benchmarks/relaxation.py interior_point
    python benchmarks/relaxation.py general_solvers      # Clarabel takes about a minute
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
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from certselect.certificate import upper_bound
from certselect.relaxation import Relaxation, solve


def mrmr_problem(n: int, k: int, samples: int = 300, seed: int = 0) -> np.ndarray:
    """Q of mRMR for n three-state columns and a two-class target."""
    rng = np.random.default_rng(seed)
    hidden = rng.standard_normal((samples, 10))
    X = hidden @ rng.standard_normal((10, n)) * rng.random(n) + rng.standard_normal((samples, n))
    target = X[:, :5].sum(axis=1) + rng.standard_normal(samples) > 0
    mean, deviation = X.mean(axis=0), X.std(axis=0)
    states = [mean - deviation > X, np.abs(X - mean) <= deviation, mean + deviation < X]
    states = [state.astype(np.float64) for state in states]
    classes = [target.astype(np.float64)[:, None], (~target).astype(np.float64)[:, None]]

    def entropy(groups_a: list[np.ndarray], groups_b: list[np.ndarray]) -> np.ndarray:
        total = np.zeros((groups_a[0].shape[1], groups_b[0].shape[1]))
        for a in groups_a:
            for b in groups_b:
                p = a.T @ b / samples
                total -= p * np.log(np.maximum(p, 1e-300))
        return total

    own = entropy(states, [np.ones((samples, 1))])[:, 0]
    redundancy = own[:, None] + own - entropy(states, states)
    relevance = own + entropy(classes, [np.ones((samples, 1))])[0] - entropy(states, classes)[:, 0]
    Q = -(redundancy + redundancy.T) / (4 * (k - 1))
    np.fill_diagonal(Q, relevance)
    return Q


def gaussian_problem(n: int, k: int, dtype: type, samples: int = 300) -> np.ndarray:
    """The same kind of Q for large n, from correlations, in place."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((samples, 10)) @ rng.standard_normal((10, n)) * rng.random(n)
    X = (X + rng.standard_normal((samples, n))).astype(dtype)
    X -= X.mean(axis=0)
    X /= np.linalg.norm(X, axis=0)
    target = X[:, :5].sum(axis=1)
    target /= np.linalg.norm(target)
    Q = X.T @ X
    Q *= Q
    np.minimum(Q, 0.999, out=Q)
    np.negative(Q, out=Q)
    np.log1p(Q, out=Q)
    Q *= 0.25 / (k - 1)
    np.fill_diagonal(Q, -0.5 * np.log1p(-np.minimum((X.T @ target) ** 2, 0.999)))
    return Q


def seconds(work: Callable[[], object], repeats: int = 1) -> float:
    best = float("inf")
    for _ in range(repeats):
        began = time.perf_counter()
        work()
        best = min(best, time.perf_counter() - began)
    return best


def product_seconds(n: int) -> float:
    A = np.random.default_rng(0).standard_normal((n, n))
    time.sleep(0.2)  # SciPy's BLAS threads spin for a while after the solver
    return seconds(lambda: A @ A, repeats=5)


def interior_point() -> None:
    print("interior point to 1e-6 (goal: at most 150 products)")
    for n in (500, 1000, 2000):
        for k in (12, 50):
            Q = mrmr_problem(n, k)
            answers = []
            for _ in range(1 if n > 1000 else 3):
                time.sleep(0.2)  # NumPy's BLAS threads spin for a while after a product
                answers.append(solve(Q, k, "interior_point"))
            answer = min(answers, key=lambda answer: answer.seconds)
            product = product_seconds(n)
            certifying = seconds(lambda Q=Q, k=k, answer=answer: upper_bound(Q, k, answer.multipliers))
            print(
                f"  n={n:5d} k={k:3d}  {answer.seconds / product:6.0f} products of {1e3 * product:.1f} ms, "
                f"{answer.iterations} iterations, gap {answer.gap:.1e}, {answer.status.value}; "
                f"certified bound {certifying / product:.1f} products"
            )


def general_solvers() -> None:
    import cvxpy

    n, k = 100, 12
    Q = mrmr_problem(n, k)
    Y = cvxpy.Variable((n + 1, n + 1), PSD=True)
    sums = Q.sum(axis=1)
    lifted = np.block([[0.0, sums[None, :]], [sums[:, None], Q]])
    c = 2 * k - n
    constraints: list[Any] = [cvxpy.sum(Y[1:, 1:]) == c * c, cvxpy.sum(Y[0, 1:]) == c, cvxpy.diag(Y) == 1]
    paper = cvxpy.Problem(cvxpy.Maximize(cvxpy.trace(lifted @ Y)), constraints)
    reference = solve(Q, k, tol=1e-9).dual_value
    ours = seconds(lambda: solve(Q, k), repeats=5)
    answer = solve(Q, k)
    print(f"n=100, eq_20 through CVXPY; ours {1e3 * ours:.0f} ms, error {abs(answer.dual_value / reference - 1):.0e}")
    for name, goal, options in (
        ("SCS", 10, {"eps_abs": 1e-5, "eps_rel": 1e-5, "max_iters": 20_000}),
        ("CLARABEL", 50, {}),
    ):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # "may be inaccurate": the error printed says how much
            taken = seconds(lambda name=name, options=options: paper.solve(solver=name, **options))
        error = abs((paper.value + sums.sum()) / 4 / reference - 1)  # type: ignore[operator]
        print(f"  {name:9s} {taken:6.2f} s, error {error:.0e}: {taken / ours:6.0f} times slower (goal: {goal})")


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


RUNS = {run.__name__: run for run in (interior_point, general_solvers, path, copies, low_rank, large)}

if __name__ == "__main__":
    for chosen in sys.argv[1:] or ("interior_point", "general_solvers", "path", "copies"):
        RUNS[chosen]()
