"""Rank units, value the leading parts of a ranking, complete a subset without running into a dead end."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from certselect.criteria.rules import Rules
from certselect.criteria.shared import UnitLimit
from certselect.criteria.units import UnitProblem
from certselect.search.subset import empty_subset
from certselect.search.ties import descending, tie_width, value_scale


def most_relevant(problem: UnitProblem, among: Iterable[int]) -> Iterator[int]:
    """These units, the one of largest relevance (of several columns: their mean) first, the lowest index of equals."""
    units = np.sort(np.fromiter(among, dtype=np.intp))
    relevance = problem.linear[units] / problem.rules.sizes[units]
    for place in descending(relevance, partial(tie_width, scale=value_scale(problem))):
        yield int(units[place])


def values_along(problem: UnitProblem, ranking: list[int]) -> Iterator[float]:
    """Value of each leading part of the ranking, its own size setting the pair weight."""
    if problem.steps is not None:
        yield from _added_up(problem, ranking)
        return
    rules = problem.rules
    worth_alone = shared = 0.0
    size = 0
    for place, unit in enumerate(ranking):
        worth_alone += float(problem.linear[unit])
        size += int(rules.sizes[unit])
        shared += float(rules.inner[unit])
        if place:  # one feature has no pairs
            shared += float(problem.pair_row(unit)[ranking[:place]].sum(dtype=float))
        yield problem.criterion.alone(size) * worth_alone - problem.weight(size) * shared


def _added_up(problem: UnitProblem, ranking: list[int]) -> Iterator[float]:
    """The same by a criterion that is no sum over pairs: what the columns added, one after the other."""
    added, seen = problem.terms(ranking), 0
    for unit in ranking:
        seen += int(problem.rules.sizes[unit])
        yield math.fsum(added[:seen])


def brought_to_size(problem: UnitProblem, units: list[int]) -> list[int]:
    """What a search that ended early has so far as an allowed subset: the most relevant come in, or stay."""
    rules = problem.rules
    size = rules.size(units)
    if size < rules.k:
        others = set(problem.candidates.tolist()).difference(units)
        return Completion(rules, problem.limit).in_order(most_relevant(problem, others), units)
    if size > rules.k:
        inside = replace(rules, candidates=np.sort(units))
        return sorted(Completion(inside, problem.limit).in_order(most_relevant(problem, units)))
    return units


def brought_apart(problem: UnitProblem, units: list[int], *, fill: bool = True) -> list[int]:
    """The units, or an allowed subset close to them where some share too much; a smaller one where none is found.

    Of two that share too much the first stays. What adds most comes in for those that leave, and where that ends
    early, a subset is built of units that share too much with few others.
    """
    if problem.limit is None or not problem.conflicts(units):
        return units
    rules = problem.rules
    inside = Completion(replace(rules, k=rules.size(units)), problem.limit)
    kept = inside.what_may_join(list(rules.required), [unit for unit in units if unit not in rules.required])
    if not fill:
        return kept
    kept = _filled(problem, kept)
    if rules.size(kept) < rules.k:
        others = _filled(problem, _loners(problem))
        kept = max(kept, others, key=rules.size)  # the first of equals
    return kept


def _filled(problem: UnitProblem, kept: list[int]) -> list[int]:
    """What adds most comes in, as long as it shares little with all before."""
    subset, rules = empty_subset(problem), problem.rules
    for unit in kept:
        subset.add(unit)
    while subset.size < rules.k and rules.can_complete(subset.members):
        newcomer = subset.best_newcomer()
        if newcomer is None or problem.apart(subset.members)[newcomer]:
            break
        subset.add(newcomer)
    return list(subset.members)


def _loners(problem: UnitProblem) -> list[int]:
    """The required units and others that share too much with few of those left, until there are enough or none."""
    assert problem.limit is not None, "asked only then"
    rules, (first, second) = problem.rules, problem.limit.pairs
    chosen = list(rules.required)
    left = np.zeros(problem.n_features, dtype=bool)
    left[problem.candidates] = True
    left[[*chosen, *np.flatnonzero(problem.apart(chosen))]] = False
    while rules.size(chosen) < rules.k:
        joins = left & rules.can_join(chosen)
        if not joins.any():
            break
        both = left[first] & left[second]
        apart = np.bincount(np.concatenate([first[both], second[both]]), minlength=problem.n_features)
        place = np.lexsort((-problem.linear, np.where(joins, apart, problem.n_features)))[0]
        chosen.append(int(place))
        left[place] = False
        left[problem.limit.apart_from(int(place))] = False
    return chosen


class Completion:
    """Takes units in a given order, all that leave a way to an allowed subset, until it is one.

    A unit that leaves no way now leaves none later either, so one pass down the
    order is enough. Most orders are served without looking ahead: where taking
    whatever still fits ends at k columns, no unit it took was a dead end, so
    looking ahead would have taken the same ones.
    """

    def __init__(self, rules: Rules, limit: UnitLimit | None = None) -> None:
        self.rules, self.limit = rules, limit
        self.n_units = len(rules.sizes)
        # One place behind the units: "nobody", of a size that never fits.
        self._sizes = np.append(rules.sizes, rules.k + 1)
        self._costs = np.append(rules.costs, 0.0)
        # Units without rivals share a number that is never taken.
        self._group = np.full(self.n_units + 1, len(rules.rivals))
        for number, group in enumerate(rules.rivals):
            self._group[group] = number

    @property
    def nobody(self) -> int:
        """What fills an array of units where there is none."""
        return self.n_units

    def in_order(self, ranking: Iterable[int], chosen: Sequence[int] = ()) -> list[int]:
        """The chosen, the required, then the units that come first in the ranking.

        The chosen can be completed; the ranking lists all other candidates, and is followed
        no further than needed.
        """
        start = [*chosen, *(unit for unit in self.rules.required if unit not in chosen)]
        there, seen = set(start), []

        def others() -> Iterator[int]:
            for unit in ranking:
                if unit not in there:
                    seen.append(unit)
                    yield unit

        if self.limit is not None:
            apart = self.what_may_join(start, others())
            if self.rules.size(apart) == self.rules.k:
                return apart
            ranking = [*seen]
            seen.clear()
        fitting = self._what_fits(start, others())
        if fitting is not None:
            return start + fitting
        order = np.array(seen, dtype=np.intp)  # all of it, as it did not suffice
        while self.rules.size(start) < self.rules.k:
            joins = self.rules.can_join(start)
            joins[start] = False
            start.append(int(order[joins[order].argmax()]))
        return start

    def what_may_join(self, start: list[int], ranking: Iterable[int]) -> list[int]:
        """Those of the ranking that share little with all before them and leave a way to an allowed subset."""
        assert self.limit is not None, "asked only then"
        chosen, barred, rules = list(start), np.zeros(self.n_units, dtype=bool), self.rules
        for unit in chosen:
            barred[self.limit.apart_from(unit)] = True
        size = rules.size(chosen)
        for unit in ranking if size < rules.k else ():
            if barred[unit] or not (rules.plain or rules.can_complete([*chosen, unit])):
                continue
            chosen.append(unit)
            barred[self.limit.apart_from(unit)] = True
            size += self._sizes.item(unit)
            if size == rules.k:
                break
        return chosen

    def rows_in_order(self, order: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """For each row of units in order of preference, the free units of an allowed subset, ascending.

        Candidates a row does not list follow at random. Rows, in and out, may be
        padded with `nobody`; those that come out are as wide as the most units there can be.
        """
        required = list(self.rules.required)
        rows, complete = self._what_fits_in_rows(required, order)
        rows.sort(axis=1)
        width = self.rules.k - self.rules.size(required)
        rows = np.pad(rows, ((0, 0), (0, max(0, width - rows.shape[1]))), constant_values=self.nobody)[:, :width]
        for row in np.flatnonzero(~complete):
            listed = order[row][order[row] != self.nobody]
            others = rng.permutation(np.setdiff1d(self.rules.candidates, listed))
            free = np.setdiff1d(self.in_order(np.concatenate([listed, others]).tolist()), required)
            rows[row] = self.nobody
            rows[row, : len(free)] = free
        return rows

    def _what_fits(self, start: list[int], ranking: Iterator[int]) -> list[int] | None:
        """What fits beside `start`, one after the other, if that makes k columns."""
        size, cost, fitting = self.rules.size(start), self.rules.cost(start), []
        free_group = len(self.rules.rivals)
        held = {self._group.item(unit) for unit in start}
        while size < self.rules.k:
            unit = next(ranking, None)
            if unit is None:
                return None
            group = self._group.item(unit)
            if group != free_group and group in held:
                continue
            size_with, cost_with = size + self._sizes.item(unit), cost + self._costs.item(unit)
            if size_with <= self.rules.k and cost_with <= self.rules.budget:
                size, cost = size_with, cost_with
                held.add(group)
                fitting.append(unit)
        return fitting

    def _what_fits_in_rows(self, start: list[int], order: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The same for each row: what fits (`nobody` in place of the rest), and which rows make k columns."""
        rules, each = self.rules, np.arange(len(order))
        if rules.plain:  # the first so many of each row
            left = rules.k - rules.size(start)
            count = np.cumsum(order != self.nobody, axis=1)
            return np.where(count <= left, order, self.nobody), count[:, -1] >= left
        size = np.full(len(order), rules.size(start))
        cost = np.full(len(order), rules.cost(start))
        held = np.zeros((len(order), len(rules.rivals) + 1), dtype=bool)
        fitting = np.full(order.shape, self.nobody)
        for place in range(order.shape[1]):
            if (size == rules.k).all():
                break
            unit = order[:, place]
            group = self._group[unit]
            fits = (size + self._sizes[unit] <= rules.k) & ~held[each, group]
            fits &= cost + self._costs[unit] <= rules.budget
            size += np.where(fits, self._sizes[unit], 0)
            cost += np.where(fits, self._costs[unit], 0.0)
            held[each, group] |= fits
            held[:, -1] = False  # units without rivals
            fitting[:, place] = np.where(fits, unit, self.nobody)
        return fitting, size == rules.k
