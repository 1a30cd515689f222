"""Floating search: forward selection that may change its mind."""

from __future__ import annotations

import numpy as np

from certselect.criteria.units import UnitProblem
from certselect.progress import report
from certselect.search.found import Found
from certselect.search.strategy import Strategy
from certselect.search.subset import empty_subset
from certselect.search.ties import beats


def floating(problem: UnitProblem, found: Found, rng: np.random.Generator, /) -> None:
    """Add as forward selection does, then remove while that beats every smaller subset seen so far.

    Sequential floating forward selection (Pudil, Novovicova and Kittler 1994),
    the subset's own size setting the pair weight. It cannot go round in circles:
    each removal raises the best value known of its size. Only the pair rows of
    units that were chosen at some time are asked for; required units never leave.
    """
    best_of_size = [-np.inf] * (problem.k + 1)
    best_indices: list[int] = []  # of size k, once the search has got there
    subset = empty_subset(problem)

    def record() -> None:
        size, value = subset.size, subset.value()
        found.scores.append(value)
        improves = beats(value, best_of_size[size], subset.scale)
        if improves:
            best_of_size[size] = value
        if size == problem.k and improves:
            best_indices[:] = subset.members
        found.indices = list(best_indices or subset.members)

    for unit in problem.rules.required:
        subset.add(unit)
        record()
    while subset.size < problem.k and not found.out_of_time():
        newcomer = subset.best_newcomer()
        if newcomer is None:
            found.nothing_left = True
            return
        subset.add(newcomer)
        record()
        while (out := subset.least_missed()) is not None and not found.out_of_time():
            known = best_of_size[subset.size_without(out)]
            # A size that units of several columns have jumped over gives no reason to go back to it.
            if known == -np.inf or not beats(subset.value_without(out), known, subset.scale):
                break
            subset.remove(out)
            record()
        report("floating", subset.size, problem.k)


STRATEGY = Strategy(
    "floating",
    floating,
    "forward selection with steps back where they help",
    in_order_of_choice=True,
    stepwise=True,
    scores="steps",
)
