"""A subset that grows and shrinks by units, on its way to an allowed one."""

from __future__ import annotations

import math

import numpy as np

from certselect.criteria.definitions import ALWAYS
from certselect.criteria.stepwise import TermSteps
from certselect.criteria.units import UnitProblem
from certselect.search.ties import first_best, last_best, tie_width, value_scale


class Subset:
    """Its value, what others would add to it, by what its members are missed.

    The pair weight is that of its own size, in columns. Units of different sizes compete by
    what they are worth per column. Only the pair rows of units that were members are asked for.
    """

    def __init__(self, problem: UnitProblem) -> None:
        self.problem, self.rules, self.scale = problem, problem.rules, value_scale(problem)
        self.members: list[int] = []
        self.size = 0
        self._weight, self._alone = problem.criterion.weight, problem.criterion.alone
        self._always_alone = self._alone == ALWAYS  # as with most criteria: what units bring is the same at every size
        self._pairs_with_members = np.zeros(problem.n_features)
        self._rows_to_come: list[int] = []  # members whose pair terms were not needed yet
        self._worth_alone = self._shared_inside = 0.0
        # -inf marks what may not come: non-candidates and members.
        self._barred = np.full(problem.n_features, -np.inf)
        self._barred[self.rules.candidates] = 0.0
        self._open = problem.linear + self._barred
        self._scores = np.empty(problem.n_features)  # one array for all steps: allocating costs as much as adding

    def value(self) -> float:
        return self._valued(self._worth_alone, self._shared_inside, self.size)

    def best_newcomer(self) -> int:
        """The unit that adds most per column, among those with which the subset can still be completed."""
        rules, shared = self.rules, self._shared()
        if rules.single:  # one weight for all
            gains = np.multiply(shared, -self._weight(self.size + 1), out=self._scores)
            gains += self._open if self._always_alone else self._brought(self._alone(self.size + 1))
        else:
            sizes = self.size + rules.sizes
            brought, weights = self._brought(self.problem.weights_alone(sizes)), self.problem.weights(sizes)
            gains = (brought - weights * (shared + rules.inner)) / rules.sizes
        if not rules.plain:
            gains[~rules.can_join(self.members)] = -np.inf
        return first_best(gains, self.scale)

    def least_missed(self) -> int | None:
        """The member that adds least per column, if one may leave and another stays."""
        # Ascending, so that of equally cheap members the highest index goes.
        required = self.rules.required
        free = np.array(sorted(unit for unit in self.members if unit not in required), dtype=np.intp)
        if len(self.members) < 2 or not len(free):
            return None
        sizes = self.rules.sizes[free]
        weights, alone = (each(self.size - sizes) for each in (self.problem.weights, self.problem.weights_alone))
        losses = alone * self.problem.linear[free] - weights * (self._shared()[free] + self.rules.inner[free])
        return int(free[last_best(-losses / sizes, self.scale)])

    def size_without(self, member: int) -> int:
        return self.size - int(self.rules.sizes[member])

    def value_without(self, member: int) -> float:
        worth_alone = self._worth_alone - float(self.problem.linear[member])
        shared_inside = self._shared_inside - self._shared_by(member)
        return self._valued(worth_alone, shared_inside, self.size_without(member))

    def add(self, unit: int) -> None:
        self._shared_inside += self._shared_by(unit)
        self._worth_alone += float(self.problem.linear[unit])
        self.size += int(self.rules.sizes[unit])
        self.members.append(unit)
        self._open[unit] = self._barred[unit] = -np.inf
        self._rows_to_come.append(unit)

    def remove(self, member: int) -> None:
        self._shared_inside -= self._shared_by(member)
        self._worth_alone -= float(self.problem.linear[member])
        self.size -= int(self.rules.sizes[member])
        self.members.remove(member)
        self._open[member], self._barred[member] = self.problem.linear[member], 0.0
        self._account(member, comes=False)

    def _valued(self, worth_alone: float, shared_inside: float, size: int) -> float:
        if not self._always_alone:
            worth_alone *= self._alone(size)
        return worth_alone - self._weight(size) * shared_inside

    def _brought(self, part: float | np.ndarray) -> np.ndarray:
        """What each unit would bring by itself, single terms having this weight; -inf for those that may not come."""
        if isinstance(part, float) and part == 1.0:
            return self._open
        if isinstance(part, float) and part == 0.0:
            return self._barred
        return part * self.problem.linear + self._barred

    def _shared_by(self, unit: int) -> float:
        """Pair terms of a unit's columns with each other and with those of the other members."""
        return float(self._shared()[unit] + self.rules.inner[unit])

    def _shared(self) -> np.ndarray:
        while self._rows_to_come:
            self._account(self._rows_to_come[0], comes=True)
            del self._rows_to_come[0]
        return self._pairs_with_members

    def _account(self, unit: int, *, comes: bool) -> None:
        own = self._pairs_with_members[unit]
        if comes:
            self._pairs_with_members += self.problem.pair_row(unit)
        else:
            self._pairs_with_members -= self.problem.pair_row(unit)
        self._pairs_with_members[unit] = own  # a unit's pair term with itself is arbitrary


class OrderedSubset:
    """The same for criteria that are not sums over pairs: a member is worth what it added when it came.

    Units of several columns compete by the mean score of their columns, which then come one after the other.
    """

    def __init__(self, problem: UnitProblem, steps: TermSteps) -> None:
        self.problem, self.rules, self.scale = problem, problem.rules, value_scale(problem)
        self.members: list[int] = []
        self.size = 0
        self._steps = steps
        self._scores = steps.begin()
        self._added: list[float] = []
        self._open = np.zeros(problem.n_features, dtype=bool)
        self._open[self.rules.candidates] = True

    def value(self) -> float:
        return math.fsum(self._added)

    def best_newcomer(self) -> int | None:
        """The unit that adds most per column, among those with which the subset can still be completed.

        None where the criterion says that a search ends, because none adds anything.
        """
        scores = self._of_units(self._scores.next())
        allowed = self._open if self.rules.plain else self._open & self.rules.can_join(self.members)
        apart = self.problem.apart(self.members)
        if (allowed & ~apart).any():  # else what was found is brought to an allowed subset afterwards
            allowed = allowed & ~apart
        gains = np.where(allowed, scores, -np.inf)
        best = first_best(gains, self.scale)
        if self._steps.criterion.stops and self.members and gains[best] <= tie_width(self.value(), self.scale):
            return None
        return best

    def least_missed(self) -> int | None:
        """The member whose loss costs least per column, if one may leave and another stays; of equals the highest."""
        free = sorted(unit for unit in self.members if unit not in self.rules.required)
        if len(self.members) < 2 or not free:
            return None
        losses = [(self.value() - self.value_without(unit)) / int(self.rules.sizes[unit]) for unit in free]
        return free[last_best(-np.array(losses), self.scale)]

    def size_without(self, member: int) -> int:
        return self.size - int(self.rules.sizes[member])

    def value_without(self, member: int) -> float:
        left = [unit for unit in self.members if unit != member]
        return math.fsum(self._steps.along(self.problem.columns(left)))

    def add(self, unit: int) -> None:
        for column in self.problem.columns([unit]):
            self._added.append(float(self._scores.next()[column]))
            self._scores.add(column)
        self.size += int(self.rules.sizes[unit])
        self.members.append(unit)
        self._open[unit] = False

    def remove(self, member: int) -> None:
        left = [unit for unit in self.members if unit != member]
        self.members, self.size, self._added = [], 0, []
        self._scores = self._steps.begin()
        self._open[member] = True
        for unit in left:
            self.add(unit)

    def _of_units(self, columns: np.ndarray) -> np.ndarray:
        if not self.problem.groups:
            return columns
        return np.array([columns[members].mean() for members in self.problem.members])


def empty_subset(problem: UnitProblem) -> Subset | OrderedSubset:
    """The subset that a growing search begins with."""
    return Subset(problem) if problem.steps is None else OrderedSubset(problem, problem.steps)
