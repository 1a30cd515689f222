"""Timing: contestants take turns in one process, the best of several turns counts."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable
from typing import Any


def best_seconds(contestants: dict[str, Callable[[], Any]], turns: int = 5) -> dict[str, float]:
    """Seconds of the fastest of `turns` runs of each contestant, taking turns so that noise hits all alike."""
    best = dict.fromkeys(contestants, float("inf"))
    for contestant in contestants.values():  # load and compile first
        contestant()
    for _ in range(turns):
        for name, contestant in contestants.items():
            gc.collect()
            # BLAS threads of the one before spin for a while after their work is done.
            time.sleep(0.1)
            started = time.perf_counter()
            contestant()
            best[name] = min(best[name], time.perf_counter() - started)
    return best
