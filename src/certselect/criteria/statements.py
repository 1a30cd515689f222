"""Constraints as a user states them, by name or index -> ColumnConstraints."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from certselect.criteria.column_constraints import ColumnConstraints
from certselect.errors import InvalidInput, keyword
from certselect.names import Columns
from certselect.settings import Constraints

TOGETHER, RIVALS = "all_or_none", "at_most_one"


def state_constraints(names: Sequence[str], constant: np.ndarray, stated: Constraints) -> ColumnConstraints | None:
    """The constraints in column indices, or None if there are none; constant features leave the groups they are in."""
    if stated.include is stated.exclude is stated.feature_groups is stated.costs is stated.budget is None:
        return None
    find = Columns(names)
    included, excluded = _columns(find, "include", stated.include), _columns(find, "exclude", stated.exclude)
    for i in included:
        if i in excluded:
            raise InvalidInput(
                f"{names[i]!r} in {keyword('include')} and in {keyword('exclude')}",
                "a feature in one of them",
                "Remove it from one.",
            )
        if constant[i]:
            raise InvalidInput(
                f"{names[i]!r} in {keyword('include')}, which is constant in this table",
                "features that take two values or more",
                f"Remove it from {keyword('include')}: a constant feature carries no information.",
            )
    together, rivals = _groups(find, stated.feature_groups, constant)
    _check_disjoint(names, TOGETHER, together)
    _check_disjoint(names, RIVALS, _with_their_groups(rivals, together))
    if not (included or excluded or together or rivals) and stated.costs is None and stated.budget is None:
        return None
    limit = _budget(stated.costs, stated.budget)
    return ColumnConstraints(included, excluded, together, rivals, _costs(find, stated.costs), limit)


def for_part_of_rows(stated: Constraints, names: Sequence[str], constant: np.ndarray) -> Constraints:
    """The constraints where only some rows are looked at: a column that is constant in them need not be included."""
    if stated.include is None:
        return stated
    return replace(stated, include=[i for i in find_features(names, "include", stated.include) if not constant[i]])


def find_features(names: Sequence[str], where: str, features: Any) -> tuple[int, ...]:
    """Column indices, ascending, of a list of names and indices; `where` is what errors call the list."""
    return _columns(Columns(names), where, features)


def _columns(find: Columns, where: str, features: Any) -> tuple[int, ...]:
    """The columns of a list, ascending, each once."""
    return tuple(sorted({find.find(where, feature) for feature in _listed(where, features)}))


def _listed(where: str, given: Any) -> Iterable[Any]:
    if given is None:
        return ()
    if isinstance(given, str | bytes | Mapping) or not isinstance(given, Iterable):
        raise InvalidInput(
            keyword(where, given), "a list", f"Pass {keyword(where, spelled=f'[{given!r}]')}, for example."
        )
    return given


def _groups(find: Columns, groups: Any, constant: np.ndarray) -> tuple[tuple[tuple[int, ...], ...], ...]:
    """The all-or-none groups and the at-most-one groups, without constant features and groups of one."""
    stated = groups if isinstance(groups, Mapping) else {TOGETHER: groups}
    for key in stated:
        if key not in (TOGETHER, RIVALS):
            raise InvalidInput(
                f"{keyword('feature_groups')} with the key {key!r}",
                f"{TOGETHER!r} and {RIVALS!r}",
                "Check the spelling.",
            )
    found = []
    for kind in (TOGETHER, RIVALS):
        members = (_columns(find, "a group", group) for group in _listed("feature_groups", stated.get(kind)))
        varying = (tuple(i for i in group if not constant[i]) for group in members)
        found.append(tuple(group for group in varying if len(group) > 1))
    return found[0], found[1]


def _with_their_groups(
    rivals: Sequence[Sequence[int]], together: Sequence[Sequence[int]]
) -> tuple[tuple[int, ...], ...]:
    """The rivals and all that comes with them."""
    whole = {i: group for group in together for i in group}
    return tuple(tuple(sorted({j for i in group for j in whole.get(i, (i,))})) for group in rivals)


def _check_disjoint(names: Sequence[str], kind: str, groups: Sequence[Sequence[int]]) -> None:
    for i, times in Counter(i for group in groups for i in group).items():
        if times > 1:
            comes_with = "" if kind == TOGETHER else ", itself or with its all-or-none group"
            raise InvalidInput(
                f"{names[i]!r} in {times} {kind} groups{comes_with}",
                "a feature in one of them at most",
                "Join these groups into one, or take the feature out.",
            )


def given_relevance(names: Sequence[str], given: Any, measured: np.ndarray, candidates: np.ndarray) -> np.ndarray:
    """The single terms that given scores stand for: in the proportions of the scores, with the sum of the measured.

    Measured terms below 0 do not count in the sums, and neither do columns that cannot be chosen.
    """
    scores = _per_column(Columns(names), "relevance", given, missing=math.nan)
    for i in candidates[np.isnan(scores[candidates])][:1]:
        raise InvalidInput(
            f"{keyword('relevance')} without {names[i]!r}",
            "a score for each column that can be chosen",
            "Add it, or exclude it.",
        )
    total = math.fsum(scores[candidates].tolist())
    if not 0.0 < total < math.inf:
        raise InvalidInput(
            f"{keyword('relevance')} whose sum is {total:g}",
            "scores of which some are above 0",
            "Check where they came from.",
        )
    single = np.zeros(len(names))
    single[candidates] = scores[candidates] * (math.fsum(np.maximum(measured[candidates], 0.0).tolist()) / total)
    return single


def _costs(find: Columns, costs: Any) -> np.ndarray | None:
    return None if costs is None else _per_column(find, "costs", costs, missing=0.0)


def _per_column(find: Columns, what: str, given: Any, *, missing: float) -> np.ndarray:
    """One number for each column; those that a mapping does not name have the `missing` one."""
    n, word = len(find.names), "cost" if what == "costs" else keyword(what)
    if hasattr(given, "items"):  # a mapping, or a pandas Series, whose order need not be that of the columns
        named = [(find.find(what, feature), number) for feature, number in given.items()]
        for i, times in Counter(i for i, _ in named).items():
            if times > 1:
                raise InvalidInput(
                    f"{times} {what} for {find.names[i]!r}", "one", "Give it by name or by index, not by both."
                )
        numbered = dict(named)
        given = [numbered.get(i, missing) for i in range(n)]
    try:
        numbers = np.array(given, dtype=np.float64)
    except (TypeError, ValueError):
        raise InvalidInput(
            keyword(what, spelled=f"{given!r}"),
            f"a mapping from features to numbers, or {n} numbers",
            "Check the types.",
        ) from None
    if numbers.shape != (n,):
        raise InvalidInput(
            f"{keyword(what)} of shape {numbers.shape}",
            f"{n} numbers, one per column",
            f"Or pass a mapping from names to {what}.",
        )
    for i in np.flatnonzero(np.isinf(numbers) | (numbers < 0.0) | (np.isnan(numbers) & (not math.isnan(missing))))[:1]:
        raise InvalidInput(
            f"the {word} {numbers[i]} of {find.names[i]!r}",
            "a finite number, 0 or more",
            "Exclude it if it cannot be bought." if what == "costs" else "Raise it to 0.",
        )
    return numbers


def _budget(costs: Any, budget: Any) -> float:
    if budget is None and costs is None:
        return float("inf")
    if budget is None:
        raise InvalidInput(
            f"{keyword('costs')} without a budget",
            "both",
            f"Pass {keyword('budget', spelled='')}, what the subset may cost in total.",
        )
    if costs is None:
        raise InvalidInput(
            f"{keyword('budget', budget)} without costs",
            "both",
            f"Pass {keyword('costs', spelled='')}, what the features cost.",
        )
    number = isinstance(budget, int | float | np.number) and not isinstance(budget, bool)
    if not number or not 0.0 <= float(budget) < float("inf"):
        raise InvalidInput(
            keyword("budget", budget),
            "a finite number, 0 or more",
            f"Leave {keyword('costs')} and {keyword('budget')} out for no limit.",
        )
    return float(budget)
