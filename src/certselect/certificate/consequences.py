"""What a slack matrix proves: a bound on all subsets, on those with a unit, and on those without it.

Take any symmetric N and any w. For a 0/1 vector x with s'x = k, x_i^2 = x_i gives

    x'Qx = g'x + sum over i != j of B_ij x_i x_j - x'Nx,
    B = Q + N + ws' + sw',      g_i = B_ii - 2k w_i.

The first two terms are bounded row by row: beside a chosen unit i, the others fill k - s_i
columns, so its row adds at most the best B_ij that fit (fractions of units allowed); call
g_i and that h_i (`rows`). What all chosen units add is at most the best h_i that fit into k columns.
Rivals are never beside each other; a budget enters by a price mu >= 0, adding
mu (budget - costs'x) >= 0. With a unit i in, the others add 2 B_ij and what their own rows
have without i; with it out, rows and choice do without it. `least_slack` bounds the last term.

A solver that has closed most of the gap leaves few units for which both "no better subset has
it" and "no better subset is without it" stay open. No solver is trusted: any N and w will do.

In floating point, everything is first brought to order one by a power of two, which is exact
short of underflow: |Q| + |N| + 2|w|s <= 1. Then each entry of B is off by less than 5 v,
v = 2^-53, a subset of u units has u^2 of them, and each unit's g_i, dues and row go through
fewer than 20 roundings more, each of at most v times max |g| + 2k max |w| + max dues + k + 4.
Sums of many terms are rounded up where they are formed.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from certselect.certificate.least_slack import LeastSlack
from certselect.certificate.open_problem import OpenProblem
from certselect.certificate.rounding import UNDERFLOW, UNIT, largest, order_of, round_up
from certselect.certificate.rows import Rows, filled

# See above: 5 of each entry of B and 20 of each unit, and some to spare.
ROUNDINGS = 32.0
# What underflow there can be when a bound is scaled back.
SMALLEST = 1e-320
# Numbers beyond this power of two prove nothing.
LARGEST_EXPONENT = 1000
PRICE_STEPS = 60


@dataclass(frozen=True, eq=False)
class Consequences:
    """Bounds on the criterion, constant included, over the allowed subsets of an open problem.

    Attributes
    ----------
    bound : float
        On all of them.
    if_in, if_out : ndarray (m,)
        On those that hold the unit, and on those that do not; -inf where there are none.
    price : float
        mu, what a unit of cost was charged.
    if_both : ndarray (pairs,)
        On those that hold both units of the pairs asked about.
    """

    bound: float
    if_in: np.ndarray
    if_out: np.ndarray
    price: float
    if_both: np.ndarray


def consequences(
    problem: OpenProblem, N: np.ndarray, w: np.ndarray, pairs: np.ndarray | None = None, *, cases: bool = True
) -> Consequences:
    """Everything N (m, m), exactly symmetric, and w (m,) prove about an open problem in which something is to choose.

    `pairs` (p, 2) are units, two different ones each, to bound the subsets that hold both. Without `cases`, rows are
    looked at for all subsets alone, not for those with and without each unit, which saves two thirds of that work.
    """
    k, s = int(problem.k), problem.sizes
    pairs = np.empty((0, 2), dtype=np.intp) if pairs is None else pairs
    with np.errstate(all="ignore"):
        magnitude = largest(problem.matrix) + largest(N) + 2.0 * largest(w * s)
    if problem.infeasible:
        return _alike(problem, len(pairs), -math.inf)
    if not magnitude < 2.0**LARGEST_EXPONENT:  # or not a number
        return _alike(problem, len(pairs), math.inf)
    scale = order_of(magnitude)
    down = 1.0 / scale
    w = w * down
    rows = Rows.of(problem.matrix, N, w, k, s, problem.never_both(), down=down)
    g = rows.g
    price, dues = _best_price(problem, rows.whole)
    rows.charge(dues)
    anywhere = np.array([rows.anywhere()])
    if_in, if_out = (rows.if_in(), rows.if_out()) if cases else (np.repeat(anywhere, len(problem)),) * 2
    if_both = np.array([rows.if_both(int(i), int(j)) for i, j in pairs])
    del rows  # before the next matrix of that size is made
    most = problem.most_units
    least = LeastSlack(N, s, k, most, down=down)
    each = largest(g) + 2.0 * k * largest(w) + largest(dues) + k + 4.0
    added = [price * problem.budget if price > 0.0 else 0.0, ROUNDINGS * UNIT * most * each + UNDERFLOW]

    # Where no entry is positive, no subset is worth more than what is in already: said without any rounding.
    positive = problem.matrix.max() > 0.0
    nothing_gained = math.inf if positive else round_up([problem.constant, problem.lost])

    def total(row_bounds: np.ndarray, least_slack: np.ndarray | float) -> np.ndarray:
        """Everything together, each of the few sums rounded up."""
        with np.errstate(invalid="ignore", over="ignore"):
            inside = scale * (row_bounds + sum(added) - least_slack)
            rounding = 8.0 * UNIT * scale * (np.abs(row_bounds) + sum(added) + np.abs(least_slack))
            sums = problem.constant + inside + problem.lost
            sums += rounding + SMALLEST + 8.0 * UNIT * (abs(problem.constant) + problem.lost + np.abs(inside))
        return np.where(row_bounds == -np.inf, -np.inf, np.minimum(sums, nothing_gained))

    return Consequences(
        float(total(anywhere, least.anywhere)[0]),
        total(if_in, least.where(1.0)),
        total(if_out, least.where(0.0)),
        price * scale,
        total(if_both, least.anywhere),
    )


def _alike(problem: OpenProblem, n_pairs: int, bound: float) -> Consequences:
    each = np.full(len(problem), bound)
    return Consequences(bound, each, each, 0.0, np.full(n_pairs, bound))


def _best_price(problem: OpenProblem, whole: np.ndarray) -> tuple[float, np.ndarray]:
    """The price at which the bound is about least (0 without a budget), by golden sections, and what units pay."""
    free = 0.0, np.zeros(len(whole))
    if problem.costs is None:
        return free
    costs, budget = problem.costs, problem.budget

    def bound(price: float) -> float:
        return price * budget + float(filled((whole - price * costs)[None], problem.sizes, problem.k)[0])

    finite, positive = whole[np.isfinite(whole)], costs[costs > 0.0]
    if len(finite) == 0 or len(positive) == 0:
        return free
    spread = float(np.ptp(finite)) * problem.k
    low, high = 0.0, spread * min(2.0 / float(positive.min()), 1e6 / float(positive.max()))
    if not 0.0 < high < 2.0**LARGEST_EXPONENT:
        return free
    third = (3.0 - math.sqrt(5.0)) / 2.0
    for _ in range(PRICE_STEPS):  # the bound is convex in the price
        one, other = low + third * (high - low), high - third * (high - low)
        if bound(one) <= bound(other):
            high = other
        else:
            low = one
    price = min((0.0, low, high), key=bound)
    return price, price * costs
