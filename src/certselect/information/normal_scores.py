"""Normal scores: columns as the normal quantiles of their ranks, in whole numbers.

Sums of products of scores must not depend on the order in which they are added. So scores are
rounded once, to whole multiples of a small unit, with so few bits that every such sum stays
below 2**53: a product of matrices in float64 is then exact, however it is blocked or threaded.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy.special import ndtri

_EXACT_BITS = 53  # whole numbers below 2**53 are exact in float64
_MOST_SCORE_BITS = 20  # scores of up to 16 then fit float32, in which they are kept
_MOST_WEIGHT_BITS = 16


@dataclass(frozen=True, eq=False)
class FixedPoint:
    """How weights and scores are written as whole numbers.

    Attributes
    ----------
    weights : ndarray of float64 (m,), or None
        Whole numbers, in units of a `per_sample`-th of a sample; None if every row counts once.
    per_sample : float
        1 if weights were whole, so that they stand for repeated rows.
    per_score : float
        Scores are whole multiples of 1 / per_score.
    """

    weights: np.ndarray | None
    per_sample: float
    per_score: float


def fixed_point(weights: np.ndarray | None, n_samples: int) -> FixedPoint:
    """The finest units in which sums over these rows are exact.

    The squares of a column's scores, times the weights, add up to less than the sum of the
    weights + 1: the square of the normal quantile function is convex, so each is at most the mean
    over its own piece of (0, 1). By Cauchy and Schwarz that bounds sums of products too,
    over whichever rows.
    """
    total = n_samples if weights is None else float(np.sum(weights))
    free = _EXACT_BITS - 0.1 - np.log2(total + 1)  # a tenth of a bit for the rounding of scores
    weight_bits = 0
    if weights is not None and (weights != np.rint(weights)).any():
        weight_bits = min(_MOST_WEIGHT_BITS, int(free // 3))
        weights = np.rint(np.ldexp(weights, weight_bits))
    score_bits = min(_MOST_SCORE_BITS, int((free - weight_bits) // 2))
    return FixedPoint(weights, 2.0**weight_bits, 2.0**score_bits)


def normal_scores(values: np.ndarray, fixed: FixedPoint, weights: np.ndarray | None) -> np.ndarray:
    """Scores of some columns, each ranked over those of its rows that have a value.

    Parameters
    ----------
    values : ndarray of float64 (p, m)
        One row per column of the table; NaN where a value is missing.
    fixed : FixedPoint
    weights : ndarray (m,), or None
        Those of `fixed` that belong to these rows.

    Returns
    -------
    ndarray of float32 (p, m)
        Whole multiples of the unit of scores; 0 where a value is missing.
    """
    p, m = values.shape
    order = np.argsort(values, axis=1)
    order += np.arange(0, p * m, m)[:, None]  # flat: NumPy fetches and puts these without Python's lock
    ordered = np.take(values, order)
    first = np.ones((p, m), dtype=bool)  # of those tied with it; a missing value is tied with none
    np.not_equal(ordered[:, 1:], ordered[:, :-1], out=first[:, 1:])
    complete = not np.isnan(ordered[:, -1]).any()  # missing values stand last
    scores = np.empty(p * m, dtype=np.float32)
    if complete and weights is None and first.all():
        scores[order] = _rank_scores(m, fixed.per_score)[1::2]
        return scores.reshape(p, m)
    starts = np.flatnonzero(first)
    ends = np.append(starts[1:], p * m)
    if complete and weights is None:
        tied = _rank_scores(m, fixed.per_score)[starts + ends - 2 * (starts // m * m)]
    else:
        tied = _weighted_scores(ordered, order % m, starts, ends, fixed, weights)
    scores[order.ravel()] = np.repeat(tied, ends - starts)
    scores = scores.reshape(p, m)
    if not complete:
        scores[np.isnan(values)] = 0
    return scores


@lru_cache(maxsize=4)
def _rank_scores(n_samples: int, per_score: float) -> np.ndarray:
    """Scores of the mean ranks 1/2, 1, 3/2 .. n_samples + 1/2, the only ones that rows counting once can have."""
    twice = np.arange(1, 2 * n_samples + 2, dtype=np.float64)
    return _scores(twice, np.full(1, n_samples + 1.0), per_score)


def _weighted_scores(ordered, order, starts, ends, fixed: FixedPoint, weights: np.ndarray | None) -> np.ndarray:
    """Scores of tied groups whose ranks count weights, or of columns that have lengths of their own."""
    m = ordered.shape[1]
    heavy = np.ones(ordered.shape) if weights is None else weights[order]
    heavy[np.isnan(ordered)] = 0
    upto = np.cumsum(heavy, axis=1)
    before = (upto - heavy).ravel()[starts]
    after = upto.ravel()[ends - 1]
    total = upto[:, -1][starts // m]
    # A group that weighs w behind a weight of b has the mean rank b + (w + 1) / 2.
    return _scores(before + after + fixed.per_sample, total + fixed.per_sample, fixed.per_score)


def _scores(twice_rank: np.ndarray, beyond: np.ndarray, per_score: float) -> np.ndarray:
    """Normal quantiles of ranks among 0 .. `beyond`; those of mirrored ranks differ in sign alone."""
    lower = np.minimum(twice_rank, 2 * beyond - twice_rank)
    below = ndtri(lower / (2 * beyond))
    return np.rint(per_score * np.where(twice_rank > beyond, -below, below)).astype(np.float32)
