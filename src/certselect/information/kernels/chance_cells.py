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
_LENGTHS = np.array([2.0, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 512, 1024])
# -ln of the probability that is left out behind the last term.
_LEFT_OUT = 36.0
# Cells, and numbers of them, that are computed together: enough to amortise the calls, few enough to stay in cache.
_CELLS_AT_ONCE = 1 << 13
_AT_ONCE = 1 << 15


def expected_cells(first: np.ndarray, second: np.ndarray, samples: np.ndarray, *, compiled: bool = False) -> np.ndarray:
    """g of several cells, (cells,), in nats times samples; to about 1e-12 of itself.

    Parameters
    ----------
    first, second : ndarray of int64 (cells,)
        Samples that have the cell's level of each column, 1 or more.
    samples : ndarray of int64 (cells,)
        All samples, no fewer than either.
    compiled : bool
        Whether the compiled kernels may be used, which give the same floats.
    """
    result = np.empty(len(first))
    for start in range(0, len(first), _CELLS_AT_ONCE):
        some = slice(start, start + _CELLS_AT_ONCE)
        # The smaller first, so that a cell and its mirror image are the same float.
        a, b = np.minimum(first[some], second[some]), np.maximum(first[some], second[some])
        result[some] = _computed(a.astype(np.float64), b.astype(np.float64), samples[some].astype(np.float64), compiled)
    return result


def _computed(a: np.ndarray, b: np.ndarray, total: np.ndarray, compiled: bool) -> np.ndarray:
    way = _ways(a, b, total)
    order = np.argsort(way, kind="stable")
    a, b, total = a[order], b[order], total[order]
    found = np.empty(len(a))
    ends = np.cumsum(np.bincount(way, minlength=len(_WAYS))).tolist()
    for (compute, size), start, stop in zip(_WAYS, [0, *ends], ends, strict=False):
        # No cell depends on which others are asked for: what is computed together has the same number of terms.
        at_once = max(2, _AT_ONCE // (4 if compute is _by_moments else size))
        faster = _COMPILED.get(compute) if compiled else None
        for begin in range(start, stop, at_once if faster is None else max(1, stop - start)):
            end = stop if faster is not None else min(stop, begin + at_once)
            # NumPy adds a single column up in another order, so it is computed twice.
            some = slice(begin, end) if end - begin > 1 else [begin, begin]
            parts = a[some], b[some], total[some]
            found[some] = (faster or compute)(*parts, parts[0] * parts[1] / parts[2], size)
    result = np.empty(len(a))
    result[order] = found
    return result


def _ways(a: np.ndarray, b: np.ndarray, total: np.ndarray) -> np.ndarray:
    """Which of `_WAYS` computes each cell."""
    mean = a * b
    mean /= total
    # Counted from the smallest possible n, which is 0 or else leaves no sample without both levels.
    lowest = a + b
    lowest -= total
    bound = np.maximum(lowest, 0.0)
    high = bound > 0
    np.subtract(a, bound, out=bound)
    neither = mean - lowest  # how many have neither level, on average
    terms = np.searchsorted(_reached(), np.minimum(mean, neither))
    way = np.minimum(terms, np.searchsorted(_LENGTHS, bound)).astype(np.uint8)
    way[high] += len(_LENGTHS)
    large = np.flatnonzero(mean >= _FEWEST[0] / _LARGE_MEAN)
    mean, neither = mean[large], neither[large]
    with np.errstate(divide="ignore"):
        ratio = np.minimum(mean * total[large] / np.maximum(neither, 0.0), _LARGE_MEAN * mean)
    moments = np.searchsorted(_FEWEST, ratio, side="right")
    way[large] = np.where(moments > 0, 2 * len(_LENGTHS) + moments - 1, way[large])
    return way


@cache
def _reached() -> np.ndarray:
    """The largest mean that each of `_LENGTHS` is enough for, by Chernoff's inequality."""
    last = _LENGTHS
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
    weights *= _count_logs(last)[:, None]
    return np.maximum(weights.sum(axis=0) / sums - mean * np.log(mean), 0.0)


def _compiled_terms(a: np.ndarray, b: np.ndarray, total: np.ndarray, mean: np.ndarray, last: int) -> np.ndarray:
    """As `_terms_from_zero`."""
    from certselect.information.kernels.chance_kernels import sum_terms

    sums, values = np.empty_like(a), np.empty_like(a)
    sum_terms(a, b, total, _count_logs(last), sums, values)
    return np.maximum(values / (1.0 + sums) - mean * np.log(mean), 0.0)


@cache
def _count_logs(last: int) -> np.ndarray:
    """n ln n for n = 1 .. last."""
    n = np.arange(1.0, last + 1)
    return n * np.log(n)


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
    binomials, factors = _factors(most)
    term = np.empty_like(a)
    for k in range(1, most):
        known = product * moments[k - 1] - sums * moments[k]
        moment = known * k
        for bracket, times in zip(brackets, binomials[k], strict=False):
            np.multiply(bracket, times, out=term)
            moment += term
        moment /= total - k
        moments.append(moment)
        brackets.append(known + moment)
    expected = np.zeros_like(a)
    for order in range(most, 1, -1):
        np.multiply(moments[order], factors[order], out=term)
        expected += term
        expected /= mean
    return expected


def _compiled_moments(a: np.ndarray, b: np.ndarray, total: np.ndarray, mean: np.ndarray, most: int) -> np.ndarray:
    """As `_by_moments`."""
    from certselect.information.kernels.chance_kernels import expand_moments

    expected = np.empty_like(a)
    expand_moments(a, b, total, mean, *_factors(most), expected)
    return expected


@cache
def _factors(most: int) -> tuple[np.ndarray, np.ndarray]:
    """k over j for all k and j, and (-1)^order / (order (order - 1)) for each order up to the last."""
    binomials = np.array([[float(comb(k, j)) for j in range(most)] for k in range(most)])
    factors = [0.0, 0.0, *((-1.0) ** order / (order * (order - 1)) for order in range(2, most + 1))]
    return binomials, np.array(factors)


_WAYS = (
    *((_terms_from_zero, int(last)) for last in _LENGTHS),
    *((_terms_from_lowest, int(last)) for last in _LENGTHS),
    *((_by_moments, most) for most in _MOST_MOMENTS),
)
_COMPILED = {_terms_from_zero: _compiled_terms, _by_moments: _compiled_moments}
