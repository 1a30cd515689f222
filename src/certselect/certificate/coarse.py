"""Symmetric matrices kept in few bits: what a proof is made of.

Any symmetric matrix proves something (see `consequences`), so a proof rounds its matrices first and derives from
what is left: nothing is lost between whoever made it and whoever checks it. Beside the diagonal, entries are whole
numbers times a power of two, the grain. Rounding to multiples of a grain changes a matrix by one whose largest
eigenvalue is about 0.6 sqrt(m) grain, as if it were made of independent random numbers; a subset of k units feels k
times that at most. As much is added to the diagonal, so that what was semidefinite stays so as a rule.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from certselect.errors import InvalidInput

TYPES = (np.dtype(np.int8), np.dtype(np.int16), np.dtype(np.int32))
# The finest grain is so many bits below the largest entry.
FINEST_BITS = 30
# Products of these with whole numbers of 32 bits are exact, and finite.
SMALLEST_GRAIN, LARGEST_GRAIN = 2.0**-1074, 2.0**992
# Entries beyond this are left out: they prove nothing.
LARGEST = 2.0**1000
# Of sqrt(m) grains, what rounding takes from an eigenvalue: 2 standard deviations of a number between -1/2 and 1/2.
TAKEN = 0.6
# Rounding may cost this part of what is left to prove.
PART = 2.0**-7
BLOCK = 256


@dataclass(frozen=True, eq=False)
class Coarse:
    """A symmetric matrix (m, m): its diagonal, and beside it whole numbers times a power of two.

    Attributes
    ----------
    diagonal : ndarray of float64 (m,)
    grain : float
        A power of two.
    entries : ndarray of int8, int16 or int32 (m (m - 1) / 2,)
        What is above the diagonal, row by row, in grains.
    """

    diagonal: np.ndarray
    grain: float
    entries: np.ndarray

    def __post_init__(self) -> None:
        diagonal, entries = self.diagonal, self.entries
        if diagonal.ndim != 1 or diagonal.dtype != np.float64:
            got = f"a diagonal of shape {diagonal.shape} ({diagonal.dtype})"
            raise InvalidInput(got, "one of float64", "Round the matrix again.")
        count = len(diagonal) * (len(diagonal) - 1) // 2
        if entries.shape != (count,) or entries.dtype not in TYPES:
            got = f"entries of shape {entries.shape} ({entries.dtype})"
            raise InvalidInput(got, f"{(count,)}, of {', '.join(map(str, TYPES))}", "Round the matrix again.")
        if not (isinstance(self.grain, float) and is_grain(self.grain)):
            got = f"a grain of {self.grain!r:.40}"
            raise InvalidInput(got, f"a power of two up to {LARGEST_GRAIN}", "Round the matrix again.")

    @classmethod
    def of(cls, N: np.ndarray, grain: float = 0.0) -> Coarse:
        """Round a symmetric matrix to this grain; to the finest that its entries allow, where that is coarser.

        Beside the diagonal, what is not finite or about to overflow becomes 0.
        """
        m = len(N)
        largest = 0.0
        for rows in _blocks(m):
            above = _usable(N[rows, rows.start :][_above_diagonal(m, rows)])
            largest = max(largest, float(above.max(initial=0.0)), -float(above.min(initial=0.0)))
        finest = max(SMALLEST_GRAIN, math.ldexp(1.0, math.frexp(largest)[1] - FINEST_BITS))
        grain = min(max(_power_below(grain), finest), LARGEST_GRAIN)
        kind = next(kind for kind in TYPES if round(largest / grain) <= np.iinfo(kind).max)
        entries, start, rounded = np.empty(m * (m - 1) // 2, dtype=kind), 0, False
        for rows in _blocks(m):
            above = _usable(N[rows, rows.start :][_above_diagonal(m, rows)])
            above /= grain
            part = entries[start : start + len(above)]
            part[:] = np.rint(above)
            rounded = rounded or not np.array_equal(part, above)
            start += len(above)
        taken = TAKEN * math.sqrt(m) * grain if rounded else 0.0
        return cls(N.diagonal() + taken, grain, entries)

    @classmethod
    def nothing(cls, m: int) -> Coarse:
        """All zeros."""
        return cls(np.zeros(m), 1.0, np.zeros(m * (m - 1) // 2, dtype=TYPES[0]))

    def __len__(self) -> int:
        return len(self.diagonal)

    @property
    def nbytes(self) -> int:
        """What its numbers take."""
        return self.diagonal.nbytes + self.entries.nbytes

    def matrix(self) -> np.ndarray:
        """All of it in float64: exactly symmetric, every product exact."""
        m = len(self)
        if not self.entries.any():  # before any round, when time may be short
            whole = np.zeros((m, m))  # memory that is only read takes no time either
            if self.diagonal.any():
                np.fill_diagonal(whole, self.diagonal)
            return whole
        whole, start = np.empty((m, m)), 0
        for rows in _blocks(m):
            above = _above_diagonal(m, rows)
            count = int(np.count_nonzero(above))
            block = whole[rows, rows.start :]
            block[above] = np.multiply(self.entries[start : start + count], self.grain, dtype=np.float64)
            start += count
            size = len(block)
            square = block[:, :size]
            square.T[above[:, :size]] = square[above[:, :size]]
            whole[rows.stop :, rows] = block[:, size:].T
        np.fill_diagonal(whole, self.diagonal)
        return whole


def grain_for(left: float, m: int, k: int) -> float:
    """A grain for a matrix (m, m) by which subsets of k units lose a small part of what is left to prove.

    0, for the finest there is, where it is not known how much that is.
    """
    return _power_below(PART * left / (TAKEN * k * math.sqrt(m))) if 0.0 < left < math.inf else 0.0


def is_grain(number: float) -> bool:
    """Whether this is a power of two that is not too large."""
    return 0.0 < number <= LARGEST_GRAIN and math.frexp(number)[0] == 0.5


def _power_below(number: float) -> float:
    """The largest power of two up to a number; 0 of 0."""
    return math.ldexp(0.5, math.frexp(number)[1]) if number > 0.0 else 0.0


def _usable(entries: np.ndarray) -> np.ndarray:
    entries[~(np.abs(entries) < LARGEST)] = 0.0
    return entries


def _blocks(m: int) -> Iterator[slice]:
    """Rows, some at a time."""
    return (slice(top, min(top + BLOCK, m)) for top in range(0, m, BLOCK))


def _above_diagonal(m: int, rows: slice) -> np.ndarray:
    """Which entries of these rows are above the diagonal, from the column on where it enters them."""
    return np.arange(rows.start, m) > np.arange(rows.start, rows.stop)[:, None]
