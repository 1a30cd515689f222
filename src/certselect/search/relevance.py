"""The features that say most of the target one by one, whatever they share."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from certselect.criteria.problem import SubsetProblem
from certselect.search.strategy import Found
from certselect.search.ties import first_best, value_scale


def relevance(problem: SubsetProblem, found: Found, rng: np.random.Generator, /) -> None:
    """Rank by I(Xi;C) alone and take the first k.

    The criterion's pair terms play no part in the choice; they do in the scores.
    """
    found.indices.extend(most_relevant(problem, problem.candidates, problem.k))
    worth_alone = shared = 0.0
    for place, feature in enumerate(found.indices):
        worth_alone += float(problem.linear[feature])
        if place:  # one feature has no pairs
            shared += float(problem.pair_row(feature)[found.indices[:place]].sum(dtype=float))
        found.scores.append(worth_alone - problem.weight(place + 1) * shared)


def most_relevant(problem: SubsetProblem, among: Iterable[int], count: int) -> list[int]:
    """The `count` features of largest relevance, most relevant first, lowest index among equals."""
    features = np.sort(np.fromiter(among, dtype=np.intp))
    scale = value_scale(problem)
    left = problem.linear[features].astype(float)
    ranked: list[int] = []
    for _ in range(count):
        best = first_best(left, scale)
        ranked.append(int(features[best]))
        left[best] = -np.inf
    return ranked
