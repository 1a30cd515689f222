"""From a search to a Selection, step by step: search -> completed -> polished -> valued -> certified.

The search writes into a `Found` while it runs; every step after it takes what the step before returned and
returns something new. Only what a later Ctrl-C must not lose is written back: `stopped` makes the answer of that.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from certselect.clock import TimeLimit, timed
from certselect.criteria.problem import SubsetProblem
from certselect.criteria.units import UnitProblem
from certselect.errors import FewerFeaturesWarning, InvalidInput, keyword, warn_user
from certselect.names import shown
from certselect.relaxation import Relaxation
from certselect.search.certified import PLAIN_SECONDS, noted, proven, solve, solve_for_bound
from certselect.search.completion import brought_apart, brought_to_size, values_along
from certselect.search.found import Evidence, Found
from certselect.search.polish import polish as polish_by_swaps
from certselect.search.registry import is_built_in
from certselect.search.selection import INTERRUPTED, Selection
from certselect.search.strategies.forward import forward
from certselect.search.strategy import Strategy
from certselect.settings.searching import TIGHT

# The pair terms of so few features take no time worth asking about.
FEW = 1000
# And what they take is known to about this factor.
CAREFUL = 2.0


@dataclass(frozen=True)
class Asked:
    """What to do with what a search finds, and the time limit of all of it."""

    limit: TimeLimit
    polish: bool
    certify: bool | str
    any_size: bool = False

    def limit_of_search(self, strategy: Strategy) -> TimeLimit:
        """What a search and its polish may take: half of the time left, if a bound is still to come after them."""
        return self.limit.part(0.5) if self.certify and not strategy.bounds else self.limit


@dataclass(frozen=True, eq=False)
class Completed:
    """An allowed subset in units: of the size of the problem, or of its own size with `any_size`."""

    problem: SubsetProblem
    strategy: Strategy
    units: list[int]
    scores: list[float]
    any_size: bool
    drawn_size: float


def answer(
    problem: SubsetProblem,
    strategy: Strategy,
    found: Found,
    rng: np.random.Generator,
    options: dict[str, Any],
    asked: Asked,
    warm_start: Relaxation | None = None,
) -> Selection:
    """Search, then conclude. Ctrl-C ends all of it, wherever it comes: the answer is what `found` has by then."""
    seconds: dict[str, float] = {}
    try:
        found.limit = asked.limit_of_search(strategy)
        if strategy.needs_all_pairs and _pairs_take_too_long(problem, found.limit):
            search(problem, replace(strategy, run=forward, warm_start=False), found, seconds, rng, {})
            found.cut_short = True
        else:
            search(problem, strategy, found, seconds, rng, options)
        if problem.units.limit is not None and not found.cut_short and not _ended_by_criterion(problem, found):
            smaller = completed(problem, strategy, found).problem
            if smaller.k < problem.k:
                _check_fewer(problem, smaller, asked)
                return answer(smaller, strategy, Found(), rng, options, asked)
        if strategy.bounds and found.cut_short and not asked.certify:
            # A search that always comes with a bound may have had no time for it: a poor one is better than none.
            asked = replace(asked, certify=True)
        return _concluded(problem, strategy, found, seconds, asked, warm_start)
    except KeyboardInterrupt:
        return stopped(problem, strategy, found, seconds)


def conclude(
    problem: SubsetProblem,
    strategy: Strategy,
    found: Found,
    seconds: dict[str, float],
    asked: Asked,
    warm_start: Relaxation | None = None,
) -> Selection:
    """Make what was found a Selection, as far as Ctrl-C allows."""
    try:
        return _concluded(problem, strategy, found, seconds, asked, warm_start)
    except KeyboardInterrupt:
        return stopped(problem, strategy, found, seconds)


def stopped(problem: SubsetProblem, strategy: Strategy, found: Found, seconds: dict[str, float]) -> Selection:
    """Build the Selection after Ctrl-C: nothing is searched, polished or solved for it any more."""
    whole = completed(problem, strategy, found)
    selection = valued(whole, seconds)
    if not whole.any_size:
        selection = proven(whole.problem, selection, found.evidence)
    return replace(noted(selection, found), status=INTERRUPTED, tolerance=math.nan)


def _concluded(
    problem: SubsetProblem,
    strategy: Strategy,
    found: Found,
    seconds: dict[str, float],
    asked: Asked,
    warm_start: Relaxation | None,
) -> Selection:
    whole = completed(problem, strategy, found)
    if whole.problem.k < problem.k and problem.units.limit is not None and not _ended_by_criterion(problem, found):
        _check_fewer(problem, whole.problem, asked)
        # What was proven is about subsets of another size.
        asked = replace(asked, certify=asked.certify or strategy.bounds)
        found.evidence, warm_start = Evidence(), None
    if asked.polish and not whole.any_size and found.evidence.proved is None:
        whole = polished(whole, found, seconds)
    return certified(whole, valued(whole, seconds), found, seconds, asked, warm_start)


def _pairs_take_too_long(problem: SubsetProblem, limit: TimeLimit) -> bool:
    """Whether there is no time for the pair terms of all features, which most searches and every bound start from."""
    pairs = problem.units.pairs
    if pairs is None or limit.ends == math.inf or len(problem.candidates) <= FEW:
        return False
    return CAREFUL * pairs.seconds_for_matrix() > limit.left


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
                f"{keyword('criterion', problem.criterion.name)}: these are kept.",
                FewerFeaturesWarning,
            )
    finally:
        if found.evidence.proved is not None and not is_built_in(strategy):
            # Multipliers are checked; a proof is taken as it is, and so from this package alone.
            found.evidence = replace(found.evidence, proved=None)
    if not found.indices and not found.cut_short:
        raise InvalidInput(
            f"no units from {keyword('strategy', strategy.name)}",
            "a strategy that puts the units it chose into found.indices",
            "Report this to the strategy's author.",
        )


def completed(problem: SubsetProblem, strategy: Strategy, found: Found) -> Completed:
    """What was found as an allowed subset: filled up, or brought down, where the search ended early."""
    if found.nothing_left and not problem.exactly:
        problem = _as_large_as_found(problem, found)
    searched = problem.units
    if not is_built_in(strategy):
        _check_possible(searched, strategy, found)
    units, scores = found.indices, found.scores
    if not found.any_size:
        units = brought_to_size(searched, found.indices)
        if units != found.indices and (found.cut_short or found.nothing_left):
            # Scores are those of a whole subset, as after any search that was not interrupted.
            scores = _scores_of(searched, strategy, units)
    apart = brought_apart(searched, units, fill=not found.any_size)
    if apart != units:
        units = apart if strategy.in_order_of_choice else sorted(apart)
        size = searched.rules.size(units)
        if size < searched.k and not found.any_size:
            problem = problem.of_size(size)
            searched = problem.units
        scores = _scores_of(searched, strategy, units)
    return Completed(problem, strategy, units, scores, found.any_size, found.drawn_size)


def _scores_of(problem: UnitProblem, strategy: Strategy, units: list[int]) -> list[float]:
    """The scores of a whole subset that a search did not end with by itself."""
    return list(values_along(problem, units)) if strategy.in_order_of_choice else [problem.value(units)]


def _ended_by_criterion(problem: SubsetProblem, found: Found) -> bool:
    """Whether the subset may be smaller because the criterion found nothing to add."""
    return found.nothing_left and not problem.exactly


def _check_fewer(problem: SubsetProblem, smaller: SubsetProblem, asked: Asked) -> None:
    """Warn that fewer features are selected than asked for, or refuse that where constraints depend on their number."""
    if asked.any_size or problem.constraints is None or problem.constraints.shared is None:
        return  # the sizes compete
    most = keyword("max_shared", spelled=f"{problem.constraints.shared.most:g}")
    if problem.constraints.beyond_exclusion:
        raise InvalidInput(
            f"{keyword('k', problem.k)} with {most}",
            f"a size with an allowed subset: the largest that was found has {smaller.k} features",
            f"Raise {keyword('max_shared')}, or lower {keyword('k')} to {smaller.k}.",
        )
    warn_user(
        f"Asked for {problem.k} features, but no more than {smaller.k} were found that share little enough "
        f"({most}): {smaller.k} are selected. Raise {keyword('max_shared')} for more.",
        FewerFeaturesWarning,
    )


def polished(whole: Completed, found: Found, seconds: dict[str, float]) -> Completed:
    """The subset improved by swaps, which `found` has one after the other."""
    found.indices, found.scores = list(whole.units), list(whole.scores)
    with timed(seconds, "polish"):
        polish_by_swaps(whole.problem.units, found)
    return replace(whole, units=found.indices, scores=found.scores)


def valued(whole: Completed, seconds: dict[str, float]) -> Selection:
    """The units as columns of the table, with their names and value."""
    problem = whole.problem
    columns = problem.units.columns(whole.units)
    if problem.units.groups and not whole.strategy.in_order_of_choice:
        columns.sort()  # units in order need not be columns in order
    names = problem.feature_names
    return Selection(
        indices=np.array(columns, dtype=np.intp),
        names=tuple(map(names.__getitem__, columns)),
        objective=problem.value(columns),
        scores=tuple(whole.scores),
        strategy=whole.strategy.name,
        criterion=problem.criterion.name,
        k=problem.k,
        drawn_size=whole.drawn_size,
        seconds=seconds,
        dropped=tuple(map(names.__getitem__, np.flatnonzero(problem.constant).tolist())),
        constrained=problem.constrained,
        without_copies=bool(problem.copies),
        problem=problem,
    )


def certified(
    whole: Completed,
    selection: Selection,
    found: Found,
    seconds: dict[str, float],
    asked: Asked,
    warm_start: Relaxation | None,
) -> Selection:
    """The selection with a bound, if one was asked for or the search has one."""
    problem, certify = whole.problem, asked.certify
    if certify and _pairs_take_too_long(problem, asked.limit):
        found.stop_at(asked.limit)
        certify = False
    if not whole.any_size:  # the bound is on subsets of k features
        if certify:
            tight = certify == TIGHT
            solve(problem, selection.indices, found, seconds, asked.limit, tight=tight, warm_start=warm_start)
        proved = found.evidence.proved
        if proved is not None and proved.too_large and proved.bound < math.inf:
            # Too large to keep: what a file can show is the bound of the plain relaxation.
            solve_for_bound(problem, found, seconds, asked.limit.at_most(PLAIN_SECONDS), warm_start=warm_start)
        selection = proven(problem, selection, found.evidence)
    return noted(selection, found)


def _as_large_as_found(problem: SubsetProblem, found: Found) -> SubsetProblem:
    """The problem of the size at which a search found nothing to add; constraints may ask for more."""
    size = problem.units.rules.size(found.indices)
    return problem.of_size(size) if size < problem.k and size in problem.allowed_sizes else problem


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
            f"the units {shown(units)} from {keyword('strategy', strategy.name)}",
            "units that its problem's rules allow together",
            "Report this to the strategy's author.",
        )
