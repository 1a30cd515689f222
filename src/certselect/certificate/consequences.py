"""What a slack matrix proves: a bound on all subsets, on those with a unit, and on those without it.

Take any symmetric N and any w. For a 0/1 vector x with s'x = k, x_i^2 = x_i gives

    x'Qx = g'x + sum over i != j of B_ij x_i x_j - x'Nx,
    B = Q + N + ws' + sw',      g_i = B_ii - 2k w_i.

The first two terms are bounded row by row: beside a chosen unit i, the others fill k - s_i
columns, so its row adds at most the best B_ij that fit (fractions of units allowed); call
g_i and that h_i. What all chosen units add is at most the best h_i that fit into k columns.
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

from certselect.certificate.least_slack import UNIT, LeastSlack
from certselect.certificate.open_problem import OpenProblem

# See above: 5 of each entry of B and 20 of each unit, and some to spare.
ROUNDINGS = 32.0
# On numbers of order one, all underflow there can be in a bound stays far below this; and this is it when scaled back.
UNDERFLOW = 1e-280
SMALLEST = 1e-320
# Numbers beyond this prove nothing; below its inverse they are not scaled up all the way.
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


def consequences(problem: OpenProblem, N: np.ndarray, w: np.ndarray, pairs: np.ndarray | None = None) -> Consequences:
    """Everything N (m, m), exactly symmetric, and w (m,) prove about an open problem in which something is to choose.

    `pairs` (p, 2) are units, two different ones each, to bound the subsets that hold both.
    """
    k, s = int(problem.k), problem.sizes
    pairs = np.empty((0, 2), dtype=np.intp) if pairs is None else pairs
    with np.errstate(all="ignore"):
        largest = _largest(problem.matrix) + _largest(N) + 2.0 * _largest(w * s)
    if problem.infeasible:
        return _alike(problem, len(pairs), -math.inf)
    if not largest < 2.0**LARGEST_EXPONENT:  # or not a number
        return _alike(problem, len(pairs), math.inf)
    exponent = max(math.frexp(largest)[1], -LARGEST_EXPONENT) if largest > 0.0 else -LARGEST_EXPONENT
    scale, down = 2.0**exponent, 2.0**-exponent
    N, w = N * down, w * down
    B = problem.matrix * down
    B += N
    beside = np.outer(w, s)
    B += beside + beside.T  # in this order it stays exactly symmetric
    g = B.diagonal() - 2.0 * k * w
    np.fill_diagonal(B, -np.inf)
    never_both = problem.never_both()
    if never_both is not None:
        B[never_both] = -np.inf
    rows = _Rows(B, g, s, k)
    price, dues = _best_price(problem, rows.whole)
    rows.charge(dues)
    most = problem.most_units
    least = LeastSlack(N, s, k, most)
    each = _largest(g) + 2.0 * k * _largest(w) + _largest(dues) + k + 4.0
    added = [price * problem.budget if price > 0.0 else 0.0, ROUNDINGS * UNIT * most * each + UNDERFLOW]

    def total(row_bounds: np.ndarray, least_slack: np.ndarray | float) -> np.ndarray:
        """Everything together, each of the few sums rounded up."""
        with np.errstate(invalid="ignore", over="ignore"):
            inside = scale * (row_bounds + sum(added) - least_slack)
            rounding = 8.0 * UNIT * scale * (np.abs(row_bounds) + sum(added) + np.abs(least_slack))
            sums = problem.constant + inside + problem.spent
            sums += rounding + SMALLEST + 8.0 * UNIT * (abs(problem.constant) + problem.spent + np.abs(inside))
        return np.where(row_bounds == -np.inf, -np.inf, sums)

    both = np.array([rows.if_both(int(i), int(j)) for i, j in pairs])
    return Consequences(
        float(total(_filled(rows.whole[None], s, k), least.anywhere)[0]),
        total(rows.if_in(), least.where(1.0)),
        total(rows.if_out(), least.where(0.0)),
        price * scale,
        total(both, least.anywhere),
    )


def _largest(values: np.ndarray) -> float:
    """The largest absolute value."""
    return max(float(values.max()), -float(values.min())) if values.size else 0.0


def _alike(problem: OpenProblem, n_pairs: int, bound: float) -> Consequences:
    each = np.full(len(problem), bound)
    return Consequences(bound, each, each, 0.0, np.full(n_pairs, bound))


class _Rows:
    """Bounds on g'x + sum of B_ij x_i x_j from the rows of B."""

    def __init__(self, B: np.ndarray, g: np.ndarray, sizes: np.ndarray, k: int) -> None:
        self.B, self.g, self.sizes, self.k = B, g, sizes, k
        self.single = bool((sizes == 1).all())
        if self.single:
            # The k largest of each row, the least three of them first and in order.
            m = len(B)
            places = [place for place in (m - k, m - k + 1, m - k + 2) if place < m]
            self._best = np.partition(B, places, axis=1)[:, m - k :].copy()
            self.whole = g + _sum_up(self._best[:, 1:])
        else:
            self.whole = g + _filled(B, sizes, k - sizes)
        self._beside_both: dict[int, np.ndarray] = {}

    def charge(self, dues: np.ndarray) -> None:
        self.g = self.g - dues
        self.whole = self.whole - dues

    def if_in(self) -> np.ndarray:
        """With unit i (row) in: its g, and the best of the others' (column) 2 B_ij, g_j and rows."""
        if self.single:
            if self.k == 1:
                return self.g
            worth = 2.0 * self.B
            if self.k > 2:
                worth += self.g + _sum_up(self._best[:, 2:])
                worth -= _lost(self.B, self._best[:, 1])
            else:
                worth += self.g
            return self.g + _filled(worth, self.sizes, self.k - 1)
        result = np.empty(len(self.B))
        for size in np.unique(self.sizes).tolist():
            units = self.sizes == size
            worth = self.g + _filled(self.B, self.sizes, self.k - size - self.sizes)
            result[units] = self.g[units] + _filled(2.0 * self.B[units] + worth, self.sizes, self.k - size)
        return result

    def if_out(self) -> np.ndarray:
        """With unit i (row) out: the best of the others' (column) g_j and rows, all without i."""
        if self.single and self.k > 1:
            worth = self.whole - _lost(self.B, self._best[:, 0])
        else:
            worth = np.tile(self.whole, (len(self.B), 1))
        np.fill_diagonal(worth, -np.inf)
        return _filled(worth, self.sizes, self.k)

    def if_both(self, i: int, j: int) -> float:
        """With two units in."""
        left = self.k - int(self.sizes[i] + self.sizes[j])
        if left < 0 or self.B[i, j] == -np.inf:
            return -math.inf
        if left not in self._beside_both:
            self._beside_both[left] = _filled(self.B, self.sizes, left - self.sizes)
        worth = 2.0 * (self.B[i] + self.B[j]) + self.g + self._beside_both[left]
        return float(self.g[i] + self.g[j] + 2.0 * self.B[i, j] + _filled(worth[None], self.sizes, left)[0])


def _lost(B: np.ndarray, next_best: np.ndarray) -> np.ndarray:
    """What the row of unit j (column) loses without unit i (row): the next best takes its place, if it had one."""
    with np.errstate(invalid="ignore"):
        lost = B - next_best
    # Not a number where both are -inf: then i had no place in that row.
    return np.fmax(lost, 0.0, out=lost)


def _filled(values: np.ndarray, sizes: np.ndarray, room: int | np.ndarray) -> np.ndarray:
    """For each row, the most that units of these sizes add up to when they fill its room, fractions allowed.

    -inf where the units that may come (values above -inf) cannot fill it. `room` is one for all rows or one for each.
    """
    if not (sizes == 1).all():
        values = np.repeat(values / sizes, sizes, axis=1)
    if isinstance(room, int):
        return _sum_of_best(values, room)
    result = np.empty(len(values))
    for amount in np.unique(room).tolist():
        rows = room == amount
        result[rows] = _sum_of_best(values[rows], amount)
    return result


def _sum_of_best(values: np.ndarray, count: int) -> np.ndarray:
    """Of each row; -inf where it is shorter than that, or `count` is negative."""
    width = values.shape[1]
    if count == 0:
        return np.zeros(len(values))
    if not 0 < count <= width:
        return np.full(len(values), -np.inf)
    return _sum_up(np.partition(values, width - count, axis=1)[:, width - count :])


def _sum_up(rows: np.ndarray) -> np.ndarray:
    """At least the sum of each row, in whatever order it is added up; -inf if one of its terms is."""
    sums = rows.sum(axis=1)
    with np.errstate(invalid="ignore"):
        up = sums + (rows.shape[1] + 2) * UNIT * np.abs(rows).sum(axis=1)
    return np.where(sums == -np.inf, -np.inf, up)


def _best_price(problem: OpenProblem, whole: np.ndarray) -> tuple[float, np.ndarray]:
    """The price at which the bound is about least (0 without a budget), by golden sections, and what units pay."""
    free = 0.0, np.zeros(len(whole))
    if problem.costs is None:
        return free
    costs, budget = problem.costs, problem.budget

    def bound(price: float) -> float:
        return price * budget + float(_filled((whole - price * costs)[None], problem.sizes, problem.k)[0])

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
