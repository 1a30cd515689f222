"""What is still to be decided of a reduced problem, once some units are known to be in and some out."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from typing import NamedTuple

import numpy as np

from certselect.certificate.counting import unit_counts
from certselect.certificate.matrix_errors import errors_of_units, matrix_errors
from certselect.certificate.rivals import never_both, rival_numbers
from certselect.certificate.rounding import UNIT, largest, round_up, sum_of_largest
from certselect.criteria.cheapest import Choices
from certselect.criteria.reduced import ReducedProblem

# A budget is spent unit by unit; sums that exceed it by no more than this part are rounding.
SPENT = 1e-12
# Proofs in files end where so few subsets are left: with smaller numbers they would no longer be whole.
MOST_LISTED = 5000
MOST_MASKED = 12
# Of these, so many are valued exactly at most; more are hardly ever needed to tell the best.
MOST_VALUED = 64
BLOCK = 256


class Listed(NamedTuple):
    """All that is left, listed.

    `bound` is at least the exact value of the best of them, and that itself but for many ties; `best` (positions)
    is worth most of those that were valued exactly, or None if nothing is left. A row of `subsets` (booleans) is
    worth no more than its entry of `at_most`.
    """

    bound: float
    best: list[int] | None
    subsets: np.ndarray
    at_most: np.ndarray


@dataclass(frozen=True, eq=False)
class OpenProblem:
    """max constant + x'Qx over the undecided units: s'x = k, at most one of each rival group, costs'x <= budget.

    Attributes
    ----------
    whole : ReducedProblem
        What this is left of.
    matrix : ndarray (m, m) of float64
        Exactly symmetric; what the units that are in share with each open one is in its diagonal. As long as it is
        no other, it is the reduced problem's own.
    k : int
        Columns still to choose.
    constant : float
        Value of the units that are in.
    positions : ndarray of int (m,)
        Where each open unit stands in the reduced problem, ascending.
    rival : ndarray of int (m,)
        Number of the unit's rival group, -1 for none.
    costs : ndarray (m,) or None
    off : ndarray (m,)
        How much each unit can add to how far the value of a subset is above what `matrix` and `constant` say.
    spent : float
        How far it can be above that without them.
    taken : tuple of int
        Positions of the units that are in, ascending.
    """

    whole: ReducedProblem
    matrix: np.ndarray
    k: int
    constant: float
    sizes: np.ndarray
    rival: np.ndarray
    costs: np.ndarray | None
    budget: float
    positions: np.ndarray
    off: np.ndarray
    spent: float
    taken: tuple[int, ...] = ()

    @classmethod
    def of(cls, problem: ReducedProblem, floor: float = -math.inf) -> OpenProblem:
        """The whole of a reduced problem, nothing decided.

        Entries below `floor` are raised to it. That makes no subset worth less, so every bound stays one; and a
        penalty far beyond what a subset can be worth no longer drowns everything else in its rounding errors.
        """
        Q = problem.matrix.astype(np.float64, copy=False)
        sizes = problem.sizes.astype(np.intp)
        errors = matrix_errors(problem)
        off = errors_of_units(errors, Q, sizes, problem.k, floor)
        if not _symmetric(Q):
            # Only x'Qx counts, so what Q lacks of symmetry is averaged away; that rounds each entry once.
            off = off + 2.0 * UNIT * problem.k * largest(Q)
            Q = 0.5 * Q + 0.5 * Q.T
        if Q.min(initial=math.inf) < floor:
            Q = np.maximum(Q, floor)
        whole = cls(
            whole=problem,
            matrix=Q,
            k=problem.k,
            constant=problem.constant,
            sizes=sizes,
            rival=rival_numbers(problem.rivals, len(Q)),
            costs=problem.costs,
            budget=problem.budget + SPENT * abs(problem.budget) if problem.costs is not None else math.inf,
            positions=np.arange(len(Q)),
            off=off,
            spent=errors.constant,
        )
        return whole.without(np.zeros(len(Q), dtype=bool))

    def __len__(self) -> int:
        return len(self.matrix)

    @property
    def plain(self) -> bool:
        """Whether every k of the open units are allowed."""
        return self.costs is None and bool((self.sizes == 1).all()) and bool((self.rival < 0).all())

    @property
    def infeasible(self) -> bool:
        """No allowed subset is left."""
        return self.k < 0 or (self.k > 0 and len(self) == 0) or not math.isfinite(self._least_cost)

    @cached_property
    def _choices(self) -> Choices:
        groups = [np.flatnonzero(self.rival == number) for number in np.unique(self.rival[self.rival >= 0])]
        costs = np.zeros(len(self)) if self.costs is None else self.costs
        return Choices(self.sizes, costs, tuple(group for group in groups if len(group) > 1))

    @cached_property
    def _least_cost(self) -> float:
        if self.k < 0:
            return math.inf
        least = float(self._choices.least_costs(np.ones(len(self), dtype=bool), self.k)[self.k])
        return least if least <= self.budget else math.inf

    @property
    def most_units(self) -> int:
        """How many units a subset of k columns can have at most."""
        return unit_counts(self.k, self.sizes).most

    @cached_property
    def lost(self) -> float:
        """How far the value of any subset can be above what the matrix and the constant say."""
        units = min(self.most_units, len(self)) if self.k > 0 else 0
        return round_up([self.spent, sum_of_largest(self.off, units)]) if units else self.spent

    def never_both(self) -> np.ndarray | None:
        """Which pairs of open units are rivals (m, m); None if there are none."""
        return never_both(self.rival)

    def same_terms(self, i: int, j: int) -> bool:
        """Whether two open units bring the same terms to every subset that is left."""
        one, other = (int(self.positions[unit]) for unit in (i, j))
        beside = np.append(self.positions, np.array(self.taken, dtype=np.intp))
        return self.whole.same_terms(one, other, np.setdiff1d(beside, [one, other]))

    def without(self, out: np.ndarray) -> OpenProblem:
        """The problem in which the units of a mask are out, and with them those that then fit in nowhere."""
        kept = self._kept(np.flatnonzero(~out))
        if len(kept) == 0 or kept.plain or kept.k < 0:
            return kept
        least = kept._choices.least_costs_with_each(np.ones(len(kept), dtype=bool), kept.k)
        fits = np.isfinite(least) & (least <= kept.budget)
        return kept if fits.all() else kept._kept(np.flatnonzero(fits))

    def with_unit(self, unit: int) -> OpenProblem:
        """The problem in which this unit is in, and its rivals are out."""
        Q = self.matrix
        rest = np.ones(len(self), dtype=bool)
        rest[unit] = False
        if self.rival[unit] >= 0:
            rest &= self.rival != self.rival[unit]
        kept = self._kept(np.flatnonzero(rest))
        diagonal = kept.matrix.diagonal() + 2.0 * Q[unit, rest]
        np.fill_diagonal(kept.matrix, diagonal)
        constant = self.constant + float(Q[unit, unit])
        joined = replace(
            kept,
            k=self.k - int(self.sizes[unit]),
            constant=constant,
            budget=self.budget if self.costs is None else self.budget - float(self.costs[unit]),
            off=kept.off + 2.0 * UNIT * np.abs(diagonal),
            spent=self.spent + float(self.off[unit]) + 2.0 * UNIT * abs(constant),
            taken=tuple(sorted([*self.taken, int(self.positions[unit])])),
        )
        return joined.without(np.zeros(len(joined), dtype=bool))

    def _kept(self, kept: np.ndarray) -> OpenProblem:
        if len(kept) == len(self):
            return self
        return replace(
            self,
            matrix=np.ascontiguousarray(self.matrix[np.ix_(kept, kept)]),
            sizes=self.sizes[kept],
            rival=self.rival[kept],
            costs=None if self.costs is None else self.costs[kept],
            positions=self.positions[kept],
            off=self.off[kept],
        )

    def all_subsets(self) -> np.ndarray | None:
        """Every allowed subset that is left (a row of booleans each), or None if they are too many to list."""
        m = len(self)
        if self.k <= 0:
            return np.zeros((0 if self.infeasible else 1, m), dtype=bool)
        if self.plain and math.comb(m, self.k) <= MOST_LISTED:
            chosen = np.array(list(combinations(range(m), self.k)), dtype=np.intp).reshape(math.comb(m, self.k), self.k)
            subsets = np.zeros((len(chosen), m), dtype=bool)
            np.put_along_axis(subsets, chosen, True, axis=1)
            return subsets
        if m > MOST_MASKED:
            return None
        subsets = (np.arange(1 << m)[:, None] >> np.arange(m) & 1).astype(bool)
        fine = subsets @ self.sizes == self.k
        for number in np.unique(self.rival[self.rival >= 0]):
            fine &= subsets[:, self.rival == number].sum(axis=1) <= 1
        if self.costs is not None:
            fine &= subsets @ self.costs <= self.budget
        return subsets[fine]

    def listed(self) -> Listed | None:
        """Everything that is left, valued; None if that is too much to list."""
        if self.infeasible:
            return Listed(-math.inf, None, np.zeros((0, len(self)), dtype=bool), np.zeros(0))
        subsets = self.all_subsets()
        if subsets is None:
            return None
        at_most = self._at_most(subsets)
        bound, best, value = -math.inf, None, -math.inf
        order = np.argsort(-at_most, kind="stable")
        for place, row in enumerate(order.tolist()):
            if at_most[row] <= bound:
                break
            if place == MOST_VALUED:
                bound = float(at_most[row])
                break
            positions = sorted([*self.taken, *self.positions[subsets[row]].tolist()])
            terms = self.whole.terms(positions)
            bound = max(bound, round_up(terms))
            if math.fsum(terms) > value:
                best, value = positions, math.fsum(terms)
        return Listed(bound, best, subsets, at_most)

    def _at_most(self, subsets: np.ndarray) -> np.ndarray:
        """At least the value of each row.

        A sum over u x u entries of a matrix, rows first, is off by less than 2u roundings of all of them.
        """
        x = subsets.astype(np.float64)
        sums = np.einsum("ij,ij->i", x @ self.matrix, x)
        sizes = np.einsum("ij,ij->i", x @ np.abs(self.matrix), x)
        rounding = (2 * max(self.most_units, 0) + 8) * UNIT * (sizes + abs(self.constant))
        return self.constant + sums + (rounding + x @ self.off + self.spent) * (1.0 + 16.0 * UNIT)


def _symmetric(Q: np.ndarray) -> bool:
    """Exactly; some rows at a time, without a second matrix."""
    tops = range(0, len(Q), BLOCK)
    return all(np.array_equal(Q[top : top + BLOCK, top:], Q[top:, top : top + BLOCK].T) for top in tops)
