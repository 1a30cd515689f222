"""Slow twins of the searches under constraints: every subset is listed, and exact fractions are compared.

`NaiveRules` holds a `naive_search.NaiveProblem` about the table's columns and the
constraints as plain lists. What may come or must stay is read off the list of all
allowed subsets. Shares no code with the package.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from naive_search import NaiveProblem


@dataclass
class NaiveRules:
    columns: NaiveProblem
    include: list[int]
    together: list[list[int]]
    rivals: list[list[int]]
    costs: list[Fraction] | None
    budget: Fraction

    @cached_property
    def units(self):
        """Tuples of columns, in order of their lowest."""
        grouped = {i for group in self.together for i in group}
        singles = [(i,) for i in range(len(self.columns.linear)) if i not in grouped]
        return sorted([*singles, *(tuple(sorted(group)) for group in self.together)])

    @cached_property
    def allowed_of_any_size(self):
        """All subsets that hold to the constraints, as sets of units."""
        found = []
        for count in range(1, len(self.units) + 1):
            for subset in itertools.combinations(self.units, count):
                if self.is_allowed(flat(subset)):
                    found.append(frozenset(subset))
        return found

    @property
    def allowed_sizes(self):
        return sorted({len(flat(subset)) for subset in self.allowed_of_any_size})

    @cached_property
    def allowed(self):
        """Those of k columns."""
        return [subset for subset in self.allowed_of_any_size if len(flat(subset)) == self.columns.k]

    def is_allowed(self, subset):
        """Does a subset of columns, of whatever size, hold to the constraints?"""
        if any(i not in self.columns.candidates for i in subset) or any(i not in subset for i in self.include):
            return False
        if any(len([i for i in group if i in subset]) > 1 for group in self.rivals):
            return False
        if any(0 < len([i for i in group if i in subset]) < len(group) for group in self.together):
            return False
        return self.costs is None or sum((self.costs[i] for i in subset), Fraction(0)) <= self.budget

    @property
    def required(self):
        return [unit for unit in self.units if any(i in self.include for i in unit)]

    @property
    def possible(self):
        """Units in at least one allowed subset, ascending."""
        return sorted(set().union(*self.allowed))

    def completable(self, units):
        return any(subset.issuperset(units) for subset in self.allowed)

    def contains_allowed(self, units):
        return any(subset.issubset(units) for subset in self.allowed)

    def value(self, units, size=None):
        return self.columns.value(flat(units), size)


def flat(units):
    return [i for unit in units for i in unit]


def _gain(rules, chosen, unit):
    """Per column, both values at the pair weight of the size after the addition."""
    after = len(flat([*chosen, unit]))
    return (rules.value([*chosen, unit], after) - rules.value(chosen, after)) / len(unit)


def _best_newcomer(rules, chosen):
    best = None
    for unit in rules.units:
        if unit in chosen or not rules.completable([*chosen, unit]):
            continue
        if best is None or _gain(rules, chosen, unit) > _gain(rules, chosen, best):
            best = unit
    return best


def _least_missed(rules, kept, among):
    """Of `among`, the unit that adds least per column to the rest of `kept`, the last of equals."""
    best = None
    for unit in sorted(among):
        loss = _loss(rules, kept, unit)
        if best is None or loss <= _loss(rules, kept, best):
            best = unit
    return best


def _loss(rules, kept, unit):
    left = [other for other in kept if other != unit]
    size = len(flat(left))
    return (rules.value(kept, size) - rules.value(left, size)) / len(unit)


def relevance(rules):
    def mean(unit):
        return sum((rules.columns.linear[i] for i in unit), Fraction(0)) / len(unit)

    chosen = list(rules.required)
    for unit in sorted(rules.possible, key=lambda unit: (-mean(unit), unit)):
        if unit not in chosen and rules.completable([*chosen, unit]):
            chosen.append(unit)
    return flat(chosen), [rules.value(chosen[: t + 1]) for t in range(len(chosen))]


def forward(rules):
    chosen = list(rules.required)
    while len(flat(chosen)) < rules.columns.k:
        chosen.append(_best_newcomer(rules, chosen))
    return flat(chosen), [rules.value(chosen[: t + 1]) for t in range(len(chosen))]


def backward(rules):
    left, scores = list(rules.possible), []
    while len(flat(left)) > rules.columns.k:
        removable = [unit for unit in left if rules.contains_allowed([other for other in left if other != unit])]
        left.remove(_least_missed(rules, left, removable))
        scores.append(rules.value(left))
    return sorted(flat(left)), scores


def floating(rules):
    subset, scores, best_of_size = [], [], {}

    def visit():
        value, size = rules.value(subset), len(flat(subset))
        scores.append(value)
        if size not in best_of_size or value > best_of_size[size][0]:
            best_of_size[size] = (value, list(subset))

    for unit in rules.required:
        subset = [*subset, unit]
        visit()
    while len(flat(subset)) < rules.columns.k:
        subset = [*subset, _best_newcomer(rules, subset)]
        visit()
        while len(subset) > 1 and set(subset) - set(rules.required):
            out = _least_missed(rules, subset, set(subset) - set(rules.required))
            left = [unit for unit in subset if unit != out]
            known = best_of_size.get(len(flat(left)))
            if known is None or rules.value(left) <= known[0]:
                break
            subset = left
            visit()
    return flat(best_of_size[rules.columns.k][1]), scores


def exhaustive(rules):
    """The best allowed subset of columns, the lexicographically first of equals."""
    best, k = None, rules.columns.k
    for subset in itertools.combinations(range(len(rules.columns.linear)), k):
        if rules.is_allowed(subset):
            value = rules.columns.value(subset, k)
            if best is None or value > best[0]:
                best = (value, list(subset))
    return best[1], best[0]


def polish(rules, start):
    """Best allowed swaps of units of equal size; the lowest of equally good newcomers comes, the highest leaves."""
    subset, scores, k = list(start), [], rules.columns.k
    while True:
        best_value, best_swap = rules.value(subset, k), None
        for new in sorted(set(rules.possible) - set(subset)):
            for out in sorted(subset, reverse=True):
                swapped = [new if unit == out else unit for unit in subset]
                if len(new) != len(out) or frozenset(swapped) not in rules.allowed:
                    continue
                if rules.value(swapped, k) > best_value:
                    best_value, best_swap = rules.value(swapped, k), swapped
        if best_swap is None:
            return subset, scores
        subset = best_swap
        scores.append(best_value)


def repair(rules, drawn):
    """A drawn set of units brought to an allowed one, at the pair weight of size k throughout."""
    k = rules.columns.k

    def loss(unit):
        left = [other for other in chosen if other != unit]
        return (rules.value(chosen, k) - rules.value(left, k)) / len(unit)

    def drop_one_of(units):
        chosen.remove(min(sorted(units, reverse=True), key=loss))

    chosen = sorted({*drawn, *rules.required})
    for group in rules.rivals:
        while len(present := [unit for unit in chosen if set(unit) & set(group)]) > 1:
            drop_one_of(present)
    while not rules.completable(chosen):
        drop_one_of([unit for unit in chosen if unit not in rules.required])
    while len(flat(chosen)) < k:
        best = None
        for unit in rules.possible:
            if unit in chosen or not rules.completable([*chosen, unit]):
                continue
            gain = (rules.value([*chosen, unit], k) - rules.value(chosen, k)) / len(unit)
            if best is None or gain > best[0]:
                best = (gain, unit)
        chosen = sorted([*chosen, best[1]])
    return sorted(flat(chosen))
