"""Rivals, of which at most one may be chosen: the group each unit is in, and the pairs that are never both in."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np


def rival_numbers(groups: Iterable[np.ndarray], n: int) -> np.ndarray:
    """The number of each unit's group (n,), -1 for none; groups are disjoint."""
    numbers = np.full(n, -1)
    for number, group in enumerate(groups):
        numbers[group] = number
    return numbers


def never_both(numbers: np.ndarray) -> np.ndarray | None:
    """Which pairs of units are rivals (n, n); None if there are none."""
    if (numbers < 0).all():
        return None
    same = (numbers[:, None] == numbers) & (numbers >= 0)[:, None]
    np.fill_diagonal(same, False)
    return same
