"""Choose a method, bring the problem to order one, handle the sizes that need no solver."""

from __future__ import annotations

import math
import time
from dataclasses import replace

import numpy as np

from certselect.criteria.problem import SubsetProblem
from certselect.errors import InvalidInput
from certselect.progress import report
from certselect.relaxation.face import uniform_average
from certselect.relaxation.interior_point import interior_point
from certselect.relaxation.low_rank import low_rank
from certselect.relaxation.oracles import ORACLES, oracle
from certselect.relaxation.result import Callback, Iterate, Relaxation, Status
from certselect.relaxation.warm_start import carried_over

METHODS = ("auto", "interior_point", "low_rank", *ORACLES)
MAX_ITERATIONS = {"interior_point": 100, "low_rank": 3000}
TOLERANCE = {"interior_point": 1e-6, "low_rank": 1e-3, "scs": 1e-6, "clarabel": 1e-6}
# Above this size n x n factorisations cost more than the low-rank factor's slower convergence.
LARGEST_DENSE = 3000
# Below this fraction of k times the largest entry a value counts as 0 when gaps are measured.
VALUE_FLOOR = 1e-3
BLOCK = 512


def relax(
    problem: SubsetProblem,
    method: str = "auto",
    *,
    tol: float | None = None,
    max_seconds: float | None = None,
    max_iterations: int | None = None,
    warm_start: Relaxation | None = None,
    callback: Callback | None = None,
) -> Relaxation:
    """Bound "which k features are worth most together?" by its semidefinite relaxation.

    Solves eq_20 of the paper for the problem's candidates: entry i >= 1 of the
    answer is `problem.candidates[i - 1]`. Parameters are those of `solve`.
    """
    Q = problem.candidate_matrix
    method = _chosen(method, len(Q))
    most = max_iterations or MAX_ITERATIONS.get(method, 0)

    def told(iterate: Iterate) -> None:
        report(f"relaxation, gap {iterate.gap:.1e}", iterate.iteration, most)
        if callback is not None:
            callback(iterate)

    return solve(
        Q,
        problem.k,
        method,
        tol=tol,
        max_seconds=max_seconds,
        max_iterations=max_iterations,
        warm_start=warm_start,
        callback=told,
    )


def solve(
    Q: np.ndarray,
    k: int,
    method: str = "auto",
    *,
    tol: float | None = None,
    max_seconds: float | None = None,
    max_iterations: int | None = None,
    warm_start: Relaxation | None = None,
    callback: Callback | None = None,
) -> Relaxation:
    """Solve the semidefinite relaxation of  max x'Qx,  x in {0,1}^n,  sum x = k.

    Parameters
    ----------
    Q : ndarray (n, n)
        Symmetric and finite; any scale.
    k : int
        1 to n.
    method : {"auto", "interior_point", "low_rank", "scs", "clarabel"}
        "auto" is "interior_point" up to n = 3000 and "low_rank" above. The last two are
        other people's solvers on the unreduced problem, for comparison; they need those
        packages.
    tol : float, optional
        Stop once dual - primal <= tol * max(|primal|, 0.001 k max|Q|); 1e-6 if not
        given, 1e-3 for "low_rank".
    max_seconds, max_iterations : optional
        Stop earlier, with a status that says so and multipliers that still bound.
    warm_start : Relaxation, optional
        The answer for a neighbouring k (or Q) of the same size n.
    callback : callable, optional
        Called with an `Iterate` at the start and after every iteration: its multipliers
        give a valid bound, so a caller who keeps the latest loses nothing to Ctrl-C.

    Examples
    --------
    >>> import numpy as np
    >>> from certselect.relaxation import solve
    >>> answer = solve(np.diag([3.0, 2.0, 1.0]), k=2)
    >>> answer.status.value, round(answer.dual_value, 4)
    ('solved', 5.0)
    """
    began = time.perf_counter()
    Q = _checked(Q, k)
    n = len(Q)
    method = _chosen(method, n)
    if warm_start is not None and len(warm_start.multipliers) != n + 1:
        raise InvalidInput(
            f"a warm start of {len(warm_start.multipliers) - 1} features",
            f"one of {n}",
            "Start from the answer for another k of the same features.",
        )
    tol = TOLERANCE[method] if tol is None else tol
    largest = max(float(Q.max()), -float(Q.min()))
    if k == n or largest == 0.0:
        return _closed_form(Q, k, began)
    # A power of two: scaling there and back is exact.
    scale = 2.0 ** math.frexp(largest)[1]
    max_seconds = math.inf if max_seconds is None else max_seconds
    if method in ORACLES:
        return _rescaled(
            oracle(Q / scale, k, method, tol=tol, max_seconds=max_seconds, max_iterations=max_iterations), scale
        )
    told = None if callback is None else lambda iterate: callback(_rescaled_iterate(iterate, scale))
    scaled = Q / Q.dtype.type(scale)
    floor = VALUE_FLOOR * k * largest / scale
    if max_iterations is None:
        max_iterations = MAX_ITERATIONS[method]
    if method == "low_rank":
        factor = None if warm_start is None else warm_start.factor
        answer = low_rank(
            scaled,
            k,
            floor=floor,
            tol=tol,
            max_seconds=max_seconds,
            max_iterations=max_iterations,
            callback=told,
            start=factor,
        )
    else:
        start = None
        if warm_start is not None and warm_start.k < n:
            start = carried_over(warm_start.matrix, warm_start.k, k), warm_start.multipliers / scale
        answer = interior_point(
            scaled,
            k,
            floor=floor,
            tol=tol,
            max_seconds=max_seconds,
            max_iterations=max_iterations,
            callback=told,
            start=start,
        )
    return _rescaled(answer, scale)


def _chosen(method: str, n: int) -> str:
    if method not in METHODS:
        raise InvalidInput(f"method={method!r}", " or ".join(map(repr, METHODS)), "Choose one of these.")
    if method != "auto":
        return method
    return "interior_point" if n <= LARGEST_DENSE else "low_rank"


def _checked(Q: np.ndarray, k: int) -> np.ndarray:
    """Q as it can be used, or an error that says what is wrong."""
    Q = np.asarray(Q)
    if Q.ndim != 2 or Q.shape[0] != Q.shape[1] or len(Q) == 0:
        raise InvalidInput(f"a matrix of shape {Q.shape}", "a square one", "Pass Q as an (n, n) array.")
    if Q.dtype not in (np.float32, np.float64):
        Q = Q.astype(np.float64)
    if not np.isfinite(Q).all():
        raise InvalidInput("a matrix with NaN or infinite entries", "finite ones", "Check the terms it came from.")
    if not _symmetric(Q):
        raise InvalidInput("a matrix that is not symmetric", "Q equal to its transpose", "Use (Q + Q.T) / 2.")
    if not 1 <= k <= len(Q):
        raise InvalidInput(f"k={k}", f"1 to {len(Q)}", "Choose a size the matrix has subsets of.")
    return Q


def _symmetric(Q: np.ndarray) -> bool:
    """Up to rounding; by blocks, so that a matrix that just fits needs no second one beside it."""
    largest = max(float(Q.max()), -float(Q.min()))
    for top in range(0, len(Q), BLOCK):
        rows = Q[top : top + BLOCK]
        if np.abs(rows - Q[:, top : top + BLOCK].T).max() > 1e-6 * largest:
            return False
    return True


def _closed_form(Q: np.ndarray, k: int, began: float) -> Relaxation:
    """Only one subset, or nothing to choose between: the answer without a solver."""
    n = len(Q)
    value = float(Q.sum(dtype=np.float64)) if k == n else 0.0
    return Relaxation(
        k=k,
        multipliers=np.full(n + 1, 4.0 * value / (n + 1)),
        primal_value=value,
        dual_value=value,
        diagonal_residual=0.0,
        face_residual=0.0,
        iterations=0,
        seconds=time.perf_counter() - began,
        status=Status.SOLVED,
        method="closed_form",
        dense=np.ones((n + 1, n + 1)) if k == n else uniform_average(n, k),
    )


def _rescaled_iterate(iterate: Iterate, scale: float) -> Iterate:
    return replace(
        iterate,
        multipliers=iterate.multipliers * scale,
        primal_value=iterate.primal_value * scale,
        dual_value=iterate.dual_value * scale,
    )


def _rescaled(answer: Relaxation, scale: float) -> Relaxation:
    return replace(
        answer,
        multipliers=answer.multipliers * scale,
        primal_value=answer.primal_value * scale,
        dual_value=answer.dual_value * scale,
    )
