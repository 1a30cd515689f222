"""Select for several sizes at once: how the subset grows, and which size to choose."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from certselect.criteria.known import AnyCriterion, find_criterion
from certselect.criteria.problem import unsized_problem
from certselect.errors import InvalidInput
from certselect.relaxation.device import on_device
from certselect.search.certified import check_room_for_bound
from certselect.search.registry import AUTO
from certselect.search.select import check_provable, settle
from certselect.search.selection import Selection
from certselect.search.several_sizes import select_each
from certselect.search.time_limit import TimeLimit
from certselect.settings import Constraints, Searching, Settings

if TYPE_CHECKING:
    from certselect.information.terms import InformationTerms


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
        As for the selectors: what a subset is worth (`criterion`, `beta`, `gamma`), which are allowed
        (`include`, `exclude`, `feature_groups`, `costs`, `budget`) and how one is searched for
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
    limit = TimeLimit.of(searching.max_seconds)
    check_provable(find_criterion(searching.criterion, **searching.criterion_options), searching)
    whole = unsized_problem(terms, searching.criterion, constraints=constraints, **searching.criterion_options)
    whole = replace(whole, exactly=True)  # every size is answered
    problems = [whole.of_size(size) for size in _check_sizes(sizes)]
    strategy, polish, options = settle(searching.strategy, problems, searching.polish, searching.all_options)
    if searching.certify:
        check_room_for_bound(whole)
    with on_device(searching.device):
        return select_each(
            problems,
            strategy,
            limit=limit,
            random_state=searching.random_state,
            polish=polish,
            certify=searching.certify,
            options=options,
        )


def _check_sizes(sizes: Iterable[int]) -> list[int]:
    listed = list(sizes) if isinstance(sizes, Iterable) else []
    if not listed or any(size is None for size in listed):
        got = f"sizes={sizes!r}"
        raise InvalidInput(got, "one size or more in a list, range or array", "Pass for example range(1, 11).")
    return listed
