"""The unit form of a problem: all-or-none groups merged into one unit each, constraints as Rules."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from certselect.criteria.cheapest import Choices
from certselect.criteria.definitions import ALWAYS
from certselect.criteria.known import AnyCriterion
from certselect.criteria.objective import Objective
from certselect.criteria.pairs import PairSource, SummedPairs
from certselect.criteria.reduced import ReducedProblem, reduce_problem
from certselect.criteria.rules import Rules
from certselect.criteria.shared import LimitedPairs, UnitLimit, cost_of_sharing, most_columns
from certselect.criteria.stepwise import TermSteps

if TYPE_CHECKING:
    from certselect.criteria.problem import SubsetProblem


@dataclass(frozen=True, eq=False)
class UnitProblem(Objective):
    """Choose units worth most together, among the sets that `rules` allow: what every search works on.

    A unit is a column of the table, or an all-or-none group of them; units stand in the
    order of their lowest columns. Without constraints units are columns and the rules ask
    for nothing but the size.

    Attributes
    ----------
    rules : Rules
        Which sets of units may be chosen.
    groups : tuple of ndarray
        The columns of the units that are more than one, in the order of these units.
    column_linear : ndarray or None
        What each column is worth alone, where units are not columns.
    limit : UnitLimit or None
        Which units share too much to be chosen together. Their pair terms have a cost in addition (`LimitedPairs`).
    """

    rules: Rules
    groups: tuple[np.ndarray, ...] = ()
    column_linear: np.ndarray | None = None
    limit: UnitLimit | None = None

    @cached_property
    def by_column(self) -> Objective:
        """The same objective of the table's columns, which the terms of units of several are sums of."""
        if not self.groups:
            return self
        linear = self.linear if self.column_linear is None else self.column_linear
        pairs = self.pairs.pairs if isinstance(self.pairs, LimitedPairs) else self.pairs
        pairs = pairs.columns if isinstance(pairs, SummedPairs) else pairs
        return Objective(linear, pairs, self.criterion, self.k)

    def terms(self, chosen: Sequence[int]) -> list[float]:
        if not self.groups:
            return super().terms(chosen)
        columns = self.columns(chosen)
        terms = self.by_column.terms(columns if self.steps is not None else sorted(columns))
        if self.limit is not None and self.steps is None:
            terms += [-self.weight(self.k) * self.cost_of_sharing] * len(self.limit.conflicts(chosen))
        return terms

    def conflicts(self, units: Iterable[int]) -> list[tuple[int, int]]:
        """The pairs of these units that share too much to be chosen together."""
        return [] if self.limit is None else self.limit.conflicts(units)

    def apart(self, units: Iterable[int]) -> np.ndarray:
        """Which units share too much with one of these to be chosen together with it, a mask."""
        apart = np.zeros(self.n_features, dtype=bool)
        if self.limit is not None:
            for unit in units:
                apart |= self.limit.row(unit)
        return apart

    @property
    def cost_of_sharing(self) -> float:
        """What pairs that share too much have in addition to their pair term."""
        return self.pairs.cost if isinstance(self.pairs, LimitedPairs) else 0.0

    @property
    def without_limit(self) -> UnitProblem:
        """The problem whose pair terms are those of the criterion alone."""
        pairs = self.pairs.pairs if isinstance(self.pairs, LimitedPairs) else self.pairs
        return replace(self, pairs=pairs, limit=None)

    @property
    def candidates(self) -> np.ndarray:
        """The units that are part of at least one allowed subset, ascending."""
        return self.rules.candidates

    @property
    def inner(self) -> np.ndarray | None:
        return None if self.rules.single else self.rules.inner

    def weights(self, sizes: np.ndarray) -> np.ndarray:
        """The pair weight of each of these subset sizes; 0 where there is no subset of that size."""
        return _at_sizes(self.weight, sizes)

    def weights_alone(self, sizes: np.ndarray) -> np.ndarray:
        """The weight of single terms at each of these subset sizes."""
        return _at_sizes(self.criterion.alone, sizes)

    @cached_property
    def reduced(self) -> ReducedProblem:
        """What is left to choose beside the required units."""
        return reduce_problem(self)

    @cached_property
    def members(self) -> tuple[np.ndarray, ...]:
        """The columns of each unit, ascending."""
        n_columns = self.n_features + sum(len(group) - 1 for group in self.groups)
        order, starts = _layout(n_columns, self.groups)
        return tuple(np.split(order, starts[1:]))

    def columns(self, units: Iterable[int]) -> list[int]:
        """The columns of these units, in the order of the units."""
        if not self.groups:
            return list(map(int, units))
        return [int(column) for unit in units for column in self.members[unit]]

    def units_of(self, columns: Iterable[int]) -> list[int]:
        """The units these columns belong to, ascending."""
        if not self.groups:
            return sorted(int(column) for column in columns)
        wanted = {int(column) for column in columns}
        return [unit for unit, members in enumerate(self.members) if int(members[0]) in wanted]


def _at_sizes(weight: Callable[[int], float], sizes: np.ndarray) -> np.ndarray:
    kinds, kind = np.unique(sizes, return_inverse=True)
    return np.array([weight(int(size)) if size > 0 else 0.0 for size in kinds])[kind]


def _layout(n_columns: int, groups: tuple[np.ndarray, ...]) -> tuple[np.ndarray, np.ndarray]:
    """Columns ordered by unit, and where each unit starts in that order."""
    lowest = np.arange(n_columns)
    if not groups:
        return lowest, lowest
    for group in groups:
        lowest[group] = group[0]
    order = np.argsort(lowest, kind="stable")
    starts = np.flatnonzero(np.diff(lowest[order], prepend=-1))
    return order, starts


@dataclass(frozen=True, eq=False)
class MergedUnits:
    """What a problem and its constraints mean for its units, whatever the size to choose."""

    column_linear: np.ndarray
    column_pairs: PairSource | None
    criterion: AnyCriterion
    sizes: np.ndarray
    costs: np.ndarray
    budget: float
    required: tuple[int, ...]
    rivals: tuple[np.ndarray, ...]  # all of them stated, whether they can be chosen or not
    choosable: np.ndarray  # mask: not constant, not excluded, no two rivals in one unit
    groups: tuple[np.ndarray, ...]
    order: np.ndarray
    starts: np.ndarray
    limit: UnitLimit | None = None

    def of_size(self, k: int) -> UnitProblem:
        """The problem of choosing units of k columns together."""
        columns = self.column_linear if self.groups else None
        rules = self._rules_for(k)
        criterion, pairs = self._with_costs(rules, k)
        return UnitProblem(self.linear, pairs, criterion, k, rules, self.groups, columns, self.limit)

    def _with_costs(self, rules: Rules, k: int) -> tuple[AnyCriterion, PairSource | None]:
        """The criterion and its pair terms, with what pairs cost in addition that share too much."""
        pairs, criterion = self.pairs, self.criterion
        if self.limit is None or isinstance(pairs, TermSteps):
            return criterion, pairs
        if pairs is None:  # then pairs cost nothing but this
            criterion = replace(criterion, weight=ALWAYS)
        weight = criterion.weight(max(k, 2))
        cost = math.copysign(cost_of_sharing(self.limit.columns, self.linear[rules.candidates], weight, k), weight)
        return criterion, LimitedPairs(pairs, self.limit, cost, len(self.sizes))

    @cached_property
    def least_costs(self) -> np.ndarray:
        """Least cost for each size 0..n of a subset with all required units and no two rivals; inf where none is."""
        n_columns, held = len(self.order), list(self.required)
        size = int(self.sizes[held].sum())
        cost = math.fsum(self.costs[held].tolist())
        least = np.full(n_columns + 1, np.inf)
        free = self._beside_required()
        least[size:] = cost + Choices(self.sizes, self.costs, self.rivals).least_costs(free, n_columns - size)
        return least

    def allowed_sizes(self) -> list[int]:
        """The sizes, 1 or more, that some allowed subset has."""
        affordable = (self.least_costs < np.inf) & (self.least_costs <= self.budget)
        return [int(size) for size in np.flatnonzero(affordable) if size >= 1]

    def most_sharing_little(self) -> int:
        """No subset has more columns that the limit on what units share allows."""
        if self.limit is None:
            return len(self.order)
        possible = self._beside_required()
        possible[list(self.required)] = True
        return most_columns(self.limit, self.sizes, np.flatnonzero(possible))

    def _rules_for(self, k: int) -> Rules:
        """The rules for subsets of k columns."""
        possible = self._beside_required()
        possible[list(self.required)] = True
        rules = self._rules(k, possible)
        return rules if rules.plain and k > rules.size(self.required) else self._rules(k, rules.can_join(()))

    def _rules(self, k: int, candidate: np.ndarray) -> Rules:
        disputed = tuple([group[candidate[group]] for group in self.rivals if candidate[group].sum() > 1])
        candidates = np.flatnonzero(candidate)
        return Rules(self.sizes, self.inner, self.required, disputed, self.costs, self.budget, k, candidates)

    def _beside_required(self) -> np.ndarray:
        """Mask of the units that may join the required ones."""
        free = self.choosable.copy()
        held = list(self.required)
        for group in self.rivals:
            if np.isin(group, held).any():
                free[group] = False
        if self.limit is not None:
            for unit in held:
                free[self.limit.row(unit)] = False
        free[held] = False
        return free

    @cached_property
    def linear(self) -> np.ndarray:
        """What each unit is worth without its pairs."""
        return np.add.reduceat(self.column_linear[self.order], self.starts) if self.groups else self.column_linear

    @cached_property
    def inner(self) -> np.ndarray:
        """Sum of the pair terms inside each unit."""
        inner = np.zeros(len(self.sizes))
        if self.column_pairs is None or isinstance(self.column_pairs, TermSteps):
            return inner
        for unit in np.flatnonzero(self.sizes > 1):
            columns = self.order[self.starts[unit] : self.starts[unit] + self.sizes[unit]]
            terms = (self.column_pairs.row(int(i))[columns[:place]] for place, i in enumerate(columns[1:], start=1))
            inner[unit] = math.fsum(float(term) for row in terms for term in row)
        return inner

    @cached_property
    def pairs(self) -> PairSource | None:
        """Pair terms of the units; shared by the problems of all sizes."""
        if self.column_pairs is None or not self.groups or isinstance(self.column_pairs, TermSteps):
            return self.column_pairs
        return SummedPairs(self.column_pairs, self.order, self.starts)


def merge_units(problem: SubsetProblem) -> MergedUnits:
    """Merge the all-or-none groups of a user's problem and state its constraints in units."""
    n, constraints = problem.n_features, problem.constraints
    together = () if constraints is None else constraints.together
    groups = tuple(sorted((np.array(group) for group in together), key=lambda group: int(group[0])))
    order, starts = _layout(n, groups)
    unit_of, sizes = order, np.ones(n, dtype=np.intp)  # where each column is a unit
    choosable = np.zeros(n, dtype=bool)
    choosable[problem.candidates] = True
    if groups:
        sizes = np.diff(starts, append=n)
        unit_of = np.empty(n, dtype=np.intp)
        unit_of[order] = np.repeat(np.arange(len(starts)), sizes)
        choosable = np.logical_and.reduceat(choosable[order], starts)
    rivals = []
    for group in () if constraints is None else constraints.rivals:
        units, times = np.unique(unit_of[list(group)], return_counts=True)
        choosable[units[times > 1]] = False
        if len(units) > 1:
            rivals.append(units)
    shared = None if constraints is None else constraints.shared
    costs = np.zeros(n) if constraints is None or constraints.costs is None else constraints.costs
    return MergedUnits(
        column_linear=problem.linear,
        column_pairs=problem.pairs,
        criterion=problem.criterion,
        sizes=sizes,
        costs=np.add.reduceat(costs[order], starts) if groups else costs,
        budget=math.inf if constraints is None else constraints.limit,
        required=() if constraints is None else tuple(sorted({int(unit_of[i]) for i in constraints.include})),
        rivals=tuple(rivals),
        choosable=choosable,
        groups=groups,
        order=order,
        starts=starts,
        limit=None if shared is None else UnitLimit(shared, order, starts),
    )
