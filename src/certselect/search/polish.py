"""Improve a subset by exchanging one feature at a time, until no exchange helps."""

from __future__ import annotations

import numpy as np

from certselect.criteria.rules import Rules
from certselect.criteria.units import UnitProblem
from certselect.search.found import Found
from certselect.search.ties import best_and_ties, tie_width, value_scale


def polish(problem: UnitProblem, found: Found) -> None:
    """Swap a chosen feature for one left out, always the best such swap, while the value at size k rises.

    The newcomer takes the place of the one it replaces. Of equally good swaps
    the lowest feature comes in, and for it the highest goes out. Only the pair
    rows of features that are or were chosen are asked for. Only units of equal size are
    swapped, and only where that leaves the subset allowed.
    """
    swaps = _Swaps(problem, found.indices)
    while swaps.outside.any():
        value, change = swaps.changes()
        if float(change.max()) <= tie_width(value, swaps.scale):
            return
        good = best_and_ties(change, swaps.scale)
        found.scores.append(value + swaps.take_first(good, change))


def settle_ties(problem: UnitProblem, found: Found) -> None:
    """Swap a chosen feature for a lower one left out while that changes nothing about the value.

    For a subset that no swap improves: of equals, the lowest features are to be chosen.
    """
    swaps = _Swaps(problem, found.indices)
    while swaps.outside.any():
        value, change = swaps.changes()
        lower = np.flatnonzero(swaps.outside) < np.array(found.indices)[:, None]
        equal = lower & (np.abs(change) <= tie_width(value, swaps.scale))
        if not equal.any():
            found.indices.sort()
            return
        swaps.take_first(equal, change)


class _Swaps:
    """All exchanges of a member for a feature outside, for a list of members that changes with them."""

    def __init__(self, problem: UnitProblem, members: list[int]) -> None:
        self.problem, self.members, self.scale = problem, members, value_scale(problem)
        self.weight = problem.weight(problem.k)
        self.alone = problem.worth_alone
        self.outside = np.zeros(problem.n_features, dtype=bool)
        self.outside[problem.candidates] = True
        self.outside[members] = False
        self.rows = np.array([_pairs_with_others(problem, member) for member in members])

    def changes(self) -> tuple[float, np.ndarray]:
        """The members' value, and how it changes when the member of a row leaves and the feature of a column comes.

        A column for each feature outside, ascending; -inf where the rules forbid the exchange.
        """
        members = np.array(self.members)
        shared = self.rows.sum(axis=0)
        contribution = self.alone - self.weight * shared
        value = float(self.alone[members].sum() - self.weight * shared[members].sum() / 2)
        newcomers = np.flatnonzero(self.outside)
        # The newcomer no longer shares anything with the one that left, hence the last term.
        change = contribution[newcomers] - contribution[members][:, None] + self.weight * self.rows[:, newcomers]
        rules = self.problem.rules
        if not rules.plain or rules.required:
            change[~_allowed_swaps(rules, members, newcomers)] = -np.inf
        return value, change

    def take_first(self, good: np.ndarray, change: np.ndarray) -> float:
        """Of the swaps marked, take the one whose newcomer is lowest and whose member highest; return its change."""
        members = np.array(self.members)
        column = int(good.any(axis=0).argmax())
        tied = np.flatnonzero(good[:, column])
        place = int(tied[members[tied].argmax()])
        newcomer = int(np.flatnonzero(self.outside)[column])
        row = _pairs_with_others(self.problem, newcomer)
        self.outside[members[place]], self.outside[newcomer] = True, False
        self.rows[place] = row
        self.members[place] = newcomer
        return float(change[place, column])


def _allowed_swaps(rules: Rules, members: np.ndarray, newcomers: np.ndarray) -> np.ndarray:
    """Which members (rows) of an allowed subset may leave for which newcomers (columns)."""
    leaving = members[:, None]
    allowed = (rules.sizes[leaving] == rules.sizes[newcomers]) & ~np.isin(leaving, rules.required)
    allowed &= rules.cost(members.tolist()) - rules.costs[leaving] + rules.costs[newcomers] <= rules.budget
    for group in rules.rivals:
        present = np.isin(members, group)
        if present.any():  # its rivals may come only in its place
            allowed[np.ix_(~present, np.isin(newcomers, group))] = False
    return allowed


def _pairs_with_others(problem: UnitProblem, feature: int) -> np.ndarray:
    """The feature's pair row, 0 instead of the arbitrary entry for itself."""
    row = np.array(problem.pair_row(feature), dtype=float)
    row[feature] = 0.0
    return row
