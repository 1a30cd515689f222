"""Problems no subset can satisfy, refused with the reason."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from certselect.errors import InvalidInput, keyword
from certselect.names import AS_WHOLE

if TYPE_CHECKING:
    from certselect.criteria.column_constraints import ColumnConstraints
    from certselect.criteria.problem import SubsetProblem
    from certselect.criteria.units import MergedUnits

_NAMED = 5


def check_size(k: object, problem: SubsetProblem, called: str = "k") -> int:
    """The size as an int; refuses one that no subset of the candidates can have. `called` is the user's parameter."""
    if isinstance(k, bool) or not isinstance(k, int | np.integer):
        budget = ", or a budget to choose any size within it" if k is None else ""
        remedy = f"Pass {keyword(called)} {AS_WHOLE}{budget}."
        raise InvalidInput(f"{keyword(called, k)} ({type(k).__name__})", "a whole number", remedy)
    names, n_excluded, available = problem.feature_names, len(problem.excluded), len(problem.candidates)
    if 1 <= k <= available:
        return int(k)
    if available == 0 and not n_excluded:
        raise InvalidInput(
            f"a table whose {len(names)} features are all constant, or left out",
            "at least one feature that takes two values and does more than tell one row from another",
            "Check that the right columns and rows were read.",
        )
    if available == 0:
        raise InvalidInput(
            f"{n_excluded} of {len(names)} features in {keyword('exclude')} and the others constant",
            "at least one feature left to choose",
            "Exclude fewer.",
        )
    notes = problem.domain.counts_in_words(named=_NAMED)
    note = f" ({'; '.join(notes)})" if notes else ""
    raise InvalidInput(
        keyword(called, k), f"1 to {available}, the usable features{note}", "Choose a size between these."
    )


def check_feasible(constraints: ColumnConstraints, merged: MergedUnits, names: Sequence[str], k: int | None) -> None:
    """Refuse constraints that allow no subset of k features (of any size, if k is None), with the reason."""
    _check_includes(constraints, names)
    held = merged.order[np.repeat(np.isin(np.arange(len(merged.sizes)), merged.required), merged.sizes)]
    if k is not None and len(held) > k:
        raise InvalidInput(
            f"{keyword('k', k)} with {len(held)} features to include: {_some(names, held)}",
            f"{keyword('k', len(held))} or more, counting what comes with all-or-none groups",
            f"Raise {keyword('k')}, or include fewer.",
        )
    if constraints.costs is not None:
        cost = math.fsum(constraints.costs[held].tolist())
        if cost > merged.budget:
            raise InvalidInput(
                f"{keyword('budget', spelled=f'{constraints.budget:g}')} with features to include that cost {cost:g}: "
                f"{_some(names, held)}",
                f"a budget of {cost:g} or more, counting what comes with all-or-none groups",
                "Raise the budget, or include fewer.",
            )
    least = merged.least_costs
    if k is None:
        _check_any_size(constraints, least, merged.budget)
    elif math.isinf(least[k]):
        raise InvalidInput(
            f"{keyword('k', k)}, which the groups cannot add up to",
            f"a size that they can: {_nearest(least, k)}",
            "Change k, or the groups.",
        )
    elif least[k] > merged.budget:
        affordable = np.flatnonzero(least[1:] <= merged.budget) + 1
        lower = f", or lower {keyword('k')} to {affordable[affordable < k][-1]}" if (affordable < k).any() else ""
        raise InvalidInput(
            f"{keyword('budget', spelled=f'{constraints.budget:g}')} for {keyword('k', k)}",
            f"at least {least[k]:g}, what the cheapest {k} features that are allowed cost",
            f"Raise the budget{lower}.",
        )


def _check_includes(constraints: ColumnConstraints, names: Sequence[str]) -> None:
    """Refuse includes that exclude each other."""
    wanted = set(constraints.include)
    for group in constraints.together:
        if wanted.intersection(group):
            for i in sorted(set(constraints.exclude).intersection(group)):
                raise InvalidInput(
                    f"{names[i]!r} in {keyword('exclude')}, and in an all-or-none group with an included feature",
                    "groups that are included or excluded as a whole",
                    f"Take the feature out of {keyword('exclude')} or out of the group.",
                )
            wanted.update(group)
    for group in constraints.rivals:
        both = sorted(wanted.intersection(group))
        if len(both) > 1:
            raise InvalidInput(
                f"{_some(names, both)} to include, by themselves or with their all-or-none groups",
                "one of them at most: they are in one at_most_one group",
                "Include one of them, or take one out of the group.",
            )
    pair = constraints.sharing(wanted)
    if pair is not None and constraints.shared is not None:
        share = constraints.shared.shares(pair[0])[pair[1]]
        raise InvalidInput(
            f"{_some(names, pair)} to include, which share {share:.3g} of their information",
            f"features that share at most {keyword('max_shared', spelled=f'{constraints.shared.most:g}')}",
            f"Include one of them, or raise {keyword('max_shared')}.",
        )


def _check_any_size(constraints: ColumnConstraints, least: np.ndarray, budget: float) -> None:
    if (least[1:] <= budget).any():
        return
    if np.isinf(least[1:]).all():
        raise InvalidInput(
            "constraints under which no feature can be chosen", "at least one that can", "Exclude fewer features."
        )
    raise InvalidInput(
        keyword("budget", spelled=f"{constraints.budget:g}"),
        f"at least {least[1:].min():g}, what the cheapest subset that is allowed costs",
        "Raise the budget.",
    )


def _nearest(least: np.ndarray, k: int) -> str:
    sizes = np.flatnonzero(np.isfinite(least[1:])) + 1
    near = [*sizes[sizes < k][-1:], *sizes[sizes > k][:1]]
    if not near:
        return "there is none, for no feature can be chosen"
    return " and ".join(str(size) for size in near) + (" are the nearest" if len(near) > 1 else " is the nearest")


def _some(names: Sequence[str], indices: Iterable[int]) -> str:
    listed = [repr(names[i]) for i in indices]
    return ", ".join(listed[:_NAMED]) + (", ..." if len(listed) > _NAMED else "")
