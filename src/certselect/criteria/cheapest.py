"""The least a choice of a given total size can cost, when some units come in lumps and some exclude each other."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, reduce
from itertools import accumulate

import numpy as np


@dataclass(frozen=True, eq=False)
class Choices:
    """Units with sizes and costs, at most one of each group of rivals.

    Units of one size that have no rivals are best taken in order of cost, and
    a group of rivals of one size stands for its cheapest member; so sorted sums say
    nearly everything, and only groups whose members differ in size need a step of
    the dynamic programme each. That makes it quick for tens of thousands of units.
    """

    sizes: np.ndarray
    costs: np.ndarray
    rivals: tuple[np.ndarray, ...]

    def least_costs(self, free: np.ndarray, up_to: int) -> np.ndarray:
        """Least cost for each total size 0..up_to of a choice among the free units (a mask); inf where none is."""
        return reduce(_joined, (part.least for part in self._parts(free, up_to)), _nothing(up_to))

    def least_costs_with_each(self, free: np.ndarray, total: int) -> np.ndarray:
        """For each unit, the least cost of a choice of that total size which contains it; inf where none does."""
        least = np.full(len(self.sizes), np.inf)
        parts = self._parts(free, total)
        before = _joined_up([part.least for part in parts], total)
        behind = _joined_up([part.least for part in reversed(parts)], total)
        for place, part in enumerate(parts):
            others = _joined(before[place], behind[len(parts) - 1 - place])
            if isinstance(part, _SameSize):
                least[part.units] = self.costs[part.units] + part.least_beside(others, total)[part.places]
            else:
                fitting = part.units[self.sizes[part.units] <= total]
                least[fitting] = self.costs[fitting] + others[total - self.sizes[fitting]]
        return least

    @cached_property
    def _by_cost(self) -> np.ndarray:
        return np.argsort(self.costs, kind="stable")

    @cached_property
    def _mixed(self) -> tuple[np.ndarray, ...]:
        """The groups of rivals whose members differ in size."""
        return tuple(group for group in self.rivals if len(np.unique(self.sizes[group])) > 1)

    @cached_property
    def _uniform(self) -> np.ndarray:
        uniform = np.ones(len(self.sizes), dtype=bool)
        for group in self._mixed:
            uniform[group] = False
        return uniform

    @cached_property
    def _slots(self) -> np.ndarray:
        """A number for each unit, the same for rivals."""
        slots = np.arange(len(self.sizes))
        for group in self.rivals:
            slots[group] = group[0]
        return slots

    def _parts(self, free: np.ndarray, up_to: int) -> list[_SameSize | _Mixed]:
        units = self._by_cost[(free & self._uniform)[self._by_cost]]
        parts: list[_SameSize | _Mixed] = []
        sizes = self.sizes[units]
        for size in np.unique(sizes):
            of_size = units[sizes == size]
            places = np.arange(len(of_size))
            cheapest = of_size
            if self.rivals:
                _, first, slot = np.unique(self._slots[of_size], return_index=True, return_inverse=True)
                order = np.argsort(first)  # slots in the order of their cheapest members
                cheapest = of_size[first[order]]
                place_of_slot = np.empty_like(order)
                place_of_slot[order] = np.arange(len(order))
                places = place_of_slot[slot]
            parts.append(_SameSize(int(size), self.costs[cheapest], of_size, places, up_to))
        for group in self._mixed:
            members = group[free[group]]
            if len(members):
                parts.append(_Mixed(self.sizes[members], self.costs[members], members, up_to))
        return parts


@dataclass(frozen=True, eq=False)
class _SameSize:
    """Slots of one size, cheapest first; `places` says in which slot each of `units` is."""

    size: int
    slot_costs: np.ndarray
    units: np.ndarray
    places: np.ndarray
    up_to: int

    @cached_property
    def _sums(self) -> np.ndarray:
        most = min(self.up_to // self.size, len(self.slot_costs))
        return np.concatenate(([0.0], np.cumsum(self.slot_costs[:most])))

    @cached_property
    def least(self) -> np.ndarray:
        """Least cost of any number of them for each total size 0..up_to."""
        least = np.full(self.up_to + 1, np.inf)
        least[: self.size * len(self._sums) : self.size] = self._sums
        return least

    def least_beside(self, others: np.ndarray, total: int) -> np.ndarray:
        """Per slot: the least cost of what joins one unit of it, out of the other slots and the other parts."""
        n_slots, most = len(self.slot_costs), len(self._sums) - 1
        if most == 0:
            return np.full(n_slots, np.inf)
        rest = others[total - self.size * np.arange(1, most + 1)]  # with 0 .. most - 1 of the other slots
        before = np.minimum.accumulate(self._sums[:most] + rest)
        # Beyond its own place, a slot's cost is in the sum and has to leave it.
        beyond = np.minimum.accumulate((self._sums[1:] + rest)[::-1])[::-1]
        place = np.arange(n_slots)
        least = before[np.minimum(place, most - 1)]
        inside = place[: most - 1]
        least[inside] = np.minimum(least[inside], beyond[inside + 1] - self.slot_costs[inside])
        return least


@dataclass(frozen=True, eq=False)
class _Mixed:
    """One group of rivals of several sizes: one of them or none."""

    sizes: np.ndarray
    costs: np.ndarray
    units: np.ndarray
    up_to: int

    @cached_property
    def least(self) -> np.ndarray:
        least = _nothing(self.up_to)
        fitting = self.sizes <= self.up_to
        np.minimum.at(least, self.sizes[fitting], self.costs[fitting])
        return least


def _nothing(up_to: int) -> np.ndarray:
    """Costs by total size when there is nothing to choose from."""
    least = np.full(up_to + 1, np.inf)
    least[0] = 0.0
    return least


def _joined_up(parts: list[np.ndarray], up_to: int) -> list[np.ndarray]:
    """Least costs by total size out of none of the parts, the first, the first two, ..., all of them."""
    return list(accumulate(parts, _joined, initial=_nothing(up_to)))


def _joined(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Least costs by total size when something of both is taken."""
    few, many = (one, other) if np.isfinite(one).sum() <= np.isfinite(other).sum() else (other, one)
    joined = np.full_like(one, np.inf)
    for size in np.flatnonzero(np.isfinite(few)).tolist():
        np.minimum(joined[size:], many[: len(many) - size] + few[size], out=joined[size:])
    return joined
