"""Backward elimination: judge every feature in the company of all others."""

from __future__ import annotations

import numpy as np

from certselect.criteria.units import UnitProblem
from certselect.progress import report
from certselect.search.found import Found
from certselect.search.strategy import LAST_REMOVALS, Strategy, without
from certselect.search.ties import last_best, value_scale

ROWS_AT_ONCE = 256
REPORT_EVERY = 256


def backward(problem: UnitProblem, found: Found, rng: np.random.Generator, /) -> None:
    """Start from all candidates and remove, until k columns are left, the unit that is missed least per column.

    The subset's own size after the removal sets the pair weight. Sees features
    that matter only together, and may keep them in place of features that are
    worth more alone (the paper's Example 3). Needs the whole pair matrix. A unit leaves only
    as long as an allowed subset remains in what is left.
    """
    found.indices = without(problem, [])
    matrix, rules, scale = problem.pair_matrix, problem.rules, value_scale(problem)
    left = np.zeros(problem.n_features, dtype=bool)
    left[problem.candidates] = True
    # +inf marks what cannot go: non-candidates, required units, and those removed. A unit that must
    # stay now must stay later too, when there is less to take its place.
    relevance = np.where(left, problem.linear, np.inf)
    relevance[list(rules.required)] = np.inf
    size = first_size = rules.size(found.indices)
    worth_alone = float(problem.linear[left].sum())
    shared, shared_inside = np.zeros(problem.n_features), 0.0
    units_left = sum_again_below = len(problem.candidates)
    try:
        while size > problem.k and not found.out_of_time():
            if units_left - 1 < sum_again_below:
                # Summed anew each time the set has halved, so that rounding does not pile up.
                shared = _shared_with(matrix, np.flatnonzero(left))
                shared_inside = float(shared.sum()) / 2 + float(rules.inner[left].sum())
                sum_again_below = units_left // 2
            out = last_best(_gain_without(problem, relevance, shared, size), scale)
            relevance[out], left[out] = np.inf, False
            if not rules.plain and not rules.contains_allowed(left):
                left[out] = True
                continue
            size -= int(rules.sizes[out])
            units_left -= 1
            worth_alone -= float(problem.linear[out])
            shared_inside -= float(shared[out] + rules.inner[out])
            shared -= matrix[out]
            shared[out] = 0.0  # a unit's pair term with itself is arbitrary, so even NaN
            found.removed.append(out)
            found.scores.append(problem.criterion.alone(size) * worth_alone - problem.weight(size) * shared_inside)
            if len(found.removed) % REPORT_EVERY == 0 or size == problem.k:
                report("backward", first_size - size, first_size - problem.k)
    finally:
        found.indices = without(problem, found.removed)


def _gain_without(problem: UnitProblem, relevance: np.ndarray, shared: np.ndarray, size: int) -> np.ndarray:
    """What a set of that size gains per column by the loss of each unit, at the pair weight of what is left (n,)."""
    rules = problem.rules
    if rules.single:  # one weight for all
        return problem.weight(size - 1) * shared - _brought(problem, relevance, problem.criterion.alone(size - 1))
    left = size - rules.sizes
    brought = _brought(problem, relevance, problem.weights_alone(left))
    return (problem.weights(left) * (shared + rules.inner) - brought) / rules.sizes


def _brought(problem: UnitProblem, relevance: np.ndarray, part: float | np.ndarray) -> np.ndarray:
    """What each unit brings by itself where single terms have this weight; +inf for those that cannot go."""
    if np.all(part == 1.0):
        return relevance
    return np.where(np.isposinf(relevance), np.inf, part * problem.linear)


def _shared_with(matrix: np.ndarray, members: np.ndarray) -> np.ndarray:
    """Sum of each member's pair terms with the other members (n,), 0 for all other units."""
    shared = np.zeros(len(matrix))
    for start in range(0, len(members), ROWS_AT_ONCE):
        rows = members[start : start + ROWS_AT_ONCE]
        block = matrix[rows][:, members].astype(float)
        block[np.arange(len(rows)), np.arange(start, start + len(rows))] = 0.0
        shared[rows] = block.sum(axis=1)
    return shared


STRATEGY = Strategy(
    "backward",
    backward,
    "removes the least useful feature until k are left; sees features that matter only together",
    needs_all_pairs=True,
    nested=LAST_REMOVALS,
    scores="removals",
)
