"""Bounds from the rows of a matrix, the first two terms of what a slack matrix proves (see `consequences`).

For 0/1 vectors x with s'x = k, and B symmetric,

    g'x + sum over i != j of B_ij x_i x_j <= the best h_i that fit into k columns,
    h_i = g_i + the best B_ij that fit into the k - s_i columns beside i,

fractions of units allowed in both. Pairs that are never both chosen count as -inf. Every sum is
rounded up where it is formed; the rounding of the entries themselves is counted by the caller.

A large B is nowhere kept: its rows are formed where they are looked at, some at a time, on all cores. That takes less
time than fresh memory for all of them.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

import numpy as np

from certselect.certificate.rounding import UNIT
from certselect.threads import run_parts, workers

# Up to so many rows are worked on in one go, and of more so many at a time.
ONE_GO = 1000
BLOCK = 256


RowsAsked = slice | np.ndarray


class Rows:
    """Bounds on g'x + sum of B_ij x_i x_j from the rows of B."""

    def __init__(self, B: Callable[[RowsAsked], np.ndarray], g: np.ndarray, sizes: np.ndarray, k: int) -> None:
        self.B, self.g, self.sizes, self.k = B, g, sizes, k
        self._single = bool((sizes == 1).all())
        if self._single:
            # The k largest of each row, the least three of them first and in order.
            m = len(g)
            places = [place for place in (m - k, m - k + 1, m - k + 2) if place < m]
            self._best = _by_rows(m, lambda rows: np.partition(B(rows), places, axis=1)[:, m - k :], k)
            self.whole = g + _sum_up(self._best[:, 1:])
        else:
            self.whole = g + self._beside(k - sizes)
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
        *,
        down: float = 1.0,
    ) -> Rows:
        """B = down (Q + N) + ws' + sw' and g_i = B_ii - 2k w_i, for which down (x'Qx + x'Nx) is bounded.

        `down` is a power of two.
        """

        m, weighted = len(Q), bool(w.any())

        def formed(rows: RowsAsked) -> np.ndarray:
            block = down * Q[rows]
            block += down * N[rows]
            if weighted:
                block += np.outer(w[rows], sizes) + np.outer(sizes[rows], w)  # in this order it stays exactly symmetric
            block[np.arange(len(block)), np.arange(m)[rows]] = -np.inf
            if never_both is not None:
                block[never_both[rows]] = -np.inf
            return block

        g = down * Q.diagonal() + down * N.diagonal()
        g += 2.0 * w * sizes - 2.0 * k * w
        return cls(formed if m > ONE_GO else formed(slice(0, m)).__getitem__, g, sizes, k)

    def charge(self, dues: np.ndarray) -> None:
        """Let every unit pay its part of a price."""
        self.g = self.g - dues
        self.whole = self.whole - dues

    def _beside(self, room: np.ndarray) -> np.ndarray:
        """The best of each row that fit into its room."""
        return _by_rows(len(self.g), lambda rows: filled(self.B(rows), self.sizes, room[rows]))

    def anywhere(self) -> float:
        """On all subsets."""
        return float(filled(self.whole[None], self.sizes, self.k)[0])

    def if_in(self) -> np.ndarray:
        """With unit i (row) in: its g, and the best of the others' (column) 2 B_ij, g_j and rows."""
        if self._single:
            if self.k == 1:
                return self.g
            own = self.g + _sum_up(self._best[:, 2:]) if self.k > 2 else self.g

            def beside(rows: slice) -> np.ndarray:
                beside_it = self.B(rows)
                worth = 2.0 * beside_it
                worth += own
                if self.k > 2:
                    worth -= _lost(beside_it, self._best[:, 1])
                return filled(worth, self.sizes, self.k - 1)

            return self.g + _by_rows(len(self.g), beside)
        result = np.empty(len(self.g))
        for size in np.unique(self.sizes).tolist():
            units = np.flatnonzero(self.sizes == size)
            own, room = self.g + self._beside(self.k - size - self.sizes), self.k - size
            result[units] = self.g[units] + _by_rows(len(units), partial(self._joined, units, own, room))
        return result

    def _joined(self, units: np.ndarray, own: np.ndarray, room: int, rows: slice) -> np.ndarray:
        return filled(2.0 * self.B(units[rows]) + own, self.sizes, room)

    def if_out(self) -> np.ndarray:
        """With unit i (row) out: the best of the others' (column) g_j and rows, all without i."""

        def others(rows: slice) -> np.ndarray:
            if self._single and self.k > 1:
                worth = self.whole - _lost(self.B(rows), self._best[:, 0])
            else:
                worth = np.tile(self.whole, (rows.stop - rows.start, 1))
            np.fill_diagonal(worth[:, rows], -np.inf)
            return filled(worth, self.sizes, self.k)

        return _by_rows(len(self.g), others)

    def if_both(self, i: int, j: int) -> float:
        """With two units in."""
        left = self.k - int(self.sizes[i] + self.sizes[j])
        beside_one, beside_other = self.B(np.array([i, j]))
        if left < 0 or beside_one[j] == -np.inf:
            return -math.inf
        if left not in self._beside_both:
            self._beside_both[left] = self._beside(left - self.sizes)
        worth = 2.0 * (beside_one + beside_other) + self.g + self._beside_both[left]
        return float(self.g[i] + self.g[j] + 2.0 * beside_one[j] + filled(worth[None], self.sizes, left)[0])


def _by_rows(m: int, made: Callable[[slice], np.ndarray], width: int = 0) -> np.ndarray:
    """An array (m,), or (m, width), made of some rows at a time."""
    result = np.empty((m, width) if width else m)

    def part(rows: slice) -> None:
        result[rows] = made(rows)

    if m <= ONE_GO:
        part(slice(0, m))
    else:
        blocks = [slice(top, min(top + BLOCK, m)) for top in range(0, m, BLOCK)]
        run_parts("bounds by rows", [partial(part, rows) for rows in blocks], workers())
    return result


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
