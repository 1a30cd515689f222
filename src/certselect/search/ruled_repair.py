"""Under rules: bring random draws to allowed subsets, greedily and one by one."""

from __future__ import annotations

import numpy as np

from certselect.criteria.problem import SubsetProblem
from certselect.criteria.reduced import ReducedProblem
from certselect.criteria.rules import Rules
from certselect.search.ties import first_best, last_best


def repair_under_rules(problem: SubsetProblem, drawn: np.ndarray, *, scale: float) -> np.ndarray:
    """Allowed subsets (draws, m), as positions of `problem.reduced`, close to the drawn ones.

    Of rivals the one that is missed most per column stays. Then the unit that is missed
    least leaves until the rest can be completed: not too large, not too dear. Last, the
    unit that adds most per column comes in until the subset is whole, always one with
    which it can be. The pair weight is that of k columns throughout.
    """
    assert problem.rules is not None, "without rules there is nothing but the size to repair"
    return np.array([_repaired(problem.reduced, problem.rules, row, scale) for row in drawn])


def _repaired(reduced: ReducedProblem, rules: Rules, drawn: np.ndarray, scale: float) -> np.ndarray:
    Q, diagonal, sizes = reduced.matrix, reduced.matrix.diagonal(), reduced.sizes
    chosen = drawn.copy()
    # What each position shares with the chosen ones; its own term counts once, on the diagonal.
    shared = 2.0 * Q[chosen].sum(axis=0, dtype=np.float64)

    def change(position: int, comes: bool) -> None:
        nonlocal shared
        chosen[position] = comes
        shared = shared + (2.0 if comes else -2.0) * Q[position]

    def drop_one_of(members: np.ndarray) -> None:
        losses = (shared[members] - diagonal[members]) / sizes[members]
        change(int(members[last_best(-losses, scale)]), False)

    for group in reduced.rivals:
        while chosen[group].sum() > 1:
            drop_one_of(group[chosen[group]])
    while not rules.can_complete(reduced.units[chosen].tolist()):
        drop_one_of(np.flatnonzero(chosen))
    while sizes[chosen].sum() < reduced.k:
        may_come = rules.can_join(reduced.units[chosen].tolist())[reduced.units] & ~chosen
        gains = np.where(may_come, (shared + diagonal) / sizes, -np.inf)
        change(first_best(gains, scale), True)
    return chosen
