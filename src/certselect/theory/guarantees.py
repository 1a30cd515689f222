"""What backward elimination and COBRA promise before they are run, and when the promise counts.

A ratio of r means: the subset found is worth at least r times the best one. Both theorems are
about the k-heaviest subgraph problem with weights that are 0 or more; `check_nonnegative`
says whether a problem is of that kind. A certificate says more about the answer at hand and
assumes nothing.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import linprog

from certselect.errors import InvalidInput

# k as a fraction of n and COBRA's ratio there: Table 1 of the paper, by Srivastav and Wolf's analysis.
PRINTED_COBRA_RATIOS = (
    (1, 2, 0.48),
    (1, 3, 0.33),
    (1, 4, 0.24),
    (1, 6, 0.13),
    (1, 8, 0.082),
    (1, 10, 0.056),
    (1, 20, 0.015),
)
# Goemans and Williamson (1995), rounded down: random signs agree with a third sign, two at a time, at least
# this often compared with what the relaxation counts, and differ from another, one at a time, at least that often.
PAIR_FACTOR = 0.79607
SIGN_FACTOR = 0.87856


def backward_ratio(k: int, n: int) -> float:
    """What share of the best value is backward elimination sure to reach, choosing k of n?

    Row BE of the paper's Table 1, by Asahiro, Iwama, Tamaki and Tokuyama (2000):

        1 / (1/2 + n/(2k))^2  for k >= n/3,      1 / (2 (n/k - 1))  below.

    These are the leading terms for large n; the theorem adds terms of order 1/n and n/k^2.

    Parameters
    ----------
    k, n : int
        Features to choose, and to choose from (the paper's P and N).

    Notes
    -----
    The weights of all pairs must be 0 or more (`check_nonnegative`), and features must be
    removed by those weights. The search "backward" does so for "jmi" and "mrmr", whose
    value at any size is a sum of weights of pairs up to a factor. For "d1" and "mifs" it
    removes by other weights, and the theorem does not speak of it.

    Examples
    --------
    >>> from certselect.theory import backward_ratio
    >>> [round(backward_ratio(60 // part, 60), 4) for part in (2, 3, 4, 6)]  # the paper prints 0.4, 0.25, 0.16, 0.10
    [0.4444, 0.25, 0.1667, 0.1]
    """
    _check_sizes(k, n)
    if 3 * k >= n:
        return 1.0 / (0.5 + n / (2 * k)) ** 2
    return 1.0 / (2.0 * (n / k - 1.0))


def cobra_ratio(k: int, n: int) -> float:
    """What share of the best value is COBRA sure to reach on average, choosing k of n, by the paper's Table 1?

    The paper prints the ratio, for large n, at seven values of k/n and gives no formula.
    Between them this is the printed value at the next smaller k/n, as the ratio grows with
    k/n; 0, no promise, below k = n/20.

    Parameters
    ----------
    k, n : int
        Features to choose, and to choose from (the paper's P and N).

    Notes
    -----
    Weights must be 0 or more: see `check_nonnegative`. `rounding_ratio` derives a
    ratio from first principles; for large n it is no smaller than any printed value.

    Examples
    --------
    >>> from certselect.theory import cobra_ratio
    >>> [cobra_ratio(60 // part, 60) for part in (2, 3, 4, 6, 10, 20)]
    [0.48, 0.33, 0.24, 0.13, 0.056, 0.015]
    """
    _check_sizes(k, n)
    if k == n:
        return 1.0
    for numerator, denominator, ratio in PRINTED_COBRA_RATIOS:
        if k * denominator >= n * numerator:
            return ratio
    return 0.0


def rounding_ratio(k: int, n: int) -> float:
    """What share of the best value is COBRA sure to reach with enough draws, choosing k of n, by a full proof?

    Holds for every n and k, for the best of sufficiently many draws, where the entries of
    Q are 0 or more (`check_nonnegative(...).entries_hold`).

    Parameters
    ----------
    k, n : int
        Features to choose, and to choose from (the paper's P and N).

    Notes
    -----
    Let S be a drawn set, V its value and B the best one. Goemans and Williamson's
    inequalities for random signs with covariance Y give, with a = 0.79607 and b = 0.87856,

        E V >= a B,     E (n - |S|) >= b (n - k),     E |S| (n - |S|) >= b k (n - k),

    as Y satisfies the two sums of the paper's `eq_20`. So for any t, u >= 0 some draws have

        V/B >= a + t (b - (n - |S|) / (n - k)) + u (b - |S| (n - |S|) / (k (n - k))).

    Taking out the feature that is missed least until k are left keeps at least
    k (k-1) / (|S| (|S|-1)) of the value; adding features costs nothing. The ratio is the
    smallest product over all sizes |S|, for the t and u where it is largest.

    Examples
    --------
    >>> from certselect.theory import rounding_ratio
    >>> round(rounding_ratio(1000, 2000), 2), round(rounding_ratio(100, 2000), 3)  # the paper prints 0.48, 0.015
    (0.51, 0.016)
    """
    _check_sizes(k, n)
    if k == n:
        return 1.0
    size = np.arange(n + 1.0)
    kept = np.ones(n + 1)
    kept[k + 1 :] = k * (k - 1) / (size[k + 1 :] * (size[k + 1 :] - 1))
    left_out = SIGN_FACTOR - (n - size) / (n - k)
    split = SIGN_FACTOR - size * (n - size) / (k * (n - k))
    solved = linprog(
        [-1.0, 0.0, 0.0],
        A_ub=np.column_stack([np.ones(n + 1), -kept * left_out, -kept * split]),
        b_ub=kept * PAIR_FACTOR,
        bounds=[(None, None), (0.0, None), (0.0, None)],
    )
    # Any t and u prove a ratio, so the solver need not be trusted.
    t, u = np.maximum(solved.x[1:], 0.0) if solved.x is not None else (0.0, 0.0)
    return max(0.0, float((kept * (PAIR_FACTOR + t * left_out + u * split)).min()))


def _check_sizes(k: int, n: int) -> None:
    if not 1 <= k <= n:
        raise InvalidInput(f"k={k!r} of n={n!r}", "1 <= k <= n", "k features are chosen from n.")
