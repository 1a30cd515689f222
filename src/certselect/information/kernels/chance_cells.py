"""What a cell of a joint table is expected to add to the information of two columns, one of which is shuffled.

Of N samples, a have a level of one column and b one of the other. After shuffling, the number n that
have both is hypergeometric, with mean ab/N, and the cell adds

    g(a, b, N) = E[n ln(n N / (a b))] = E[n ln(n / mean) - n + mean]

to N times the information. No term of the second form is negative, so nothing cancels. Probabilities
are needed up to a factor only: each follows from its neighbour by a ratio, begun at the mode, and their
sum divides them. Where the spread is wide, every few n are enough: the sum of a smooth function over
equal steps of half a standard deviation is its sum over all n to rounding, and logarithms of
factorials come from Stirling's series.

References
----------
N. X. Vinh, J. Epps and J. Bailey (2010), Information theoretic measures for clusterings comparison, JMLR 11.
"""

from __future__ import annotations

import numpy as np

# From this standard deviation on, n is looked at in steps. No count of the table is expected below its
# square, so that none comes near 0 within the reach.
_WIDE = 10.0
# Standard deviations either side of the mode, beyond which nothing is left to rounding.
_REACH = 9
_STEPS_PER_DEVIATION = 2
# -ln of the probability that is left out, by Bernstein's inequality.
_LEFT_OUT = 37.0
# Numbers looked at together: enough to amortise the calls, few enough to stay in cache.
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
    # The larger of the variances of drawing with replacement and without.
    spread = np.sqrt(mean * (1.0 - b / total))
    deviation = spread * np.sqrt((total - a) / np.maximum(total - 1.0, 1.0))
    wide = deviation >= _WIDE
    far = np.ceil(_LEFT_OUT / 3 + np.sqrt((_LEFT_OUT / 3) ** 2 + 2 * _LEFT_OUT * spread**2)) + 1
    far = np.minimum(far, a + 1)
    # Rounded up to few different numbers. What is looked at together has one of them, so that no cell's
    # sum depends on which others are asked for.
    far = np.where(wide, 0, np.ceil(2.0 ** (np.ceil(np.log2(far) * 4) / 4))).astype(np.int64)
    result = np.empty(len(a))
    for reach in np.unique(far).tolist():
        sums, reach_of = (_by_ratios, reach) if reach else (_in_steps, _REACH * _STEPS_PER_DEVIATION)
        alike = np.flatnonzero(far == reach)
        for start in range(0, len(alike), max(1, _AT_ONCE // reach_of)):
            some = alike[start : start + max(1, _AT_ONCE // reach_of), None]
            result[some[:, 0]] = sums(a[some], b[some], total[some], reach_of)
    return result


def first_order_cells(first: np.ndarray, second: np.ndarray, samples: np.ndarray) -> np.ndarray:
    """The first term of g in 1/N: over all cells of a table it adds up to (levels - 1)(levels - 1) / 2."""
    return (1.0 - first / samples) * (1.0 - second / samples) / 2


def _mode(a: np.ndarray, b: np.ndarray, total: np.ndarray) -> np.ndarray:
    # Held to what is possible: of large numbers the quotient is rounded.
    return np.clip(np.floor((a + 1) * (b + 1) / (total + 2)), np.maximum(a + b - total, 0), a)


def _added(n: np.ndarray, mean: np.ndarray) -> np.ndarray:
    """n ln(n / mean) - n + mean."""
    more = (n - mean) / mean
    return mean * ((1.0 + more) * np.log1p(np.where(n > 0, more, 0.0)) - more)  # n ln n is 0 for n = 0


def _by_ratios(a: np.ndarray, b: np.ndarray, total: np.ndarray, reach: int) -> np.ndarray:
    """Every n within `reach` of the mode."""
    mean, mode = a * b / total, _mode(a, b, total)
    away = np.arange(1, reach + 1)
    above, below = mode + away, mode - away
    # Ratios end at 0 where n leaves what is possible; beyond, products stay there.
    up = np.maximum(a - above + 1, 0) * np.maximum(b - above + 1, 0)
    up /= above * np.maximum(total - a - b + above, 1)
    down = np.maximum(below + 1, 0) * np.maximum(total - a - b + below + 1, 0)
    down /= (a - below) * (b - below)
    up, down = np.cumprod(up, axis=1), np.cumprod(down, axis=1)
    value = _added(mode, mean)[:, 0]
    value = value + (up * _added(above, mean)).sum(axis=1) + (down * _added(np.maximum(below, 0), mean)).sum(axis=1)
    return value / (1.0 + up.sum(axis=1) + down.sum(axis=1))


def _in_steps(a: np.ndarray, b: np.ndarray, total: np.ndarray, reach: int) -> np.ndarray:
    """Every few n, `reach` of them either side of the mode."""
    mean, mode = a * b / total, _mode(a, b, total)
    deviation = np.sqrt(mean * (1.0 - b / total) * (total - a) / (total - 1.0))
    step = np.floor(deviation / _STEPS_PER_DEVIATION)
    moved = step * np.arange(-reach, reach + 1)
    both, neither = mode, total - a - b + mode
    only_first, only_second = a - mode, b - mode
    logs = -moved * np.log(both * neither / (only_first * only_second))
    for count, change in ((both, moved), (neither, moved), (only_first, -moved), (only_second, -moved)):
        logs -= _log_factorial_ratio(count, change)
    weights = np.exp(logs)
    return (weights * _added(mode + moved, mean)).sum(axis=1) / weights.sum(axis=1)


def _log_factorial_ratio(count: np.ndarray, change: np.ndarray) -> np.ndarray:
    """ln((count + change)! / count!) - change ln(count), by Stirling's series."""
    changed = count + change
    ratio = (changed + 0.5) * np.log1p(change / count) - change
    return ratio + _stirling(1 / changed) - _stirling(1 / count)


def _stirling(inverse: np.ndarray) -> np.ndarray:
    return inverse * (1 / 12 - inverse * inverse / 360)
