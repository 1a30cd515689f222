"""Convex quadratic programmes, by Clarabel."""

from __future__ import annotations

import math
from importlib import import_module

import numpy as np
from scipy.sparse import csc_array, csc_matrix

from certselect.errors import CertselectError, InvalidInput
from certselect.progress import report


def minimise_quadratic(
    P: csc_array, q: np.ndarray, A: csc_array, b: np.ndarray, equalities: int, max_seconds: float = math.inf
) -> np.ndarray:
    """x that minimises x'Px/2 + q'x (P by its upper triangle) subject to Ax <= b, the first rows with equality.

    When time is up, the x that the solver has got to.
    """
    try:
        clarabel = import_module("clarabel")
    except ImportError as error:
        raise InvalidInput(
            "a quadratic programme without the package clarabel",
            "an installed one",
            "Run: pip install certselect[solvers]",
        ) from error
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    # Made for dense blocks; on one thread, so that the sums are always the same ones.
    settings.direct_solve_method, settings.max_threads = "faer", 1
    settings.time_limit = max_seconds
    cones = [clarabel.ZeroConeT(equalities), clarabel.NonnegativeConeT(len(b) - equalities)]
    solver = clarabel.DefaultSolver(csc_matrix(P), q, csc_matrix(A), b, cones, settings)
    report("quadratic programme", 0, 1)  # no more than that: Clarabel's callback would lose a Ctrl-C
    answer = solver.solve()
    report("quadratic programme", 1, 1)
    x = np.array(answer.x)
    if not np.isfinite(x).all():
        raise CertselectError(f"Clarabel gave no solution of a quadratic programme: {answer.status}")
    return x
