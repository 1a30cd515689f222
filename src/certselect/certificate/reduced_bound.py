"""A number no allowed subset of a reduced problem exceeds, from multipliers and a lift."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from certselect.certificate.bound import ProvedBound, prove_bound
from certselect.certificate.lift import Lift
from certselect.certificate.rounding import UNIT, largest, round_up
from certselect.criteria.reduced import ReducedProblem


def prove_reduced(problem: ReducedProblem, multipliers: np.ndarray, lift: Lift | None = None) -> ProvedBound:
    """Bound what any allowed subset of a reduced problem is worth, its constant included.

    `multipliers` (m+1,) are any numbers, best those of a relaxation of Q lifted by `lift`.
    The lift A is checked, not trusted: with x'Ax >= 0 for every allowed x,

        constant + x'Qx <= constant + price budget + bound on x'(Q + pairs - price Diag(costs))x.

    Forming the matrix on the right rounds each entry once or twice; a subset has k^2
    entries at most, and those of the costs sum to the budget.
    """
    sizes = None if (problem.sizes == 1).all() and problem.k > 0 else problem.sizes
    if lift is None:
        proved = prove_bound(problem.matrix, problem.k, multipliers, sizes)
        return replace(proved, bound=round_up([proved.bound, problem.constant]))
    lift.check(problem)
    matrix = lift.matrix(problem)
    proved = prove_bound(matrix, problem.k, multipliers, sizes)
    # An upper bound on |Q| + |pairs| anywhere, as |Q + pairs| alone may have cancelled.
    magnitude = sum(largest(part) for part in (problem.matrix, lift.pairs) if part is not None)
    paid = lift.paid(problem)
    rounding = 2.0 * UNIT * problem.k * problem.k * magnitude + 8.0 * UNIT * abs(paid)
    return replace(proved, bound=round_up([proved.bound, problem.constant, paid, rounding]))
