"""A genetic algorithm: subsets that breed, of which the best live on."""

from __future__ import annotations

import numpy as np

from certselect.criteria.problem import SubsetProblem
from certselect.progress import report
from certselect.search.forward import forward
from certselect.search.options import check_count
from certselect.search.ruled_brood import MUTATION_RATE, RuledBrood
from certselect.search.strategy import Found
from certselect.search.ties import beats, distinct_rows, value_scale

REPORT_EVERY = 20


def genetic(
    problem: SubsetProblem,
    found: Found,
    rng: np.random.Generator,
    /,
    *,
    population: int = 200,
    generations: int = 500,
) -> None:
    """Combine good subsets in the hope that what they agree on is good.

    Starts from the forward selection and random subsets. A child keeps the
    features both its parents have and draws the rest of its k from those that
    only one of them has; half of the children then have one feature exchanged
    at random. Of parents and children the best `population` different subsets
    live on, so the best is never lost. Needs the whole pair matrix.

    Under rules, a child takes in turn, as far as rules allow, what both parents have and
    what one has; in half of the children a unit drawn at random goes before these.
    """
    population = check_count("population", population, 2)
    generations = check_count("generations", generations, 1)
    forward(problem, found, rng)
    found.indices.sort()
    del found.scores[:-1]  # the way there was forward's; this search starts from its value
    scale = value_scale(problem)
    brood = _Brood(problem) if problem.rules is None else RuledBrood(problem, problem.rules)
    subsets = brood.random_subsets(population, rng)
    if not subsets.shape[1]:
        return  # the required units are all there is to choose
    subsets[0] = brood.row(found.indices)
    values = brood.values(subsets)
    for generation in range(1, generations + 1):
        mothers, fathers = (subsets[_tournament(values, population, rng)] for _ in range(2))
        children = brood.children(mothers, fathers, rng)
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
    """Subsets of k candidates, a row each, ascending."""

    def __init__(self, problem: SubsetProblem) -> None:
        self.problem = problem

    def random_subsets(self, count: int, rng: np.random.Generator) -> np.ndarray:
        draws = [rng.choice(self.problem.candidates, size=self.problem.k, replace=False) for _ in range(count)]
        return np.sort(draws, axis=1)

    def children(self, mothers: np.ndarray, fathers: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        children = _cross(mothers, fathers, rng)
        _mutate(children, self.problem.candidates, rng)
        return children

    def values(self, subsets: np.ndarray) -> np.ndarray:
        """The value of each row's subset at size k."""
        one, other = np.triu_indices(self.problem.k, 1)
        shared = self.problem.pair_matrix[subsets[:, one], subsets[:, other]].sum(axis=1, dtype=float)
        return self.problem.linear[subsets].sum(axis=1) - self.problem.weight(self.problem.k) * shared

    def row(self, indices: list[int]) -> list[int]:
        return indices

    def units(self, row: np.ndarray) -> list[int]:
        return row.tolist()


def _cross(mothers: np.ndarray, fathers: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Children with all that both parents have, and at random of what one has, k features each, ascending."""
    both = np.sort(np.concatenate([mothers, fathers], axis=1), axis=1)
    rank = rng.random(both.shape)
    twice = both[:, 1:] == both[:, :-1]
    rank[:, :-1][twice] = 2.0  # what both have comes first,
    rank[:, 1:][twice] = -1.0  # and once
    kept = np.argsort(-rank, axis=1)[:, : mothers.shape[1]]
    return np.sort(np.take_along_axis(both, kept, axis=1), axis=1)


def _mutate(subsets: np.ndarray, candidates: np.ndarray, rng: np.random.Generator) -> None:
    """Exchange one feature of about half of the subsets for a random one they do not have."""
    places = rng.integers(subsets.shape[1], size=len(subsets))
    newcomers = candidates[rng.integers(len(candidates), size=len(subsets))]
    new = ~(subsets == newcomers[:, None]).any(axis=1)
    rows = np.flatnonzero(new & (rng.random(len(subsets)) < MUTATION_RATE))
    subsets[rows, places[rows]] = newcomers[rows]
    subsets.sort(axis=1)
