"""The same relaxation by solvers other people wrote: slow, independent, for comparison.

They get the paper's eq_20 as written, with no facial reduction:

    minimise -<Q^u, Y>  subject to  diag(Y) = e,  sum_ij Y_ij = c^2,  sum_i Y_i0 = c,  Y psd,

c = 2k - n, sums over i, j >= 1; where sizes s differ the sums are s_i s_j Y_ij and s_i Y_i0,
and c = 2k - sum(s). On the face the matrices of the two sums act as c^2 e_0 e_0' and
c e_0 e_0', so their multipliers alpha and beta join d_0.
"""

from __future__ import annotations

import math
from importlib import import_module
from types import ModuleType
from typing import Any

import numpy as np
from scipy.sparse import csc_array, csc_matrix, eye_array, vstack

from certselect.clock import Stopwatch, TimeLimit
from certselect.errors import InvalidInput, option
from certselect.relaxation.face import face_normal, lifted_objective, unit_normal
from certselect.relaxation.result import Relaxation, Status


def oracle(
    Q: np.ndarray,
    k: int,
    method: str,
    *,
    tol: float,
    limit: TimeLimit,
    max_iterations: int | None,
    sizes: np.ndarray | None = None,
) -> Relaxation:
    """Solve eq_20 by SCS or Clarabel, to the accuracy their own tests of `tol` give."""
    package = _imported(method)
    watch = Stopwatch()
    n = len(Q)
    normal = face_normal(n, k, sizes)
    c = int(normal[0])
    C = lifted_objective(Q)
    constant, C[0, 0] = C[0, 0], 0.0
    # Entries of the lower triangle by columns (SCS); by symmetry the upper one by rows, so
    # Clarabel, which wants the upper by columns, gets them with the roles of i and j exchanged.
    columns, rows = np.triu_indices(n + 1)
    if method == "clarabel":
        rows, columns = np.tril_indices(n + 1)
    on_diagonal = rows == columns
    weight = np.where(on_diagonal, 1.0, math.sqrt(2.0))
    A, b = _constraints(rows, columns, weight, np.concatenate([[1.0], -normal[1:]]), c)
    run = _run_scs if method == "scs" else _run_clarabel
    objective = -weight * C[rows, columns]
    x, z, status, iterations = run(package, A, b, objective, n + 3, n + 1, tol, limit.left, max_iterations)

    Y = np.zeros((n + 1, n + 1))
    Y[rows, columns] = Y[columns, rows] = x / weight
    d = z[: n + 1].copy()
    d[0] += z[n + 1] * c * c + z[n + 2] * c + constant
    return Relaxation(
        k=k,
        multipliers=d,
        primal_value=(float(np.vdot(C, Y)) + constant) / 4,
        dual_value=float(d.sum()) / 4,
        diagonal_residual=float(np.abs(np.diag(Y) - 1.0).max()),
        face_residual=float(np.abs(Y @ unit_normal(n, k, sizes)).max()),
        iterations=iterations,
        seconds=watch.seconds,
        status=status,
        method=method,
        dense=Y,
    )


def _imported(method: str) -> ModuleType:
    try:
        return import_module(method)
    except ImportError as error:
        raise InvalidInput(
            f"{option('method', method)} without the package {method}",
            "an installed one",
            f"Run: pip install 'certselect[solvers]', or use {option('method', 'interior_point')}.",
        ) from error


def _constraints(
    rows: np.ndarray, columns: np.ndarray, weight: np.ndarray, sizes: np.ndarray, c: int
) -> tuple[csc_array, np.ndarray]:
    """(A, b) of A x + s = b: equalities first, then -x + s = 0 with s psd; x holds sqrt(2) Y_ij off the diagonal.

    `sizes` has a 1 in front, for entry 0.
    """
    entries = np.arange(len(rows))
    on_diagonal, size = rows == columns, int(rows.max()) + 1
    in_row_0 = ((rows == 0) | (columns == 0)) & ~on_diagonal
    inside = (rows > 0) & (columns > 0)
    times = sizes[rows] * sizes[columns]
    equalities = vstack(
        [
            csc_array((np.ones(size), (rows[on_diagonal], entries[on_diagonal])), shape=(size, len(rows))),
            csc_array(np.where(inside, weight * times, 0.0)[None, :]),
            csc_array(np.where(in_row_0, times / math.sqrt(2.0), 0.0)[None, :]),
        ]
    )
    A = csc_array(vstack([equalities, -eye_array(len(rows))], format="csc"))
    b = np.concatenate([np.ones(size), [float(c * c), float(c)], np.zeros(len(rows))])
    return A, b


def _run_scs(
    scs: Any,
    A: csc_array,
    b: np.ndarray,
    objective: np.ndarray,
    equalities: int,
    size: int,
    tol: float,
    max_seconds: float,
    max_iterations: int | None,
) -> tuple[np.ndarray, np.ndarray, Status, int]:
    solver = scs.SCS(
        {"A": csc_matrix(A), "b": b, "c": objective},
        {"z": equalities, "s": [size]},
        eps_abs=tol,
        eps_rel=tol,
        max_iters=max_iterations or 1_000_000,
        time_limit_secs=0.0 if math.isinf(max_seconds) else max_seconds,
        verbose=False,
    )
    answer = solver.solve()
    info = answer["info"]
    status = {1: Status.SOLVED, 2: Status.NEARLY_SOLVED}.get(info["status_val"], Status.NUMERICAL_TROUBLE)
    if "iters" in info["status"]:
        status = Status.STOPPED_BY_ITERATIONS
    elif "time" in info["status"]:
        status = Status.STOPPED_BY_TIME
    return answer["x"], answer["y"], status, int(info["iter"])


def _run_clarabel(
    clarabel: Any,
    A: csc_array,
    b: np.ndarray,
    objective: np.ndarray,
    equalities: int,
    size: int,
    tol: float,
    max_seconds: float,
    max_iterations: int | None,
) -> tuple[np.ndarray, np.ndarray, Status, int]:
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.max_iter = max_iterations or 200
    settings.time_limit = max_seconds
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = tol
    cones = [clarabel.ZeroConeT(equalities), clarabel.PSDTriangleConeT(size)]
    no_quadratic = csc_matrix((len(objective), len(objective)))
    answer = clarabel.DefaultSolver(no_quadratic, objective, csc_matrix(A), b, cones, settings).solve()
    statuses = {
        "Solved": Status.SOLVED,
        "AlmostSolved": Status.NEARLY_SOLVED,
        "MaxIterations": Status.STOPPED_BY_ITERATIONS,
        "MaxTime": Status.STOPPED_BY_TIME,
    }
    status = statuses.get(str(answer.status), Status.NUMERICAL_TROUBLE)
    return np.array(answer.x), np.array(answer.z), status, int(answer.iterations)
