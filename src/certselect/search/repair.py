"""Bring random draws to allowed subsets, greedily, all draws at once.

A draw first loses what cannot stay: of rivals all but the one missed most, then the unit
missed least until the rest is neither too large nor too dear. Then the unit that adds most
per column comes in, of those that fit, until the subset is whole. The pair weight is that
of k columns throughout; of equals the lowest index comes in and the highest goes out.

Taking whatever fits can end before the subset is whole, where sizes differ or a budget
binds. A draw for which it does is repaired again by itself, looking ahead at each step to
what can still be completed. A draw for which it does not would not have been repaired
otherwise: each unit it took could be completed, as the outcome shows.
"""

from __future__ import annotations

import numpy as np

from certselect.criteria.reduced import ReducedProblem
from certselect.criteria.rules import Rules
from certselect.criteria.units import UnitProblem
from certselect.search.ties import TIE, first_best, last_best

# Columns of Q made float64 at a time.
COLUMNS_AT_ONCE = 1024


def repair(problem: UnitProblem, drawn: np.ndarray, *, scale: float) -> np.ndarray:
    """Allowed subsets (draws, m), as positions of `problem.reduced`, close to the drawn ones.

    `scale` is what ties are measured by (see `ties`).
    """
    reduced = problem.reduced
    chosen = drawn.copy()
    for group in reduced.rivals:
        _keep_one_of(chosen, group, reduced, scale)
    pools = _Pools(reduced, scale)
    pools.shrink(chosen)
    pools.grow(chosen)
    for row in np.flatnonzero(chosen @ reduced.sizes != reduced.k):
        chosen[row] = _repaired_with_foresight(reduced, problem.rules, drawn[row], scale)
    return chosen


def times_matrix(subsets: np.ndarray, Q: np.ndarray) -> np.ndarray:
    """x'Q of each row x, in float64 whatever Q is held in."""
    x = subsets.astype(np.float64)
    product = np.empty_like(x)
    for left in range(0, len(Q), COLUMNS_AT_ONCE):
        columns = slice(left, left + COLUMNS_AT_ONCE)
        product[:, columns] = x @ Q[:, columns].astype(np.float64, copy=False)
    return product


def _keep_one_of(chosen: np.ndarray, group: np.ndarray, reduced: ReducedProblem, scale: float) -> None:
    """Take out of each row all rivals of a group but the one that is missed most; in place."""
    for row in np.flatnonzero(chosen[:, group].sum(axis=1) > 1):
        _leave_one(chosen[row], group, reduced, scale)


def _leave_one(chosen: np.ndarray, group: np.ndarray, reduced: ReducedProblem, scale: float) -> None:
    Q = reduced.matrix
    while chosen[group].sum() > 1:
        members = group[chosen[group]]
        losses = 2.0 * Q[np.ix_(members, chosen)].sum(axis=1, dtype=np.float64) - Q.diagonal()[members]
        chosen[members[last_best(-losses / reduced.sizes[members], scale)]] = False


class _Pools:
    """Greedy removals or additions for many subsets at once.

    Both directions are one: a pool, of members to take out or of others to take in,
    shrinks by the unit with the highest score, +-(Q_ii + 2 sum of Q_ij over the other
    members j) per column, and after unit a every score changes by 2 Q_ia. A step is taken for
    all subsets at once, on their pools alone. Whenever pools have halved they are packed
    anew and scores summed anew, so that neither gaps nor rounding pile up.
    """

    def __init__(self, reduced: ReducedProblem, scale: float) -> None:
        self.Q, self.sizes, self.k, self.scale = reduced.matrix, reduced.sizes, reduced.k, scale
        self.single = bool((reduced.sizes == 1).all())
        self.costs, self.budget = reduced.costs, reduced.budget
        self.group = np.full(len(reduced.matrix), -1)
        for number, members in enumerate(reduced.rivals):
            self.group[members] = number
        self.free = self.single and not reduced.rivals and reduced.costs is None

    def shrink(self, chosen: np.ndarray) -> None:
        """Take out of each subset what is missed least until it is neither too large nor too dear; in place."""
        self._work(chosen, adding=False)

    def grow(self, chosen: np.ndarray) -> None:
        """Take into each subset what adds most, of what fits, until it is whole or nothing fits; in place."""
        self._work(chosen, adding=True)

    def _work(self, chosen: np.ndarray, *, adding: bool) -> None:
        rows = np.arange(len(chosen))
        while len(rows := rows[self._unfinished(*self._sums(chosen[rows]), adding=adding)]):
            subsets = chosen[rows]
            self._halve(subsets, adding=adding)
            stuck = (subsets == chosen[rows]).all(axis=1)
            chosen[rows] = subsets
            rows = rows[~stuck]

    def _sums(self, subsets: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """How many columns each subset is, and what it costs."""
        size = subsets.sum(axis=1) if self.single else subsets @ self.sizes
        return size, np.zeros(len(subsets)) if self.costs is None else subsets @ self.costs

    def _unfinished(self, size: np.ndarray, cost: np.ndarray, *, adding: bool) -> np.ndarray:
        return size < self.k if adding else (size > self.k) | (cost > self.budget)

    def _halve(self, subsets: np.ndarray, *, adding: bool) -> None:
        """Change each subset unit by unit until it is finished, or half of the largest pool is gone; in place."""
        in_pool = ~subsets if adding else subsets
        lengths = in_pool.sum(axis=1)
        width = int(lengths.max())
        row, unit = np.nonzero(in_pool)
        place = np.arange(len(row)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        pool = np.zeros((len(subsets), width), dtype=np.intp)
        pool[row, place] = unit
        scores = np.full((len(subsets), width), -np.inf)
        twice = 2.0 * times_matrix(subsets, self.Q)[row, unit]
        own = self.Q.diagonal()[unit]
        scores[row, place] = twice + own if adding else own - twice
        size, cost = self._sums(subsets)
        for _ in range((width + 1) // 2):
            # Those with something to do stay, once they are less than half: until then moving them costs more.
            going = self._unfinished(size, cost, adding=adding)
            if 2 * np.count_nonzero(going) < len(going):
                rest = subsets[going]
                if len(rest):
                    self._halve(rest, adding=adding)
                    subsets[going] = rest
                return
            now = scores if self.single else scores / self.sizes[pool]
            if adding and not self.free:
                now = np.where(self._fits(subsets, pool, size, cost), now, -np.inf)
            best = now.max(axis=1)
            each = np.flatnonzero(going & (best > -np.inf))
            if not len(each):
                return
            tied = now >= (best - TIE * np.maximum(np.abs(best), self.scale))[:, None]
            pick = tied.argmax(axis=1) if adding else width - 1 - tied[:, ::-1].argmax(axis=1)
            taken = pool[np.arange(len(pool)), pick]
            subsets[each, taken[each]] = adding
            scores[each, pick[each]] = -np.inf
            size[each] += self.sizes[taken[each]] if adding else -self.sizes[taken[each]]
            if self.costs is not None:
                cost[each] += self.costs[taken[each]] if adding else -self.costs[taken[each]]
            scores += 2.0 * self.Q[taken[:, None], pool]

    def _fits(self, subsets: np.ndarray, pool: np.ndarray, size: np.ndarray, cost: np.ndarray) -> np.ndarray:
        """Which units of the pools fit into their subsets by size, cost and rivals."""
        fits = self.sizes[pool] <= (self.k - size)[:, None]
        if self.costs is not None:
            fits &= cost[:, None] + self.costs[pool] <= self.budget
        if (self.group >= 0).any():
            # One place behind the groups stands for no group, which is never held.
            held = np.zeros((len(subsets), int(self.group.max()) + 2), dtype=bool)
            row, unit = np.nonzero(subsets & (self.group >= 0))
            held[row, self.group[unit]] = True
            fits &= ~held[np.arange(len(subsets))[:, None], self.group[pool]]
        return fits


def _repaired_with_foresight(reduced: ReducedProblem, rules: Rules, drawn: np.ndarray, scale: float) -> np.ndarray:
    """One draw, looking ahead at each step to what can still be completed."""
    Q, diagonal, sizes = reduced.matrix, reduced.matrix.diagonal(), reduced.sizes
    chosen = drawn.copy()
    for group in reduced.rivals:
        _leave_one(chosen, group, reduced, scale)
    while not rules.can_complete(reduced.units[chosen].tolist()):
        members = np.flatnonzero(chosen)
        losses = 2.0 * Q[np.ix_(members, chosen)].sum(axis=1, dtype=np.float64) - diagonal[members]
        chosen[members[last_best(-losses / sizes[members], scale)]] = False
    while sizes[chosen].sum() < reduced.k:
        may_come = rules.can_join(reduced.units[chosen].tolist())[reduced.units] & ~chosen
        gains = (2.0 * Q[chosen].sum(axis=0, dtype=np.float64) + diagonal) / sizes
        chosen[first_best(np.where(may_come, gains, -np.inf), scale)] = True
    return chosen
