"""Forward selection: the greedy search that mRMR and JMI are known by."""

from __future__ import annotations

import numpy as np

from certselect.criteria.units import UnitProblem
from certselect.progress import listener
from certselect.search.found import Found
from certselect.search.strategy import FIRST_CHOICES, Strategy
from certselect.search.subset import empty_subset


def forward(problem: UnitProblem, found: Found, rng: np.random.Generator, /) -> None:
    """Start from the required units and add, until the subset is whole, the unit that makes it worth most.

    The subset's own size sets the pair weight at each step, which for mRMR and
    JMI is the classical rule: relevance minus the mean pair term with the chosen.
    Units of several columns compete by what they add per column, and only those with which
    the subset can still be completed. Only the chosen units' pair rows are ever asked for.
    Criteria that are no sums over pairs say themselves what a unit adds, and may end the search early.
    """
    subset = empty_subset(problem)
    to_come, told = list(problem.rules.required), listener()
    while subset.size < problem.k and not found.out_of_time():
        unit = to_come.pop(0) if to_come else subset.best_newcomer()
        if unit is None:
            found.nothing_left = True
            return
        subset.add(unit)
        found.indices.append(unit)
        found.scores.append(subset.value())
        if told is not None:
            told("forward", subset.size, problem.k)


STRATEGY = Strategy(
    "forward",
    forward,
    "adds the best feature, k times; the quickest search that uses pair terms",
    in_order_of_choice=True,
    nested=FIRST_CHOICES,
    stepwise=True,
    scores="ranking",
)
