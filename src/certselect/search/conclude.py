"""From what a strategy found to a Selection: fill up, polish, value, certify."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np

from certselect.criteria.problem import SubsetProblem
from certselect.criteria.units import UnitProblem
from certselect.errors import InvalidInput
from certselect.names import shown
from certselect.relaxation import Relaxation
from certselect.search.certified import solve_for_bound, solve_tightly, with_bound, with_proof
from certselect.search.completion import Completion
from certselect.search.found import Found
from certselect.search.polish import polish as polish_by_swaps
from certselect.search.ranking import most_relevant
from certselect.search.registry import is_built_in
from certselect.search.selection import COMPLETE, INTERRUPTED, PROVEN_OPTIMAL, Selection
from certselect.search.strategies.exact import MOST_UNITS
from certselect.search.strategy import Strategy
from certselect.search.timed import timed


def answer(
    problem: SubsetProblem,
    strategy: Strategy,
    found: Found,
    rng: np.random.Generator,
    options: dict[str, Any],
    *,
    polish: bool,
    certify: bool | str,
    warm_start: Relaxation | None = None,
) -> Selection:
    """Search, then conclude. Ctrl-C ends all of it, wherever it comes: the answer is what `found` has by then."""
    seconds: dict[str, float] = {}
    try:
        search(problem, strategy, found, seconds, rng, options)
        return _concluded(problem, strategy, found, seconds, polish=polish, certify=certify, warm_start=warm_start)
    except KeyboardInterrupt:
        return stopped(problem, strategy, found, seconds)


def search(
    problem: SubsetProblem,
    strategy: Strategy,
    found: Found,
    seconds: dict[str, float],
    rng: np.random.Generator,
    options: dict[str, Any],
) -> None:
    """Run the strategy, which fills `found`; Ctrl-C passes through and leaves there what it has."""
    try:
        with timed(seconds, "search"):
            strategy.run(problem.units, found, rng, **options)
    finally:
        if not is_built_in(strategy):
            found.proved = None  # what others call proved is not: multipliers are checked, this is taken as it is
    if not found.indices and found.status != INTERRUPTED:
        raise InvalidInput(
            f"no units from strategy={strategy.name!r}",
            "a strategy that puts the units it chose into found.indices",
            "Tell those who wrote the strategy.",
        )


def conclude(
    problem: SubsetProblem,
    strategy: Strategy,
    found: Found,
    seconds: dict[str, float],
    *,
    polish: bool,
    certify: bool | str,
    warm_start: Relaxation | None = None,
) -> Selection:
    """Make what was found a Selection, as far as Ctrl-C allows."""
    try:
        return _concluded(problem, strategy, found, seconds, polish=polish, certify=certify, warm_start=warm_start)
    except KeyboardInterrupt:
        return stopped(problem, strategy, found, seconds)


def stopped(problem: SubsetProblem, strategy: Strategy, found: Found, seconds: dict[str, float]) -> Selection:
    """The Selection of what there is when Ctrl-C comes: nothing is searched, polished or solved for it any more."""
    selection = _concluded(problem, strategy, found, seconds, polish=False, certify=False)
    return replace(selection, status=INTERRUPTED, tolerance=math.nan)


def _concluded(
    problem: SubsetProblem,
    strategy: Strategy,
    found: Found,
    seconds: dict[str, float],
    *,
    polish: bool,
    certify: bool | str,
    warm_start: Relaxation | None = None,
) -> Selection:
    """Make what was found a whole subset, polish and certify it if asked to, and value it."""
    searched = problem.units
    _check_possible(searched, strategy, found)
    if not found.any_size:
        _settle_size(searched, found)
    if found.status == PROVEN_OPTIMAL:
        found.status = COMPLETE  # saying so is no proof: what was proved decides, below
    if polish and found.status != INTERRUPTED and not found.any_size and found.proved is None:
        with timed(seconds, "polish"):
            polish_by_swaps(searched, found)
    selection = _valued(problem, strategy, found, seconds)
    if found.any_size:
        return selection  # the bound is on subsets of k features
    tight = certify == "tight" and len(problem.reduced.matrix) <= MOST_UNITS
    if tight and found.proved is None and found.status != INTERRUPTED:
        solve_tightly(problem, selection.indices, found, seconds)
    elif certify and found.multipliers is None and found.proved is None and found.status != INTERRUPTED:
        solve_for_bound(problem, found, seconds, warm_start=warm_start)
    if found.proved is not None and found.proved.bound == math.inf:
        found.proved = None  # stopped before anything was proved
    if found.multipliers is not None:
        selection = with_bound(problem, selection, found.multipliers, found.lift)
    if found.proved is not None and not found.proved.bound >= selection.upper_bound:
        selection = with_proof(problem, selection, found.proved)
    return selection


def _valued(problem: SubsetProblem, strategy: Strategy, found: Found, seconds: dict[str, float]) -> Selection:
    """The units found as columns of the table, with their names and value."""
    columns = problem.units.columns(found.indices)
    if problem.units.groups and not strategy.in_order_of_choice:
        columns.sort()  # units in order need not be columns in order
    return Selection(
        indices=np.array(columns, dtype=np.intp),
        names=tuple(problem.feature_names[i] for i in columns),
        objective=problem.value(columns),
        scores=tuple(found.scores),
        strategy=strategy.name,
        criterion=problem.criterion.name,
        k=problem.k,
        status=found.status,
        drawn_size=found.drawn_size,
        seconds=seconds,
        dropped=tuple(problem.feature_names[i] for i in np.flatnonzero(problem.constant)),
        constrained=problem.constraints is not None,
        without_copies=bool(problem.copies),
        problem=problem,
    )


def _check_possible(problem: UnitProblem, strategy: Strategy, found: Found) -> None:
    """Refuse what a strategy from outside the package may not answer with: nothing allowed is near it."""
    rules, units = problem.rules, found.indices
    inside = np.zeros(problem.n_features, dtype=bool)
    inside[[unit for unit in units if 0 <= unit < len(inside)]] = True
    possible = len(set(units)) == len(units) == np.count_nonzero(inside) and inside[problem.candidates].sum() == len(
        units
    )
    if possible and not found.any_size:
        larger = rules.size(units) > rules.k
        possible = rules.contains_allowed(inside) if larger else rules.can_complete(units)
    if not possible:
        raise InvalidInput(
            f"the units {shown(units)} from strategy={strategy.name!r}",
            "units that its problem's rules allow together",
            "Tell those who wrote the strategy.",
        )


def _settle_size(problem: UnitProblem, found: Found) -> None:
    """Bring an interrupted search's subset to an allowed one: the most relevant come in, or stay."""
    rules = problem.rules
    size = rules.size(found.indices)
    if size < rules.k:
        others = set(problem.candidates.tolist()).difference(found.indices)
        found.indices = Completion(rules).in_order(most_relevant(problem, others), found.indices)
    elif size > rules.k:
        inside = replace(rules, candidates=np.sort(found.indices))
        found.indices = sorted(Completion(inside).in_order(most_relevant(problem, found.indices)))
