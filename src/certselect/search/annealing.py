"""Simulated annealing: swaps that may lower the value, ever less as it cools."""

from __future__ import annotations

import numpy as np

from certselect.criteria.problem import SubsetProblem
from certselect.criteria.rules import Rules
from certselect.progress import report
from certselect.search.completion import Completion
from certselect.search.forward import forward
from certselect.search.options import check_count, check_positive
from certselect.search.strategy import Found
from certselect.search.ties import beats, value_scale

STEPS_PER_SWAP = 250
FEWEST_STEPS, MOST_STEPS = 20_000, 2_000_000
BLOCKS = 200
COOLED_TO = 1e-3
# Of the proposals under rules: few, for one costs as much as dozens of exchanges.
REFILL_SHARE = 0.02


def annealing(
    problem: SubsetProblem,
    found: Found,
    rng: np.random.Generator,
    /,
    *,
    steps: int | None = None,
    temperature: float = 1.0,
) -> None:
    """Escape what stops greedy searches by taking, now and then, a swap for the worse.

    Starts from the forward selection, so it never ends below it. Each step
    proposes to exchange a random member for a random candidate left out; a
    change of the value by d < 0 is accepted with probability exp(d / T). T falls
    in 200 equal ratios to a thousandth of its start, which is `temperature` times
    the standard deviation of d over all swaps of the forward selection, so that
    the data set the scale. Without `steps` there are 250 for each possible swap,
    but no fewer than 20 000 and no more than 2 million. Needs the whole pair matrix.

    Under rules, units of equal size are exchanged where that is allowed. Where sizes
    differ or a budget binds, which exchanges alone might not get past, one proposal in
    fifty brings in a unit and fills up around it at random, members first.
    """
    temperature = check_positive("temperature", temperature)
    if steps is not None:
        steps = check_count("steps", steps, 1)
    forward(problem, found, rng)
    found.indices.sort()
    del found.scores[:-1]  # the way there was forward's; this search starts from its value
    members = list(found.indices)
    outside = np.setdiff1d(problem.candidates, members).tolist()
    if not outside:
        return
    if steps is None:
        steps = min(max(FEWEST_STEPS, STEPS_PER_SWAP * len(members) * len(outside)), MOST_STEPS)
    hottest = temperature * _spread_of_swaps(problem, members, outside)
    if problem.rules is not None:
        _anneal_under_rules(problem, problem.rules, found, rng, steps, hottest)
        return
    matrix, weight, scale = problem.pair_matrix, problem.weight(problem.k), value_scale(problem)
    best = found.scores[-1]
    done = 0
    for block in range(BLOCKS):
        # Summed anew for each block, so that rounding does not pile up.
        worth, value = _worth_and_value(problem, members)
        count = steps * (block + 1) // BLOCKS - done
        leaving = rng.integers(len(members), size=count).tolist()
        coming = rng.integers(len(outside), size=count).tolist()
        # To exceed minus an exponential variate of mean T has probability exp(d / T).
        heat = hottest * COOLED_TO ** (block / (BLOCKS - 1))
        allowed = (-heat * rng.standard_exponential(count)).tolist()
        for place, position, lowest in zip(leaving, coming, allowed, strict=True):
            out, new = members[place], outside[position]
            between = weight * matrix.item(out, new)
            worth_out, worth_new = worth.item(out), worth.item(new)
            change = worth_new - worth_out + between
            if change < lowest:
                continue
            value += change
            worth += weight * np.subtract(matrix[out], matrix[new], dtype=float)
            worth[out], worth[new] = worth_out - between, worth_new + between
            members[place], outside[position] = new, out
            if beats(value, best, scale):
                best = value
                found.indices = sorted(members)
                found.scores.append(value)
        done += count
        report("annealing", done, steps)


def _anneal_under_rules(
    problem: SubsetProblem, rules: Rules, found: Found, rng: np.random.Generator, steps: int, hottest: float
) -> None:
    matrix, weight, scale = problem.pair_matrix, problem.weight(problem.k), value_scale(problem)
    state = _RuledState(problem, rules, found.indices)
    best, done = found.scores[-1], 0
    for block in range(BLOCKS):
        # Summed anew for each block, so that rounding does not pile up.
        state.put(state.all_members)
        count = steps * (block + 1) // BLOCKS - done
        leaving, coming = rng.random(count).tolist(), rng.random(count).tolist()
        heat = hottest * COOLED_TO ** (block / (BLOCKS - 1))
        allowed = (-heat * rng.standard_exponential(count)).tolist()
        refills = (rng.random(count) < state.refill_share).tolist()
        for left, came, lowest, refill in zip(leaving, coming, allowed, refills, strict=True):
            position = int(came * len(state.outside))
            new = state.outside[position]
            if refill:
                proposal = state.filled_up_around(new, rng)
                if _worth_and_value(problem, proposal)[1] - state.value < lowest:
                    continue
                state.put(proposal)
            else:
                place = int(left * len(state.members))
                out = state.members[place]
                between = weight * matrix.item(out, new)
                change = state.worth.item(new) - state.worth.item(out) + between
                if change < lowest or not state.may_swap(out, new):
                    continue
                state.swap(place, position, change, between)
            if beats(state.value, best, scale):
                best = state.value
                found.indices = state.all_members
                found.scores.append(best)
        done += count
        report("annealing", done, steps)


class _RuledState:
    """An allowed subset, its value and what each unit contributes to it, or would."""

    def __init__(self, problem: SubsetProblem, rules: Rules, units: list[int]) -> None:
        self.problem, self.rules = problem, rules
        self.completion = Completion(rules)
        self.sizes, self.costs = rules.sizes.tolist(), rules.costs.tolist()
        self.group = {int(unit): number for number, group in enumerate(rules.rivals) for unit in group}
        differ = len(np.unique(rules.sizes[problem.candidates])) > 1
        self.refill_share = REFILL_SHARE if differ or rules.budget < np.inf else 0.0
        self.put(units)

    def put(self, units: list[int]) -> None:
        """Be this allowed subset."""
        self.worth, self.value = _worth_and_value(self.problem, units)
        self.members = np.setdiff1d(units, self.rules.required).tolist()  # but for the required
        self.outside = np.setdiff1d(self.problem.candidates, units).tolist()
        self.cost = self.rules.cost(units)
        self.holder = {self.group[unit]: unit for unit in self.members if unit in self.group}

    @property
    def all_members(self) -> list[int]:
        return sorted([*self.members, *self.rules.required])

    def may_swap(self, out: int, new: int) -> bool:
        if self.sizes[out] != self.sizes[new] or self.cost - self.costs[out] + self.costs[new] > self.rules.budget:
            return False
        return self.holder.get(self.group.get(new, -1), out) == out

    def swap(self, place: int, position: int, change: float, between: float) -> None:
        out, new = self.members[place], self.outside[position]
        matrix, weight = self.problem.pair_matrix, self.problem.weight(self.problem.k)
        worth_out, worth_new = self.worth.item(out), self.worth.item(new)
        self.worth += weight * np.subtract(matrix[out], matrix[new], dtype=float)
        self.worth[out], self.worth[new] = worth_out - between, worth_new + between
        self.value += change
        self.cost += self.costs[new] - self.costs[out]
        self.members[place], self.outside[position] = new, out
        if out in self.group:
            del self.holder[self.group[out]]
        if new in self.group:
            self.holder[self.group[new]] = new

    def filled_up_around(self, newcomer: int, rng: np.random.Generator) -> list[int]:
        """An allowed subset with the newcomer and random members, then others; of whatever sizes they are."""
        others = rng.permutation(self.outside)
        order = [[newcomer], rng.permutation(self.members), others[others != newcomer]]
        return self.completion.in_order(np.concatenate(order))


def _worth_and_value(problem: SubsetProblem, members: list[int]) -> tuple[np.ndarray, float]:
    """What each feature contributes, or would, beside the (other) members (n,), and the members' value."""
    weight = problem.weight(problem.k)
    rows = problem.pair_matrix[members].astype(float)
    rows[np.arange(len(members)), members] = 0.0  # a feature's pair term with itself is arbitrary
    shared = rows.sum(axis=0)
    value = float((problem.linear[members] - weight / 2 * shared[members]).sum())
    worth = problem.linear - weight * shared
    if problem.rules is not None:
        worth -= weight * problem.rules.inner
        value -= weight * float(problem.rules.inner[members].sum())
    return worth, value


def _spread_of_swaps(problem: SubsetProblem, members: list[int], outside: list[int]) -> float:
    """Standard deviation of the change in value over all swaps of a member for a feature outside."""
    worth, _ = _worth_and_value(problem, members)
    between = problem.weight(problem.k) * problem.pair_matrix[np.ix_(members, outside)]
    return float((worth[outside] - worth[members][:, None] + between).std())
