"""The features that carry most information about the target one by one, however redundant."""

from __future__ import annotations

import numpy as np

from certselect.criteria.units import UnitProblem
from certselect.search.completion import Completion, most_relevant, values_along
from certselect.search.found import Found
from certselect.search.strategy import FIRST_CHOICES, Strategy


def relevance(problem: UnitProblem, found: Found, rng: np.random.Generator, /) -> None:
    """Rank by I(Xi;C) alone and take the first k.

    The criterion's pair terms play no part in the choice; they do in the scores. Units of
    several columns are ranked by their mean relevance; the required ones come first, and
    those with which the subset could not be completed are passed over.
    """
    found.indices.extend(Completion(problem.rules, problem.limit).in_order(most_relevant(problem, problem.candidates)))
    for value in values_along(problem, found.indices):
        found.scores.append(value)


STRATEGY = Strategy(
    "relevance",
    relevance,
    "takes the k most relevant features, however redundant; a baseline",
    in_order_of_choice=True,
    nested=FIRST_CHOICES,
    scores="ranking",
)
