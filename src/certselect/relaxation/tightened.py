"""From the plain relaxation to the doubly nonnegative one, as far as is wanted."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from certselect.certificate.lift import Lift
from certselect.certificate.rivals import never_both, rival_numbers
from certselect.certificate.rounding import largest, order_of
from certselect.certificate.rows import Rows
from certselect.clock import Stopwatch, TimeLimit
from certselect.criteria.reduced import ReducedProblem
from certselect.relaxation.face import unit_normal
from certselect.relaxation.nonnegative import ROUND, Splitting
from certselect.relaxation.result import Iterate, Relaxation, Status
from certselect.threads import one_blas_thread

MAX_ITERATIONS = 5000
# The value of the relaxed X means something once it nearly is positive semidefinite.
CLOSE = 1e-3


def tightened(
    problem: ReducedProblem,
    plain: Relaxation,
    *,
    tol: float,
    limit: TimeLimit,
    max_iterations: int,
    incumbent: float | None,
    callback: Callable[[Iterate], None],
) -> Relaxation:
    """Add X >= 0 to a solved plain relaxation.

    Stops once the bound is within `tol` of `incumbent`, the value of a known subset; without
    one, of the value that the relaxed X itself comes to.
    """
    watch = Stopwatch()
    if plain.method == "closed_form":
        return replace(plain, method="nonnegative")
    # Rivals are out of the polytope altogether here: of the lift only the price is needed.
    lift = Lift(price=0.0 if plain.lift is None else plain.lift.price)
    Q, offset = lift.matrix(problem), problem.constant + lift.paid(problem)
    scale = order_of(largest(Q))
    Q /= scale
    rivals = never_both(rival_numbers(problem.rivals, len(Q)))
    x = _rounded(plain.membership, problem)
    splitting = Splitting.from_subset(Q, problem.k, problem.sizes, x, rivals)
    below = offset + scale * float(x @ Q @ x)
    best, slack, iterations = plain.dual_value, None, 0
    primal, status = plain.primal_value, Status.STOPPED_BY_ITERATIONS
    while iterations < max_iterations:
        with one_blas_thread(True):  # large matrices are worked on by threads of our own
            splitting.advance(ROUND, limit)
        iterations += ROUND
        N, w = splitting.slack()
        # About what `certificate.consequences` derives, less the rounding it counts.
        rows = Rows.of(Q, N, w, problem.k, problem.sizes, rivals).anywhere()
        bound = offset + scale * (rows + splitting.lacking())
        primal = offset + scale * splitting.value
        if bound < best:
            best, slack = bound, (N * scale, w * scale)
        callback(Iterate(iterations, plain.multipliers, primal, best, plain.lift, slack))
        aim = primal if incumbent is None else incumbent
        if best - aim <= tol * abs(aim) and (incumbent is not None or splitting.apart <= CLOSE):
            status = Status.SOLVED
            break
        splitting.learn(bound - below)
        if limit.over:
            status = Status.STOPPED_BY_TIME
            break
    x = splitting.membership
    signs = np.empty((len(Q) + 1, len(Q) + 1))
    signs[1:, 1:] = 4.0 * splitting.products - 2.0 * (x + x[:, None]) + 1.0
    signs[0, 1:] = signs[1:, 0] = 2.0 * x - 1.0
    np.fill_diagonal(signs, 1.0)
    normal = unit_normal(len(Q), problem.k, problem.sizes)
    return replace(
        plain,
        primal_value=primal,
        dual_value=best,
        diagonal_residual=0.0,
        face_residual=float(np.abs(signs @ normal).max()),
        iterations=iterations,
        seconds=plain.seconds + watch.seconds,
        status=status,
        method="nonnegative",
        dense=signs,
        factor=None,
        slack=slack,
    )


def _rounded(membership: np.ndarray, problem: ReducedProblem) -> np.ndarray:
    """A subset, the likeliest by these memberships, where any units make one; else the memberships themselves."""
    if not problem.plain:
        return membership
    x = np.zeros(len(membership))
    x[np.argsort(-membership, kind="stable")[: problem.k]] = 1.0
    return x
