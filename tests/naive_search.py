"""Slow twins of the searches: plain loops over exact fractions, straight from the definitions.

Fractions have no rounding, so a tie here is a tie on paper. Shares no code with
the package.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from fractions import Fraction


def _averaged(size):
    return Fraction(1, size - 1) if size > 1 else Fraction(0)


@dataclass
class NaiveProblem:
    linear: list[Fraction]
    pair: dict[tuple[int, int], Fraction]
    criterion: str
    beta: Fraction
    k: int
    candidates: list[int]

    def weight(self, size):
        return {
            "max_relevance": Fraction(0),
            "mifs": self.beta,
            "mrmr": _averaged(size),
            "d1": Fraction(1),
            "jmi": _averaged(size),
        }[self.criterion]

    def value(self, subset, size=None):
        """Value of a subset under the pair weight of a size, its own unless told."""
        total = Fraction(0)
        for i in subset:
            total += self.linear[i]
        for i in subset:
            for j in subset:
                if i < j:
                    total -= self.weight(len(subset) if size is None else size) * self.pair[i, j]
        return total


def relevance(problem):
    chosen = sorted(problem.candidates, key=lambda i: (-problem.linear[i], i))[: problem.k]
    return chosen, [problem.value(chosen[: t + 1]) for t in range(problem.k)]


def forward(problem):
    chosen, scores = [], []
    while len(chosen) < problem.k:
        best = None
        for j in sorted(problem.candidates):
            if j not in chosen and (best is None or problem.value([*chosen, j]) > problem.value([*chosen, best])):
                best = j
        chosen.append(best)
        scores.append(problem.value(chosen))
    return chosen, scores


def _least_missed(problem, subset):
    """The member whose removal leaves the most, the highest index of equals."""
    best = None
    for m in sorted(subset):
        left = [i for i in subset if i != m]
        if best is None or problem.value(left) >= problem.value([i for i in subset if i != best]):
            best = m
    return best


def backward(problem):
    left, scores = sorted(problem.candidates), []
    while len(left) > problem.k:
        left.remove(_least_missed(problem, left))
        scores.append(problem.value(left))
    return left, scores


def floating(problem):
    subset, scores = [], []
    best_of_size = {0: (Fraction(0), [])}

    def visit():
        value = problem.value(subset)
        scores.append(value)
        if len(subset) not in best_of_size or value > best_of_size[len(subset)][0]:
            best_of_size[len(subset)] = (value, list(subset))

    while len(subset) < problem.k:
        best = None
        for j in sorted(problem.candidates):
            if j not in subset and (best is None or problem.value([*subset, j]) > problem.value([*subset, best])):
                best = j
        subset.append(best)
        visit()
        while True:
            out = _least_missed(problem, subset)
            left = [i for i in subset if i != out]
            if problem.value(left) <= best_of_size[len(left)][0]:
                break
            subset = left
            visit()
    return best_of_size[problem.k][1], scores


def exhaustive(problem):
    best = None
    for subset in itertools.combinations(sorted(problem.candidates), problem.k):
        if best is None or problem.value(subset) > problem.value(best):
            best = subset
    return list(best), problem.value(best)


def polish(problem, start):
    """Best swaps one after another; the lowest of equally good newcomers comes, for it the highest leaves."""
    subset, scores = list(start), []
    while True:
        best_value, best_swap = problem.value(subset, problem.k), None
        for new in sorted(set(problem.candidates) - set(subset)):
            for out in sorted(subset, reverse=True):
                swapped = [new if i == out else i for i in subset]
                if problem.value(swapped, problem.k) > best_value:
                    best_value, best_swap = problem.value(swapped, problem.k), swapped
        if best_swap is None:
            return subset, scores
        subset = best_swap
        scores.append(best_value)
