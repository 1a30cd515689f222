"""Simulated annealing: swaps that may lower the value, ever less as it cools."""

from __future__ import annotations

import numpy as np

from certselect.criteria.problem import SubsetProblem
from certselect.progress import report
from certselect.search.forward import forward
from certselect.search.options import check_count, check_positive
from certselect.search.strategy import Found
from certselect.search.ties import beats, value_scale

STEPS_PER_SWAP = 250
FEWEST_STEPS, MOST_STEPS = 20_000, 2_000_000
BLOCKS = 200
COOLED_TO = 1e-3


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
    matrix, weight, scale = problem.pair_matrix, problem.weight(problem.k), value_scale(problem)
    best = found.scores[-1]
    hottest = temperature * _spread_of_swaps(problem, members, outside)
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


def _worth_and_value(problem: SubsetProblem, members: list[int]) -> tuple[np.ndarray, float]:
    """What each feature contributes, or would, beside the (other) members (n,), and the members' value."""
    weight = problem.weight(problem.k)
    rows = problem.pair_matrix[members].astype(float)
    rows[np.arange(len(members)), members] = 0.0  # a feature's pair term with itself is arbitrary
    shared = rows.sum(axis=0)
    value = float((problem.linear[members] - weight / 2 * shared[members]).sum())
    return problem.linear - weight * shared, value


def _spread_of_swaps(problem: SubsetProblem, members: list[int], outside: list[int]) -> float:
    """Standard deviation of the change in value over all swaps of a member for a feature outside."""
    worth, _ = _worth_and_value(problem, members)
    between = problem.weight(problem.k) * problem.pair_matrix[np.ix_(members, outside)]
    return float((worth[outside] - worth[members][:, None] + between).std())
