"""Exhaustive search: every allowed subset, for problems small enough to have no doubt about."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import cached_property
from typing import NamedTuple

import numpy as np

from certselect.criteria.units import UnitProblem
from certselect.errors import InvalidInput
from certselect.progress import report
from certselect.search.found import Found
from certselect.search.options import check_count
from certselect.search.selection import PROVEN_OPTIMAL
from certselect.search.strategy import Strategy
from certselect.search.ties import beats, tie_width, value_scale

SUBSETS_AT_ONCE = 1 << 14


def exhaustive(
    problem: UnitProblem, found: Found, rng: np.random.Generator, /, *, max_subsets: int = 2_000_000
) -> None:
    """Value every allowed subset and keep the best, the lexicographically first of equals.

    Subsets of one unit less are grown by each unit behind their last, so that what subsets
    have in common is summed once. A part that breaks a rule is not grown any further, and
    one whose size the units behind it cannot make up to k is never begun. Where nothing but
    the size is asked and most units are taken, the sets to leave out are grown instead.
    """
    choice = _Choice(problem)
    count = choice.count()
    if count > check_count("max_subsets", max_subsets, 1):
        raise InvalidInput(
            f"{count:,} subsets of {problem.k} out of {len(problem.candidates)} candidates",
            f"at most max_subsets={max_subsets:,} for strategy='exhaustive'",
            "Use another strategy ('forward' with polish=True is quick), or raise max_subsets and wait.",
        )
    scale, done = value_scale(problem), 0
    best = holder = -np.inf  # the largest value so far, and that of the subset held, which equals it
    for whole in choice.whole_subsets():
        best = max(best, float(whole.values.max()))
        better = beats(best, holder, scale)
        equals = np.flatnonzero(whole.values >= best - tie_width(best, scale))
        if len(equals):
            first = choice.first_of(whole, equals)
            units = choice.units(whole.members[:, first])
            if better or units < found.indices:
                found.indices, holder = units, float(whole.values[first])
            if better:
                found.scores.append(holder)
        done += len(whole.values)
        report("exhaustive", done, count)
    found.status = PROVEN_OPTIMAL


class _Parts(NamedTuple):
    """Sets of units, a column each: members (places in `_Choice.free`), values, columns still to choose, cost."""

    members: np.ndarray
    values: np.ndarray
    left: np.ndarray
    cost: np.ndarray

    def take(self, kept: np.ndarray) -> _Parts:
        return _Parts(self.members[:, kept], self.values[kept], self.left[kept], self.cost[kept])


class _Choice:
    """What can be chosen beside the required units, or what to leave out where that is less to choose."""

    def __init__(self, problem: UnitProblem) -> None:
        rules = problem.rules
        self.problem, self.required = problem, np.array(rules.required, dtype=np.intp)
        self.free = np.setdiff1d(problem.candidates, self.required)
        self.left = problem.k - rules.size(rules.required)
        self.sizes, self.costs = rules.sizes[self.free], rules.costs[self.free]
        self.budget = rules.budget - rules.cost(rules.required)
        # Units that are nobody's rivals are each in a group of their own.
        self.group = np.arange(len(self.free))
        for number, group in enumerate(rules.rivals, start=len(self.free)):
            self.group[np.isin(self.free, group)] = number
        self.plain, self.largest = rules.plain, int(self.sizes.max(initial=1))
        # 57 of 60 have 1596 pairs to sum, the 3 left out have 3; but rivals and budgets prune what is taken in.
        size_of_all = int(self.sizes.sum())
        self.leaving = not rules.rivals and math.isinf(self.budget) and 2 * self.left > size_of_all
        if self.leaving:
            self.left = size_of_all - self.left

    def units(self, members: np.ndarray) -> list[int]:
        chosen = np.delete(self.free, members) if self.leaving else self.free[members]
        return sorted([*self.required, *chosen.tolist()])

    def first_of(self, whole: _Parts, places: np.ndarray) -> int:
        """Which of these subsets of a block comes first in lexicographic order of its units."""
        if self.plain:  # a block is in that order already; what is left out last is what is taken first
            return int(places[-1 if self.leaving else 0])
        return min(places.tolist(), key=lambda place: self.units(whole.members[:, place]))

    @cached_property
    def pair_costs(self) -> np.ndarray:
        """What each pair of free units costs; also what leaving out both of a pair takes off the sum over each."""
        costs = self._weight * self.problem.pair_matrix[np.ix_(self.free, self.free)].astype(float)
        np.fill_diagonal(costs, 0.0)
        return costs

    @cached_property
    def worth(self) -> np.ndarray:
        """By how much the value of a set changes with each unit, but for the pairs among them."""
        return self.pair_costs.sum(axis=1) - self._worth_in_company if self.leaving else self._worth_in_company

    @cached_property
    def value_of_none(self) -> float:
        """Value where no unit is taken in, or left out."""
        value = self.problem.value(self.required)
        if self.leaving:
            value += float(self._worth_in_company.sum() - self.pair_costs.sum() / 2.0)
        return value

    @cached_property
    def _weight(self) -> float:
        return self.problem.weight(self.problem.k)

    @cached_property
    def _worth_in_company(self) -> np.ndarray:
        """What each free unit is worth beside the required ones."""
        beside = self.problem.pair_matrix[np.ix_(self.free, self.required)].sum(axis=1, dtype=float)
        return self.problem.worth_alone[self.free] - self._weight * beside

    def count(self) -> int:
        """How many sets of units have the right size, allowed or not."""
        ways = [1] + [0] * self.left
        for size in self.sizes.tolist():
            for reached in range(self.left, size - 1, -1):
                ways[reached] += ways[reached - size]
        return ways[self.left]

    def whole_subsets(self) -> Iterator[_Parts]:
        """All allowed subsets, by blocks."""
        nothing = np.empty((0, 1), dtype=np.intp)
        start = _Parts(nothing, np.full(1, self.value_of_none), np.full(1, self.left), np.zeros(1))
        reachable = self._reachable()
        waiting = [start]  # the last first, so that few parts are held at a time
        while waiting:
            parts = waiting.pop()
            whole = parts.left == 0
            if whole.any():
                yield parts.take(whole)
            if not whole.all():
                waiting.extend(reversed(list(self._grown(parts.take(~whole), reachable))))

    def _reachable(self) -> np.ndarray:
        """Entry (i, t): units i and behind can make up t columns (booleans)."""
        reachable = np.zeros((len(self.free) + 1, self.left + 1), dtype=bool)
        reachable[-1, 0] = True
        for i in range(len(self.free) - 1, -1, -1):
            size = int(self.sizes[i])
            reachable[i] = reachable[i + 1]
            if size <= self.left:
                reachable[i, size:] |= reachable[i + 1, : self.left + 1 - size]
        return reachable

    def _grown(self, parts: _Parts, reachable: np.ndarray) -> Iterator[_Parts]:
        """Each part with each unit behind its last that leaves a way to k columns."""
        first = parts.members[-1] + 1 if len(parts.members) else np.zeros(len(parts.values), dtype=np.intp)
        # So many units at least have to follow the next one.
        following = np.maximum(-(-(parts.left - self.largest) // self.largest), 0)
        behind = np.maximum(len(self.free) - following, first)
        ends = np.cumsum(behind - first)  # where each part's children end among all children
        start = 0
        while start < len(ends):
            before = int(ends[start - 1]) if start else 0
            stop = max(start + 1, int(np.searchsorted(ends, before + SUBSETS_AT_ONCE, side="right")))
            parent = np.repeat(np.arange(start, stop), (behind - first)[start:stop])
            # Counting down from each part's end: the children take first..behind-1 in turn.
            last = np.arange(before, before + len(parent)) - ends[parent] + behind[parent]
            left = parts.left[parent] - self.sizes[last]
            cost = parts.cost[parent] + self.costs[last]
            if not self.plain:
                fits = (left >= 0) & (cost <= self.budget)
                fits &= reachable[last + 1, np.maximum(left, 0)]
                for members in parts.members:
                    fits &= self.group[members[parent]] != self.group[last]
                parent, last, left, cost = parent[fits], last[fits], left[fits], cost[fits]
            if len(parent):
                members = np.concatenate([parts.members[:, parent], last[None]])
                values = parts.values[parent] + self.worth[last]
                for member in members[:-1]:
                    values -= self.pair_costs[member, last]
                yield _Parts(members, values, left, cost)
            start = stop


STRATEGY = Strategy(
    "exhaustive",
    exhaustive,
    "tries every subset, so its answer is optimal; up to a few million subsets",
    needs_all_pairs=True,
    bounds=True,
)
