"""ReducedProblem: what is left to choose once the required features are in, in plain arrays."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from certselect.criteria.units import UnitProblem


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

    @property
    def plain(self) -> bool:
        """Whether every set of k positions is allowed."""
        return bool((self.sizes == 1).all()) and not self.rivals and self.costs is None

    def unit_indices(self, positions: Iterable[int]) -> list[int]:
        """Unit indices of the required units and of these positions, ascending."""
        return sorted([*self.required, *(int(self.units[position]) for position in positions)])


def reduce_problem(problem: UnitProblem) -> ReducedProblem:
    """Fold the required units of a problem into what the others are worth."""
    rules = problem.rules
    required = np.array(rules.required, dtype=np.intp)
    free = np.setdiff1d(problem.candidates, required)
    weight = problem.weight(problem.k)
    # A matrix that just fits into memory is not copied where all of it is needed.
    matrix = problem.matrix if len(free) == problem.n_features else problem.matrix[np.ix_(free, free)]
    if weight and len(required):
        worth = problem.worth_alone[free]
        worth = worth - weight * problem.pair_matrix[np.ix_(free, required)].sum(axis=1, dtype=np.float64)
        np.fill_diagonal(matrix, worth)
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
    )
