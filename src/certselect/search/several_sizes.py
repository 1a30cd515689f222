"""Subsets of several sizes, by one run where the strategy's subsets nest."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from certselect.certificate import gap, tolerance
from certselect.criteria.problem import SubsetProblem
from certselect.relaxation import Relaxation
from certselect.search.conclude import conclude, search
from certselect.search.found import Found
from certselect.search.options import Seed, make_generator
from certselect.search.selection import COMPLETE, INTERRUPTED, PROVEN_OPTIMAL, Selection
from certselect.search.strategy import Strategy


def select_each(
    problems: Sequence[SubsetProblem],
    strategy: Strategy,
    *,
    random_state: Seed,
    polish: bool,
    certify: bool | str,
    options: dict[str, Any],
) -> list[Selection]:
    """One Selection for each problem; the problems differ in k alone.

    After Ctrl-C the sizes not reached are filled up with the most relevant features.
    """
    # Where more is asked than a size, a subset may have to be completed otherwise at another one.
    trivial = all(problem.units.rules.plain and not problem.units.rules.required for problem in problems)
    nested = strategy.nested if trivial else None
    whole, seconds, stopped = Found(), {"search": 0.0}, False
    if nested is not None:
        longest = nested.longest(problems, key=lambda problem: problem.k)
        whole, seconds = search(longest, strategy, make_generator(random_state), options)
        stopped = whole.status == INTERRUPTED
    selections: dict[int, Selection] = {}
    relaxation = None  # of the size before, which is close to the next one's
    for problem in problems:
        if problem.k in selections:
            continue
        warm_start = relaxation if _can_start(relaxation, problem) else None
        if nested is not None:
            found = nested.state(problem.units, whole)
        elif stopped:
            found = Found()
        else:
            if strategy.warm_start:
                options = {**options, "warm_start": warm_start}
            found, seconds = search(problem, strategy, make_generator(random_state), options)
        # Once Ctrl-C has been pressed, nothing is searched or polished any more.
        if stopped and (polish or len(found.indices) != problem.k):
            found.status = INTERRUPTED
        selections[problem.k] = conclude(
            problem,
            strategy,
            found,
            seconds,
            polish=polish,
            certify=certify if not stopped else False,
            warm_start=warm_start,
        )
        relaxation = found.relaxation or relaxation
        stopped = stopped or selections[problem.k].status == INTERRUPTED
    return [selections[problem.k] for problem in problems]


def best_of_sizes(problem: SubsetProblem, selections: Sequence[Selection]) -> Selection:
    """Of subsets of all allowed sizes, ascending, the one worth most: the smallest of equals."""
    # NaN if one of the bounds is: then nothing is known of that size.
    bound = float(np.max([selection.upper_bound for selection in selections]))
    allowed = [tolerance(problem.of_size(selection.k), selection.indices) for selection in selections]
    most = max(range(len(selections)), key=lambda i: selections[i].objective)
    lowest = selections[most].objective - 0.5 * allowed[most]
    within = [bound - each.objective <= width for each, width in zip(selections, allowed, strict=True)]
    equal = [i for i, each in enumerate(selections) if each.objective >= lowest and within[i] >= within[most]]
    best, optimal = selections[equal[0]], within[equal[0]]
    status = PROVEN_OPTIMAL if optimal else COMPLETE
    if any(selection.status == INTERRUPTED for selection in selections):
        status = INTERRUPTED
    seconds: dict[str, float] = {}
    for selection in selections:
        for stage, spent in selection.seconds.items():
            seconds[stage] = seconds.get(stage, 0.0) + spent
    return replace(
        best,
        status=status,
        tolerance=allowed[equal[0]] if status == PROVEN_OPTIMAL else math.nan,
        proven_in=(),  # which was about subsets of its size
        proven_out=(),
        ties=(),
        seconds=seconds,
        upper_bound=bound,
        gap=gap(best.objective, bound),
        certificate=None,
        any_size=True,
        problem=problem,
    )


def _can_start(relaxation: Relaxation | None, problem: SubsetProblem) -> bool:
    """Whether a relaxation can start this problem's: constraints may leave more or fewer candidates at another size."""
    return relaxation is not None and len(relaxation.multipliers) == len(problem.reduced.units) + 1
