"""A genetic algorithm: subsets are combined, and the best survive."""

from __future__ import annotations

import numpy as np

from certselect.criteria.units import UnitProblem
from certselect.progress import report
from certselect.search.completion import Completion
from certselect.search.draws import start_from_forward
from certselect.search.found import Found
from certselect.search.options import check_count
from certselect.search.strategy import Strategy
from certselect.search.ties import beats, distinct_rows, value_scale

REPORT_EVERY = 20
MUTATION_RATE = 0.5


def genetic(
    problem: UnitProblem,
    found: Found,
    rng: np.random.Generator,
    /,
    *,
    population: int = 200,
    generations: int = 500,
) -> None:
    """Combine good subsets in the hope that what they agree on is good.

    Starts from the forward selection and random subsets. A child takes, as far as the rules
    allow, the units both its parents have, then at random those that only one of them has;
    half of the children then have one unit exchanged at random. Of parents and children the
    best `population` different subsets live on, so the best is never lost. Needs the whole
    pair matrix.
    """
    population = check_count("population", population, 2)
    generations = check_count("generations", generations, 1)
    start_from_forward(problem, found, rng)
    if found.out_of_time():
        return
    brood = _Brood(problem)
    if not brood.width:
        return  # the required units are all there is to choose
    scale, subsets = value_scale(problem), brood.random_subsets(population, rng)
    subsets[0] = brood.row(found.indices)
    values = brood.values(subsets)
    for generation in range(1, generations + 1):
        if found.out_of_time():
            return
        mothers, fathers = (subsets[_tournament(values, population, rng)] for _ in range(2))
        children = brood.mutated(brood.crossed(mothers, fathers, rng), rng)
        values = np.concatenate([values, brood.values(children)])
        subsets, first = distinct_rows(np.concatenate([subsets, children]))
        values = values[first]
        # Stable, and the subsets are in lexicographic order: the first of equals lives on.
        alive = np.argsort(-values, kind="stable")[:population]
        subsets, values = subsets[alive], values[alive]
        if beats(float(values[0]), found.scores[-1], scale):
            found.indices = brood.units(subsets[0])
            found.scores.append(float(values[0]))
        if generation % REPORT_EVERY == 0 or generation == generations:
            report("genetic", generation, generations)


def _tournament(values: np.ndarray, count: int, rng: np.random.Generator) -> np.ndarray:
    """Positions of `count` parents, each the better of two drawn at random."""
    draws = rng.integers(len(values), size=(2, count))
    return np.where(values[draws[0]] >= values[draws[1]], draws[0], draws[1])


class _Brood:
    """Allowed subsets, a row each: the units beside the required ones, ascending, filled up with `nobody`."""

    def __init__(self, problem: UnitProblem) -> None:
        rules = problem.rules
        self.completion = Completion(rules)
        self.required = np.array(rules.required, dtype=np.intp)
        self.free = np.setdiff1d(problem.candidates, self.required)
        self.width = rules.k - rules.size(rules.required)
        self.pairs, self.weight = problem.pair_matrix, problem.weight(problem.k)
        worth = np.array(problem.worth_alone)
        worth[self.free] -= self.weight * self.pairs[np.ix_(self.free, self.required)].sum(axis=1, dtype=float)
        self.worth = np.append(worth, 0.0)
        self.value_of_required = problem.value(rules.required)

    def random_subsets(self, count: int, rng: np.random.Generator) -> np.ndarray:
        listed = min(self.width, len(self.free))
        order = np.array([rng.choice(self.free, size=listed, replace=False) for _ in range(count)])
        return self.completion.rows_in_order(order, rng)

    def crossed(self, mothers: np.ndarray, fathers: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Children: what both parents have first, then at random what one has."""
        both = np.sort(np.concatenate([mothers, fathers], axis=1), axis=1)
        rank = rng.random(both.shape)
        twice = both[:, 1:] == both[:, :-1]
        rank[:, :-1][twice] = 2.0  # what both have comes first,
        rank[:, 1:][twice] = -1.0  # and once
        both[:, 1:][twice] = self.completion.nobody
        return self.completion.rows_in_order(np.take_along_axis(both, np.argsort(-rank, axis=1), axis=1), rng)

    def mutated(self, subsets: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """About half of the subsets with one unit exchanged for a random one they do not have."""
        places = rng.integers(self.width, size=len(subsets))
        newcomers = self.free[rng.integers(len(self.free), size=len(subsets))]
        new = ~(subsets == newcomers[:, None]).any(axis=1)
        rows = np.flatnonzero(new & (rng.random(len(subsets)) < MUTATION_RATE))
        # The newcomer first; the one to leave last, should the rules not let the others do without it.
        leaving = subsets[rows, places[rows]]
        others = subsets[rows]
        others[np.arange(len(rows)), places[rows]] = self.completion.nobody
        order = np.concatenate([newcomers[rows, None], others, leaving[:, None]], axis=1)
        mutants = subsets.copy()
        mutants[rows] = self.completion.rows_in_order(order, rng)
        return mutants

    def values(self, subsets: np.ndarray) -> np.ndarray:
        """The value of each row's subset at size k, the required units in it."""
        one, other = np.triu_indices(self.width, 1)
        # Rows are filled up at their ends, so where the first of a pair is `nobody` the second is too.
        last = self.completion.nobody - 1
        terms = self.pairs[np.minimum(subsets[:, one], last), np.minimum(subsets[:, other], last)]
        shared = np.where(subsets[:, other] <= last, terms, 0.0).sum(axis=1, dtype=float)
        return self.value_of_required + self.worth[subsets].sum(axis=1) - self.weight * shared

    def row(self, indices: list[int]) -> list[int]:
        free = np.setdiff1d(indices, self.required).tolist()
        return free + [self.completion.nobody] * (self.width - len(free))

    def units(self, row: np.ndarray) -> list[int]:
        return np.union1d(self.required, row[row != self.completion.nobody]).tolist()


STRATEGY = Strategy(
    "genetic",
    genetic,
    "evolves a population of subsets; combines what good subsets have in common",
    needs_all_pairs=True,
    scores="improving",
)
