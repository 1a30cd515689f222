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
_FILLED = 0.01  # part of a column's rows that fewer equal values fill no part of


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


@dataclass(frozen=True, eq=False)
class Ranks:
    """Some columns by their ranks, each over those of its rows that have a value.

    Attributes
    ----------
    scores : ndarray of float32 (p, m)
        Whole multiples of the unit of scores; 0 where a value is missing. Equal values have the
        score of their mean rank.
    tied : ndarray of float64 (p,)
        The part of all pairs of rows that have the same value.
    mode : ndarray of float64 (p, 3)
        Of the value that occurs most often, the lowest of several: the weight of the rows below
        it, with it, and of all.
    spread : ndarray of float64 (p, m), or None
        By how much, squared, normal numbers would differ on average from the one score that tied values
        share, in units of scores squared; 0 for values of which there are few, None if there are no
        others. A value that fills a part of a column stands for all the ranks it fills: scores alone
        would say that a class in which the column is constant has no spread. Scores squared plus this,
        times the weights, add up to less than the sum of the weights + 1, as in `fixed_point`.
    """

    scores: np.ndarray
    tied: np.ndarray
    mode: np.ndarray
    spread: np.ndarray | None


def normal_scores(
    values: np.ndarray, fixed: FixedPoint, weights: np.ndarray | None, *, with_spread: bool = False
) -> Ranks:
    """Rank some columns.

    Parameters
    ----------
    values : ndarray of float64 (p, m)
        One row per column of the table; NaN where a value is missing.
    fixed : FixedPoint
    weights : ndarray (m,), or None
        Those of `fixed` that belong to these rows.
    with_spread : bool
        Whether `spread` is asked for.
    """
    p, m = values.shape
    groups = _Groups.of(values)
    scores = np.empty(p * m, dtype=np.float32)
    if groups.complete and weights is None and len(groups.starts) == p * m:
        scores[groups.order] = _rank_scores(m, fixed.per_score)[1::2]
        mode = np.broadcast_to([0.0, 1.0, m], (p, 3))
        return Ranks(scores.reshape(p, m), np.zeros(p), mode, None)
    begin, end, total = groups.ranks(weights)
    if groups.complete and weights is None:
        tied = _rank_scores(m, fixed.per_score)[(begin + end).astype(np.intp)]
    else:
        tied = rank_scores(begin, end, total, fixed)
    scores[groups.order.ravel()] = groups.spread_out(tied)
    scores = scores.reshape(p, m)
    if not groups.complete:
        scores[np.isnan(values)] = 0
    size, everyone = (end - begin) / fixed.per_sample, total / fixed.per_sample
    alike = np.maximum(size * (size - 1), 0) / np.maximum(everyone * (everyone - 1), 1)
    spread = None
    filling = end - begin >= np.maximum(_FILLED * total, 2 * fixed.per_sample)
    if with_spread and filling.any():
        spread = np.empty(p * m)
        spread[groups.order.ravel()] = groups.spread_out(_tie_spread(begin, end, total, tied, filling, fixed))
        spread = spread.reshape(p, m)
    mode = groups.fullest(begin, end, np.broadcast_to(total, begin.shape))
    return Ranks(scores, np.bincount(groups.column, alike, minlength=p), mode, spread)


def rank_scores(begin: np.ndarray, end: np.ndarray, total: np.ndarray, fixed: FixedPoint) -> np.ndarray:
    """Scores of tied rows, from the weight of rows below them and up to their end."""
    # A group that weighs w behind a weight of b has the mean rank b + (w + 1) / 2.
    return _scores(begin + end + fixed.per_sample, total + fixed.per_sample, fixed.per_score)


def _tie_spread(
    begin: np.ndarray, end: np.ndarray, total: np.ndarray, scores: np.ndarray, filling: np.ndarray, fixed: FixedPoint
) -> np.ndarray:
    """`Ranks.spread` of each group of tied values."""
    spread = np.zeros(len(begin))
    several = np.flatnonzero(filling)
    beyond = np.broadcast_to(total + fixed.per_sample, begin.shape)[several]
    low, high = ((rank[several] + fixed.per_sample / 2) / beyond for rank in (begin, end))
    a, b, share = ndtri(low), ndtri(high), high - low
    first = (_density(a) - _density(b)) / share
    second = 1 + (a * _density(a) - b * _density(b)) / share
    own = scores[several].astype(np.float64) / fixed.per_score
    spread[several] = np.rint(np.maximum(second - 2 * own * first + own * own, 0) * fixed.per_score**2)
    return spread


@dataclass(frozen=True, eq=False)
class _Groups:
    """The rows of some columns in order of their values, in groups of equal ones.

    `order` (p, m) are places in the flat array of values; group g begins at starts[g] of it. A
    missing value stands behind the others and is a group of its own.
    """

    order: np.ndarray
    ordered: np.ndarray
    starts: np.ndarray
    complete: bool

    @classmethod
    def of(cls, values: np.ndarray) -> _Groups:
        p, m = values.shape
        order = np.argsort(values, axis=1)
        order += np.arange(0, p * m, m)[:, None]  # flat: NumPy fetches and puts these without Python's lock
        ordered = np.take(values, order)
        first = np.ones((p, m), dtype=bool)
        np.not_equal(ordered[:, 1:], ordered[:, :-1], out=first[:, 1:])
        return cls(order, ordered, np.flatnonzero(first), not np.isnan(ordered[:, -1]).any())

    @property
    def column(self) -> np.ndarray:
        """Which column each group belongs to."""
        return self.starts // self.order.shape[1]

    def ranks(self, weights: np.ndarray | None) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The weight of its column's rows before each group and up to its end, and of all."""
        m = self.order.shape[1]
        ends = np.append(self.starts[1:], self.order.size)
        if self.complete and weights is None:
            before = self.column * m
            return (self.starts - before).astype(np.float64), (ends - before).astype(np.float64), np.full(1, float(m))
        heavy = np.ones(self.order.shape) if weights is None else weights[self.order % m]
        heavy[np.isnan(self.ordered)] = 0
        upto = np.cumsum(heavy, axis=1)
        return (upto - heavy).ravel()[self.starts], upto.ravel()[ends - 1], upto[:, -1][self.column]

    def fullest(self, begin: np.ndarray, end: np.ndarray, total: np.ndarray) -> np.ndarray:
        """Begin, end and total of each column's heaviest group, the first of several, (p, 3)."""
        p = len(self.order)
        starts = np.searchsorted(self.column, np.arange(p))
        heaviest = np.maximum.reduceat(end - begin, starts)
        places = np.flatnonzero(end - begin == heaviest[self.column])
        first = places[np.searchsorted(self.column[places], np.arange(p))]
        return np.stack([begin[first], end[first], total[first]], axis=1)

    def spread_out(self, of_groups: np.ndarray) -> np.ndarray:
        """One number for every row, in order of the values, from one for every group."""
        return np.repeat(of_groups, np.diff(self.starts, append=self.order.size))


@lru_cache(maxsize=4)
def _rank_scores(n_samples: int, per_score: float) -> np.ndarray:
    """Scores of the mean ranks 1/2, 1, 3/2 .. n_samples + 1/2, the only ones that rows counting once can have."""
    twice = np.arange(1, 2 * n_samples + 2, dtype=np.float64)
    return _scores(twice, np.full(1, n_samples + 1.0), per_score)


def _scores(twice_rank: np.ndarray, beyond: np.ndarray, per_score: float) -> np.ndarray:
    """Normal quantiles of ranks among 0 .. `beyond`; those of mirrored ranks differ in sign alone."""
    lower = np.minimum(twice_rank, 2 * beyond - twice_rank)
    below = ndtri(lower / (2 * beyond))
    return np.rint(per_score * np.where(twice_rank > beyond, -below, below)).astype(np.float32)


def _density(z: np.ndarray) -> np.ndarray:
    return np.exp(-z * z / 2) / np.sqrt(2 * np.pi)
