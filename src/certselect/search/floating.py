"""Floating search: forward selection that may change its mind."""

from __future__ import annotations

import numpy as np

from certselect.criteria.problem import SubsetProblem
from certselect.progress import report
from certselect.search.strategy import Found
from certselect.search.ties import beats, first_best, last_best, value_scale


def floating(problem: SubsetProblem, found: Found, rng: np.random.Generator, /) -> None:
    """Add as forward selection does, then remove while that beats every smaller subset seen so far.

    Sequential floating forward selection (Pudil, Novovicova and Kittler 1994),
    the subset's own size setting the pair weight. It cannot go round in circles:
    each removal raises the best value known of its size. Only the pair rows of
    features that were chosen at some time are asked for.
    """
    scale = value_scale(problem)
    best_of_size = [-np.inf] * (problem.k + 1)
    best_indices: list[int] = []  # of size k, once the search has got there
    subset = _Subset(problem)

    def record() -> None:
        size, value = len(subset.members), subset.value()
        found.scores.append(value)
        improves = beats(value, best_of_size[size], scale)
        if improves:
            best_of_size[size] = value
        if size == problem.k and improves:
            best_indices[:] = subset.members
        found.indices = list(best_indices or subset.members)

    while len(subset.members) < problem.k:
        subset.add(first_best(subset.gains(), scale))
        record()
        while len(subset.members) > 1:
            # Ascending, so that of equally cheap members the highest index goes.
            members = np.sort(subset.members)
            out = int(members[last_best(-subset.losses(members), scale)])
            if not beats(subset.value_without(out), best_of_size[len(members) - 1], scale):
                break
            subset.remove(out)
            record()
        report("floating", len(subset.members), problem.k)


class _Subset:
    """A subset under its own size's pair weight, and what each feature shares with it."""

    def __init__(self, problem: SubsetProblem) -> None:
        self.problem = problem
        self.members: list[int] = []
        self._may_come = np.zeros(problem.n_features, dtype=bool)
        self._may_come[problem.candidates] = True
        self._shared = np.zeros(problem.n_features)
        self._worth_alone = self._shared_inside = 0.0

    def value(self) -> float:
        return self._worth_alone - self.problem.weight(len(self.members)) * self._shared_inside

    def value_without(self, member: int) -> float:
        worth_alone = self._worth_alone - float(self.problem.linear[member])
        shared_inside = self._shared_inside - float(self._shared[member])
        return worth_alone - self.problem.weight(len(self.members) - 1) * shared_inside

    def gains(self) -> np.ndarray:
        """What each feature would add, at the weight of one feature more; -inf where it may not come."""
        gains = self.problem.linear - self.problem.weight(len(self.members) + 1) * self._shared
        return np.where(self._may_come, gains, -np.inf)

    def losses(self, members: np.ndarray) -> np.ndarray:
        """What each of the members contributes, at the weight of one feature less."""
        weight = self.problem.weight(len(self.members) - 1)
        return self.problem.linear[members] - weight * self._shared[members]

    def add(self, feature: int) -> None:
        self.members.append(feature)
        self._account(feature, 1.0)

    def remove(self, feature: int) -> None:
        self.members.remove(feature)
        self._account(feature, -1.0)

    def _account(self, feature: int, sign: float) -> None:
        shared = self._shared[feature]
        self._worth_alone += sign * float(self.problem.linear[feature])
        self._shared_inside += sign * float(shared)
        self._shared += sign * self.problem.pair_row(feature)
        self._shared[feature] = shared  # a feature's pair term with itself is arbitrary
        self._may_come[feature] = sign < 0
