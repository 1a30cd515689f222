"""LevelLayout: where the levels of every feature stand beside each other, and which features are counted on the left."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

# Features of more levels are scattered: so many bit rows would cost more.
FEW_LEVELS = 64
_LANES, _TILE_ROWS = 8, 4  # of the compiled kernel


@dataclass(frozen=True, eq=False)
class LevelLayout:
    """Levels of all features side by side: place 0 is that of every row, then those of few levels, then the others.

    Attributes
    ----------
    levels : ndarray of int64 (n,)
    starts : ndarray of int64 (n,)
        Place of each feature's first level.
    n_packed : int
        Places that have bit rows, a multiple of the lanes of a vector.
    width : int
        All places.
    """

    levels: np.ndarray

    @cached_property
    def packed(self) -> np.ndarray:
        """Which features have bit rows, (n,)."""
        return self.levels <= FEW_LEVELS

    @cached_property
    def n_packed(self) -> int:
        used = 1 + int(self.levels[self.packed].sum())
        # The last tile of a feature may reach over its levels.
        return -(-(used + _TILE_ROWS) // _LANES) * _LANES

    @cached_property
    def starts(self) -> np.ndarray:
        starts = np.empty(len(self.levels), dtype=np.int64)
        for chosen, begin in ((self.packed, 1), (~self.packed, self.n_packed)):
            own = self.levels[chosen]
            starts[chosen] = begin + np.cumsum(own) - own
        return starts

    @cached_property
    def width(self) -> int:
        return self.n_packed + int(self.levels[~self.packed].sum())

    @cached_property
    def order(self) -> np.ndarray:
        """Features by their places."""
        return np.argsort(self.starts, kind="stable")

    def summed(self, values: np.ndarray) -> np.ndarray:
        """Sums over the levels of each feature, of values (..., width) by place; (..., n)."""
        ends = np.zeros((*values.shape[:-1], self.width + 1), dtype=values.dtype)
        np.cumsum(values, axis=-1, out=ends[..., 1:])
        return ends[..., self.starts + self.levels] - ends[..., self.starts]

    def height(self, feature: int) -> int:
        """How many rows of counts a feature on the left takes."""
        return -(-int(self.levels[feature]) // _TILE_ROWS) * _TILE_ROWS
