"""Walk over large arrays in pieces that stay in the cache, on every core.

NumPy lets go of the interpreter lock inside its loops, so plain threads share
the work; the pieces are disjoint, so the result does not depend on their number.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

TILE_BYTES = 1 << 19  # a tile and what is computed from it fit in the L2 cache of one core
_WORTH_A_THREAD = 1 << 17  # cells; below this, starting threads costs more than they save


def slices(total: int, step: int) -> Iterator[slice]:
    """Cut range(total) into slices of at most `step`."""
    for start in range(0, total, step):
        yield slice(start, min(start + step, total))


def over_columns(work: Callable[[slice], None], n_columns: int, n_rows: int, step: int) -> None:
    """Run `work` on slices of at most `step` columns, in threads where the table is large enough."""
    n_threads = min(os.cpu_count() or 1, 8)
    if n_threads == 1 or n_columns * n_rows < _WORTH_A_THREAD:
        for columns in slices(n_columns, step):
            work(columns)
        return
    step = max(1, min(step, -(-n_columns // n_threads)))
    with ThreadPoolExecutor(n_threads) as pool:
        for _ in pool.map(work, slices(n_columns, step)):  # the loop hands on an exception
            pass
