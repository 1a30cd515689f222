"""Penalties beyond anything a subset can be worth: how far they may be reduced without a subset becoming a rival."""

from __future__ import annotations

import math

import numpy as np

from certselect.certificate.counting import unit_counts
from certselect.certificate.rounding import order_of
from certselect.criteria.reduced import ReducedProblem

# Only entries this much below it are raised to the floor: nobody else's numbers change.
FAR_BELOW = 2.0**16


def hopeless_floor(problem: ReducedProblem, positions: list[int]) -> float:
    """Below which entries of the matrix, of no use to anyone, may be raised to it; -inf if there are none.

    All positive entries of a subset add up to no more than the `most` largest row sums of them.
    One with an entry at the floor loses more than that, and more than the subset of these
    positions is worth. Raising entries is always safe for a bound; far below the floor they only
    drown everything else in their rounding errors.
    """
    Q, most = problem.matrix, unit_counts(problem.k, problem.sizes).most
    if problem.k <= 0 or not 0 < most <= len(Q):
        return -math.inf
    lowest, of_best = float(Q.min()), math.fsum(map(abs, problem.terms(positions))) + abs(problem.constant)
    if of_best > 0.0 and lowest >= FAR_BELOW * _floor(of_best):
        return -math.inf  # as a rule: what a subset can gain would only lower the floor
    best_of_rows = np.partition(np.maximum(Q, 0.0), len(Q) - most, axis=1)[:, len(Q) - most :]
    rows = np.maximum(Q.diagonal(), 0.0) + best_of_rows.sum(axis=1, dtype=np.float64)
    gained = float(np.partition(rows, len(Q) - most)[len(Q) - most :].sum())
    beyond = max(gained + abs(problem.constant), of_best)
    return _floor(beyond) if beyond > 0.0 and lowest < FAR_BELOW * _floor(beyond) else -math.inf


def _floor(beyond: float) -> float:
    return -4.0 * order_of(beyond)
