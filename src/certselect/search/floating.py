"""Floating search: forward selection that may change its mind."""

from __future__ import annotations

import numpy as np

from certselect.criteria.problem import SubsetProblem
from certselect.progress import report
from certselect.search.ruled_subset import RuledSubset
from certselect.search.strategy import Found
from certselect.search.ties import beats, first_best, last_best, value_scale


def floating(problem: SubsetProblem, found: Found, rng: np.random.Generator, /) -> None:
    """Add as forward selection does, then remove while that beats every smaller subset seen so far.

    Sequential floating forward selection (Pudil, Novovicova and Kittler 1994),
    the subset's own size setting the pair weight. It cannot go round in circles:
    each removal raises the best value known of its size. Only the pair rows of
    features that were chosen at some time are asked for.

    Under rules, as forward selection does there; required units never leave.
    """
    scale = value_scale(problem)
    best_of_size = [-np.inf] * (problem.k + 1)
    best_indices: list[int] = []  # of size k, once the search has got there
    subset = _Subset(problem) if problem.rules is None else RuledSubset(problem, problem.rules)

    def record() -> None:
        size, value = subset.size, subset.value()
        found.scores.append(value)
        improves = beats(value, best_of_size[size], scale)
        if improves:
            best_of_size[size] = value
        if size == problem.k and improves:
            best_indices[:] = subset.members
        found.indices = list(best_indices or subset.members)

    for unit in () if problem.rules is None else problem.rules.required:
        subset.add(unit)
        record()
    while subset.size < problem.k:
        subset.add(subset.best_newcomer(scale))
        record()
        while (out := subset.least_missed(scale)) is not None:
            known = best_of_size[subset.size_without(out)]
            # A size that units of several columns have jumped over gives no reason to go back to it.
            if known == -np.inf or not beats(subset.value_without(out), known, scale):
                break
            subset.remove(out)
            record()
        report("floating", subset.size, problem.k)


class _Subset:
    """A subset under its own size's pair weight, and what each feature shares with it."""

    def __init__(self, problem: SubsetProblem) -> None:
        self.problem = problem
        self.members: list[int] = []
        self._may_come = np.zeros(problem.n_features, dtype=bool)
        self._may_come[problem.candidates] = True
        self._shared = np.zeros(problem.n_features)
        self._worth_alone = self._shared_inside = 0.0

    @property
    def size(self) -> int:
        return len(self.members)

    def value(self) -> float:
        return self._worth_alone - self.problem.weight(self.size) * self._shared_inside

    def best_newcomer(self, scale: float) -> int:
        """The feature that adds most, at the weight of one feature more."""
        gains = self.problem.linear - self.problem.weight(self.size + 1) * self._shared
        return first_best(np.where(self._may_come, gains, -np.inf), scale)

    def least_missed(self, scale: float) -> int | None:
        """The member that adds least, at the weight of one feature less, if another one stays."""
        if self.size < 2:
            return None
        # Ascending, so that of equally cheap members the highest index goes.
        members = np.sort(self.members)
        losses = self.problem.linear[members] - self.problem.weight(self.size - 1) * self._shared[members]
        return int(members[last_best(-losses, scale)])

    def size_without(self, member: int) -> int:
        return self.size - 1

    def value_without(self, member: int) -> float:
        worth_alone = self._worth_alone - float(self.problem.linear[member])
        shared_inside = self._shared_inside - float(self._shared[member])
        return worth_alone - self.problem.weight(self.size - 1) * shared_inside

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
