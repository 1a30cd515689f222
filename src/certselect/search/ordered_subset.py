"""A subset whose order of choice matters, on its way to an allowed one."""

from __future__ import annotations

import math

import numpy as np

from certselect.criteria.stepwise import TermSteps
from certselect.criteria.units import UnitProblem
from certselect.search.subset import Subset
from certselect.search.ties import first_best, last_best, tie_width, value_scale


class OrderedSubset:
    """What `Subset` is, for criteria that are no sums over pairs: a member is worth what it added when it came.

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
        self._open[problem.candidates] = True

    def value(self) -> float:
        return math.fsum(self._added)

    def best_newcomer(self) -> int | None:
        """The unit that adds most per column, among those with which the subset can still be completed.

        None where the criterion says that a search ends, because none adds anything.
        """
        scores = self._of_units(self._scores.next())
        allowed = self._open if self.rules.plain else self._open & self.rules.can_join(self.members)
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
