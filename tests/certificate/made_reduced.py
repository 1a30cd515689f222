"""Reduced problems of a few units with everything they allow, valued in exact fractions."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest

from certselect.certificate import open_problem
from certselect.criteria.reduced import ReducedProblem


def made_reduced(seed: int, most: int = 8, twins: bool = False) -> ReducedProblem:
    """Any kind of matrix and rules, and at least one allowed subset; `twins` are units of which there are several."""
    rng = np.random.default_rng(seed)
    while True:
        m = int(rng.integers(1, most + 1))
        kinds = rng.integers(0, max(m // 2, 1), m) if twins else np.arange(m)
        Q = made_matrix(rng, m)[np.ix_(kinds, kinds)]
        if twins:
            Q[np.diag_indices(m)] = rng.integers(0, 5, m)[kinds]
        sizes = np.ones(m, dtype=int) if rng.random() < 0.5 else rng.integers(1, 4, m)[kinds]
        order, rivals = rng.permutation(m), ()
        if rng.random() < 0.5:
            rivals = tuple(np.sort(group) for group in np.split(order, [m // 2, m - 1]) if len(group) > 1)
        costs = rng.integers(0, 9, m)[kinds] / 8 if rng.random() < 0.5 else None
        budget = np.inf if costs is None else float(rng.integers(0, 4 * m)) / 8
        if rng.random() < 0.15:
            Q = Q.astype(np.float32)
        constant = float(rng.choice([0.0, rng.standard_normal(), 1e3 * rng.standard_normal()]))
        k = int(rng.integers(0, sizes.sum() + 1))
        problem = ReducedProblem(Q, k, constant, sizes, rivals, costs, budget, np.arange(m), ())
        if allowed(problem):
            return problem


def made_matrix(rng: np.random.Generator, m: int) -> np.ndarray:
    Q = rng.standard_normal((m, m))
    kind = rng.integers(4)
    if kind == 0:
        Q = np.diag(rng.random(m)) - rng.random((m, m)) / 4
    if kind == 1:
        Q = np.round(3 * Q)
    if kind == 2:
        Q = np.zeros((m, m))
    if rng.random() < 0.8:
        Q = np.round(Q + Q.T, 6)
    return Q * 10.0 ** rng.choice([-3, 0, 0, 0, 2])


def allowed(problem: ReducedProblem) -> list[frozenset[int]]:
    """Every allowed subset, found by looking at all."""
    m = len(problem.matrix)
    subsets = [frozenset(chosen) for count in range(m + 1) for chosen in combinations(range(m), count)]
    return [subset for subset in subsets if is_allowed(problem, subset)]


def is_allowed(problem: ReducedProblem, subset: frozenset[int]) -> bool:
    if sum(int(problem.sizes[i]) for i in subset) != problem.k:
        return False
    if any(len(subset.intersection(group.tolist())) > 1 for group in problem.rivals):
        return False
    return problem.costs is None or sum(Fraction(float(problem.costs[i])) for i in subset) <= Fraction(problem.budget)


def value(problem: ReducedProblem, subset: frozenset[int]) -> Fraction:
    entries = (Fraction(float(problem.matrix[i, j])) for i in subset for j in subset)
    return Fraction(problem.constant) + sum(entries, Fraction(0))


def at_least(bound: float, exact: Fraction | None) -> bool:
    """Whether a bound holds; None stands for no subset at all, of which anything is true."""
    if exact is None or bound == np.inf:
        return True
    return bool(np.isfinite(bound)) and Fraction(float(bound)) >= exact


def best(problem: ReducedProblem, subsets: list[frozenset[int]]) -> Fraction | None:
    return max((value(problem, subset) for subset in subsets), default=None)


@contextlib.contextmanager
def nothing_listed() -> Iterator[None]:
    """Even the smallest problems have to be proved, as if they had too many subsets to look at."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(open_problem, "MOST_LISTED", 0)
        patch.setattr(open_problem, "MOST_MASKED", 0)
        yield
