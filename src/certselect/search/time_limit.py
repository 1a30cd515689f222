"""A time limit, from the moment of the call on: the one place where a search looks at the clock to end."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from time import perf_counter

import numpy as np

from certselect.threads import threads_for

# The eigenvalues of a matrix of this size take some milliseconds; the mean of a few tries counts.
CORNER, TRIES = 256, 3


@dataclass(frozen=True)
class TimeLimit:
    """So many seconds, and when they are over.

    Attributes
    ----------
    seconds : float
        What was asked for, for all of the call; inf for no limit.
    ends : float
        When it is over for the part of the call that has this limit, by `time.perf_counter`.
    """

    seconds: float = math.inf
    ends: float = math.inf

    @classmethod
    def of(cls, max_seconds: float | None, *, already: float = 0.0) -> TimeLimit:
        """One that begins now, or began `already` seconds ago; None for no limit."""
        return NO_LIMIT if max_seconds is None else cls(float(max_seconds), perf_counter() + max_seconds - already)

    @property
    def left(self) -> float:
        """Seconds left, 0 if none are."""
        return max(0.0, self.ends - perf_counter()) if self.ends < math.inf else math.inf

    @property
    def over(self) -> bool:
        return self.left == 0.0

    def part(self, share: float) -> TimeLimit:
        """The same limit for work that may use this share of the time left."""
        return self if self.ends == math.inf else replace(self, ends=perf_counter() + share * self.left)

    def at_most(self, seconds: float) -> TimeLimit:
        """The same limit for work that may use no more than these seconds."""
        return replace(self, ends=min(self.ends, perf_counter() + seconds))

    def keeping(self, seconds: float) -> TimeLimit:
        """The same limit for work after which these seconds, or half of the time left, are to be there for more."""
        return self if self.ends == math.inf else replace(self, ends=self.ends - min(seconds, 0.5 * self.left))

    def too_short_for(self, size: int) -> bool:
        """Whether the eigenvalues of a symmetric matrix of this size, or as much work, would take longer than is left.

        What a decomposition or a solver's first steps begin, nothing can interrupt. Judged by how long those of a
        small matrix take here and now: the time grows with the cube of the size.
        """
        if self.ends == math.inf or size <= CORNER:
            return self.over
        corner = np.random.default_rng(0).standard_normal((CORNER, CORNER))
        with threads_for(size):
            started = perf_counter()
            for _ in range(TRIES):
                np.linalg.eigvalsh(corner)
            seconds = (perf_counter() - started) / TRIES
        return seconds * (size / CORNER) ** 3 > self.left


NO_LIMIT = TimeLimit()
