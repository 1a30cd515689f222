"""Forward selection: the greedy search that mRMR and JMI are known by."""

from __future__ import annotations

import numpy as np

from certselect.criteria.problem import SubsetProblem
from certselect.criteria.rules import Rules
from certselect.progress import report
from certselect.search.ruled_subset import RuledSubset
from certselect.search.strategy import Found
from certselect.search.ties import first_best, value_scale


def forward(problem: SubsetProblem, found: Found, rng: np.random.Generator, /) -> None:
    """Start empty and add, k times, the feature that makes the subset worth most.

    The subset's own size sets the pair weight at each step, which for mRMR and
    JMI is the classical rule: relevance minus the mean pair term with the chosen.
    Only the chosen features' pair rows are ever asked for.

    Under rules, start from the required units and add the unit that is worth most
    per column, among those with which the subset can still be completed.
    """
    if problem.rules is not None:
        _forward_under_rules(problem, problem.rules, found)
        return
    scale = value_scale(problem)
    # -inf marks what may not be chosen: non-candidates now, the chosen later.
    relevance = np.full(problem.n_features, -np.inf)
    relevance[problem.candidates] = problem.linear[problem.candidates]
    shared = np.zeros(problem.n_features)  # of each feature with all the chosen
    score = np.empty(problem.n_features)  # one array for all steps: allocating costs as much as adding
    worth_alone = shared_inside = 0.0
    for size in range(1, problem.k + 1):
        weight = problem.weight(size)
        np.multiply(shared, -weight, out=score)
        score += relevance
        best = first_best(score, scale)
        worth_alone += float(relevance[best])
        shared_inside += float(shared[best])
        found.indices.append(best)
        found.scores.append(worth_alone - weight * shared_inside)
        if size < problem.k:
            relevance[best] = -np.inf
            shared += problem.pair_row(best)
            shared[best] = 0.0  # a feature's pair term with itself is arbitrary, so even NaN
        report("forward", size, problem.k)


def _forward_under_rules(problem: SubsetProblem, rules: Rules, found: Found) -> None:
    scale = value_scale(problem)
    subset = RuledSubset(problem, rules)
    to_come = list(rules.required)
    while subset.size < problem.k:
        unit = to_come.pop(0) if to_come else subset.best_newcomer(scale)
        subset.add(unit)
        found.indices.append(unit)
        found.scores.append(subset.value())
        report("forward", subset.size, problem.k)
