"""The best subset by somebody else's solver: HiGHS on the linearised problem, for comparison."""

from __future__ import annotations

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import csr_array


def best_by_highs(Q: np.ndarray, k: int, *, seconds: float = 60.0) -> float:
    """max x'Qx over k-subsets: y_ij = x_i x_j by y_ij <= x_i, y_ij <= x_j and sum_j y_ij = (k - 1) x_i."""
    n = len(Q)
    first, second = np.triu_indices(n, 1)
    pairs = len(first)
    place = n + np.arange(pairs)
    worth = np.concatenate([Q.diagonal(), 2.0 * Q[first, second]])
    each = np.arange(pairs)
    ones = np.ones(pairs)

    def rows(height: int, *entries: tuple[np.ndarray, np.ndarray, np.ndarray]) -> csr_array:
        values, down, across = (np.concatenate(part) for part in zip(*entries, strict=True))
        return csr_array((values, (down, across)), shape=(height, n + pairs))

    below_first = rows(pairs, (ones, each, place), (-ones, each, first))
    below_second = rows(pairs, (ones, each, place), (-ones, each, second))
    sums = rows(n, (ones, first, place), (ones, second, place), (np.full(n, 1.0 - k), np.arange(n), np.arange(n)))
    size = rows(1, (np.ones(n), np.zeros(n, dtype=int), np.arange(n)))
    answer = milp(
        -worth,
        integrality=np.concatenate([np.ones(n), np.zeros(pairs)]),
        bounds=Bounds(0.0, 1.0),
        constraints=[
            LinearConstraint(below_first, -np.inf, 0.0),
            LinearConstraint(below_second, -np.inf, 0.0),
            LinearConstraint(sums, 0.0, 0.0),
            LinearConstraint(size, k, k),
        ],
        options={"time_limit": seconds, "mip_rel_gap": 1e-9},
    )
    assert answer.status == 0, f"HiGHS did not finish: {answer.message}"
    return -float(answer.fun)
