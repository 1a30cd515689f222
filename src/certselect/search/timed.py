"""How long each stage of a search took, also where Ctrl-C ended it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from time import perf_counter


@contextmanager
def timed(seconds: dict[str, float], stage: str) -> Iterator[None]:
    """Note in `seconds` how long the block took."""
    started = perf_counter()
    try:
        yield
    finally:
        seconds[stage] = perf_counter() - started
