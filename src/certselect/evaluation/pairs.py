"""A number for every pair of names, found under either order."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import combinations

import numpy as np


class PairMapping(Mapping[tuple[str, str], float]):
    """One number for every two names; each pair is listed once but found under both orders.

    Parameters
    ----------
    names : tuple of str
    matrix : ndarray (g, g)
        Entry (i, j) belongs to the pair of names i and j, in this order.

    Examples
    --------
    >>> import numpy as np
    >>> wins = PairMapping(("a", "b"), np.array([[0.0, 0.5], [-0.5, 0.0]]))
    >>> wins["a", "b"], wins["b", "a"], dict(wins)
    (0.5, -0.5, {('a', 'b'): 0.5})
    """

    def __init__(self, names: tuple[str, ...], matrix: np.ndarray) -> None:
        self._names = names
        self._matrix = matrix

    def __getitem__(self, pair: tuple[str, str]) -> float:
        if not isinstance(pair, tuple) or len(pair) != 2 or pair[0] == pair[1] or not set(pair) <= set(self._names):
            raise KeyError(pair)
        one, other = (self._names.index(name) for name in pair)
        return float(self._matrix[one, other])

    def __iter__(self) -> Iterator[tuple[str, str]]:
        return combinations(self._names, 2)

    def __len__(self) -> int:
        return len(self._names) * (len(self._names) - 1) // 2

    def __repr__(self) -> str:
        return f"PairMapping({dict(self)})"
