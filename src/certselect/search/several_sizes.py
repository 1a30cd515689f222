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
from certselect.search.conclude import Asked, answer, conclude, search, stopped
from certselect.search.found import Found
from certselect.search.options import Seed, make_generator
from certselect.search.selection import COMPLETE, INTERRUPTED, LIMIT, PROVEN_OPTIMAL, Selection
from certselect.search.strategy import LAST_REMOVALS, Nested, Strategy


def select_each(
    problems: Sequence[SubsetProblem],
    strategy: Strategy,
    asked: Asked,
    random_state: Seed,
    options: dict[str, Any],
) -> list[Selection]:
    """One Selection for each problem; the problems differ in k alone.

    The time limit is for all of them together: each size may use its share of what those before it
    left, and every size is answered.

    Ctrl-C ends all of it: the size that was worked on has what was found of it by then,
    status "interrupted", and sizes that were not begun are left out. Where one run answers for several
    sizes, those it has passed are there, "interrupted" if they were still to be polished or certified.
    """
    # Where more is asked than a size, a subset may have to be completed otherwise at another one.
    trivial = all(problem.units.rules.plain and not problem.units.rules.required for problem in problems)
    if strategy.nested is LAST_REMOVALS and any(problem.units.limit is not None for problem in problems):
        trivial = False  # what was removed depends on what sharing costs, which depends on the size
    selections: dict[int, Selection] = {}
    try:
        if strategy.nested is not None and trivial:
            run = _OneRun(problems, strategy, strategy.nested, selections, asked)
            run.answer(make_generator(random_state), options)
        else:
            _one_by_one(problems, strategy, random_state, options, selections, asked)
        return _in_order(problems, selections)
    except KeyboardInterrupt:  # between two sizes
        if not selections:
            raise
        _mark(selections, next(reversed(selections)))
        return _in_order(problems, selections)


def _in_order(problems: Sequence[SubsetProblem], selections: dict[int, Selection]) -> list[Selection]:
    return [selections[problem.k] for problem in problems if problem.k in selections]


def _mark(selections: dict[int, Selection], k: int) -> None:
    """Ctrl-C came at this size."""
    selections[k] = replace(selections[k], status=INTERRUPTED, tolerance=math.nan)


def _one_by_one(
    problems: Sequence[SubsetProblem],
    strategy: Strategy,
    random_state: Seed,
    options: dict[str, Any],
    selections: dict[int, Selection],
    asked: Asked,
) -> None:
    """A search for each size, until Ctrl-C ends one."""
    relaxation = None  # of the size before, which is close to the next one's
    for place, problem in enumerate(problems):
        if problem.k in selections:
            continue
        warm_start = relaxation if _can_start(relaxation, problem) else None
        if strategy.warm_start:
            options = {**options, "warm_start": warm_start}
        found, rng = Found(), make_generator(random_state)
        share = replace(asked, limit=asked.limit.part(1.0 / (len(problems) - place)))
        selection = selections[problem.k] = answer(problem, strategy, found, rng, options, share, warm_start)
        if selection.status == INTERRUPTED:
            return
        relaxation = found.evidence.relaxation or relaxation


class _OneRun:
    """One search that passes all sizes, then polish and bounds of each, as far as Ctrl-C lets them come."""

    def __init__(
        self,
        problems: Sequence[SubsetProblem],
        strategy: Strategy,
        nested: Nested,
        selections: dict[int, Selection],
        asked: Asked,
    ) -> None:
        self.problems, self.strategy, self.nested, self.selections = problems, strategy, nested, selections
        self.asked, self.whole = asked, Found(limit=asked.limit_of_search(strategy))
        self.seconds: dict[str, float] = {}

    def answer(self, rng: np.random.Generator, options: dict[str, Any]) -> None:
        longest = self.nested.longest(self.problems, key=lambda problem: problem.k)
        try:
            search(longest, self.strategy, self.whole, self.seconds, rng, options)
            if self._conclude():
                return
        except KeyboardInterrupt:
            pass
        self._stop(longest.k)

    def _conclude(self) -> bool:
        """Polish and certify each size; whether nothing interrupted that."""
        relaxation = None  # of the size before, which is close to the next one's
        for place, problem in enumerate(self.problems):
            if problem.k in self.selections:
                continue
            found = self.nested.state(problem.units, self.whole)
            # A run that ended early had answered for the sizes that it had passed.
            found.cut_short = self.whole.cut_short and problem.units.rules.size(found.indices) != problem.k
            found.nothing_left = self.whole.nothing_left
            share = replace(self.asked, limit=self.asked.limit.part(1.0 / (len(self.problems) - place)))
            found.limit = share.limit_of_search(self.strategy)
            warm_start = relaxation if _can_start(relaxation, problem) else None
            selection = conclude(problem, self.strategy, found, dict(self.seconds), share, warm_start)
            self.selections[problem.k] = selection
            if selection.status == INTERRUPTED:
                return False
            relaxation = found.evidence.relaxation or relaxation
        return True

    def _stop(self, last: int) -> None:
        """Add the sizes that the search has passed, and the one it was on its way to, without any further work."""
        unfinished = self.asked.polish or self.asked.certify
        left = {problem.k: problem for problem in self.problems if problem.k not in self.selections}
        passed = {k: self.nested.state(problem.units, self.whole) for k, problem in left.items()}
        ahead = [k for k, found in passed.items() if len(found.indices) != k]
        towards = last if not ahead else min(ahead) if self.nested.longest is max else max(ahead)
        for k, problem in left.items():
            if k == towards or k not in ahead:
                selection = stopped(problem, self.strategy, passed[k], dict(self.seconds))
                self.selections[k] = selection if unfinished else replace(selection, status=COMPLETE)
        if INTERRUPTED not in {selection.status for selection in self.selections.values()}:
            _mark(self.selections, towards)


def best_of_sizes(problem: SubsetProblem, selections: Sequence[Selection]) -> Selection:
    """Of subsets of all allowed sizes, ascending, the one worth most: the smallest of equals."""
    # NaN if one of the bounds is, or if Ctrl-C left sizes out: then nothing is known of that size.
    every = {selection.k for selection in selections} == set(problem.allowed_sizes)
    bound = float(np.max([selection.upper_bound for selection in selections])) if every else math.nan
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
            seconds[stage] = spent if stage == LIMIT else seconds.get(stage, 0.0) + spent
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
