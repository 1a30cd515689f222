"""Exact rational oracle of small subset problems: whole numbers, all allowed subsets, no code of the package."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from itertools import combinations

Subset = tuple[int, ...]
# What a pair of columns adds to the value of a subset of a given size that holds both.
PairGains = Callable[[int], Sequence[Sequence[float]]]


@dataclass(frozen=True)
class Wishes:
    """What is asked of a subset besides its size, in words of the statement: columns by number, costs as fractions."""

    usable: frozenset[int]
    include: tuple[int, ...] = ()
    exclude: tuple[int, ...] = ()
    all_or_none: tuple[tuple[int, ...], ...] = ()
    at_most_one: tuple[tuple[int, ...], ...] = ()
    costs: tuple[float, ...] | None = None
    budget: float = 0.0

    def granted(self, subset: Subset) -> bool:
        """Whether a set of columns, of whatever size, is what was asked for."""
        chosen = set(subset)
        if not chosen <= self.usable or not chosen >= set(self.include) or chosen & set(self.exclude):
            return False
        for group in self.all_or_none:
            # Columns that cannot be chosen leave their groups.
            members = set(group) & self.usable | set(group) & set(self.exclude)
            if chosen & members not in (set(), members):
                return False
        if any(len(chosen & set(group)) > 1 for group in self.at_most_one):
            return False
        return self.costs is None or sum(Fraction(self.costs[i]) for i in subset) <= Fraction(self.budget)

    @property
    def any(self) -> bool:
        return bool(self.include or self.exclude or self.all_or_none or self.at_most_one) or self.costs is not None


@dataclass(frozen=True)
class Oracle:
    """Every allowed subset with its exact value, a whole number of units of 1/`denominator`.

    A subset of k columns is worth the sum of `linear` over it and of `gains(k)` over its pairs.
    """

    linear: Sequence[float]
    gains: PairGains
    k: int | None
    wishes: Wishes
    _scaled: dict[int, tuple[list[int], list[list[int]]]] = field(default_factory=dict)

    @cached_property
    def sizes(self) -> list[int]:
        return list(range(1, len(self.linear) + 1)) if self.k is None else [self.k]

    @cached_property
    def denominator(self) -> int:
        """A power of two that makes every term a whole number."""
        largest = max(_denominator(term) for term in self.linear)
        for size in self.sizes:
            for i, row in enumerate(self.gains(size)):
                largest = max([largest, *(_denominator(term) for term in row[:i])])
        return largest

    def _whole(self, size: int) -> tuple[list[int], list[list[int]]]:
        if size not in self._scaled:
            scale = self.denominator
            linear = [_times(term, scale) for term in self.linear]
            pairs = [[0] * len(linear) for _ in linear]
            for i, row in enumerate(self.gains(size)):
                for j in range(i):
                    pairs[i][j] = pairs[j][i] = _times(row[j], scale)
            self._scaled[size] = linear, pairs
        return self._scaled[size]

    @cached_property
    def values(self) -> dict[Subset, int]:
        """All allowed subsets in lexicographic order of each size, with their values in units."""
        found: dict[Subset, int] = {}
        for size in self.sizes:
            linear, pairs = self._whole(size)
            self._grow((), 0, linear, size, pairs, found)
        return found

    def _grow(
        self, chosen: Subset, value: int, worth: list[int], size: int, pairs: list[list[int]], found: dict[Subset, int]
    ) -> None:
        """Add to `found` all subsets of `size` that go on from `chosen`; `worth` is what each column adds to it."""
        left = size - len(chosen)
        if left == 0:
            if not self.wishes.any or self.wishes.granted(chosen):
                found[chosen] = value
            return
        for i in range(chosen[-1] + 1 if chosen else 0, len(worth) - left + 1):
            if i in self.wishes.usable:
                beside = [own + pair for own, pair in zip(worth, pairs[i], strict=True)]
                self._grow((*chosen, i), value + worth[i], beside, size, pairs, found)

    @property
    def all_are_allowed(self) -> bool:
        """Whether nothing but the size, and what is usable, is asked of a subset."""
        return len(self.values) == sum(math.comb(len(self.wishes.usable), size) for size in self.sizes)

    @cached_property
    def best(self) -> int:
        return max(self.values.values())

    @property
    def best_subset(self) -> Subset:
        return next(subset for subset, value in self.values.items() if value == self.best)

    @property
    def exact_best(self) -> Fraction:
        return Fraction(self.best, self.denominator)

    def allowed(self, subset: Sequence[int]) -> bool:
        return tuple(sorted(subset)) in self.values

    def value(self, subset: Sequence[int]) -> Fraction:
        """The exact value of any set of columns of an allowed size."""
        linear, pairs = self._whole(len(subset))
        total = sum(linear[i] for i in subset) + sum(pairs[i][j] for i, j in combinations(subset, 2))
        return Fraction(total, self.denominator)

    def own_terms(self, subset: Sequence[int]) -> Fraction:
        """The sum of the absolute terms of a subset: what a tolerance is measured by."""
        linear, pairs = self._whole(len(subset))
        total = sum(abs(linear[i]) for i in subset) + sum(abs(pairs[i][j]) for i, j in combinations(subset, 2))
        return Fraction(total, self.denominator)

    def at_least(self, value: Fraction) -> list[Subset]:
        """All allowed subsets worth that much or more."""
        limit = value * self.denominator
        return [subset for subset, worth in self.values.items() if worth >= limit]

    def clear_ties(self) -> list[Subset] | None:
        """The subsets that tie with the best, if there is no doubt which: None if some are at the border.

        Equal are differences up to 1e-14 of the smallest sum of own terms, different those above 1e-11 of the largest.
        """
        # Wide enough to hold every subset that a tolerance of own terms could reach from its own side.
        near = [s for s in self.values if self.exact_best - self.value(s) <= _DIFFERENT * self.own_terms(s)]
        near = near if self.best_subset in near else [self.best_subset, *near]
        terms = [self.own_terms(subset) for subset in near]
        width = _EQUAL * min(terms)
        ties = [subset for subset in near if self.exact_best - self.value(subset) <= width]
        wide = self.at_least(self.exact_best - _DIFFERENT * max(terms))
        return ties if len(ties) == len(near) == len(wide) else None


_EQUAL, _DIFFERENT = Fraction(1, 10**14), Fraction(1, 10**11)


def _denominator(term: float) -> int:
    return float(term).as_integer_ratio()[1]


def _times(term: float, scale: int) -> int:
    above, below = float(term).as_integer_ratio()
    return above * (scale // below)
