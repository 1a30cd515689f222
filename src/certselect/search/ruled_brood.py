"""The subsets of a genetic search under rules: how they are drawn, bred and valued."""

from __future__ import annotations

import numpy as np

from certselect.criteria.problem import SubsetProblem
from certselect.criteria.rules import Rules
from certselect.search.completion import Completion

MUTATION_RATE = 0.5


class RuledBrood:
    """Allowed subsets, a row each: the units beside the required ones, ascending, filled up with `nobody`."""

    def __init__(self, problem: SubsetProblem, rules: Rules) -> None:
        self.completion = Completion(rules)
        self.required = np.array(rules.required, dtype=np.intp)
        self.free = np.setdiff1d(problem.candidates, self.required)
        self.width = rules.k - rules.size(rules.required)
        self.pairs, self.weight = problem.pair_matrix, problem.weight(problem.k)
        worth = problem.linear - self.weight * rules.inner
        worth[self.free] -= self.weight * self.pairs[np.ix_(self.free, self.required)].sum(axis=1, dtype=float)
        self.worth = np.append(worth, 0.0)
        self.value_of_required = problem.value(rules.required)

    def random_subsets(self, count: int, rng: np.random.Generator) -> np.ndarray:
        return self.completion.rows_in_order(np.array([rng.permutation(self.free) for _ in range(count)]), rng)

    def children(self, mothers: np.ndarray, fathers: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """What both parents have first, then at random what one has; before all that, in some, a newcomer."""
        nobody = self.completion.nobody
        both = np.sort(np.concatenate([mothers, fathers], axis=1), axis=1)
        rank = rng.random(both.shape)
        twice = both[:, 1:] == both[:, :-1]
        rank[:, :-1][twice] += 1.0
        both[:, 1:][twice] = nobody
        order = np.take_along_axis(both, np.argsort(-rank, axis=1), axis=1)
        newcomer = self.free[rng.integers(len(self.free), size=len(order))]
        newcomer = np.where(rng.random(len(order)) < MUTATION_RATE, newcomer, nobody)[:, None]
        order[order == newcomer] = nobody
        return self.completion.rows_in_order(np.concatenate([newcomer, order], axis=1), rng)

    def values(self, subsets: np.ndarray) -> np.ndarray:
        """The value of each row's subset at size k, the required units in it."""
        one, other = np.triu_indices(self.width, 1)
        # Rows are filled up at their ends, so where the first of a pair is nobody the second is too.
        last = self.completion.nobody - 1
        terms = self.pairs[np.minimum(subsets[:, one], last), np.minimum(subsets[:, other], last)]
        shared = np.where(subsets[:, other] <= last, terms, 0.0).sum(axis=1, dtype=float)
        return self.value_of_required + self.worth[subsets].sum(axis=1) - self.weight * shared

    def row(self, indices: list[int]) -> list[int]:
        free = np.setdiff1d(indices, self.required).tolist()
        return free + [self.completion.nobody] * (self.width - len(free))

    def units(self, row: np.ndarray) -> list[int]:
        return np.union1d(self.required, row[row != self.completion.nobody]).tolist()
