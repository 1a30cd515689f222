"""Ties are decided, not left to rounding: the lowest index stays.

Two subsets that are worth the same on paper come out some 1e-16 apart in
floating point, depending on the order of the sums. Values closer than
`TIE` times their size therefore count as equal in every search. What is proven is
measured against the terms of the subset itself instead (`certificate.tolerance`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from heapq import heappop, heappush

import numpy as np

from certselect.criteria.units import UnitProblem

TIE = 1e-12


def value_scale(problem: UnitProblem) -> float:
    """The largest relevance: what a difference is measured against where values cancel to about 0.

    Not the largest absolute one: a feature that is far worse than all others is no measure for them.
    """
    return abs(float(problem.linear[problem.rules.candidates].max()))


def tie_width(value: float, scale: float) -> float:
    """How far apart two values of about this size may be and still count as equal."""
    return TIE * max(abs(value), scale)


def best_and_ties(values: np.ndarray, scale: float) -> np.ndarray:
    """Which values equal the largest one (boolean, same shape)."""
    best = float(values.max())
    return values >= best - tie_width(best, scale)


def first_best(values: np.ndarray, scale: float) -> int:
    """Position of the largest value, the first of equals: for choosing a feature to add."""
    best = float(values.max())
    return int((values >= best - tie_width(best, scale)).argmax())  # `best_and_ties`, without a call in an inner loop


def last_best(values: np.ndarray, scale: float) -> int:
    """Position of the largest value, the last of equals: for choosing a feature to take out."""
    return len(values) - 1 - int(best_and_ties(values, scale)[::-1].argmax())


def descending(values: np.ndarray, width: Callable[[float], float]) -> Iterator[int]:
    """Positions from the largest value to the smallest: always the first of those that equal the largest left.

    `width` is how far below the largest a value may be and still equal it.
    """
    order = np.argsort(-values, kind="stable").tolist()
    equals: list[int] = []  # positions of values that equal the largest left, a heap
    taken, reached = set(), 0
    for position in order:
        while position not in taken:
            largest = values.item(position)
            while reached < len(order) and values.item(order[reached]) >= largest - width(largest):
                heappush(equals, order[reached])
                reached += 1
            first = heappop(equals)
            taken.add(first)
            yield first


def beats(value: float, known: float, scale: float) -> bool:
    """Whether a value is larger than the best known one (-inf if there is none), and not its equal."""
    return known == -np.inf or value > known + tie_width(known, scale)


def distinct_rows(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The different rows of a matrix in lexicographic order, and where each first occurs.

    NumPy's `unique(axis=0)` compares structured arrays, which runs Python code inside; a
    Ctrl-C that falls there comes out as a TypeError.
    """
    order = np.lexsort(rows.T[::-1])
    ranked = rows[order]
    new = np.ones(len(rows), dtype=bool)
    new[1:] = (ranked[1:] != ranked[:-1]).any(axis=1)
    return ranked[new], order[new]
