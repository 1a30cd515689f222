"""Exhaustive search: every allowed subset, for problems small enough to have no doubt about."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import cached_property
from typing import NamedTuple

import numpy as np

from certselect.certificate import TOLERANCE, tolerance
from certselect.certificate.open_problem import OpenProblem
from certselect.certificate.rounding import UNIT, round_up
from certselect.criteria.units import UnitProblem
from certselect.errors import InvalidInput, keyword, option
from certselect.progress import report
from certselect.search.found import Evidence, Found, Proved
from certselect.search.hopeless import hopeless_floor
from certselect.search.options import check_count
from certselect.search.strategies.forward import forward
from certselect.search.strategy import Strategy

SUBSETS_AT_ONCE = 1 << 14
# Subsets that may equal the best; more are hardly ever needed to tell the first of them.
MOST_HELD = 1000


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
            f"at most {option('max_subsets', spelled=f'{max_subsets:,}')} for {keyword('strategy', 'exhaustive')}",
            f"Use another strategy ('forward' with {keyword('polish', True)} is quick), or raise "
            f"{option('max_subsets')} and wait.",
        )
    problem.check_room_for_pairs()
    best, done = _Best(problem, choice, found), 0
    for whole in choice.whole_subsets():
        if found.out_of_time():
            return
        best.look_at(whole)
        done += len(whole.values)
        report("exhaustive", done, count)
    best.settle()


class _Best:
    """The best subset, exactly: of all those whose values, rounding counted, may be as good as it.

    Of more than `MOST_HELD` such subsets the lexicographically first are held; no other is
    worth more than `let_go`.
    """

    def __init__(self, problem: UnitProblem, choice: _Choice, found: Found) -> None:
        self.problem, self.choice, self.found = problem, choice, found
        self.value = self.let_go = -math.inf
        self.held: list[tuple[list[int], float]] = []  # units, and at least what they are worth
        # No subset further below the best than this equals it.
        self.width = 0.5 * TOLERANCE * choice.magnitude

    def look_at(self, whole: _Parts) -> None:
        """Value exactly what may be better than the best so far, and hold what may equal it."""
        at_most = whole.values + self.choice.error
        top = int(at_most.argmax())
        if at_most[top] > self.value:
            units = self.choice.units(whole.members[:, top])
            value = self.problem.value(units)
            if value > self.value:
                self.found.indices, self.value = units, value
                self.found.scores.append(value)
                self.held = [each for each in self.held if each[1] >= value - self.width]
        near = self.choice.in_order(whole, np.flatnonzero(at_most >= self.value - self.width))
        for place in near[:MOST_HELD]:
            self.held.append((self.choice.units(whole.members[:, place]), float(at_most[place])))
        self._let_go(at_most[near[MOST_HELD:]])
        if len(self.held) > 2 * MOST_HELD:
            self.held.sort()
            self._let_go(np.array([each for _, each in self.held[MOST_HELD:]]))
            del self.held[MOST_HELD:]

    def _let_go(self, at_most: np.ndarray) -> None:
        self.let_go = float(at_most.max(initial=self.let_go))

    def settle(self) -> None:
        """The first of those that equal the best, and the bound."""
        problem, found = self.problem, self.found
        terms = {tuple(units): problem.terms(units) for units in [found.indices, *(units for units, _ in self.held)]}
        values = {units: math.fsum(each) for units, each in terms.items()}
        best = max(values, key=lambda units: values[units])
        bound = max(self.let_go, *map(round_up, terms.values()))
        tie = 0.5 * tolerance(problem, best)
        equal = [
            units
            for units, value in values.items()
            if value >= values[best] - tie and bound - value <= tolerance(problem, units)
        ]
        found.indices = list(min(equal, default=best))
        found.evidence = Evidence(proved=Proved(values[best], values[best] + tie, bound, None))


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

    def in_order(self, whole: _Parts, places: np.ndarray) -> list[int]:
        """These subsets of a block in lexicographic order of their units."""
        if self.plain:  # a block is in that order already; what is left out last is what is taken first
            return places[:: -1 if self.leaving else 1].tolist()
        return sorted(places.tolist(), key=lambda place: self.units(whole.members[:, place]))

    @cached_property
    def _opened(self) -> OpenProblem:
        """What there is to choose, penalties beyond everything else reduced; with its rounding errors."""
        some = Found()
        forward(self.problem, some, np.random.default_rng(0))
        reduced = self.problem.reduced
        positions = np.searchsorted(reduced.units, np.setdiff1d(some.indices, self.required))
        opened = OpenProblem.of(reduced, hopeless_floor(reduced, positions.tolist()))
        assert len(opened) == len(self.free), "a candidate is part of an allowed subset"
        return opened

    @cached_property
    def pair_costs(self) -> np.ndarray:
        """What each pair of free units costs; also what leaving out both of a pair takes off the sum over each."""
        costs = -2.0 * self._opened.matrix
        np.fill_diagonal(costs, 0.0)
        return costs

    @cached_property
    def worth(self) -> np.ndarray:
        """By how much the value of a set changes with each unit, but for the pairs among them."""
        alone = self._opened.matrix.diagonal()
        if not self.leaving:
            return alone
        return np.array([math.fsum(row) for row in self.pair_costs.tolist()]) - alone

    @cached_property
    def value_of_none(self) -> float:
        """Value where no unit is taken in, or left out."""
        if not self.leaving:
            return self._opened.constant
        return math.fsum([self._opened.constant, *self._opened.matrix.ravel().tolist()])

    @cached_property
    def magnitude(self) -> float:
        """At least the sum of the absolute terms of any subset, as far as they are in the matrix."""
        entries = np.abs(self._opened.matrix)
        if not self.leaving:
            most, n = self._opened.most_units, len(entries)
            rows = entries.diagonal() + np.sort(entries, axis=1)[:, n - most :].sum(axis=1)
            entries = np.sort(rows)[n - most :]
        return 2.0 * (float(entries.sum()) + abs(self._opened.constant))

    @cached_property
    def error(self) -> float:
        """How far a subset's value can be above what the sums of the matrix's entries come to."""
        additions = (self.left + 4.0) ** 2
        return self._opened.lost + 4.0 * additions * UNIT * self.magnitude

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
    scores="improving",
)
