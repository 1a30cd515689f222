"""The clock: how long work has taken, and when it has to end. No other module of the package reads it."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from time import perf_counter


def now() -> float:
    """Seconds on the clock that time limits end by."""
    return perf_counter()


class Stopwatch:
    """Measures from the moment it is made.

    >>> watch = Stopwatch()
    >>> watch.seconds >= 0.0
    True
    """

    __slots__ = ("_began",)

    def __init__(self) -> None:
        self._began = perf_counter()

    @property
    def seconds(self) -> float:
        """Seconds since it was made."""
        return perf_counter() - self._began


@contextmanager
def timed(seconds: dict[str, float], stage: str) -> Iterator[None]:
    """Note in `seconds` how long the block took, also where Ctrl-C ended it."""
    watch = Stopwatch()
    try:
        yield
    finally:
        seconds[stage] = watch.seconds


@dataclass(frozen=True)
class TimeLimit:
    """So many seconds, and when they are over.

    Attributes
    ----------
    seconds : float
        What the caller asked for, for all of the call; inf for no limit.
    ends : float
        When the part of the call that has this limit must end, by `now`.
    """

    seconds: float = math.inf
    ends: float = math.inf

    @classmethod
    def of(cls, max_seconds: float | None, *, already: float = 0.0) -> TimeLimit:
        """One that begins now, or began `already` seconds ago; None for no limit."""
        return NO_LIMIT if max_seconds is None else cls(float(max_seconds), now() + max_seconds - already)

    @property
    def left(self) -> float:
        """Seconds left, 0 if none are."""
        return max(0.0, self.ends - now()) if self.ends < math.inf else math.inf

    @property
    def over(self) -> bool:
        """Whether the time is up. Costs nothing where there is no limit: any loop may ask."""
        return self.ends < math.inf and self.ends <= now()

    def part(self, share: float) -> TimeLimit:
        """The same limit for work that may use this share of the time left."""
        return self if self.ends == math.inf else replace(self, ends=now() + share * self.left)

    def at_most(self, seconds: float) -> TimeLimit:
        """The same limit for work that may use no more than these seconds."""
        return replace(self, ends=min(self.ends, now() + seconds))

    def less(self, seconds: float) -> TimeLimit:
        """The same limit for work that has to end so many seconds earlier."""
        return replace(self, ends=self.ends - seconds)

    def keeping(self, seconds: float) -> TimeLimit:
        """The same limit, less these seconds, or less half of the time left if that is shorter, for later work."""
        return self if self.ends == math.inf else self.less(min(seconds, 0.5 * self.left))


NO_LIMIT = TimeLimit()
