"""Ctrl-C at a given point of a run, without a signal and without luck: at the n-th call of a function of certselect."""

from __future__ import annotations

import inspect
import sys
from pathlib import Path

import certselect

PACKAGE = str(Path(certselect.__file__).parent)
# Where stages follow each other: pressed between any two of their lines.
BY_LINE = tuple(f"search/{name}.py" for name in ("conclude", "several_sizes", "certified", "select"))


class Pressed:
    """A block in which a KeyboardInterrupt is raised at the n-th point, a call or a line; 0 for never.

    `points` counts those passed, `where` says where it was raised ("" if it was not).
    """

    def __init__(self, at: int = 0, *, within: str = "") -> None:
        self.at, self.within = at, str(Path(PACKAGE, within))
        self.points, self.where = 0, ""

    def __enter__(self) -> Pressed:
        self._before = sys.gettrace()
        sys.settrace(self._trace)
        return self

    def __exit__(self, *error: object) -> None:
        sys.settrace(self._before)

    def _trace(self, frame, event, argument):
        file = frame.f_code.co_filename
        # Python also tells of generators that are torn down, where a signal would not be heard.
        unheard = event not in ("call", "line") or frame.f_code.co_flags & inspect.CO_GENERATOR
        if unheard or not file.startswith(self.within):
            return None
        self.points += 1
        if self.points == self.at:
            self.where = f"{file[len(PACKAGE) + 1 :]}:{frame.f_lineno} ({frame.f_code.co_name})"
            raise KeyboardInterrupt
        return self._trace if file.endswith(BY_LINE) else None


def spread(points: int, most: int) -> list[int]:
    """At most so many of 1..points, evenly, the first and the last among them."""
    if points <= most:
        return list(range(1, points + 1))
    return sorted({1 + round(i * (points - 1) / (most - 1)) for i in range(most)})
