"""From the plain relaxation to the doubly nonnegative one, as far as is wanted."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from certselect.criteria.reduced import ReducedProblem
from certselect.relaxation.nonnegative import Splitting
from certselect.relaxation.result import Iterate, Relaxation, Status

ROUND = 25  # iterations between two looks at the bound
MAX_ITERATIONS = 5000


def tightened(
    problem: ReducedProblem,
    plain: Relaxation,
    *,
    tol: float,
    max_seconds: float,
    max_iterations: int,
    incumbent: float | None,
    callback: Callable[[Iterate], None],
) -> Relaxation:
    """Add X >= 0 to a solved plain relaxation.

    Stops once the bound is within `tol` of `incumbent`, the value of a known subset; without
    one, of the value that the relaxed X itself comes to.
    """
    began = time.perf_counter()
    Q = problem.matrix.astype(np.float64)
    price = 0.0 if plain.lift is None else plain.lift.price
    offset = problem.constant
    if problem.costs is not None and price > 0.0:
        Q[np.diag_indices_from(Q)] -= price * problem.costs
        offset += price * problem.budget
    if plain.method == "closed_form":
        return replace(plain, method="nonnegative")
    scale = max(float(np.abs(Q).max()), 1e-300)
    Q /= scale
    splitting = Splitting.from_plain(
        Q, problem.k, problem.sizes, plain.matrix, plain.multipliers / scale, _never_both(problem)
    )
    best, slack, iterations = plain.dual_value, None, 0
    primal, status = plain.primal_value, Status.STOPPED_BY_ITERATIONS
    while iterations < max_iterations:
        splitting.advance(ROUND, began + max_seconds)
        iterations += ROUND
        N, w = splitting.slack()
        bound = offset + scale * row_bound(Q, N, w, problem.k, problem.sizes, splitting.never_both)
        primal = offset + scale * float(np.vdot(Q, splitting.Y[1:, 1:]))
        if bound < best:
            best, slack = bound, (N * scale, w * scale)
        callback(Iterate(iterations, plain.multipliers, primal, best, plain.lift, slack))
        aim = primal if incumbent is None else incumbent
        if best - aim <= tol * abs(aim):
            status = Status.SOLVED
            break
        if time.perf_counter() - began >= max_seconds:
            status = Status.STOPPED_BY_TIME
            break
    x = splitting.membership
    signs = np.empty_like(splitting.Y)
    signs[1:, 1:] = 4.0 * splitting.Y[1:, 1:] - 2.0 * (x + x[:, None]) + 1.0
    signs[0, 1:] = signs[1:, 0] = 2.0 * x - 1.0
    np.fill_diagonal(signs, 1.0)
    normal = np.concatenate([[2.0 * problem.k - problem.sizes.sum()], -problem.sizes.astype(np.float64)])
    return replace(
        plain,
        primal_value=primal,
        dual_value=best,
        diagonal_residual=0.0,
        face_residual=float(np.abs(signs @ normal).max() / np.linalg.norm(normal)),
        iterations=iterations,
        seconds=plain.seconds + time.perf_counter() - began,
        status=status,
        method="nonnegative",
        dense=signs,
        factor=None,
        slack=slack,
    )


def row_bound(
    Q: np.ndarray, N: np.ndarray, w: np.ndarray, k: int, sizes: np.ndarray, never_both: np.ndarray | None
) -> float:
    """The bound that (N, w) give row by row, rounding aside; `certificate.consequences` derives and proves it."""
    s = sizes.astype(np.float64)
    B = Q + N + np.outer(w, s) + np.outer(s, w)
    g = B.diagonal() - 2.0 * k * w
    np.fill_diagonal(B, -np.inf)
    if never_both is not None:
        B[never_both] = -np.inf
    # A unit of size s counts as s columns of its share each.
    shares = np.repeat(B / s, sizes, axis=1)
    rows = np.array([_best(row, k - size) for row, size in zip(shares, sizes.tolist(), strict=True)])
    return _best(np.repeat((g + rows) / s, sizes), k)


def _best(values: np.ndarray, count: int) -> float:
    """The sum of the `count` largest; -inf if there are not so many."""
    if count <= 0 or count > len(values):
        return 0.0 if count == 0 else -math.inf
    return float(np.partition(values, len(values) - count)[len(values) - count :].sum())


def _never_both(problem: ReducedProblem) -> np.ndarray | None:
    if not problem.rivals:
        return None
    marked = np.zeros(problem.matrix.shape, dtype=bool)
    for group in problem.rivals:
        marked[np.ix_(group, group)] = True
    np.fill_diagonal(marked, False)
    return marked
