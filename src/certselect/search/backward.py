"""Backward elimination: judge every feature in the company of all others."""

from __future__ import annotations

import numpy as np

from certselect.criteria.problem import SubsetProblem
from certselect.criteria.rules import Rules
from certselect.progress import report
from certselect.search.ruled_subset import pair_weights
from certselect.search.strategy import Found
from certselect.search.ties import last_best, value_scale

ROWS_AT_ONCE = 256
REPORT_EVERY = 256


def backward(problem: SubsetProblem, found: Found, rng: np.random.Generator, /) -> None:
    """Start from all candidates and remove, until k are left, the feature that is missed least.

    The subset's own size after the removal sets the pair weight. Sees features
    that matter only together, and may keep them in place of features that are
    worth more alone (the paper's Example 3). Needs the whole pair matrix.

    Under rules, remove the unit that is missed least per column, as long as an
    allowed subset remains in what is left.
    """
    found.indices = remaining(problem, [])
    if problem.rules is not None:
        _backward_under_rules(problem, problem.rules, found)
        return
    matrix = problem.pair_matrix
    scale = value_scale(problem)
    # +inf marks what cannot be removed: non-candidates now, the removed later.
    relevance = np.full(problem.n_features, np.inf)
    relevance[problem.candidates] = problem.linear[problem.candidates]
    worth_alone = float(problem.linear[problem.candidates].sum())
    shared, shared_inside = np.zeros(problem.n_features), 0.0
    removals = len(problem.candidates) - problem.k
    sum_again_below = len(problem.candidates)
    try:
        for size in range(len(problem.candidates) - 1, problem.k - 1, -1):
            if size < sum_again_below:
                # Summed anew each time the set has halved, so that rounding does not pile up.
                left = np.flatnonzero(relevance < np.inf)
                shared = _shared_with(matrix, left)
                shared_inside = float(shared.sum()) / 2
                sum_again_below = (size + 1) // 2
            weight = problem.weight(size)
            out = last_best(weight * shared - relevance, scale)
            worth_alone -= float(relevance[out])
            shared_inside -= float(shared[out])
            found.removed.append(out)
            found.scores.append(worth_alone - weight * shared_inside)
            relevance[out] = np.inf
            shared -= matrix[out]
            shared[out] = 0.0  # a feature's pair term with itself is arbitrary, so even NaN
            if len(found.removed) % REPORT_EVERY == 0 or size == problem.k:
                report("backward", len(found.removed), removals)
    finally:
        found.indices = remaining(problem, found.removed)


def _backward_under_rules(problem: SubsetProblem, rules: Rules, found: Found) -> None:
    matrix, scale = problem.pair_matrix, value_scale(problem)
    size = first_size = rules.size(found.indices)
    left = np.array(found.indices, dtype=np.intp)
    # A unit that must stay now must stay later too, when there is less to take its place.
    may_go = np.zeros(problem.n_features, dtype=bool)
    may_go[left] = True
    may_go[list(rules.required)] = False
    shared, sum_again_below = np.zeros(problem.n_features), len(left) + 1
    while size > problem.k:
        if len(left) < sum_again_below:
            # Summed anew each time the set has halved, so that rounding does not pile up.
            shared = _shared_with(matrix, left)
            sum_again_below = (len(left) + 1) // 2
        losses = problem.linear - pair_weights(problem, size - rules.sizes) * (shared + rules.inner)
        out = last_best(np.where(may_go, -losses / rules.sizes, -np.inf), scale)
        rest = left[left != out]
        may_go[out] = False
        if not rules.contains_allowed(rest.tolist()):
            continue
        left, size = rest, size - int(rules.sizes[out])
        shared -= matrix[out]
        shared[out] = 0.0  # a unit's pair term with itself is arbitrary, so even NaN
        found.removed.append(out)
        found.indices = left.tolist()
        found.scores.append(_value(problem, rules, left, shared, size))
        if len(found.removed) % REPORT_EVERY == 0 or size == problem.k:
            report("backward", first_size - size, first_size - problem.k)


def _value(problem: SubsetProblem, rules: Rules, members: np.ndarray, shared: np.ndarray, size: int) -> float:
    """The members' value at their own size, from what each shares with the others."""
    shared_inside = float(shared[members].sum() / 2 + rules.inner[members].sum())
    return float(problem.linear[members].sum()) - problem.weight(size) * shared_inside


def remaining(problem: SubsetProblem, removed: list[int]) -> list[int]:
    """The candidates that have not been removed, ascending."""
    gone = set(removed)
    return [feature for feature in sorted(problem.candidates.tolist()) if feature not in gone]


def _shared_with(matrix: np.ndarray, members: np.ndarray) -> np.ndarray:
    """Sum of each member's pair terms with the other members (n,), 0 for all other features."""
    shared = np.zeros(len(matrix))
    for start in range(0, len(members), ROWS_AT_ONCE):
        rows = members[start : start + ROWS_AT_ONCE]
        block = matrix[rows][:, members].astype(float)
        block[np.arange(len(rows)), np.arange(start, start + len(rows))] = 0.0
        shared[rows] = block.sum(axis=1)
    return shared
