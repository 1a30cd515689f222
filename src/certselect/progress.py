"""How far a long computation is, for callers who want to show it.

The library is silent. Code that works for long calls `report`; a caller who
wants to see it (the command line does) listens:

>>> from certselect.progress import listening, report
>>> with listening(lambda stage, done, total: print(stage, done, total)):
...     report("pairs", 1, 2)
pairs 1 2
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

Listener = Callable[[str, int, int], None]
_listener: ContextVar[Listener | None] = ContextVar("certselect_progress", default=None)


def listener() -> Listener | None:
    """The listener, if there is one: ask before a loop that would make something of its own for a report."""
    return _listener.get()


def report(stage: str, done: int, total: int) -> None:
    """Report to the listener, if there is one, that `done` of `total` parts of a stage are finished.

    After a comma, `stage` may hold details: "relaxation, gap 1e-3".
    """
    listening = _listener.get()
    if listening is not None:
        listening(stage, done, total)


@contextmanager
def listening(to: Listener) -> Iterator[None]:
    """Send every `report` made inside the block to `to(stage, done, total)`."""
    token = _listener.set(to)
    try:
        yield
    finally:
        _listener.reset(token)
