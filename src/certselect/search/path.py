"""Select for several sizes at once: how the subset grows, and which size to choose."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from certselect.criteria.definitions import Criterion
from certselect.criteria.problem import subset_problem
from certselect.errors import InvalidInput
from certselect.search.options import Seed, check_certify
from certselect.search.select import settle
from certselect.search.selection import Selection
from certselect.search.several_sizes import select_each

if TYPE_CHECKING:
    from certselect.information.terms import InformationTerms


def selection_path(
    terms: InformationTerms,
    ks: Iterable[int],
    criterion: str | Criterion = "jmi",
    strategy: str = "forward",
    *,
    beta: float | None = None,
    include: Iterable[str | int] = (),
    exclude: Iterable[str | int] = (),
    feature_groups: Any = None,
    costs: Any = None,
    budget: float | None = None,
    random_state: Seed = None,
    polish: bool = False,
    certify: bool | str = False,
    **options: Any,
) -> list[Selection]:
    """Select features for several sizes at once, to choose a size or to see how the subset grows.

    Each answer is the one `select` gives at that size. The subsets of "forward",
    "relevance", "qpfs" and "backward" nest, so these strategies run once for all sizes
    (and every answer tells that run's seconds); the others run once per size, and so
    do all under constraints other than `exclude`.

    Parameters
    ----------
    terms : InformationTerms
        From `information_terms`.
    ks : iterable of int
        The sizes, in any order.
    criterion, beta, include, exclude, groups, costs, budget
        As for `subset_problem`. Each size needs a subset that the constraints allow.
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
    problems = [
        subset_problem(
            terms,
            k,
            criterion,
            beta=beta,
            include=include,
            exclude=exclude,
            feature_groups=feature_groups,
            costs=costs,
            budget=budget,
        )
        for k in _check_sizes(ks)
    ]
    found, polish, options = settle(strategy, problems, polish, options)
    return select_each(
        problems, found, random_state=random_state, polish=polish, certify=check_certify(certify), options=options
    )


def _check_sizes(ks: Iterable[int]) -> list[int]:
    sizes = list(ks) if isinstance(ks, Iterable) else []
    if not sizes or None in sizes:
        raise InvalidInput(f"ks={ks!r}", "one size or more in a list, range or array", "Pass for example range(1, 11).")
    return sizes
