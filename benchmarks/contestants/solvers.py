"""Who solves relaxations and exact problems: general solvers beside ours, on the same matrix."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

import numpy as np

from .match import OURS, Match
from .problems import mrmr_problem

# Tolerances that give about the accuracy of our own default.
CVXPY_SOLVERS: dict[str, dict[str, Any]] = {
    "CVXPY, SCS": {"solver": "SCS", "eps_abs": 1e-5, "eps_rel": 1e-5, "max_iters": 20_000},
    "CVXPY, Clarabel": {"solver": "CLARABEL"},
}
MODULES = {"CVXPY, SCS": "scs", "CVXPY, Clarabel": "clarabel"}


def by_cvxpy(Q: np.ndarray, k: int, **options: Any) -> float:
    """The paper's relaxation in signs, written down as it stands there; the bound on x'Qx."""
    import cvxpy

    n = len(Q)
    Y = cvxpy.Variable((n + 1, n + 1), PSD=True)
    sums, c = Q.sum(axis=1), 2 * k - n
    lifted = np.block([[0.0, sums[None, :]], [sums[:, None], Q]])
    constraints: list[Any] = [cvxpy.sum(Y[1:, 1:]) == c * c, cvxpy.sum(Y[0, 1:]) == c, cvxpy.diag(Y) == 1]
    problem = cvxpy.Problem(cvxpy.Maximize(cvxpy.trace(lifted @ Y)), constraints)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # "may be inaccurate": the error that is kept says how much
        problem.solve(**options)
    return float((problem.value + sums.sum()) / 4)  # type: ignore[operator]


def relaxation(n: int, k: int) -> Match:
    """The same bound by ours and by general solvers; each one's error is against ours to 1e-9."""
    Q = mrmr_problem(n, k)

    def ours() -> float:
        from certselect.relaxation import solve

        return solve(Q, k).dual_value

    def facts(name: str, answer: Any) -> dict[str, Any]:
        from certselect.relaxation import solve

        reference = solve(Q, k, tol=1e-9).dual_value
        return {"value": answer, "error": abs(answer / reference - 1)}

    runs: dict[str, Callable[[], Any]] = {OURS: ours}
    missing = {}
    for name, options in CVXPY_SOLVERS.items():
        if find_spec("cvxpy") is None or find_spec(MODULES[name]) is None:
            missing[name] = f"not installed (pip install cvxpy {MODULES[name]})"
        else:
            runs[name] = lambda options=options: by_cvxpy(Q, k, **options)
    return Match(runs, missing, facts)


def exact(n: int, k: int) -> Match:
    """The best subset, proven: ours, and HiGHS on the linearised problem."""
    Q = mrmr_problem(n, k)
    gaps: dict[str, float] = {"HiGHS, linearised": 1e-9}  # what it is told to prove

    def ours() -> float:
        from certselect import SubsetProblem, select

        found = select(SubsetProblem.from_matrix(Q, k), "exact")
        gaps[OURS] = found.gap
        return found.objective

    def theirs() -> float:
        from .highs import best_by_highs

        return best_by_highs(Q, k, seconds=600.0)

    runs = {OURS: ours, "HiGHS, linearised": theirs}
    return Match(runs, facts=lambda name, answer: {"value": answer, "gap": gaps[name]})
