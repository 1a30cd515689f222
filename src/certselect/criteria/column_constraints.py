"""ColumnConstraints: which subsets of the table's columns may be chosen."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from certselect.criteria.shared import SharedLimit

# Costs are summed in whatever order a search meets them: a subset that costs the
# budget to rounding is within it (0.1 + 0.2 is not above 0.3).
BUDGET_ROUNDING = 1e-12


@dataclass(frozen=True, eq=False)
class ColumnConstraints:
    """What a subset must hold to besides its size, in column indices of the table.

    Attributes
    ----------
    include, exclude : tuple of int
        Columns that are in every subset, and in none; ascending.
    together : tuple of tuple of int
        Groups that are chosen whole or not at all; two members or more each, ascending.
    rivals : tuple of tuple of int
        Groups of which at most one member may be chosen; two members or more each, ascending.
    costs : ndarray (n,) or None
        What each column costs; None without a budget.
    budget : float
        What the subset may cost in all; inf without one.
    shared : SharedLimit or None
        How much two columns of a subset may share; columns of one all-or-none group may share more.
    """

    include: tuple[int, ...] = ()
    exclude: tuple[int, ...] = ()
    together: tuple[tuple[int, ...], ...] = ()
    rivals: tuple[tuple[int, ...], ...] = ()
    costs: np.ndarray | None = None
    budget: float = math.inf
    shared: SharedLimit | None = None

    @property
    def limit(self) -> float:
        """The budget with room for the rounding of sums: what searches and bounds compare costs with."""
        return self.budget * (1.0 + BUDGET_ROUNDING)

    @property
    def beyond_exclusion(self) -> bool:
        """Whether more is asked than that some columns be left out."""
        return bool(self.include or self.together or self.rivals) or self.costs is not None

    def allows(self, indices: Iterable[int]) -> bool:
        """Does this subset of the columns, of whatever size, hold to all of it?"""
        chosen = {int(i) for i in indices}
        if not chosen.issuperset(self.include) or not chosen.isdisjoint(self.exclude):
            return False
        if any(0 < len(chosen.intersection(group)) < len(group) for group in self.together):
            return False
        if any(len(chosen.intersection(group)) > 1 for group in self.rivals):
            return False
        # Well below the limit: whatever is allowed here, no sum of costs in another order may take for too dear.
        most = self.budget * (1.0 + 0.5 * BUDGET_ROUNDING)
        if self.costs is not None and math.fsum(float(self.costs[i]) for i in chosen) > most:
            return False
        return self.sharing(chosen) is None

    def sharing(self, indices: Iterable[int]) -> tuple[int, int] | None:
        """The first two of these columns that share too much to be in one subset, or None."""
        if self.shared is None:
            return None
        chosen = sorted({int(i) for i in indices})
        group_of = {i: number for number, group in enumerate(self.together) for i in group}
        for place, i in enumerate(chosen[:-1]):
            apart = self.shared.row(i)
            for j in chosen[place + 1 :]:
                if apart[j] and group_of.get(i, -1) != group_of.get(j, -2):
                    return i, j
        return None

    def describe(self) -> dict[str, Any]:
        """The constraints as JSON can hold them; indices count the table's columns from 0."""
        shared = {} if self.shared is None else {"max_shared": self.shared.most}
        return {
            "include": list(self.include),
            "exclude": list(self.exclude),
            "all_or_none": [list(group) for group in self.together],
            "at_most_one": [list(group) for group in self.rivals],
            "costs": None if self.costs is None else [float(cost) for cost in self.costs],
            "budget": self.budget if math.isfinite(self.budget) else None,
            **shared,
        }


def copies_left_out(families: Sequence[Sequence[int]], constraints: ColumnConstraints | None) -> dict[int, int]:
    """The columns that are left out, each with the copy of it that can be chosen.

    That is the first of a family, or the cheapest where they have costs. Whoever includes a column
    wants that one. A family of which some are in a group is left alone: without its members a
    group would be another one.
    """
    if not families:
        return {}
    asked = constraints or ColumnConstraints()
    grouped = {i for group in (*asked.together, *asked.rivals) for i in group}
    left_out: dict[int, int] = {}
    for family in families:
        members = [i for i in family if i not in asked.exclude]
        included = [i for i in members if i in asked.include]
        if len(members) < 2 or (not included and not grouped.isdisjoint(members)):
            continue
        kept = included or [min(members, key=lambda i: (0.0 if asked.costs is None else float(asked.costs[i]), i))]
        left_out.update({i: kept[0] for i in members if i not in kept and i not in grouped})
    return dict(sorted(left_out.items()))
