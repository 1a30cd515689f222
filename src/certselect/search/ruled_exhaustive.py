"""Exhaustive search under rules: plain enumeration, so that nothing clever can be wrong with its answer."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import combinations, islice

import numpy as np

from certselect.criteria.problem import SubsetProblem
from certselect.criteria.rules import Rules
from certselect.errors import InvalidInput
from certselect.progress import report
from certselect.search.selection import PROVEN_OPTIMAL
from certselect.search.strategy import Found
from certselect.search.ties import beats, tie_width, value_scale

SUBSETS_AT_ONCE = 1 << 14


def exhaustive_under_rules(problem: SubsetProblem, rules: Rules, found: Found, max_subsets: int) -> None:
    """Value every allowed subset and keep the best, the lexicographically first of equals.

    Sets of free units of the right total size are listed whether they are allowed
    or not; then each is looked at. Subsets of one size that are in lexicographic
    order of units are so in order of their columns too.
    """
    required = list(rules.required)
    free = np.setdiff1d(problem.candidates, required)
    sizes = rules.sizes[free].tolist()
    missing = problem.k - int(rules.sizes[required].sum())
    equal_sizes = set(sizes) <= {1}
    count = math.comb(len(free), missing) if equal_sizes else _count_of_total_size(sizes, missing)
    check_affordable(count, max_subsets, problem)
    sets = combinations(range(len(free)), missing) if equal_sizes else _sets_of_total_size(sizes, missing)
    # The required units stand behind the free ones, and behind them one that is worth nothing, to fill rows up.
    units = np.concatenate([free, required]).astype(np.intp)
    always = range(len(free), len(units))
    scale = value_scale(problem)
    worth, cost = _worth_and_cost(problem, rules, units)
    best, holder, done = -np.inf, -np.inf, 0
    while block := [(*one, *always) for one in islice(sets, SUBSETS_AT_ONCE)]:
        members = np.full((max(map(len, block)), len(block)), len(units))
        for column, one in enumerate(block):
            members[: len(one), column] = one
        members = members[:, _allowed(members, units, rules)]
        if members.size:
            values = worth[members].sum(axis=0)
            for place, later in combinations(range(len(members)), 2):
                values -= cost[members[place], members[later]]
            best = max(best, float(values.max()))
            if beats(best, holder, scale):
                pick = int((values >= best - tie_width(best, scale)).argmax())
                holder = float(values[pick])
                found.indices = sorted(units[[m for m in members[:, pick] if m < len(units)]].tolist())
                found.scores.append(holder)
        done += len(block)
        report("exhaustive", done, count)
    found.status = PROVEN_OPTIMAL


def check_affordable(count: int, max_subsets: int, problem: SubsetProblem) -> None:
    """Refuse to enumerate more subsets than the caller is ready to wait for."""
    if count > max_subsets:
        raise InvalidInput(
            f"{count:,} subsets of {problem.k} out of {len(problem.candidates)} candidates",
            f"at most max_subsets={max_subsets:,} for strategy='exhaustive'",
            "Use another strategy ('forward' with polish=True is quick), or raise max_subsets and wait.",
        )


def _worth_and_cost(problem: SubsetProblem, rules: Rules, units: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """What each unit is worth alone, and what each pair of them costs, at size k; 0 in the last place."""
    weight = problem.weight(problem.k)
    worth, cost = np.zeros(len(units) + 1), np.zeros((len(units) + 1, len(units) + 1))
    worth[:-1] = problem.linear[units] - weight * rules.inner[units]
    cost[:-1, :-1] = weight * problem.pair_matrix[np.ix_(units, units)].astype(float)
    np.fill_diagonal(cost, 0.0)
    return worth, cost


def _allowed(members: np.ndarray, units: np.ndarray, rules: Rules) -> np.ndarray:
    """Which columns of members (places in `units`) hold no two rivals and keep to the budget."""
    prices = np.append(rules.costs[units], 0.0)
    allowed = prices[members].sum(axis=0) <= rules.budget
    for group in rules.rivals:
        rival = np.append(np.isin(units, group), False)
        allowed &= rival[members].sum(axis=0) <= 1
    return allowed


def _count_of_total_size(sizes: list[int], total: int) -> int:
    """How many sets of units have this size together."""
    ways = [1] + [0] * total
    for size in sizes:
        for reached in range(total, size - 1, -1):
            ways[reached] += ways[reached - size]
    return ways[total]


def _sets_of_total_size(sizes: list[int], total: int) -> Iterator[tuple[int, ...]]:
    """All sets of units of this size together, in lexicographic order."""
    # Bit t of reachable[i]: units i and later can make up t columns.
    reachable = [1]
    for size in reversed(sizes):
        reachable.append(reachable[-1] | reachable[-1] << size)
    reachable.reverse()
    chosen: list[int] = []
    place, left = 0, total
    while True:
        if left == 0:
            yield tuple(chosen)
        while left == 0 or not reachable[place] >> left & 1:
            if not chosen:
                return
            place = chosen.pop()  # back to the last choice, and on without it
            left += sizes[place]
            place += 1
        if sizes[place] <= left and reachable[place + 1] >> (left - sizes[place]) & 1:
            chosen.append(place)
            left -= sizes[place]
        place += 1
