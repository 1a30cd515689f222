"""Run a search strategy on a problem, or on one problem for each of several sizes."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from contextvars import copy_context
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from certselect.clock import TimeLimit
from certselect.criteria.known import AnyCriterion, find_criterion
from certselect.criteria.problem import SubsetProblem, unsized_problem
from certselect.criteria.stepwise import StepwiseCriterion, no_certificate
from certselect.errors import IdleSettingWarning, InvalidInput, QuickerSearchWarning, keyword, option, warn_user
from certselect.relaxation.device import use_device
from certselect.search.certified import check_room_for_bound
from certselect.search.conclude import Asked, answer
from certselect.search.cost import cost_of_a_bound
from certselect.search.found import Found
from certselect.search.options import Seed, make_generator
from certselect.search.registry import AUTO, find_strategy, is_auto
from certselect.search.selection import INTERRUPTED, Selection
from certselect.search.several_sizes import best_of_sizes, select_each
from certselect.search.strategy import Strategy
from certselect.settings import Constraints, Searching, Settings
from certselect.settings.searching import ANY_DEVICE

if TYPE_CHECKING:
    from certselect.information.terms import InformationTerms

# Candidates up to which "auto" solves the relaxation of one size: seconds on two cores.
MOST_FOR_COBRA = 1000


def select(
    problem: SubsetProblem,
    strategy: str | Strategy = AUTO,
    *,
    random_state: Seed = None,
    polish: bool = False,
    certify: bool | str = False,
    max_seconds: float | None = None,
    device: str = ANY_DEVICE,
    strategy_options: Mapping[str, Any] | None = None,
    **options: Any,
) -> Selection:
    """Find k features whose value together is large.

    Equal values (to about 1e-12) are decided in favour of the lowest column, so the
    answer does not depend on rounding.

    Ctrl-C ends it early, be it in the search, the polish or a proof: the answer is the
    best subset found so far, filled up with the most relevant features if it was not whole
    yet, with whatever bound is proven by then, and its status is "interrupted". Nothing
    else is begun; with any size within a budget, larger sizes are not looked at.

    Parameters
    ----------
    problem : SubsetProblem
        From `subset_problem`. Its constraints hold whatever the strategy; if it asks for
        any size within a budget, every size is searched and the best answer kept.
    strategy : str
        How to search: "auto", "forward", "cobra", "exact", ... `certselect.list_strategies()` lists
        them all with what they do and which options they have. "auto" is "cobra" with polish
        up to 1000 candidates; beyond, "forward" with polish and a warning. For criteria that are no sums
        over pairs ("cmim", "jmim", "njmim", "cmi", "miq"), which have no bounds, it is "forward".
    random_state : None, int, Generator or RandomState
        Seed of the random strategies; the same int gives the same answer.
    polish : bool
        Afterwards, swap single features (or groups of equal size) for better ones
        while that helps.
    certify : bool or "tight"
        Prove how far the answer can be from the best subset of its size: fills
        `upper_bound` and `gap`. "cobra" always does. "tight" spends up to 60 seconds (if
        `max_seconds` does not say how many) on the smallest bound it can get, often on a proof that
        the answer is optimal. Where memory has no room for a relaxation of so many features, a warning says so
        and the bound is a poor one, from the largest pair terms of each feature.
    max_seconds : float, optional
        Time limit of all of it, whatever the strategy, from the moment of the call: the answer is then
        the best subset found so far, completed with the most relevant features if it was not whole yet,
        and with `certify` the bound proven so far. `Selection.out_of_time` says whether the limit ended
        anything. Where a bound is to follow, the search may use half of the time. A step that has begun is
        finished; what would take too long is not begun, so with thousands of features and a few seconds there may be a
        poor bound or none.
    device : {"auto", "cpu", "cuda"}
        Where relaxations are computed: on a GPU (with CuPy, `pip install certselect[gpu]`) or on the CPU. "auto"
        takes the GPU where there is one and the problem is large enough to gain; `Selection.computed_on` says so.
        What is proven is always checked on the CPU.
    strategy_options : mapping, optional
        The strategy's own options, {"draws": 500} for example.
    **options
        The same, as keywords.

    Returns
    -------
    Selection
        Valued at size k whatever the strategy, so that strategies compare.

    Examples
    --------
    >>> import numpy as np
    >>> from certselect import information_terms, select, subset_problem
    >>> X = np.array([[0, 0, 0], [0, 1, 0], [1, 0, 0], [1, 1, 1]])
    >>> terms = information_terms(X, X[:, 0] ^ X[:, 1], correction="none")
    >>> problem = subset_problem(terms, k=2, criterion="jmi")
    >>> select(problem, "exhaustive").indices.tolist()
    [0, 1]
    """
    stated = Searching(
        strategy=strategy,
        strategy_options=strategy_options,
        polish=polish,
        certify=certify,
        max_seconds=max_seconds,
        device=device,
        random_state=random_state,
    )
    own = stated.all_options
    for name in own.keys() & options:
        raise InvalidInput(
            f"{option(name)}, also in {keyword('strategy_options')}",
            "one value for it",
            f"Remove it from {keyword('strategy_options')}.",
        )
    return select_by(problem, replace(stated, strategy_options={**own, **options}))


def select_by(problem: SubsetProblem, searching: Searching, limit: TimeLimit | None = None) -> Selection:
    """The same by settings; the time limit begins now, or is one that has begun before."""
    # In a context of its own, which has a device: a block would have an end, where Ctrl-C loses the answer.
    return copy_context().run(_select, problem, searching, limit)


def _select(problem: SubsetProblem, searching: Searching, limit: TimeLimit | None) -> Selection:
    use_device(searching.device)
    limit = TimeLimit.of(searching.max_seconds) if limit is None else limit
    problems = [problem.of_size(k) for k in problem.allowed_sizes] if problem.any_size else [problem]
    check_provable(problem.criterion, searching)
    strategy, polish, options = settle(searching.strategy, problems, searching.polish, searching.all_options)
    if searching.certify:
        check_room_for_bound(problem)
    if polish and strategy.name == "forward" and is_auto(searching.strategy):
        warn_user(
            f"{len(problem.candidates)} features are too many for the relaxation that {keyword('strategy', 'auto')} "
            f"solves up to {MOST_FOR_COBRA}: used forward selection with polish instead"
            f"{_without_bound(problem, searching)}. Pass {keyword('strategy', 'forward')} to silence this.",
            QuickerSearchWarning,
        )
    asked = Asked(limit, polish, searching.certify, problem.any_size)
    if problem.any_size:
        selections = select_each(problems, strategy, asked, searching.random_state, options)
        try:
            return best_of_sizes(problem, selections)
        except KeyboardInterrupt:
            return replace(best_of_sizes(problem, selections), status=INTERRUPTED, tolerance=math.nan)
    return answer(problem, strategy, Found(), make_generator(searching.random_state), options, asked)


def _without_bound(problem: SubsetProblem, searching: Searching) -> str:
    """What there is to say where nobody asked for a bound."""
    return "" if searching.certify else f", which proves no bound. {cost_of_a_bound(len(problem.candidates))[:-1]}"


def check_provable(criterion: AnyCriterion, searching: Searching) -> None:
    """Refuse what needs a quadratic form where the criterion is none."""
    if not isinstance(criterion, StepwiseCriterion):
        return
    if not is_auto(searching.strategy) and not (found := find_strategy(searching.strategy)).stepwise:
        raise no_certificate(criterion, keyword("strategy", found.name))
    for name in ("certify", "polish"):
        if getattr(searching, name):
            raise no_certificate(criterion, keyword(name, getattr(searching, name)))


def settle(
    strategy: str | Strategy, problems: Sequence[SubsetProblem], polish: bool, options: dict[str, Any]
) -> tuple[Strategy, bool, dict[str, Any]]:
    """The strategy of that name, whether to polish, and the options it takes; where "auto" is settled.

    "auto" solves relaxations if all of them together take no longer than one of 1000
    candidates, whose time grows with the cube of their number.
    """
    if not is_auto(strategy):
        return find_strategy(strategy, options), polish, options
    if problems[0].steps is not None:
        return find_strategy("forward", options), False, options  # no bound exists, and nothing to polish by
    candidates = max(len(problem.units.candidates) for problem in problems)
    cobra = find_strategy("cobra", options)
    if len(problems) * candidates**3 <= MOST_FOR_COBRA**3:
        return cobra, True, options
    forward = find_strategy("forward")
    idle = [option(name, value) for name, value in options.items() if name not in forward.options]
    if idle:
        warn_user(
            f"{', '.join(idle)} has no effect: {keyword('strategy', 'auto')} uses forward selection for {candidates} "
            f"features, which has no such option. Pass {keyword('strategy', 'cobra')} for it.",
            IdleSettingWarning,
        )
    return forward, True, {name: value for name, value in options.items() if name in forward.options}


def selection_path(
    terms: InformationTerms,
    sizes: Iterable[int],
    criterion: str | AnyCriterion = Searching.criterion,
    strategy: str = AUTO,
    **settings: Any,
) -> list[Selection]:
    """Select features for several sizes at once, to choose a size or to see how the subset grows.

    Each answer is the one `select` gives at that size. Where a strategy's subsets nest,
    as those of "forward" do, it runs once for all sizes (and every answer has that run's
    seconds); the others run once per size, and so do all under constraints other than `exclude`.

    Parameters
    ----------
    terms : InformationTerms
        From `information_terms`.
    sizes : iterable of int
        The sizes, in any order.
    criterion, strategy, **settings
        As for the selectors: what a subset is worth (`criterion`, `beta`, `gamma`, `relevance`), which are allowed
        (`include`, `exclude`, `feature_groups`, `costs`, `budget`, `max_shared`) and how one is searched for
        (`strategy`, `strategy_options`, `polish`, `certify`, `max_seconds`, `device`, `random_state`).
        Each size needs a subset that the constraints allow; each relaxation starts from the
        last, in the order of `sizes`. "auto" is "cobra" with polish where the relaxations of
        all sizes take seconds together, else "forward" with polish. `max_seconds` is the time limit
        of all sizes together: each may use its share of what is left, and each is answered.

    Returns
    -------
    list of Selection
        One for each size, in the order of `sizes`. Ctrl-C ends the path: sizes not
        begun are left out, and what was still being searched, polished or certified has
        the status "interrupted".

    Examples
    --------
    >>> import numpy as np
    >>> from certselect import information_terms, selection_path
    >>> X = np.array([[0, 0, 0], [0, 1, 0], [1, 0, 1], [1, 1, 1]])
    >>> terms = information_terms(X, X[:, 0])
    >>> [selection.indices.tolist() for selection in selection_path(terms, [1, 2], "mrmr")]
    [[0], [0, 1]]
    """
    keywords = {"criterion": criterion, "strategy": strategy, **settings}
    stated = Settings.from_keywords(keywords, groups=("constraints", "searching"))
    return select_sizes(terms, sizes, stated.constraints, stated.searching)


def select_sizes(
    terms: InformationTerms, sizes: Iterable[int], constraints: Constraints, searching: Searching
) -> list[Selection]:
    """The same by settings."""
    return copy_context().run(_select_sizes, terms, sizes, constraints, searching)


def _select_sizes(
    terms: InformationTerms, sizes: Iterable[int], constraints: Constraints, searching: Searching
) -> list[Selection]:
    use_device(searching.device)
    limit = TimeLimit.of(searching.max_seconds)
    check_provable(find_criterion(searching.criterion, **searching.criterion_options), searching)
    whole = unsized_problem(terms, searching.criterion, constraints=constraints, **searching.problem_options)
    whole = replace(whole, exactly=True)  # every size is answered
    problems = [whole.of_size(size) for size in _check_sizes(sizes)]
    strategy, polish, options = settle(searching.strategy, problems, searching.polish, searching.all_options)
    if searching.certify:
        check_room_for_bound(whole)
    return select_each(problems, strategy, Asked(limit, polish, searching.certify), searching.random_state, options)


def _check_sizes(sizes: Iterable[int]) -> list[int]:
    listed = list(sizes) if isinstance(sizes, Iterable) else []
    if not listed or any(size is None for size in listed):
        got = keyword("sizes", sizes)
        raise InvalidInput(got, "one size or more in a list, range or array", "Pass for example range(1, 11).")
    return listed
