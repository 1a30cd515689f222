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


def report(stage: str, done: int, total: int) -> None:
    """Tell the listener, if there is one, that `done` of `total` parts of a stage are finished.

    After a comma, `stage` may hold details: "relaxation, gap 1e-3".
    """
    listener = _listener.get()
    if listener is not None:
        listener(stage, done, total)


@contextmanager
def listening(listener: Listener) -> Iterator[None]:
    """Send every `report` made inside the block to `listener(stage, done, total)`."""
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)
