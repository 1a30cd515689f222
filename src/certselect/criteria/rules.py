"""Rules: which sets of units a constrained search may choose, and whether it can still get there."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from certselect.criteria.cheapest import Choices


@dataclass(frozen=True, eq=False)
class Rules:
    """The constraints of a problem whose features are units: all-or-none groups merged into one.

    Attributes
    ----------
    sizes : ndarray of int (n,)
        How many columns of the table each unit is.
    inner : ndarray (n,)
        Sum of the pair terms inside each unit; 0 for single columns.
    required : tuple of int
        Units in every subset, ascending.
    rivals : tuple of ndarray
        Disjoint groups of two candidates or more, of which at most one may be chosen.
        Rivals of required units are no candidates.
    costs : ndarray (n,)
        Zeros if there is no budget.
    budget : float
        inf if there is none.
    k : int
        How many columns to choose.
    candidates : ndarray of int
        The units that are part of at least one allowed subset, ascending; the required ones among them.
    """

    sizes: np.ndarray
    inner: np.ndarray
    required: tuple[int, ...]
    rivals: tuple[np.ndarray, ...]
    costs: np.ndarray
    budget: float
    k: int
    candidates: np.ndarray

    @cached_property
    def single(self) -> bool:
        """Whether every unit is one column."""
        return bool((self.sizes == 1).all())

    @cached_property
    def plain(self) -> bool:
        """Whether every k candidates with the required units among them are allowed."""
        return self.single and not self.rivals and math.isinf(self.budget)

    def size(self, chosen: Sequence[int]) -> int:
        """How many columns these units are."""
        return len(chosen) if self.single else int(self.sizes[list(chosen)].sum())

    def cost(self, chosen: Sequence[int]) -> float:
        return math.fsum(self.costs[list(chosen)].tolist())

    def allows(self, chosen: Sequence[int]) -> bool:
        """Is this a whole subset: k columns, the required units in, no two rivals, within the budget?"""
        return self.size(chosen) == self.k and set(self.required).issubset(chosen) and self._compatible(chosen)

    def can_complete(self, chosen: Sequence[int], among: Iterable[int] | None = None) -> bool:
        """Is there an allowed subset that contains `chosen`, all other units taken from `among`?

        The required units are added to `chosen`; `among` is all candidates if not given.
        """
        taken = sorted({*chosen, *self.required})
        left = self.k - self.size(taken)
        if left < 0 or not self._compatible(taken):
            return False
        if left == 0:
            return True
        if self.plain and among is None:
            return len(self.candidates) >= self.k
        least = self._choices.least_costs(self._free_beside(taken, among), left)[left]
        return bool(least < np.inf and self.cost(taken) + least <= self.budget)

    def can_join(self, chosen: Sequence[int]) -> np.ndarray:
        """For every unit (a mask): is there an allowed subset that contains `chosen` and it?

        The same as asking `can_complete` about each unit beside `chosen`, at the price of about one such question.
        """
        joins = np.zeros(len(self.sizes), dtype=bool)
        if not self.can_complete(chosen):
            return joins
        taken = sorted({*chosen, *self.required})
        left = self.k - self.size(taken)
        if self.plain and left > 0:
            return self._is_candidate.copy()
        least = self._choices.least_costs_with_each(self._free_beside(taken, None), left)
        joins[(least < np.inf) & (self.cost(taken) + least <= self.budget)] = True
        joins[taken] = True
        return joins

    def contains_allowed(self, kept: np.ndarray) -> bool:
        """Is there an allowed subset inside `kept`, a mask of candidates?"""
        if not kept[list(self.required)].all():
            return False
        if self.plain:
            return int(np.count_nonzero(kept)) >= self.k
        return self.can_complete((), among=np.flatnonzero(kept).tolist())

    def _compatible(self, taken: Sequence[int]) -> bool:
        """Can these units, of whatever size together, be in one subset?"""
        units = np.asarray(taken, dtype=np.intp)
        if self.plain:
            return bool(self._is_candidate[units].all())
        groups = self._group_of[units]
        groups = groups[groups >= 0]
        return bool(
            self._is_candidate[units].all()
            and len(np.unique(groups)) == len(groups)
            and self.cost(taken) <= self.budget
        )

    def _free_beside(self, taken: Sequence[int], among: Iterable[int] | None) -> np.ndarray:
        """Mask of the candidates that may still come in."""
        if among is None:
            free = self._is_candidate.copy()
        else:
            free = np.zeros(len(self.sizes), dtype=bool)
            free[np.fromiter(among, dtype=np.intp)] = True
            free &= self._is_candidate
        for unit in taken:
            free[unit] = False
            if self._group_of[unit] >= 0:
                free[self.rivals[self._group_of[unit]]] = False
        return free

    @cached_property
    def _choices(self) -> Choices:
        return Choices(self.sizes, self.costs, self.rivals)

    @cached_property
    def _is_candidate(self) -> np.ndarray:
        candidate = np.zeros(len(self.sizes), dtype=bool)
        candidate[self.candidates] = True
        return candidate

    @cached_property
    def _group_of(self) -> np.ndarray:
        """Which group of rivals each unit is in; -1 for none."""
        groups = np.full(len(self.sizes), -1)
        for number, group in enumerate(self.rivals):
            groups[group] = number
        return groups
