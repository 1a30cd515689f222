"""What is still to be decided of a reduced problem, once some units are known to be in and some out."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

import numpy as np

from certselect.certificate.counting import unit_counts
from certselect.certificate.rivals import never_both, rival_numbers
from certselect.certificate.rounding import UNIT, largest
from certselect.criteria.cheapest import Choices
from certselect.criteria.reduced import ReducedProblem

# A budget is spent unit by unit; sums that exceed it by no more than this part are rounding.
SPENT = 1e-12
MOST_LISTED = 5000
MOST_MASKED = 12


@dataclass(frozen=True, eq=False)
class OpenProblem:
    """max constant + x'Qx over the undecided units: s'x = k, at most one of each rival group, costs'x <= budget.

    Attributes
    ----------
    matrix : ndarray (m, m) of float64
        Exactly symmetric; what the units that are in share with each open one is in its diagonal.
    k : int
        Columns still to choose.
    constant : float
        Value of the units that are in.
    positions : ndarray of int (m,)
        Where each open unit stands in the reduced problem, ascending.
    taken : tuple of int
        Positions of the units that are in, ascending.
    rival : ndarray of int (m,)
        Number of the unit's rival group, -1 for none.
    costs : ndarray (m,) or None
    spent : float
        Rounding errors of `matrix` and `constant` so far, at most.
    """

    matrix: np.ndarray
    k: int
    constant: float
    sizes: np.ndarray
    rival: np.ndarray
    costs: np.ndarray | None
    budget: float
    positions: np.ndarray
    taken: tuple[int, ...] = ()
    spent: float = 0.0

    @classmethod
    def of(cls, problem: ReducedProblem, lost: float = 0.0) -> OpenProblem:
        """The whole of a reduced problem, nothing decided; a subset may be worth `lost` more than its matrix says."""
        Q = problem.matrix.astype(np.float64)
        budget = problem.budget + SPENT * abs(problem.budget) if problem.costs is not None else math.inf
        # Only x'Qx counts, so what Q lacks of symmetry is averaged away; that rounds each entry once.
        whole = cls(
            0.5 * Q + 0.5 * Q.T,
            problem.k,
            problem.constant,
            problem.sizes.astype(np.intp),
            rival_numbers(problem.rivals, len(Q)),
            problem.costs,
            budget,
            np.arange(len(Q)),
            (),
            lost + 2.0 * UNIT * problem.k**2 * largest(Q),
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

    def never_both(self) -> np.ndarray | None:
        """Which pairs of open units are rivals (m, m); None if there are none."""
        return never_both(self.rival)

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
        shared = 2.0 * Q[unit, rest]
        matrix = kept.matrix
        matrix[np.diag_indices_from(matrix)] += shared
        magnitude = largest(matrix.diagonal()) + abs(self.constant) + abs(float(Q[unit, unit]))
        joined = OpenProblem(
            matrix,
            self.k - int(self.sizes[unit]),
            self.constant + float(Q[unit, unit]),
            kept.sizes,
            kept.rival,
            kept.costs,
            self.budget if self.costs is None else self.budget - float(self.costs[unit]),
            kept.positions,
            tuple(sorted([*self.taken, int(self.positions[unit])])),
            self.spent + 2.0 * UNIT * (self.k + 1) * magnitude,
        )
        return joined.without(np.zeros(len(joined), dtype=bool))

    def _kept(self, kept: np.ndarray) -> OpenProblem:
        return OpenProblem(
            np.ascontiguousarray(self.matrix[np.ix_(kept, kept)]),
            self.k,
            self.constant,
            self.sizes[kept],
            self.rival[kept],
            None if self.costs is None else self.costs[kept],
            self.budget,
            self.positions[kept],
            self.taken,
            self.spent,
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

    def values(self, subsets: np.ndarray) -> np.ndarray:
        """constant + x'Qx of each row."""
        x = subsets.astype(np.float64)
        return self.constant + np.einsum("ij,ij->i", x @ self.matrix, x)
