"""Simulated annealing: swaps that may lower the value, ever less as it cools."""

from __future__ import annotations

import numpy as np

from certselect.criteria.units import UnitProblem
from certselect.progress import report
from certselect.search.completion import Completion
from certselect.search.draws import start_from_forward
from certselect.search.found import Found
from certselect.search.options import check_count, check_positive
from certselect.search.strategy import Strategy
from certselect.search.ties import beats, value_scale

STEPS_PER_SWAP = 250
FEWEST_STEPS, MOST_STEPS = 20_000, 2_000_000
BLOCKS = 200
COOLED_TO = 1e-3
# Of the proposals, where swaps alone might not get everywhere: few, for one costs as much as dozens of swaps.
REFILL_SHARE = 0.02


def annealing(
    problem: UnitProblem,
    found: Found,
    rng: np.random.Generator,
    /,
    *,
    steps: int | None = None,
    temperature: float = 1.0,
) -> None:
    """Leave local optima, which stop greedy searches, by sometimes accepting a swap that lowers the value.

    Starts from the forward selection, so it never ends below it. Each step
    proposes to exchange a random member for a random candidate left out; a
    change of the value by d < 0 is accepted with probability exp(d / T). T falls
    in 200 equal ratios to a thousandth of its start, which is `temperature` times
    the standard deviation of d over all swaps of the forward selection, so that
    the data set the scale. Without `steps` there are 250 for each possible swap,
    but no fewer than 20 000 and no more than 2 million. Needs the whole pair matrix.

    Units are exchanged for units of equal size, where the rules allow it. Where sizes
    differ or a budget binds, which exchanges alone might not get past, one proposal in
    fifty brings in a unit and fills up around it at random, members first.
    """
    temperature = check_positive("temperature", temperature)
    if steps is not None:
        steps = check_count("steps", steps, 1)
    start_from_forward(problem, found, rng)
    if found.out_of_time():
        return
    state = _State(problem, found.indices)
    if not state.outside or not state.members:
        return
    if steps is None:
        steps = min(max(FEWEST_STEPS, STEPS_PER_SWAP * len(found.indices) * len(state.outside)), MOST_STEPS)
    hottest = temperature * _spread_of_swaps(problem, found.indices, state.outside)
    done = 0
    for block in range(BLOCKS):
        if found.out_of_time():
            return
        state.sum_again()
        heat = hottest * COOLED_TO ** (block / (BLOCKS - 1))
        end = steps * (block + 1) // BLOCKS
        while done < end:
            done += _walk(state, end - done, heat, found, rng)
        report("annealing", done, steps)


def _walk(state: _State, count: int, heat: float, found: Found, rng: np.random.Generator) -> int:
    """Make up to `count` proposals, fewer where filling up changes the number of members; return how many."""
    leaving = rng.integers(len(state.members), size=count).tolist()
    coming = rng.integers(len(state.outside), size=count).tolist()
    # To exceed minus an exponential variate of mean T has probability exp(d / T).
    allowed = (-heat * rng.standard_exponential(count)).tolist()
    refills = (rng.random(count) < state.refill_share).tolist() if state.refill_share else [False] * count
    swap_change, members, outside = state.swap_change, state.members, state.outside
    for made, (place, position, lowest, refill) in enumerate(zip(leaving, coming, allowed, refills, strict=True)):
        if refill:
            taken = state.fill_up_if(position, lowest, rng)
        else:
            change = swap_change(members[place], outside[position])
            taken = change >= lowest and state.swap_if_allowed(place, position, change)
        if taken and beats(state.value, found.scores[-1], state.scale):
            found.indices = state.all_members
            found.scores.append(state.value)
        if taken and refill:
            return made + 1
    return count


class _State:
    """An allowed subset, its value and what each unit contributes to it, or would."""

    def __init__(self, problem: UnitProblem, units: list[int]) -> None:
        self.problem, self.rules, self.weight = problem, problem.rules, problem.weight(problem.k)
        self.matrix = problem.pair_matrix
        self.completion = Completion(problem.rules)
        self.sizes, self.costs = problem.rules.sizes.tolist(), problem.rules.costs.tolist()
        self.group = {int(unit): number for number, group in enumerate(problem.rules.rivals) for unit in group}
        self.plain, self.scale = problem.rules.plain, value_scale(problem)
        differ = len(np.unique(problem.rules.sizes[problem.candidates])) > 1
        self.refill_share = REFILL_SHARE if differ or problem.rules.budget < np.inf else 0.0
        self.put(units)

    def put(self, units: list[int]) -> None:
        """Be this allowed subset."""
        self.worth, self.value = _worth_and_value(self.problem, units)
        required = set(self.rules.required)
        self.members = [unit for unit in units if unit not in required]
        self.outside = np.setdiff1d(self.problem.candidates, units).tolist()
        self.cost = self.rules.cost(units)
        self.holder = {self.group[unit]: unit for unit in self.members if unit in self.group}

    def sum_again(self) -> None:
        """Do without what was added up on the way, so that rounding does not pile up."""
        self.worth, self.value = _worth_and_value(self.problem, [*self.members, *self.rules.required])

    @property
    def all_members(self) -> list[int]:
        return sorted([*self.members, *self.rules.required])

    def swap_change(self, out: int, new: int) -> float:
        """By how much the value changes if a member leaves for a unit outside."""
        return self.worth.item(new) - self.worth.item(out) + self.weight * self.matrix.item(out, new)

    def swap_if_allowed(self, place: int, position: int, change: float) -> bool:
        """Exchange a member for a unit outside, if the rules allow it."""
        out, new = self.members[place], self.outside[position]
        if not (self.plain or self._may_swap(out, new)):
            return False
        between = self.weight * self.matrix.item(out, new)
        worth_out, worth_new = self.worth.item(out), self.worth.item(new)
        self.value += change
        self.worth += self.weight * np.subtract(self.matrix[out], self.matrix[new], dtype=float)
        self.worth[out], self.worth[new] = worth_out - between, worth_new + between
        self.members[place], self.outside[position] = new, out
        self.cost += self.costs[new] - self.costs[out]
        if out in self.group:
            del self.holder[self.group[out]]
        if new in self.group:
            self.holder[self.group[new]] = new
        return True

    def _may_swap(self, out: int, new: int) -> bool:
        if self.sizes[out] != self.sizes[new] or self.cost - self.costs[out] + self.costs[new] > self.rules.budget:
            return False
        return self.holder.get(self.group.get(new, -1), out) == out

    def fill_up_if(self, position: int, lowest: float, rng: np.random.Generator) -> bool:
        """Bring in a unit from outside, then random members, then others, of whatever sizes; if it is worth that."""
        newcomer = self.outside[position]
        others = rng.permutation(self.outside)
        order = np.concatenate([[newcomer], rng.permutation(self.members), others[others != newcomer]])
        proposal = sorted(self.completion.in_order(order.tolist()))
        if _worth_and_value(self.problem, proposal)[1] - self.value < lowest:
            return False
        self.put(proposal)
        return True


def _worth_and_value(problem: UnitProblem, members: list[int]) -> tuple[np.ndarray, float]:
    """What each unit contributes, or would, beside the (other) members (n,), and the members' value."""
    weight = problem.weight(problem.k)
    rows = problem.pair_matrix[members].astype(float)
    rows[np.arange(len(members)), members] = 0.0  # a unit's pair term with itself is arbitrary
    shared = rows.sum(axis=0)
    value = float((problem.worth_alone[members] - weight / 2 * shared[members]).sum())
    return problem.worth_alone - weight * shared, value


def _spread_of_swaps(problem: UnitProblem, members: list[int], outside: list[int]) -> float:
    """Standard deviation of the change in value over all swaps of a member for a unit outside."""
    worth, _ = _worth_and_value(problem, members)
    weight = problem.weight(problem.k)
    between = weight * problem.pair_matrix[np.ix_(members, outside)]
    changes = worth[outside] - worth[members][:, None] + between
    # Swaps between what shares too much and what does not say nothing about the scale of the others.
    if problem.limit is not None:
        changes = changes[np.abs(changes) < 0.5 * abs(weight * problem.cost_of_sharing)]
    return float(changes.std()) if changes.size else 0.0


STRATEGY = Strategy(
    "annealing",
    annealing,
    "simulated annealing by swaps; can leave local optima that stop greedy searches",
    needs_all_pairs=True,
    scores="improving",
)
