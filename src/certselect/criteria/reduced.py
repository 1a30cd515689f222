"""ReducedProblem: what is left to choose once the required features are in, in plain arrays."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from certselect.criteria.pairs import square_part
from certselect.criteria.shared import lower_costs

if TYPE_CHECKING:
    from certselect.criteria.units import UnitProblem

# Up to this size (0.8 GB) a matrix in float32 is brought to double precision, in which its entries are exact.
MOST_IN_DOUBLE = 10_000


@dataclass(frozen=True, eq=False)
class ReducedProblem:
    """max constant + x'Qx over 0/1 x with sizes'x = k, at most one of each rivals group, costs'x <= budget.

    What relaxations, bounds and the exact method are about. Required units are
    folded into the diagonal and the constant; for an unconstrained problem this is
    the matrix of its candidates and nothing else.

    Attributes
    ----------
    matrix : ndarray (m, m)
        Q of the free units. Its diagonal is what a unit is worth with the required
        ones there: its columns, the pairs among them, and their pairs with those.
    k : int
        Columns still to choose, 0 or more.
    constant : float
        Value of the required units.
    sizes : ndarray of int (m,)
        How many columns each unit is.
    rivals : tuple of ndarray
        Groups of two positions or more (0..m-1), at most one of each.
    costs : ndarray (m,) or None
        None when there is no budget.
    budget : float
        What the required units leave of it; inf when there is none.
    units : ndarray of int (m,)
        Index of each position in the unit form of the problem, ascending.
    required : tuple of int
        Unit indices that are always in.
    origin : UnitProblem or None
        What it was reduced from: its terms are exact where sums over several of them are not.
    """

    matrix: np.ndarray
    k: int
    constant: float
    sizes: np.ndarray
    rivals: tuple[np.ndarray, ...]
    costs: np.ndarray | None
    budget: float
    units: np.ndarray
    required: tuple[int, ...]
    origin: UnitProblem | None = None

    @property
    def plain(self) -> bool:
        """Whether every set of k positions is allowed."""
        return bool((self.sizes == 1).all()) and not self.rivals and self.costs is None

    def unit_indices(self, positions: Iterable[int]) -> list[int]:
        """Unit indices of the required units and of these positions, ascending."""
        return sorted([*self.required, *(int(self.units[position]) for position in positions)])

    def terms(self, positions: Sequence[int]) -> list[float]:
        """The numbers whose exact sum the subset of these positions is worth."""
        if self.origin is not None:
            return self.origin.terms(self.unit_indices(positions))
        return [self.constant, *self.matrix[np.ix_(positions, positions)].astype(np.float64).ravel().tolist()]

    def same_terms(self, one: int, other: int, beside: np.ndarray) -> bool:
        """Whether two positions bring the same terms to every subset made of them and of positions beside them."""
        if self.origin is None:
            pair, Q = [one, other], self.matrix
            alike = (Q[one, beside] == Q[other, beside]).all() and (Q[beside, one] == Q[beside, other]).all()
            return bool(alike and (Q[pair, pair] == Q[one, one]).all())
        if self.sizes[one] > 1 or self.sizes[other] > 1:
            return False  # their terms are many, and seldom the same
        terms = self.origin.by_column
        a, b = self.origin.columns(self.units[[one, other]])
        held = self.origin.columns([*self.required, *self.units[beside]])
        alike = np.array_equal(terms.pair_row(a)[held], terms.pair_row(b)[held])
        if not alike or terms.linear[a] != terms.linear[b] or self.origin.limit is None:
            return alike and bool(terms.linear[a] == terms.linear[b])
        units = [*self.required, *self.units[beside]]
        a_apart, b_apart = (self.origin.limit.row(int(self.units[unit]))[units] for unit in (one, other))
        return np.array_equal(a_apart, b_apart)


def _with_least_costs(problem: UnitProblem, matrix: np.ndarray) -> np.ndarray:
    """The matrix in which pairs that share too much cost no more than needed; its entries are raised at most."""
    cost = -0.5 * abs(problem.weight(problem.k) * problem.cost_of_sharing)
    if problem.limit is None or not len(problem.limit.pairs.first) or not cost:
        return matrix
    lower_costs(matrix, problem.k, 0.5 * cost)
    return matrix


def reduce_problem(problem: UnitProblem) -> ReducedProblem:
    """Fold the required units of a problem into what the others are worth."""
    rules = problem.rules
    required = np.array(rules.required, dtype=np.intp)
    free = np.setdiff1d(problem.candidates, required)
    weight = problem.weight(problem.k)
    if problem.pair_matrix.dtype == np.float32 and len(free) <= MOST_IN_DOUBLE:
        matrix = square_part(problem.pair_matrix, free) * np.float64(-0.5 * weight)
        np.fill_diagonal(matrix, problem.worth_alone[free])
    else:
        # A matrix that just fits into memory is not copied where all of it is needed.
        matrix = square_part(problem.matrix, free)
    if weight and len(required):
        worth = problem.worth_alone[free]
        worth = worth - weight * problem.pair_matrix[np.ix_(free, required)].sum(axis=1, dtype=np.float64)
        np.fill_diagonal(matrix, worth)
    matrix = _with_least_costs(problem, matrix)
    limited = math.isfinite(rules.budget)
    return ReducedProblem(
        matrix=matrix,
        k=rules.k - rules.size(rules.required),
        constant=problem.value(rules.required),
        sizes=rules.sizes[free],
        rivals=tuple(np.searchsorted(free, group) for group in rules.rivals),
        costs=rules.costs[free] if limited else None,
        budget=rules.budget - rules.cost(rules.required) if limited else math.inf,
        units=free,
        required=rules.required,
        origin=problem,
    )
