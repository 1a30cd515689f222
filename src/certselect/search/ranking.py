"""Units ranked by relevance, and what the leading parts of a ranking are worth."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from functools import partial

import numpy as np

from certselect.criteria.units import UnitProblem
from certselect.search.ties import descending, tie_width, value_scale


def most_relevant(problem: UnitProblem, among: Iterable[int]) -> Iterator[int]:
    """These units, the one of largest relevance (of several columns: their mean) first, the lowest index of equals."""
    units = np.sort(np.fromiter(among, dtype=np.intp))
    relevance = problem.linear[units] / problem.rules.sizes[units]
    for place in descending(relevance, partial(tie_width, scale=value_scale(problem))):
        yield int(units[place])


def values_along(problem: UnitProblem, ranking: list[int]) -> Iterator[float]:
    """Value of each leading part of the ranking, its own size setting the pair weight."""
    if problem.steps is not None:
        yield from _added_up(problem, ranking)
        return
    rules = problem.rules
    worth_alone = shared = 0.0
    size = 0
    for place, unit in enumerate(ranking):
        worth_alone += float(problem.linear[unit])
        size += int(rules.sizes[unit])
        shared += float(rules.inner[unit])
        if place:  # one feature has no pairs
            shared += float(problem.pair_row(unit)[ranking[:place]].sum(dtype=float))
        yield problem.criterion.alone(size) * worth_alone - problem.weight(size) * shared


def _added_up(problem: UnitProblem, ranking: list[int]) -> Iterator[float]:
    """The same by a criterion that is no sum over pairs: what the columns added, one after the other."""
    added, seen = problem.terms(ranking), 0
    for unit in ranking:
        seen += int(problem.rules.sizes[unit])
        yield math.fsum(added[:seen])
