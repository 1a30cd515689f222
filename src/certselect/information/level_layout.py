"""LevelLayout: where the levels of every feature stand beside each other, and which of them are counted."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

# Features of more levels are scattered: so many bit rows would cost more.
FEW_LEVELS = 64
LANES, TILE_ROWS = 8, 4  # of the compiled kernel, which is not loaded to know them


@dataclass(frozen=True, eq=False)
class LevelLayout:
    """Levels of all features side by side, and those of them that are counted.

    The last level of a feature of few levels is not counted: what the others and the margins leave is its. Counted
    are, in this order, every row together, features of few levels, the others.

    Attributes
    ----------
    levels : ndarray of int64 (n,)
    bit_rows : bool
        Whether features of few levels are counted by bit rows, which rows of different weights cannot be.
    """

    levels: np.ndarray
    bit_rows: bool = True

    @cached_property
    def packed(self) -> np.ndarray:
        """Which features have bit rows, (n,)."""
        return (self.levels <= FEW_LEVELS) & self.bit_rows

    @cached_property
    def starts(self) -> np.ndarray:
        """Where the levels of each feature begin, feature by feature, (n,)."""
        return np.cumsum(self.levels) - self.levels

    @cached_property
    def width(self) -> int:
        return int(self.levels.sum())

    @cached_property
    def counted(self) -> np.ndarray:
        """How many levels of each feature are counted, (n,)."""
        return np.where(self.packed, np.maximum(self.levels - 1, 0), self.levels)

    @cached_property
    def n_packed(self) -> int:
        """Counted places that have bit rows, a multiple of the lanes of a vector."""
        used = 1 + int(self.counted[self.packed].sum())
        # The last tile of a feature may reach over its levels.
        return -(-(used + TILE_ROWS) // LANES) * LANES

    @cached_property
    def counted_starts(self) -> np.ndarray:
        """Where each feature begins among the counted places, (n,)."""
        starts = np.empty(len(self.levels), dtype=np.int64)
        for chosen, begin in ((self.packed, 1), (~self.packed, self.n_packed)):
            own = self.counted[chosen]
            starts[chosen] = begin + np.cumsum(own) - own
        return starts

    @cached_property
    def counted_width(self) -> int:
        return self.n_packed + int(self.levels[~self.packed].sum())

    @cached_property
    def order(self) -> np.ndarray:
        """Features by their counted places."""
        return np.argsort(self.counted_starts, kind="stable")

    def summed(self, values: np.ndarray) -> np.ndarray:
        """Sums over the levels of each feature, of values (..., width); (..., n)."""
        return _summed(values, self.starts, self.levels)

    def height(self, feature: int) -> int:
        """How many rows of counts a feature on the left takes."""
        return -(-int(self.counted[feature]) // TILE_ROWS) * TILE_ROWS

    def completed(self, counts: np.ndarray, totals: np.ndarray) -> np.ndarray:
        """Counts (..., counted places) with those that were not counted, (..., width); `totals` (...) of all levels."""
        full = np.empty((*counts.shape[:-1], self.width), dtype=np.int64)
        counts = counts.astype(np.int64, copy=False)  # sums over features are larger than any count
        rest = totals[..., None] - _summed(counts, self.counted_starts, self.counted)
        last = self.starts + self.levels - 1
        full[..., last[self.packed]] = rest[..., self.packed]
        full[..., self._from[0]] = counts[..., self._from[1]]
        return full

    @cached_property
    def _from(self) -> tuple[np.ndarray, np.ndarray]:
        """Places, and the counted places that have their counts."""
        within = [np.arange(counted) for counted in self.counted]
        to = [start + own for start, own in zip(self.starts, within, strict=True)]
        of = [start + own for start, own in zip(self.counted_starts, within, strict=True)]
        return np.concatenate(to), np.concatenate(of)


def _summed(values: np.ndarray, starts: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    ends = np.zeros((*values.shape[:-1], values.shape[-1] + 1), dtype=values.dtype)
    np.cumsum(values, axis=-1, out=ends[..., 1:])
    return ends[..., starts + sizes] - ends[..., starts]
