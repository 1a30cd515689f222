"""Lifts that are allowed, of any kind."""

from __future__ import annotations

import numpy as np

from certselect.certificate import Lift
from certselect.criteria.reduced import ReducedProblem


def made_lift(rng: np.random.Generator, reduced: ReducedProblem) -> Lift:
    """Any lift that is allowed: a price where there is a budget, pairs of 0 or more, anything between rivals."""
    m, size = len(reduced.matrix), float(np.abs(reduced.matrix).max(initial=0.0))
    pairs = rng.random((m, m)) * size * (rng.random((m, m)) < 0.5)
    for group in reduced.rivals:
        inside = np.ix_(group, group)
        pairs[inside] = size * rng.standard_normal(pairs[inside].shape)
    pairs = np.triu(pairs, 1)
    price = 0.0 if reduced.costs is None else float(rng.exponential(size))
    return Lift(pairs + pairs.T if rng.random() < 0.8 else None, price)
