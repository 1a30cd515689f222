"""Constrained subset problems of a few features, with every subset they allow."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np

from certselect import SubsetProblem
from naive_constraints import allowed_subsets
from relaxation.made_problems import random_problem, redundancy_like


def made_matrix(rng: np.random.Generator, n: int) -> np.ndarray:
    """Random signs, like redundancies, or small whole numbers, at several scales."""
    seed, kind = int(rng.integers(1 << 30)), rng.integers(3)
    Q = redundancy_like(n, 3, seed) if kind == 0 else random_problem(n, seed)
    return (np.round(Q) if kind == 2 else Q) * 10.0 ** rng.integers(-3, 4)


def made_statement(rng: np.random.Generator, n: int) -> dict[str, Any]:
    """Some of each kind of constraint, in indices; costs are eighths, so that they sum exactly."""
    order = rng.permutation(n).tolist()
    groups = [order[0:2], order[2:4], order[4:7]]
    sizes = rng.integers(0, 3, 3)
    return {
        "n": n,
        "include": order[-1:] if rng.random() < 0.3 else [],
        "exclude": order[-2:-1] if rng.random() < 0.3 else [],
        "together": [group for group, kind in zip(groups, sizes, strict=True) if kind == 1 and len(group) > 1],
        "rivals": [group for group, kind in zip(groups, sizes, strict=True) if kind == 2 and len(group) > 1],
        "costs": (rng.integers(0, 9, n) / 8).tolist(),
        "budget": float(rng.integers(4, 4 * n)) / 8 if rng.random() < 0.5 else float("inf"),
    }


def made_problem(seed: int, largest: int = 9) -> tuple[SubsetProblem, list[frozenset[int]]]:
    """A problem and all subsets that it allows, found by looking at every one."""
    rng = np.random.default_rng(seed)
    while True:
        n = int(rng.integers(3, largest + 1))
        Q, statement = made_matrix(rng, n), made_statement(rng, n)
        allowed = allowed_subsets(statement)
        if not allowed:
            continue
        k = len(allowed[rng.integers(len(allowed))])
        limited = np.isfinite(statement["budget"])
        problem = SubsetProblem.from_matrix(
            Q,
            k,
            include=statement["include"],
            exclude=statement["exclude"],
            feature_groups={"all_or_none": statement["together"], "at_most_one": statement["rivals"]},
            costs=statement["costs"] if limited else None,
            budget=statement["budget"] if limited else None,
        )
        return problem, [subset for subset in allowed if len(subset) == k]


def exact_value(Q: np.ndarray, subset: frozenset[int]) -> Fraction:
    return sum((Fraction(float(Q[i, j])) for i in subset for j in subset), Fraction(0))


def subsets_of_size(sizes: np.ndarray, k: int) -> list[frozenset[int]]:
    """Positions whose sizes add up to k, by looking at all."""
    masks = np.array(list(product([False, True], repeat=len(sizes))))
    return [frozenset(np.flatnonzero(mask).tolist()) for mask in masks if int(sizes[mask].sum()) == k]
