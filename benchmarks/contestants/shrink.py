"""The smallest table on which somebody still differs: rows, columns and levels are taken away while they do."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

MOST_TRIALS = 400


@dataclass(frozen=True, eq=False)
class Example:
    X: np.ndarray
    y: np.ndarray
    k: int

    @property
    def is_proper(self) -> bool:
        """Every column and the target have two values or more, and there is something to choose."""
        several = all(len(np.unique(column)) > 1 for column in (*self.X.T, self.y))
        return several and 1 <= self.k < self.X.shape[1]

    @property
    def plain(self) -> dict[str, Any]:
        return {"X": self.X.tolist(), "y": self.y.tolist(), "k": self.k}


def smaller(given: Example) -> Iterator[Example]:
    """Fewer chosen; then blocks of rows or columns gone, halves first; then codes that are taken together."""
    if given.k > 1:
        yield Example(given.X, given.y, given.k - 1)
    rows, columns = given.X.shape
    for axis, size in ((1, columns), (0, rows)):
        block = size // 2
        while block:
            for start in range(0, size, block):
                left = np.r_[0:start, start + block : size]
                kept = given.X.take(left, axis)
                yield Example(kept, given.y[left] if axis == 0 else given.y, given.k)
            block //= 2
    for column in range(columns):
        for level in np.unique(given.X[:, column])[1:]:
            merged = given.X.copy()
            merged[merged[:, column] == level, column] = 0
            yield Example(merged, given.y, given.k)


def smallest(given: Example, differs: Callable[[Example], bool], most_trials: int = MOST_TRIALS) -> Example:
    """The first smaller example that still differs, and again from there, until none does or the trials are spent.

    >>> given = Example(np.array([[0, 1], [1, 0], [1, 1], [0, 0]] * 5), np.array([0, 1] * 10), 1)
    >>> smallest(given, lambda one: len(one.X) >= 3).X.shape
    (3, 2)
    """
    trials = itertools.count(1)
    found = True
    while found:
        found = False
        for one in smaller(given):
            if not one.is_proper:
                continue
            if next(trials) > most_trials:
                return given
            if differs(one):
                given, found = one, True
                break
    return given
