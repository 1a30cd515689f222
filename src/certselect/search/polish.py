"""Improve a subset by exchanging one feature at a time, until no exchange helps."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from certselect.certificate import tolerance
from certselect.certificate.rounding import largest
from certselect.criteria.rules import Rules
from certselect.criteria.units import UnitProblem
from certselect.progress import report
from certselect.search.found import Found
from certselect.search.ties import best_and_ties, tie_width, value_scale

UNEVEN = 100.0


def polish(problem: UnitProblem, found: Found) -> None:
    """Swap a chosen feature for one left out, always the best such swap, while the value at size k rises.

    The newcomer takes the place of the one it replaces. Of equally good swaps
    the lowest feature comes in, and for it the highest goes out. Only the pair
    rows of features that are or were chosen are asked for. Only units of equal size are
    swapped, and only where that leaves the subset allowed. Ends early when time is up.
    """
    swaps = _Swaps(problem, found.indices)
    value, made = problem.value(found.indices), 0
    while swaps.outside.any() and not found.out_of_time():
        change = swaps.changes()
        if float(change.max()) <= tie_width(value, swaps.scale):
            return
        good = best_and_ties(change, swaps.scale)
        place, newcomer = next(swaps.in_order(good))
        better = problem.value(swaps.members_with(place, newcomer))
        if better <= value:
            return  # where terms of very different size are added, rounding can promise what is not there
        swaps.take(place, newcomer)
        value = better
        found.scores.append(value)
        made += 1
        # Nobody knows how many it will take; hardly ever more than there are members.
        report("polish", made, max(made + 1, len(swaps.members)))


def settle_ties(problem: UnitProblem, found: Found, best: float, width: float) -> None:
    """Swap a chosen feature for a lower one left out while the value stays within `width` of the best.

    For a subset that no swap improves: of equals, the lowest features are to be chosen. All are compared
    with the best value, not with each other; and what may be worth `width` more than the best must still be
    within the tolerance of the one chosen.
    """
    swaps = _Swaps(problem, found.indices)

    def equal(members: list[int]) -> bool:
        value = problem.value(members)
        return value >= best - width and best + width - value <= tolerance(problem, members)

    while swaps.outside.any() and not found.out_of_time():
        value, change = problem.value(found.indices), swaps.changes()
        lower = np.flatnonzero(swaps.outside) < np.array(found.indices)[:, None]
        near = swaps.in_order(lower & (value + change >= best - 2.0 * width))
        swap = next((swap for swap in near if equal(swaps.members_with(*swap))), None)
        if swap is None:
            return
        swaps.take(*swap)


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

    def changes(self) -> np.ndarray:
        """How the value changes when the member of a row leaves and the feature of a column comes.

        A column for each feature outside, ascending; -inf where the rules forbid the exchange.
        """
        members, newcomers = np.array(self.members), np.flatnonzero(self.outside)
        rules = self.problem.rules
        if self._uneven():
            # Summed without the member that leaves: taken out of a sum again, its part would leave rounding behind.
            before, behind = np.zeros_like(self.rows), np.zeros_like(self.rows)
            np.cumsum(self.rows[:-1], axis=0, out=before[1:])
            np.cumsum(self.rows[:0:-1], axis=0, out=behind[-2::-1])
            others = self.alone - self.weight * (before + behind)
            change = others[:, newcomers] - others[np.arange(len(members)), members][:, None]
        else:
            contribution = self.alone - self.weight * self.rows.sum(axis=0)
            # The newcomer no longer shares anything with the one that left. In place: of many features these are many.
            no_longer_shared = np.take(self.rows, newcomers, axis=1)
            no_longer_shared *= self.weight
            change = contribution[newcomers] - contribution[members][:, None]
            change += no_longer_shared
        if not rules.plain or rules.required:
            change[~_allowed_swaps(rules, members, newcomers)] = -np.inf
        return change

    def _uneven(self) -> bool:
        """Whether pair terms are so much larger than what features are worth that sums with them tell little."""
        return abs(self.weight) * largest(self.rows) > UNEVEN * self.scale

    def in_order(self, good: np.ndarray) -> Iterator[tuple[int, int]]:
        """The swaps marked (place of the member, newcomer): the lowest newcomer first, for it the highest member."""
        members, newcomers = np.array(self.members), np.flatnonzero(self.outside)
        for column in np.flatnonzero(good.any(axis=0)):
            places = np.flatnonzero(good[:, column])
            for place in places[np.argsort(-members[places])].tolist():
                yield place, int(newcomers[column])

    def members_with(self, place: int, newcomer: int) -> list[int]:
        return [*self.members[:place], newcomer, *self.members[place + 1 :]]

    def take(self, place: int, newcomer: int) -> None:
        """Let the newcomer take a member's place."""
        self.outside[self.members[place]], self.outside[newcomer] = True, False
        self.rows[place] = _pairs_with_others(self.problem, newcomer)
        self.members[place] = newcomer


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
