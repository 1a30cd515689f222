"""Bounds from the rows of a matrix, the first two terms of what a slack matrix proves (see `consequences`).

For 0/1 vectors x with s'x = k, and B symmetric,

    g'x + sum over i != j of B_ij x_i x_j <= the best h_i that fit into k columns,
    h_i = g_i + the best B_ij that fit into the k - s_i columns beside i,

fractions of units allowed in both. Pairs that are never both chosen count as -inf. Every sum is
rounded up where it is formed; the rounding of the entries themselves is counted by the caller.
"""

from __future__ import annotations

import math

import numpy as np

from certselect.certificate.rounding import UNIT


class Rows:
    """Bounds on g'x + sum of B_ij x_i x_j from the rows of B."""

    def __init__(self, B: np.ndarray, g: np.ndarray, sizes: np.ndarray, k: int) -> None:
        self.B, self.g, self.sizes, self.k = B, g, sizes, k
        self._single = bool((sizes == 1).all())
        if self._single:
            # The k largest of each row, the least three of them first and in order.
            m = len(B)
            places = [place for place in (m - k, m - k + 1, m - k + 2) if place < m]
            self._best = np.partition(B, places, axis=1)[:, m - k :].copy()
            self.whole = g + _sum_up(self._best[:, 1:])
        else:
            self.whole = g + filled(B, sizes, k - sizes)
        self._beside_both: dict[int, np.ndarray] = {}

    @classmethod
    def of(
        cls,
        Q: np.ndarray,
        N: np.ndarray,
        w: np.ndarray,
        k: int,
        sizes: np.ndarray,
        never_both: np.ndarray | None,
    ) -> Rows:
        """B = Q + N + ws' + sw' and g_i = B_ii - 2k w_i, for which x'Qx + x'Nx is bounded."""
        B = Q + N
        beside = np.outer(w, sizes)
        B += beside + beside.T  # in this order it stays exactly symmetric
        g = B.diagonal() - 2.0 * k * w
        np.fill_diagonal(B, -np.inf)
        if never_both is not None:
            B[never_both] = -np.inf
        return cls(B, g, sizes, k)

    def charge(self, dues: np.ndarray) -> None:
        """Let every unit pay its part of a price."""
        self.g = self.g - dues
        self.whole = self.whole - dues

    def anywhere(self) -> float:
        """On all subsets."""
        return float(filled(self.whole[None], self.sizes, self.k)[0])

    def if_in(self) -> np.ndarray:
        """With unit i (row) in: its g, and the best of the others' (column) 2 B_ij, g_j and rows."""
        if self._single:
            if self.k == 1:
                return self.g
            worth = 2.0 * self.B
            if self.k > 2:
                worth += self.g + _sum_up(self._best[:, 2:])
                worth -= _lost(self.B, self._best[:, 1])
            else:
                worth += self.g
            return self.g + filled(worth, self.sizes, self.k - 1)
        result = np.empty(len(self.B))
        for size in np.unique(self.sizes).tolist():
            units = self.sizes == size
            worth = self.g + filled(self.B, self.sizes, self.k - size - self.sizes)
            result[units] = self.g[units] + filled(2.0 * self.B[units] + worth, self.sizes, self.k - size)
        return result

    def if_out(self) -> np.ndarray:
        """With unit i (row) out: the best of the others' (column) g_j and rows, all without i."""
        if self._single and self.k > 1:
            worth = self.whole - _lost(self.B, self._best[:, 0])
        else:
            worth = np.tile(self.whole, (len(self.B), 1))
        np.fill_diagonal(worth, -np.inf)
        return filled(worth, self.sizes, self.k)

    def if_both(self, i: int, j: int) -> float:
        """With two units in."""
        left = self.k - int(self.sizes[i] + self.sizes[j])
        if left < 0 or self.B[i, j] == -np.inf:
            return -math.inf
        if left not in self._beside_both:
            self._beside_both[left] = filled(self.B, self.sizes, left - self.sizes)
        worth = 2.0 * (self.B[i] + self.B[j]) + self.g + self._beside_both[left]
        return float(self.g[i] + self.g[j] + 2.0 * self.B[i, j] + filled(worth[None], self.sizes, left)[0])


def _lost(B: np.ndarray, next_best: np.ndarray) -> np.ndarray:
    """What the row of unit j (column) loses without unit i (row): the next best takes its place, if it had one."""
    with np.errstate(invalid="ignore"):
        lost = B - next_best
    # Not a number where both are -inf: then i had no place in that row.
    return np.fmax(lost, 0.0, out=lost)


def filled(values: np.ndarray, sizes: np.ndarray, room: int | np.ndarray) -> np.ndarray:
    """For each row, the most that units of these sizes add up to when they fill its room, fractions allowed.

    -inf where the units that may come (values above -inf) cannot fill it. `room` is one for all rows or one for each.
    """
    if not (sizes == 1).all():
        values = np.repeat(values / sizes, sizes, axis=1)
    if isinstance(room, int):
        return _sum_of_best(values, room)
    result = np.empty(len(values))
    for amount in np.unique(room).tolist():
        rows = room == amount
        result[rows] = _sum_of_best(values[rows], amount)
    return result


def _sum_of_best(values: np.ndarray, count: int) -> np.ndarray:
    """Of each row; -inf where it is shorter than that, or `count` is negative."""
    width = values.shape[1]
    if count == 0:
        return np.zeros(len(values))
    if not 0 < count <= width:
        return np.full(len(values), -np.inf)
    return _sum_up(np.partition(values, width - count, axis=1)[:, width - count :])


def _sum_up(rows: np.ndarray) -> np.ndarray:
    """At least the sum of each row, in whatever order it is added up; -inf if one of its terms is."""
    sums = rows.sum(axis=1)
    with np.errstate(invalid="ignore"):
        up = sums + (rows.shape[1] + 2) * UNIT * np.abs(rows).sum(axis=1)
    return np.where(sums == -np.inf, -np.inf, up)
