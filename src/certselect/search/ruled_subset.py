"""Under rules: a subset that grows and shrinks by units of several columns each."""

from __future__ import annotations

import numpy as np

from certselect.criteria.problem import SubsetProblem
from certselect.criteria.rules import Rules
from certselect.search.ties import first_best, last_best


class RuledSubset:
    """A subset on its way to an allowed one: its value, what others would add, by what its members are missed.

    The pair weight is that of its own size, in columns. Units of different sizes
    compete by what they are worth per column.
    """

    def __init__(self, problem: SubsetProblem, rules: Rules) -> None:
        self.problem, self.rules = problem, rules
        self.members: list[int] = []
        self.size = 0
        self._pairs_with_members = np.zeros(problem.n_features)
        self._rows_to_come: list[int] = []  # members whose pair terms nobody has needed yet
        self._worth_alone = self._shared_inside = 0.0

    def value(self) -> float:
        return self._worth_alone - self.problem.weight(self.size) * self._shared_inside

    def best_newcomer(self, scale: float) -> int:
        """The unit that adds most per column, among those with which the subset can still be completed."""
        may_come = self.rules.can_join(self.members)
        may_come[self.members] = False
        gains = self._worth(self.size + self.rules.sizes) / self.rules.sizes
        return first_best(np.where(may_come, gains, -np.inf), scale)

    def least_missed(self, scale: float) -> int | None:
        """The member that adds least per column, if one may leave and another stays."""
        # Ascending, so that of equally cheap members the highest index goes.
        free = np.setdiff1d(self.members, self.rules.required)
        if len(self.members) < 2 or not len(free):
            return None
        losses = self._worth(self.size - self.rules.sizes)[free] / self.rules.sizes[free]
        return int(free[last_best(-losses, scale)])

    def size_without(self, member: int) -> int:
        return self.size - int(self.rules.sizes[member])

    def value_without(self, member: int) -> float:
        worth_alone = self._worth_alone - float(self.problem.linear[member])
        shared_inside = self._shared_inside - self._shared_by(member)
        return worth_alone - self.problem.weight(self.size_without(member)) * shared_inside

    def add(self, unit: int) -> None:
        self._shared_inside += self._shared_by(unit)
        self._worth_alone += float(self.problem.linear[unit])
        self.size += int(self.rules.sizes[unit])
        self.members.append(unit)
        self._rows_to_come.append(unit)

    def remove(self, member: int) -> None:
        self._shared_inside -= self._shared_by(member)
        self._worth_alone -= float(self.problem.linear[member])
        self.size -= int(self.rules.sizes[member])
        self.members.remove(member)
        self._account(member, -1.0)

    def _worth(self, sizes: np.ndarray) -> np.ndarray:
        """What each unit adds to the others, at the pair weights of these sizes (n,)."""
        return self.problem.linear - pair_weights(self.problem, sizes) * (self._shared() + self.rules.inner)

    def _shared_by(self, unit: int) -> float:
        """Pair terms of a unit's columns with each other and with those of the other members."""
        return float(self._shared()[unit] + self.rules.inner[unit])

    def _shared(self) -> np.ndarray:
        while self._rows_to_come:
            self._account(self._rows_to_come[0], 1.0)
            del self._rows_to_come[0]
        return self._pairs_with_members

    def _account(self, unit: int, sign: float) -> None:
        own = self._pairs_with_members[unit]
        self._pairs_with_members += sign * self.problem.pair_row(unit)
        self._pairs_with_members[unit] = own  # a unit's pair term with itself is arbitrary


def pair_weights(problem: SubsetProblem, sizes: np.ndarray) -> np.ndarray:
    """The pair weight of each of these subset sizes; 0 where there is no subset of that size."""
    kinds, kind = np.unique(sizes, return_inverse=True)
    return np.array([problem.weight(int(size)) if size > 0 else 0.0 for size in kinds])[kind]
