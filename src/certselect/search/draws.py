"""From a relaxed solution to subsets: draw at random, bring to k features, keep the best.

The draws are u = Vg ~ N(0, Y) with VV' = Y, and a draw's subset holds the features whose
sign agrees with entry 0. For a dense Y, V is its Cholesky factor, which unlike
eigenvectors (free to turn and to change sign) is a continuous function of Y. A seed thus
gives the same draws but for what the number of threads changes in Y itself: in the
interior-point method's that shifts u by 1e-9 to 1e-5, so among a million signs some may
flip now and then, and the answer changes only where that was a sign of the best draw and
the repair does not undo it. The low-rank method's path is more sensitive, and so are
draws from its factor.

To be brought to k features, a draw first loses what cannot stay: of rivals all but the one missed most, then the unit
missed least until the rest is neither too large nor too dear. Then the unit that adds most
per column comes in, of those that fit, until the subset is whole. The pair weight is that
of k columns throughout; of equals the lowest index comes in and the highest goes out.

Taking whatever fits can end before the subset is whole, where sizes differ or a budget
binds. A draw for which it does is repaired again by itself, looking ahead at each step to
what can still be completed. A draw for which it does not would not have been repaired
otherwise: each unit it took could be completed, as the outcome shows.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from certselect.criteria.reduced import ReducedProblem
from certselect.criteria.rules import Rules
from certselect.criteria.units import UnitProblem
from certselect.progress import report
from certselect.relaxation.result import Relaxation
from certselect.search.found import Found
from certselect.search.strategies.forward import forward
from certselect.search.ties import TIE, beats, best_and_ties, distinct_rows, first_best, last_best, value_scale

# Numbers in the largest array of a batch of draws (32 MB).
NUMBERS_AT_ONCE = 1 << 22
# The same where draws are repaired, which takes longer: a time limit is looked at between batches (1 MB).
NUMBERS_REPAIRED_AT_ONCE = 1 << 17
# Added to the diagonal of Y, which is singular: less than what a solver leaves unknown of it.
NOISE = 1e-8
# Columns of Q made float64 at a time.
COLUMNS_AT_ONCE = 1024


@dataclass(frozen=True, eq=False)
class Rounded:
    """The best subset of all draws (ascending), its value, and how large the draws were before any repair."""

    indices: np.ndarray
    value: float
    mean_size: float


def factor_of(relaxation: Relaxation) -> np.ndarray:
    """V (n+1, r) with VV' = Y to about `NOISE`; negative eigenvalues of an inexact Y count as 0."""
    if relaxation.factor is not None:
        return relaxation.factor
    lifted = relaxation.matrix.copy()
    lifted[np.diag_indices_from(lifted)] += NOISE
    try:
        return np.linalg.cholesky(lifted)
    except np.linalg.LinAlgError:
        eigenvalues, vectors = np.linalg.eigh(relaxation.matrix)
        return (vectors * np.sqrt(np.maximum(eigenvalues, 0.0))) @ vectors.T


def draw_subsets(factor: np.ndarray, draws: int, rng: np.random.Generator) -> np.ndarray:
    """Subsets (draws, n) as booleans: the features whose sign in u ~ N(0, VV') is that of entry 0."""
    size, rank = factor.shape
    drawn = np.empty((draws, size - 1), dtype=bool)
    at_once = max(1, NUMBERS_AT_ONCE // size)
    for top in range(0, draws, at_once):
        normals = rng.standard_normal((min(at_once, draws - top), rank))
        positive = normals @ factor.T >= 0.0
        drawn[top : top + at_once] = positive[:, 1:] == positive[:, :1]
    return drawn


def subset_values(subsets: np.ndarray, Q: np.ndarray) -> np.ndarray:
    """x'Qx of each row x of `subsets` (draws, n)."""
    return np.einsum("ij,ij->i", times_matrix(subsets, Q), subsets)


def start_from_forward(problem: UnitProblem, found: Found, rng: np.random.Generator) -> None:
    """Put the forward selection into `found`: the answer if Ctrl-C comes or time is up before there is a better one."""
    # Shared, so that Ctrl-C on the way leaves what there is.
    quick = Found(indices=found.indices, limit=found.limit)
    forward(problem, quick, rng)
    found.cut_short = quick.cut_short
    found.indices.sort()
    found.scores[:] = quick.scores[-1:]


def round_draws(problem: UnitProblem, found: Found, drawn: np.ndarray, *, repair: bool = True) -> Rounded:
    """Leave in `found` the best of the drawn subsets (draws, m), each brought to an allowed one first.

    Draws are about the positions of `problem.reduced`: required units are in every
    subset without being drawn. With `repair` off they compete as they are, but for empty
    ones; if all are empty they are repaired nevertheless. Equals: the lexicographically
    first subset. What `found` held before is always replaced at the end, earlier only
    to a better one. When time is up, only a first part of the draws competes.
    """
    scale, reduced, Q = value_scale(problem), problem.reduced, problem.reduced.matrix
    # Equal draws, of which a nearly solved problem gives many, are worked on once.
    packed, _ = distinct_rows(np.packbits(drawn, axis=1))
    subsets = np.unpackbits(packed, axis=1, count=len(Q)).astype(bool)
    repair = repair or not subsets.any()
    if not repair:
        subsets = subsets[subsets.any(axis=1)]
    values = np.full(len(subsets), -np.inf)
    known = found.scores[-1] if found.scores else -np.inf
    improvements: list[float] = []
    at_once = max(1, NUMBERS_REPAIRED_AT_ONCE // len(Q))
    for top in range(0, len(subsets), at_once):
        if top and found.out_of_time():
            break
        batch = slice(top, top + at_once)
        if repair:
            subsets[batch] = repair_subsets(problem, subsets[batch], scale=scale)
        values[batch] = reduced.constant + subset_values(subsets[batch], Q)
        place, value = _first_of_best(subsets[: top + at_once], values[: top + at_once], scale)
        if not improvements or beats(value, improvements[-1], scale):
            improvements.append(value)
            if beats(value, known, scale):
                _keep(problem, found, subsets[place], improvements, any_size=not repair)
        report("rounding", min(top + at_once, len(subsets)), len(subsets))
    place, value = _first_of_best(subsets, values, scale)
    _keep(problem, found, subsets[place], improvements, any_size=not repair)
    drawn_sizes = drawn @ reduced.sizes + (problem.k - reduced.k)
    return Rounded(np.array(found.indices, dtype=np.intp), value, float(drawn_sizes.mean()))


def _first_of_best(subsets: np.ndarray, values: np.ndarray, scale: float) -> tuple[int, float]:
    """Place and value of the best subset, the lexicographically first of equals."""
    tied = np.flatnonzero(best_and_ties(values, scale))
    place = min(tied.tolist(), key=lambda row: np.flatnonzero(subsets[row]).tolist())
    return place, float(values[place])


def _keep(problem: UnitProblem, found: Found, subset: np.ndarray, improvements: list[float], *, any_size: bool) -> None:
    found.any_size = any_size
    found.indices = problem.reduced.unit_indices(np.flatnonzero(subset))
    # The last one anew from the pair terms: Q may be held in single precision.
    found.scores = [*improvements[:-1], problem.value(found.indices)]


def repair_subsets(problem: UnitProblem, drawn: np.ndarray, *, scale: float) -> np.ndarray:
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
