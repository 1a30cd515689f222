"""Run a search strategy on a problem and say what came of it."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

from certselect.criteria.problem import SubsetProblem
from certselect.errors import InvalidInput, QuickerSearchWarning
from certselect.search.annealing import annealing
from certselect.search.backward import backward
from certselect.search.cobra import cobra
from certselect.search.conclude import conclude, search
from certselect.search.exact import exact
from certselect.search.exhaustive import exhaustive
from certselect.search.floating import floating
from certselect.search.forward import forward
from certselect.search.genetic import genetic
from certselect.search.options import Seed, check_certify, check_options, make_generator
from certselect.search.qpfs import qpfs
from certselect.search.relevance import relevance
from certselect.search.selection import Selection
from certselect.search.several_sizes import best_of_sizes, select_each
from certselect.search.soss import soss
from certselect.search.strategy import Strategy

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
    "exact": exact,
}


def select(
    problem: SubsetProblem,
    strategy: str = "forward",
    *,
    random_state: Seed = None,
    polish: bool = False,
    certify: bool | str = False,
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
        From `subset_problem`. Its constraints hold whatever the strategy; if it asks for
        any size within a budget, every size is searched and the best answer kept.
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
        "exact" : the best subset, proven to be the best; stops with the gap that is left
        after `max_seconds`; lists all equally good ones with `ties=True`.
        "qpfs", "soss" : two quadratic programmes it was compared with; they need
        the extra `certselect[solvers]`.
    random_state : None, int, Generator or RandomState
        Seed of the random strategies; the same int gives the same answer.
    polish : bool
        Afterwards, swap single features (or groups of equal size) for better ones
        while that helps.
    certify : bool or "tight"
        Prove how far the answer can be from the best subset of its size: fills
        `upper_bound` and `gap`. "cobra" always does. "tight" spends up to 60 seconds on
        the smallest bound it can get, often on the proof that nothing is better (more
        time: `certify(..., tight=True, max_seconds=...)`).
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
    certify = check_certify(certify)
    problems = [problem.of_size(k) for k in problem.allowed_sizes] if problem.any_size else [problem]
    most = max(len(each.units.problem.candidates) for each in problems)
    strategy, polish = settle_strategy(strategy, polish, most)
    run = find_strategy(strategy, options)
    if problem.any_size:
        selections = select_each(
            problems, strategy, run, random_state=random_state, polish=polish, certify=certify, options=options
        )
        return best_of_sizes(problem, selections)
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
