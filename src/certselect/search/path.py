"""Subsets of several sizes, by one run where the strategy's subsets nest."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from inspect import signature
from typing import TYPE_CHECKING, Any, NamedTuple

from certselect.criteria.definitions import Criterion
from certselect.criteria.problem import SubsetProblem, subset_problem
from certselect.errors import InvalidInput
from certselect.search.backward import remaining
from certselect.search.options import Seed, make_generator
from certselect.search.select import conclude, find_strategy, search, settle_strategy
from certselect.search.selection import INTERRUPTED, Selection
from certselect.search.strategy import Found

if TYPE_CHECKING:
    from certselect.information.terms import InformationTerms


def selection_path(
    terms: InformationTerms,
    ks: Iterable[int],
    criterion: str | Criterion = "jmi",
    strategy: str = "forward",
    *,
    beta: float | None = None,
    random_state: Seed = None,
    polish: bool = False,
    certify: bool = False,
    **options: Any,
) -> list[Selection]:
    """Select features for several sizes at once, to choose a size or to see how the subset grows.

    Each answer is the one `select` gives at that size. The subsets of "forward",
    "relevance", "qpfs" and "backward" nest, so these strategies run once for all sizes
    (and every answer tells that run's seconds); the others run once per size.

    Parameters
    ----------
    terms : InformationTerms
        From `information_terms`.
    ks : iterable of int
        The sizes, in any order.
    criterion, beta
        As for `subset_problem`.
    strategy, random_state, polish, certify, **options
        As for `select`. Each relaxation starts from the last, in the order of `ks`.

    Returns
    -------
    list of Selection
        One for each size, in the order of `ks`. After Ctrl-C the sizes not
        reached are filled up with the most relevant features, status "interrupted".

    Examples
    --------
    >>> import numpy as np
    >>> from certselect import information_terms, selection_path
    >>> X = np.array([[0, 0, 0], [0, 1, 0], [1, 0, 1], [1, 1, 1]])
    >>> terms = information_terms(X, X[:, 0])
    >>> [selection.indices.tolist() for selection in selection_path(terms, [1, 2], "mrmr")]
    [[0], [0, 1]]
    """
    problems = [subset_problem(terms, k, criterion, beta=beta) for k in _check_sizes(ks)]
    strategy, polish = settle_strategy(strategy, polish, len(problems[0].candidates))
    run = find_strategy(strategy, options)
    nested = NESTED.get(strategy)
    whole, seconds, stopped = Found(), {"search": 0.0}, False
    if nested is not None:
        longest = nested.longest(problems, key=lambda problem: problem.k)
        whole, seconds = search(longest, run, make_generator(random_state), options)
        stopped = whole.status == INTERRUPTED
    selections: dict[int, Selection] = {}
    relaxation = None  # of the size before, which is close to the next one's
    takes_warm_start = "warm_start" in signature(run).parameters
    for problem in problems:
        if problem.k in selections:
            continue
        if nested is not None:
            found = nested.state(problem, whole)
        elif stopped:
            found = Found()
        else:
            if takes_warm_start:
                options = {**options, "warm_start": relaxation}
            found, seconds = search(problem, run, make_generator(random_state), options)
        # Once Ctrl-C has been pressed, nothing is searched or polished any more.
        if stopped and (polish or len(found.indices) != problem.k):
            found.status = INTERRUPTED
        selections[problem.k] = conclude(
            problem, strategy, found, seconds, polish=polish, certify=certify and not stopped, warm_start=relaxation
        )
        relaxation = found.relaxation or relaxation
        stopped = stopped or selections[problem.k].status == INTERRUPTED
    return [selections[problem.k] for problem in problems]


def _check_sizes(ks: Iterable[int]) -> list[int]:
    sizes = list(ks) if isinstance(ks, Iterable) else []
    if not sizes:
        raise InvalidInput(f"ks={ks!r}", "one size or more in a list, range or array", "Pass for example range(1, 11).")
    return sizes


class _Nested(NamedTuple):
    """How one run holds the answers for several sizes."""

    longest: Callable[..., SubsetProblem]  # max or min: which size's run passes all others
    state: Callable[[SubsetProblem, Found], Found]  # where that run stood at a problem's size


def _first_choices(problem: SubsetProblem, whole: Found) -> Found:
    return Found(whole.indices[: problem.k], whole.scores[: problem.k])


def _before_later_removals(problem: SubsetProblem, whole: Found) -> Found:
    removed = whole.removed[: len(problem.candidates) - problem.k]
    return Found(remaining(problem, removed), whole.scores[: len(removed)], removed=removed)


NESTED = {
    "relevance": _Nested(max, _first_choices),
    "forward": _Nested(max, _first_choices),
    "qpfs": _Nested(max, _first_choices),
    "backward": _Nested(min, _before_later_removals),
}
