"""Who chooses otherwise than the reference, and the smallest table that shows it."""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import Any

import numpy as np

from .clock import OwnClock
from .problems import coded_table
from .reference import Reference
from .selectors import ADAPTERS, MODEL, Adapter, Question
from .shrink import Example, smallest

# Small enough for slow contestants, large enough to differ on; a few seeds, since one table may not show it.
ROWS, COLUMNS, LEVELS, CLASSES, K, SEEDS = 24, 8, 3, 2, 3, range(5)
LIMIT = 20.0  # seconds for one contestant, after which its example is as small as it is


def chosen_by(adapter: Adapter, given: Example, criterion: str) -> list[int]:
    answer = adapter(Question(given.X, given.y, (given.k,), codes=True, criterion=criterion))
    order = [int(place) for place in (answer.answer if isinstance(answer, OwnClock) else answer)]
    return order[: given.k] if adapter.in_order else order


def differs(adapter: Adapter, given: Example, criterion: str) -> bool:
    """Whether it chooses as many as asked, and others; one that fails on so small a table does not differ."""
    try:
        chosen = chosen_by(adapter, given, criterion)
    except Exception:  # whatever another package raises
        return False
    reference = Reference(given.X, given.y, criterion)
    right = reference.agreement(chosen, given.k, in_order=adapter.in_order).whole
    return len(chosen) == given.k and not right


def first_difference(adapter: Adapter, criterion: str) -> dict[str, Any] | None:
    """The smallest table found, what it chooses there and what is right; None where it agrees on all tables tried."""
    stop = time.monotonic() + LIMIT

    def still_differs(given: Example) -> bool:
        return time.monotonic() < stop and differs(adapter, given, criterion)

    for seed in SEEDS:
        X, y = coded_table(ROWS, COLUMNS, LEVELS, CLASSES, seed)
        given = Example(np.asarray(X), y, K)
        if differs(adapter, given, criterion):
            found = smallest(given, still_differs)
            reference = Reference(found.X, found.y, criterion)
            chosen = chosen_by(adapter, found, criterion)
            return {**found.plain, "chosen": chosen, "right": reference.greedy(found.k)}
    return None


def all_differences(names: Iterable[str], criterion: str) -> dict[str, dict[str, Any] | None]:
    """Of those that are installed and measure columns; what a model makes of them is another question."""
    adapters = [ADAPTERS[name] for name in names if ADAPTERS[name].by != MODEL]
    return {one.name: first_difference(one, criterion) for one in adapters if one.why_missing() is None}
