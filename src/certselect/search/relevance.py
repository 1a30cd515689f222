"""The features that say most of the target one by one, whatever they share."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from certselect.criteria.problem import SubsetProblem
from certselect.search.completion import Completion
from certselect.search.strategy import Found
from certselect.search.ties import descending_with_ties, first_best, value_scale


def relevance(problem: SubsetProblem, found: Found, rng: np.random.Generator, /) -> None:
    """Rank by I(Xi;C) alone and take the first k.

    The criterion's pair terms play no part in the choice; they do in the scores.

    Under rules, units are ranked by their mean relevance; the required ones come
    first, and those with which the subset could not be completed are passed over.
    """
    if problem.rules is None:
        found.indices.extend(most_relevant(problem, problem.candidates, problem.k))
    else:
        ranking = most_relevant(problem, problem.candidates, len(problem.candidates))
        found.indices.extend(Completion(problem.rules).in_order(ranking))
    for value in values_along(problem, found.indices):
        found.scores.append(value)


def most_relevant(problem: SubsetProblem, among: Iterable[int], count: int) -> list[int]:
    """The `count` features of largest relevance (a unit's is the mean), most relevant first, lowest index of equals."""
    features = np.sort(np.fromiter(among, dtype=np.intp))
    scale = value_scale(problem)
    left = problem.linear[features].astype(float)
    if problem.rules is not None:
        # Most are asked for, as whoever comes first may have to be passed over: sorted, not sought one by one.
        order = descending_with_ties(left / problem.rules.sizes[features], scale)
        return features[order[:count]].tolist()
    ranked: list[int] = []
    for _ in range(count):
        best = first_best(left, scale)
        ranked.append(int(features[best]))
        left[best] = -np.inf
    return ranked


def values_along(problem: SubsetProblem, ranking: list[int]) -> Iterator[float]:
    """Value of each leading part of the ranking, its own size setting the pair weight."""
    rules = problem.rules
    worth_alone = shared = 0.0
    size = 0
    for place, feature in enumerate(ranking):
        worth_alone += float(problem.linear[feature])
        size += 1 if rules is None else int(rules.sizes[feature])
        if rules is not None:
            shared += float(rules.inner[feature])
        if place:  # one feature has no pairs
            shared += float(problem.pair_row(feature)[ranking[:place]].sum(dtype=float))
        yield worth_alone - problem.weight(size) * shared
