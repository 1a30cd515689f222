"""What a cell of a joint table is expected to add to the information of two columns, one of which is shuffled.

Of N samples, a have a level of one column and b have one of the other. After shuffling, the number n that
have both is hypergeometric, with mean ab/N, and the cell adds

    g(a, b, N) = E[n ln(n N / (a b))] = E[n ln(n / mean) - n + mean]

to N times the information. There are two ways to compute it, and the cell alone decides which one is used:

- The sum over n, from the smallest possible n on. Probabilities are needed up to a factor only: each follows
  from the one before by a ratio, and their sum divides them.
- For large means, the expansion of the second form in x = (n - mean) / mean, that is, in the central moments of
  the distribution: g = mean (E[x^2]/2 - E[x^3]/6 + E[x^4]/12 - ...). The moments follow from each other.

References
----------
N. X. Vinh, J. Epps and J. Bailey (2010), Information theoretic measures for clusterings comparison, JMLR 11.
"""

from __future__ import annotations

from functools import cache
from itertools import pairwise
from math import comb

import numpy as np

# How many moments are enough for twelve digits, by mean**2 / variance, from which this many are used.
_MOMENTS = {20: 125.0, 16: 200.0, 12: 420.0, 10: 900.0, 8: 2500.0, 6: 20_000.0}
_FEWEST, _MOST_MOMENTS = tuple(_MOMENTS.values()), tuple(_MOMENTS)
# Where the variance is small, the mean itself has to be large: a quarter of the numbers above, or more.
_LARGE_MEAN = 4.0
# Sums are this many terms long: few different lengths, so that many cells are added up together.
_LENGTHS = np.array([2, 4, 6, 8, 12, 16, 24, 32, 48, 64, 80, 96, 128, 160, 192, 256, 384, 512, 768, 1024])
# -ln of the probability that is left out behind the last term.
_LEFT_OUT = 36.0
# Numbers computed together: enough to amortise the calls, few enough to stay in cache.
_AT_ONCE = 1 << 15


def expected_cells(first: np.ndarray, second: np.ndarray, samples: np.ndarray) -> np.ndarray:
    """g of several cells, (cells,), in nats times samples; to about 1e-12 of itself.

    Parameters
    ----------
    first, second : ndarray of int64 (cells,)
        Samples that have the cell's level of each column, 1 or more.
    samples : ndarray of int64 (cells,)
        All samples, no fewer than either.
    """
    # The smaller first, so that a cell and its mirror image are the same float.
    a, b = np.minimum(first, second).astype(np.float64), np.maximum(first, second).astype(np.float64)
    total = samples.astype(np.float64)
    mean = a * b / total
    way = _ways(a, b, total, mean)
    result = np.zeros(len(a))
    # No cell depends on which others are asked for: what is computed together has the same number of terms.
    for number in np.flatnonzero(np.bincount(way, minlength=1)).tolist():
        alike = np.flatnonzero(way == number)
        compute, size = _WAYS[number]
        at_once = max(2, _AT_ONCE // (4 if compute is _by_moments else size))
        for start in range(0, len(alike), at_once):
            some = alike[start : start + at_once]
            if len(some) == 1:  # NumPy adds up a single column in another order
                some = np.repeat(some, 2)
            result[some] = compute(a[some], b[some], total[some], mean[some], size)
    return result


def _ways(a: np.ndarray, b: np.ndarray, total: np.ndarray, mean: np.ndarray) -> np.ndarray:
    """Which of `_WAYS` computes each cell."""
    apart = (1.0 - a / total) * (1.0 - b / total)
    with np.errstate(divide="ignore"):
        moments = np.searchsorted(_FEWEST, np.minimum(mean / apart, _LARGE_MEAN * mean), side="right")
    # Counted from the smallest possible n, which is 0 or else leaves no sample without both levels.
    lowest = np.maximum(a + b - total, 0.0)
    terms = np.searchsorted(_reached(), np.minimum(mean, (total - a) * (total - b) / total))
    possible = np.searchsorted(_LENGTHS, a - lowest)
    way = np.minimum(terms, possible) + np.where(lowest > 0, len(_LENGTHS), 0)
    return np.where(moments > 0, 2 * len(_LENGTHS) + moments - 1, way)


@cache
def _reached() -> np.ndarray:
    """The largest mean that each of `_LENGTHS` is enough for, by Chernoff's inequality."""
    last = _LENGTHS.astype(np.float64)
    mean = np.full(len(last), 1e-300)
    above = last
    for _ in range(200):  # bisection: the logarithm of the probability rises with the mean
        middle = (mean + above) / 2
        small = last * np.log(last / middle) - last + middle >= _LEFT_OUT
        mean, above = np.where(small, middle, mean), np.where(small, above, middle)
    return mean


def _terms_from_zero(a: np.ndarray, b: np.ndarray, total: np.ndarray, mean: np.ndarray, last: int) -> np.ndarray:
    """The sum over n = 0 .. last."""
    n = np.arange(1.0, last + 1)[:, None]
    weights = _weights(a, b, total - a - b, n, n)
    sums = 1.0 + weights.sum(axis=0)
    weights *= n * np.log(n)
    return np.maximum(weights.sum(axis=0) / sums - mean * np.log(mean), 0.0)


def _terms_from_lowest(a: np.ndarray, b: np.ndarray, total: np.ndarray, mean: np.ndarray, last: int) -> np.ndarray:
    """The sum over the smallest possible n, a + b - N, and `last` more."""
    lowest, more = a + b - total, np.arange(1.0, last + 1)[:, None]
    n = lowest + more
    weights = _weights(total - b, total - a, 0.0, more, n)
    sums = 1.0 + weights.sum(axis=0)
    weights *= _added(n, mean)
    return (_added(lowest, mean) + weights.sum(axis=0)) / sums


def _weights(
    first: np.ndarray, second: np.ndarray, rest: np.ndarray | float, more: np.ndarray, n: np.ndarray
) -> np.ndarray:
    """How probable each of the next n is, (n, cells), in units of the smallest one.

    There, `first` and `second` samples have one level only, and `rest` have neither.
    """
    ratios = (first + 1.0) - more
    ratios *= (second + 1.0) - more
    below = rest + more
    ratios /= np.multiply(below, n, out=below) if below.shape == ratios.shape else below * n
    # From the first ratio that is 0 on, the products stay there.
    for before, ratio in pairwise(ratios):
        ratio *= before
    return ratios


def _added(n: np.ndarray, mean: np.ndarray) -> np.ndarray:
    """n ln(n / mean) - n + mean, for n of 1 or more."""
    more = (n - mean) / mean
    return mean * ((1.0 + more) * np.log1p(more) - more)


def _by_moments(a: np.ndarray, b: np.ndarray, total: np.ndarray, mean: np.ndarray, most: int) -> np.ndarray:
    """The expansion up to the central moment of order `most`.

    With u = a - mean and v = b - mean, the ratio of neighbouring probabilities gives, for the moments M_k,

        N M_(k+1) = sum over j < k of (k over j) [u v M_j - (u + v) M_(j+1) + M_(j+2)],

    of which the last M_(k+1) is brought to the left.
    """
    product, sums = (a - mean) * (b - mean), (a - mean) + (b - mean)
    moments, brackets = [np.ones_like(a), np.zeros_like(a)], []
    term = np.empty_like(a)
    for k in range(1, most):
        known = product * moments[k - 1] - sums * moments[k]
        moment = known * k
        for j, bracket in enumerate(brackets[: k - 1]):
            np.multiply(bracket, float(comb(k, j)), out=term)
            moment += term
        moment /= total - k
        moments.append(moment)
        brackets.append(known + moment)
    expected = np.zeros_like(a)
    for order in range(most, 1, -1):
        np.multiply(moments[order], (-1.0) ** order / (order * (order - 1)), out=term)
        expected += term
        expected /= mean
    return expected


_WAYS = (
    *((_terms_from_zero, int(last)) for last in _LENGTHS),
    *((_terms_from_lowest, int(last)) for last in _LENGTHS),
    *((_by_moments, most) for most in _MOST_MOMENTS),
)
