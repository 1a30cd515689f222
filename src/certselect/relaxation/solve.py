"""Choose a method, bring the problem to order one, handle the sizes that need no solver."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from certselect.certificate.counting import check_sizes
from certselect.certificate.rounding import largest, order_of
from certselect.clock import Stopwatch, TimeLimit
from certselect.errors import InvalidInput, keyword, option
from certselect.progress import report
from certselect.relaxation.arrays import CPU, Arrays
from certselect.relaxation.face import carried_over, inside_face
from certselect.relaxation.interior_point import interior_point
from certselect.relaxation.low_rank import OffManifold, low_rank
from certselect.relaxation.programme import find_copies
from certselect.relaxation.result import Callback, Iterate, Relaxation, Status
from certselect.threads import threads_for

ORACLES = ("scs", "clarabel")  # solvers other people wrote
METHODS = ("auto", "interior_point", "low_rank", *ORACLES)
MAX_ITERATIONS = {"interior_point": 100, "low_rank": 3000}
TOLERANCE = {"interior_point": 1e-6, "low_rank": 1e-3, "scs": 1e-6, "clarabel": 1e-6}
# Above this many entries, copies counted once, factorisations cost more than the low-rank factor's slower convergence;
# on a GPU they would not, but with k = 20 of 10000 entries rounding ends the interior-point method far too early.
LARGEST_DENSE = {"cpu": 3000, "cuda": 5000}
# Below this fraction of k times the largest entry a value counts as 0 when gaps are measured.
VALUE_FLOOR = 1e-3
BLOCK = 512


def solve(
    Q: np.ndarray,
    k: int,
    method: str = "auto",
    *,
    sizes: np.ndarray | None = None,
    tol: float | None = None,
    max_seconds: float | None = None,
    max_iterations: int | None = None,
    warm_start: Relaxation | None = None,
    callback: Callback | None = None,
    arrays: Arrays = CPU,
) -> Relaxation:
    """Solve the semidefinite relaxation of  max x'Qx,  x in {0,1}^n,  sizes'x = k.

    Parameters
    ----------
    Q : ndarray (n, n)
        Symmetric and finite; any scale.
    k : int
        1 to n; 0 to sum(sizes) where these are given.
    method : {"auto", "interior_point", "low_rank", "scs", "clarabel"}
        "auto" is "interior_point" up to n = 3000 (5000 on a GPU) and "low_rank" above, where
        entries that are copies of each other count once: the interior-point method merges
        them, the low-rank method does not. The last two are other people's solvers on the
        unreduced problem, for comparison; they need those packages.
    sizes : ndarray of int (n,), optional
        What each entry counts for, 1 or more: groups of features that come in whole.
        All 1 if not given. Where few subsets have the right size the relaxation has no
        interior, and may end "nearly solved" or in "numerical trouble": its multipliers
        bound all the same.
    tol : float, optional
        Stop once dual - primal <= tol * max(|primal|, 0.001 k max|Q|); 1e-6 if not
        given, 1e-3 for "low_rank".
    max_seconds, max_iterations : optional
        Time limit; the status then shows it, and the multipliers still give a bound.
    warm_start : Relaxation, optional
        The answer for a neighbouring k (or Q) of the same size n; with sizes, for the
        same k and sizes, else it is not used.
    callback : callable, optional
        Called with an `Iterate` at the start and after every iteration: its multipliers
        give a valid bound, so a caller who keeps the latest loses nothing to Ctrl-C.
    arrays : Arrays, optional
        Where to compute: on the cores of this machine if not given. Answers are NumPy's.

    Examples
    --------
    >>> import numpy as np
    >>> from certselect.relaxation import solve
    >>> answer = solve(np.diag([3.0, 2.0, 1.0]), k=2)
    >>> answer.status.value, round(answer.dual_value, 4)
    ('solved', 5.0)
    """
    watch, limit = Stopwatch(), TimeLimit.of(max_seconds)
    Q, sizes = _checked(Q, k, sizes)
    n = len(Q)
    method = chosen_method(method, Q, sizes, arrays)
    if warm_start is not None and len(warm_start.multipliers) != n + 1:
        raise InvalidInput(
            f"a warm start of {len(warm_start.multipliers) - 1} features",
            f"one of {n}",
            "Start from the answer for another k of the same features.",
        )
    tol = TOLERANCE[method] if tol is None else tol
    all_in = n if sizes is None else int(sizes.sum())
    magnitude = 0.0 if k == 0 else largest(Q)
    if k == all_in or magnitude == 0.0:
        return _closed_form(Q, k, sizes, watch)
    if warm_start is not None and not _comparable(warm_start, k, sizes):
        warm_start = None
    scale = order_of(magnitude)
    if method in ORACLES:
        from certselect.relaxation.oracles import oracle  # here: hardly anybody asks for one

        limits: dict[str, Any] = {"limit": limit, "max_iterations": max_iterations}
        return _rescaled(oracle(Q / scale, k, method, tol=tol, sizes=sizes, **limits), scale, sizes)
    told = None if callback is None else lambda iterate: callback(_rescaled_iterate(iterate, scale))
    scaled = Q / Q.dtype.type(scale)
    floor = VALUE_FLOOR * k * magnitude / scale
    common: dict[str, Any] = {"floor": floor, "tol": tol, "sizes": sizes, "callback": told, "arrays": arrays}
    common["limit"] = limit
    report("relaxation", 0, _most(max_iterations, method))  # the start alone may take seconds
    if method == "low_rank":
        factor = None if warm_start is None else warm_start.factor
        try:
            with threads_for(n):
                answer = low_rank(scaled, k, max_iterations=_most(max_iterations, method), start=factor, **common)
            return _rescaled(answer, scale, sizes)
        except OffManifold:
            # A few entries of unlike sizes: too few for a factor to move in, and nothing to a dense matrix.
            method = "interior_point"
    start = None
    if warm_start is not None and (sizes is not None or warm_start.k < n):
        start = carried_over(warm_start.matrix, warm_start.k, k, sizes), warm_start.multipliers / scale
    copies = find_copies(scaled, sizes)
    with threads_for(n):
        answer = interior_point(
            scaled, k, max_iterations=_most(max_iterations, method), copies=copies, start=start, **common
        )
    return _rescaled(answer, scale, sizes)


def _comparable(warm_start: Relaxation, k: int, sizes: np.ndarray | None) -> bool:
    """Whether a start can be made of this answer."""
    if sizes is None or warm_start.sizes is None:
        return sizes is warm_start.sizes
    return warm_start.k == k and np.array_equal(warm_start.sizes, sizes)


def _most(max_iterations: int | None, method: str) -> int:
    return MAX_ITERATIONS[method] if max_iterations is None else max_iterations


def chosen_method(method: str, Q: np.ndarray, sizes: np.ndarray | None = None, arrays: Arrays = CPU) -> str:
    """What "auto" stands for with this many entries, copies counted once; any other method stands for itself."""
    if method not in METHODS:
        raise InvalidInput(option("method", method), " or ".join(map(repr, METHODS)), "Choose one of these.")
    if method != "auto":
        return method
    most = LARGEST_DENSE[arrays.name]
    if len(Q) <= most:
        return "interior_point"
    copies = find_copies(Q, sizes)
    return "low_rank" if copies is None or len(copies.first) - 1 > most else "interior_point"


def _checked(Q: np.ndarray, k: int, sizes: np.ndarray | None) -> tuple[np.ndarray, np.ndarray | None]:
    """Q and sizes (None where all are 1) as they can be used, or an error that explains what is wrong."""
    Q = np.asarray(Q)
    if Q.ndim != 2 or Q.shape[0] != Q.shape[1] or (len(Q) == 0 and k != 0):
        raise InvalidInput(f"a matrix of shape {Q.shape}", "a square one", "Pass Q as an (n, n) array.")
    if Q.dtype not in (np.float32, np.float64):
        Q = Q.astype(np.float64)
    if not np.isfinite(Q).all():
        raise InvalidInput("a matrix with NaN or infinite entries", "finite ones", "Check the terms it came from.")
    if k != 0 and not _symmetric(Q):
        raise InvalidInput("a matrix that is not symmetric", "Q equal to its transpose", "Use (Q + Q.T) / 2.")
    if sizes is not None:
        sizes = np.asarray(sizes)
    check_sizes(len(Q), k, sizes)
    if sizes is not None and len(Q) == 1 and k not in (0, sizes[0]):
        raise InvalidInput(keyword("k", k), f"0 or {sizes[0]}", "Choose a size the matrix has subsets of.")
    return Q, None if sizes is None or (sizes == 1).all() else sizes


def _symmetric(Q: np.ndarray) -> bool:
    """Up to rounding; by blocks, so that a matrix that just fits needs no second one beside it."""
    most = 1e-6 * largest(Q)
    for top in range(0, len(Q), BLOCK):
        rows = Q[top : top + BLOCK]
        if np.abs(rows - Q[:, top : top + BLOCK].T).max() > most:
            return False
    return True


def _closed_form(Q: np.ndarray, k: int, sizes: np.ndarray | None, watch: Stopwatch) -> Relaxation:
    """Only one subset, or nothing to choose between: the answer without a solver."""
    n = len(Q)
    value, Y = 0.0, np.ones((n + 1, n + 1))
    if k == 0:
        Y[0, 1:] = Y[1:, 0] = -1.0
    elif k == (n if sizes is None else int(sizes.sum())):
        value = float(Q.sum(dtype=np.float64))
    else:
        Y = inside_face(n, k, sizes)
    return Relaxation(
        k=k,
        multipliers=np.full(n + 1, 4.0 * value / (n + 1)),
        primal_value=value,
        dual_value=value,
        diagonal_residual=float(np.abs(Y.diagonal() - 1.0).max()),
        face_residual=0.0,
        iterations=0,
        seconds=watch.seconds,
        status=Status.SOLVED,
        method="closed_form",
        dense=Y,
        sizes=sizes,
    )


def _rescaled_iterate(iterate: Iterate, scale: float) -> Iterate:
    return replace(
        iterate,
        multipliers=iterate.multipliers * scale,
        primal_value=iterate.primal_value * scale,
        dual_value=iterate.dual_value * scale,
    )


def _rescaled(answer: Relaxation, scale: float, sizes: np.ndarray | None) -> Relaxation:
    return replace(
        answer,
        multipliers=answer.multipliers * scale,
        primal_value=answer.primal_value * scale,
        dual_value=answer.dual_value * scale,
        sizes=sizes,
    )
