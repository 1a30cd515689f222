"""Run a search strategy on a problem and say what came of it."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import replace
from time import perf_counter
from typing import Any

import numpy as np

from certselect.criteria.problem import SubsetProblem
from certselect.errors import InvalidInput, QuickerSearchWarning
from certselect.relaxation import Relaxation
from certselect.search.annealing import annealing
from certselect.search.backward import backward
from certselect.search.certified import solve_for_bound, with_bound
from certselect.search.cobra import cobra
from certselect.search.exhaustive import exhaustive
from certselect.search.floating import floating
from certselect.search.forward import forward
from certselect.search.genetic import genetic
from certselect.search.options import Seed, check_options, make_generator
from certselect.search.polish import polish as polish_by_swaps
from certselect.search.qpfs import qpfs
from certselect.search.relevance import most_relevant, relevance
from certselect.search.selection import INTERRUPTED, PROVEN_OPTIMAL, Selection
from certselect.search.soss import soss
from certselect.search.strategy import Found, Strategy

AUTO = "auto"
# Candidates up to which "auto" solves the relaxation: seconds on two cores.
MOST_FOR_COBRA = 1000
# To add a strategy, write its file and add its line.
STRATEGIES: dict[str, Strategy] = {
    "relevance": relevance,
    "forward": forward,
    "backward": backward,
    "floating": floating,
    "exhaustive": exhaustive,
    "annealing": annealing,
    "genetic": genetic,
    "cobra": cobra,
    "qpfs": qpfs,
    "soss": soss,
}


def select(
    problem: SubsetProblem,
    strategy: str = "forward",
    *,
    random_state: Seed = None,
    polish: bool = False,
    certify: bool = False,
    **options: Any,
) -> Selection:
    """Find k features that are worth much together.

    Equal values (to 1e-12) are decided in favour of the lowest column, so the
    answer does not hang on rounding.

    Ctrl-C ends a long search early: the answer is the best subset found so far,
    filled up with the most relevant features if it was not whole yet, and its
    status is "interrupted".

    Parameters
    ----------
    problem : SubsetProblem
        From `subset_problem`.
    strategy : str
        "auto" : "cobra" with polish up to 1000 candidates; beyond, "forward" with
        polish, and a warning that says so.
        "relevance" : the most relevant features one by one.
        "forward" : grow the subset greedily; the quickest that heeds pairs.
        "backward" : shrink it greedily from all features; needs all pairs.
        "floating" : forward, with steps back where they help.
        "exhaustive" : every subset; the best one for sure (`max_subsets`).
        "annealing" : random swaps that cool down (`steps`, `temperature`).
        "genetic" : subsets that breed (`population`, `generations`).
        "cobra" : the paper's search: relax to a semidefinite programme, round at
        random, repair the size (`draws`, `repair`, `tol`, `max_seconds`). Always
        comes with a bound.
        "qpfs", "soss" : two quadratic programmes it was compared with; they need
        the extra `certselect[solvers]`.
    random_state : None, int, Generator or RandomState
        Seed of the random strategies; the same int gives the same answer.
    polish : bool
        Afterwards, swap single features for better ones while that helps.
    certify : bool
        Prove how far the answer can be from the best subset of its size: fills
        `upper_bound` and `gap`. "cobra" always does.
    **options
        The strategy's own options, named above.

    Returns
    -------
    Selection
        Valued at size k whatever the strategy, so that strategies compare.

    Examples
    --------
    >>> import numpy as np
    >>> from certselect import information_terms, select, subset_problem
    >>> X = np.array([[0, 0, 0], [0, 1, 0], [1, 0, 0], [1, 1, 1]])
    >>> problem = subset_problem(information_terms(X, X[:, 0] ^ X[:, 1]), k=2)
    >>> select(problem, "exhaustive").indices.tolist()
    [0, 1]
    """
    strategy, polish = settle_strategy(strategy, polish, len(problem.candidates))
    run = find_strategy(strategy, options)
    found, seconds = search(problem, run, make_generator(random_state), options)
    return conclude(problem, strategy, found, seconds, polish=polish, certify=certify)


def settle_strategy(strategy: str, polish: bool, n_candidates: int) -> tuple[str, bool]:
    """What "auto" stands for at this size; any other strategy stands for itself."""
    if strategy != AUTO:
        return strategy, polish
    if n_candidates <= MOST_FOR_COBRA:
        return "cobra", True
    warnings.warn(
        f"{n_candidates} features are many for the relaxation that strategy='auto' solves up to {MOST_FOR_COBRA}: "
        "used forward selection with polish instead, which proves no bound. Pass strategy='cobra' to wait for it, "
        "or strategy='forward' to silence this.",
        QuickerSearchWarning,
        stacklevel=4,
    )
    return "forward", True


def find_strategy(strategy: str, options: dict[str, Any] | None = None) -> Callable[..., None]:
    """The strategy of that name, once its options are known to be its own."""
    if strategy not in STRATEGIES:
        known = ", ".join([AUTO, *STRATEGIES])
        raise InvalidInput(f"strategy={strategy!r}", f"one of {known}", "Check the spelling.")
    check_options(strategy, STRATEGIES[strategy], options or {})
    return STRATEGIES[strategy]


def search(
    problem: SubsetProblem, run: Callable[..., None], rng: np.random.Generator, options: dict[str, Any]
) -> tuple[Found, dict[str, float]]:
    """What the strategy found until it ended or Ctrl-C ended it, and the seconds it took."""
    found, start = Found(), perf_counter()
    try:
        run(problem, found, rng, **options)
    except KeyboardInterrupt:
        found.status = INTERRUPTED
    return found, {"search": perf_counter() - start}


def conclude(
    problem: SubsetProblem,
    strategy: str,
    found: Found,
    seconds: dict[str, float],
    *,
    polish: bool,
    certify: bool,
    warm_start: Relaxation | None = None,
) -> Selection:
    """Make what was found a subset of k features, polish and certify it if asked to, and value it."""
    if not found.any_size:
        _settle_size(problem, found)
    if polish and found.status != INTERRUPTED and not found.any_size:
        start = perf_counter()
        try:
            polish_by_swaps(problem, found)
        except KeyboardInterrupt:
            found.status = INTERRUPTED
        seconds = {**seconds, "polish": perf_counter() - start}
    eligible = np.zeros(problem.n_features, dtype=bool)
    eligible[problem.candidates] = True
    selection = Selection(
        indices=np.array(found.indices, dtype=np.intp),
        names=tuple(problem.feature_names[i] for i in found.indices),
        objective=problem.value(found.indices),
        scores=tuple(found.scores),
        strategy=strategy,
        criterion=problem.criterion,
        k=problem.k,
        status=found.status,
        drawn_size=found.drawn_size,
        seconds=seconds,
        dropped=tuple(problem.feature_names[i] for i in np.flatnonzero(~eligible)),
    )
    if found.any_size:
        return selection  # the bound is on subsets of k features
    if certify and found.multipliers is None and found.status != INTERRUPTED:
        found.multipliers, found.relaxation, spent = solve_for_bound(problem, warm_start=warm_start)
        selection.seconds.update(spent)
    if found.multipliers is not None:
        selection = with_bound(problem, selection, found.multipliers)
    if found.status == PROVEN_OPTIMAL:
        # Every subset was valued, which is a proof of its own.
        selection = replace(selection, upper_bound=selection.objective, gap=0.0)
    return selection


def _settle_size(problem: SubsetProblem, found: Found) -> None:
    """Bring an interrupted search's subset to k features: the most relevant come in, or stay."""
    missing = problem.k - len(found.indices)
    if missing > 0:
        others = set(problem.candidates.tolist()).difference(found.indices)
        found.indices.extend(most_relevant(problem, others, missing))
    elif missing < 0:
        found.indices = sorted(most_relevant(problem, found.indices, problem.k))
