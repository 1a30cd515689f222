"""From what a strategy found to a Selection: fill up, polish, value, certify."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np

from certselect.criteria.problem import SubsetProblem
from certselect.criteria.units import UnitProblem
from certselect.errors import FewerFeaturesWarning, InvalidInput, warn_user
from certselect.memory import has_room_for_proof
from certselect.names import shown
from certselect.relaxation import Relaxation
from certselect.search.certified import (
    PLAIN_SECONDS,
    TIGHT_SECONDS,
    solve_beside_proof,
    solve_for_bound,
    solve_tightly,
    told_of_limit,
    with_bound,
    with_proof,
)
from certselect.search.completion import brought_to_size
from certselect.search.found import Found
from certselect.search.polish import polish as polish_by_swaps
from certselect.search.ranking import values_along
from certselect.search.registry import is_built_in
from certselect.search.selection import COMPLETE, INTERRUPTED, PROVEN_OPTIMAL, Selection
from certselect.search.strategies.exact import KEPT_SECONDS
from certselect.search.strategies.forward import forward
from certselect.search.strategy import Strategy
from certselect.search.time_limit import TimeLimit
from certselect.search.timed import timed

# The pair terms of so few features take no time worth asking about.
FEW = 1000
# And what they take is known to about this factor.
CAREFUL = 2.0


def answer(
    problem: SubsetProblem,
    strategy: Strategy,
    found: Found,
    rng: np.random.Generator,
    options: dict[str, Any],
    *,
    limit: TimeLimit,
    polish: bool,
    certify: bool | str,
    warm_start: Relaxation | None = None,
) -> Selection:
    """Search, then conclude. Ctrl-C ends all of it, wherever it comes: the answer is what `found` has by then."""
    seconds: dict[str, float] = {}
    try:
        found.limit = for_search(limit, strategy, certify)
        if strategy.needs_all_pairs and _pairs_take_too_long(problem, found.limit):
            search(problem, replace(strategy, run=forward, warm_start=False), found, seconds, rng, {})
            found.cut_short = True
        else:
            search(problem, strategy, found, seconds, rng, options)
        # A search that always comes with a bound may have had no time for it: a poor one is better than none.
        bound = certify or (strategy.bounds and found.cut_short)
        asked: dict[str, Any] = {"limit": limit, "polish": polish, "certify": bound, "warm_start": warm_start}
        return _concluded(problem, strategy, found, seconds, **asked)
    except KeyboardInterrupt:
        return stopped(problem, strategy, found, seconds)


def _pairs_take_too_long(problem: SubsetProblem, limit: TimeLimit) -> bool:
    """Whether there is no time for the pair terms of all features, which most searches and every bound start from."""
    pairs = problem.units.pairs
    if pairs is None or limit.ends == math.inf or len(problem.candidates) <= FEW:
        return False
    return CAREFUL * pairs.seconds_for_matrix() > limit.left


def for_search(limit: TimeLimit, strategy: Strategy, certify: bool | str) -> TimeLimit:
    """What a search and its polish may take: half of the time left, if a bound is still to come after them."""
    return limit.part(0.5) if certify and not strategy.bounds else limit


def search(
    problem: SubsetProblem,
    strategy: Strategy,
    found: Found,
    seconds: dict[str, float],
    rng: np.random.Generator,
    options: dict[str, Any],
) -> None:
    """Run the strategy, which fills `found`; Ctrl-C passes through and leaves there what it has."""
    if "max_seconds" in strategy.options and found.limit.ends < math.inf:
        options = {"max_seconds": found.limit.left, **options}  # a search of others that keeps to a limit by itself
    try:
        with timed(seconds, "search"):
            strategy.run(problem.units, found, rng, **options)
        if found.nothing_left and not problem.exactly:
            size = problem.units.rules.size(found.indices)
            warn_user(
                f"Asked for {problem.k} features, but beside {size} no other adds anything by "
                f"criterion={problem.criterion.name!r}: these are kept.",
                FewerFeaturesWarning,
            )
    finally:
        if not is_built_in(strategy):
            found.proved = None  # what others call proved is not: multipliers are checked, this is taken as it is
    if not found.indices and found.status != INTERRUPTED and not found.cut_short:
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
    limit: TimeLimit,
    polish: bool,
    certify: bool | str,
    warm_start: Relaxation | None = None,
) -> Selection:
    """Make what was found a Selection, as far as Ctrl-C allows."""
    asked: dict[str, Any] = {"limit": limit, "polish": polish, "certify": certify, "warm_start": warm_start}
    try:
        return _concluded(problem, strategy, found, seconds, **asked)
    except KeyboardInterrupt:
        return stopped(problem, strategy, found, seconds)


def stopped(problem: SubsetProblem, strategy: Strategy, found: Found, seconds: dict[str, float]) -> Selection:
    """The Selection of what there is when Ctrl-C comes: nothing is searched, polished or solved for it any more."""
    selection = _concluded(problem, strategy, found, seconds, limit=found.limit, polish=False, certify=False)
    return replace(selection, status=INTERRUPTED, tolerance=math.nan)


def _concluded(
    problem: SubsetProblem,
    strategy: Strategy,
    found: Found,
    seconds: dict[str, float],
    *,
    limit: TimeLimit,
    polish: bool,
    certify: bool | str,
    warm_start: Relaxation | None = None,
) -> Selection:
    """Make what was found a whole subset, polish and certify it if asked to, and value it."""
    if found.nothing_left and not problem.exactly:
        problem = _as_large_as_found(problem, found)
    searched = problem.units
    _check_possible(searched, strategy, found)
    if not found.any_size:
        _settle_size(searched, strategy, found)
    if found.status == PROVEN_OPTIMAL:
        found.status = COMPLETE  # saying so is no proof: what was proved decides, below
    if polish and found.status != INTERRUPTED and not found.any_size and found.proved is None:
        with timed(seconds, "polish"):
            polish_by_swaps(searched, found)
    selection = _valued(problem, strategy, found, seconds)
    if certify and _pairs_take_too_long(problem, limit):
        found.cut_short, found.limit, certify = True, limit, False
    if found.any_size or not (certify or found.proved is not None or found.multipliers is not None):
        return told_of_limit(selection, found)  # the bound is on subsets of k features
    tight = certify == "tight" and has_room_for_proof(len(problem.reduced.matrix))
    if tight and found.proved is None and found.status != INTERRUPTED:
        limit = TimeLimit.of(TIGHT_SECONDS) if limit.ends == math.inf else limit
        solve_tightly(problem, selection.indices, found, seconds, limit.keeping(KEPT_SECONDS))
        solve_beside_proof(problem, found, seconds, limit)
    elif certify and found.proved is not None and found.status != INTERRUPTED:
        solve_beside_proof(problem, found, seconds, limit)
    elif certify and found.multipliers is None and found.proved is None and found.status != INTERRUPTED:
        solve_for_bound(problem, found, seconds, limit=limit, warm_start=warm_start)
    if found.proved is not None and found.proved.bound == math.inf:
        found.proved = None  # stopped before anything was proved
    if found.proved is not None and found.proved.too_large and found.status != INTERRUPTED:
        # Too large to keep: what a file can show is the bound of the plain relaxation.
        solve_for_bound(problem, found, seconds, limit=limit.at_most(PLAIN_SECONDS), warm_start=warm_start)
    if found.multipliers is not None:
        selection = with_bound(problem, selection, found.multipliers, found.lift)
    if found.proved is not None and not found.proved.bound >= selection.upper_bound:
        selection = with_proof(problem, selection, found.proved)
    return told_of_limit(selection, found)


def _as_large_as_found(problem: SubsetProblem, found: Found) -> SubsetProblem:
    """The problem of the size at which a search found nothing to add; constraints may ask for more."""
    size = problem.units.rules.size(found.indices)
    return problem.of_size(size) if size < problem.k and size in problem.allowed_sizes else problem


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


def _settle_size(problem: UnitProblem, strategy: Strategy, found: Found) -> None:
    """Bring the subset of a search that ended early to an allowed one."""
    whole = brought_to_size(problem, found.indices)
    if whole == found.indices:
        return
    found.indices = whole
    if (
        found.cut_short or found.nothing_left
    ):  # its scores are those of a whole subset, as after any search that was not interrupted
        found.scores = list(values_along(problem, whole)) if strategy.in_order_of_choice else [problem.value(whole)]
