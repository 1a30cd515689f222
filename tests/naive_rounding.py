"""Slow twins of rounding and repair: plain loops, exact fractions where a tie must be a tie.

`problem` is a `naive_search.NaiveProblem`. Shares no code with the package.
"""

from __future__ import annotations


def agree_with_entry_0(u):
    """Features (from 0) whose sign in u is that of entry 0."""
    if u[0] < 0:
        u = [-value for value in u]
    return [i - 1 for i in range(1, len(u)) if u[i] > 0]


def repair(problem, subset):
    """Add the best (lowest index of equals) or remove the least missed (highest) until there are k."""
    subset = sorted(subset)
    while len(subset) < problem.k:
        best = None
        for j in sorted(problem.candidates):
            if j in subset:
                continue
            value = problem.value([*subset, j], problem.k)
            if best is None or value > best[0]:
                best = (value, j)
        subset = sorted([*subset, best[1]])
    while len(subset) > problem.k:
        best = None
        for j in subset:
            value = problem.value([i for i in subset if i != j], problem.k)
            if best is None or value >= best[0]:
                best = (value, j)
        subset.remove(best[1])
    return subset


def best(problem, subsets):
    """The subset of largest value, the lexicographically first of equals."""
    winner = None
    for subset in sorted(tuple(sorted(subset)) for subset in subsets):
        if winner is None or problem.value(subset, problem.k) > problem.value(winner, problem.k):
            winner = subset
    return list(winner)
