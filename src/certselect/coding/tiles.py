"""Walk over large arrays in pieces that stay in the cache, on several cores.

NumPy lets go of the interpreter lock inside its loops, so plain threads share
the work; the pieces are disjoint, so the result does not depend on their number.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial

import numpy as np

from certselect.progress import report
from certselect.threads import run_parts

TILE_BYTES = 1 << 19  # a tile and what is computed from it fit in the L2 cache of one core
TILE_WIDTH = 512  # columns: long enough for NumPy's inner loop, short enough for many rows in a tile
_SHORT_ROW = 24  # columns; rows shorter than this cost NumPy more per row than per cell
_WORTH_THREADS = 1 << 19  # cells; below this, waiting for a second thread costs more than it saves


def slices(total: int, step: int) -> Sequence[slice]:
    """Cut range(total) into slices of at most `step`."""
    if 0 < total <= step:
        return (slice(0, total),)
    return [slice(start, min(start + step, total)) for start in range(0, total, step)]


def stretch_starts(lengths: np.ndarray) -> np.ndarray:
    """Where each of several stretches, one after the other, begins, and where the last ends."""
    return np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)


def row_tiles(values: np.ndarray) -> Iterable[tuple[slice, np.ndarray]]:
    """Blocks of rows of (m, p), each small enough for the cache; column by column where rows are short."""
    step = max(1, TILE_BYTES // (values.shape[1] * values.itemsize))
    order = "F" if values.shape[1] < _SHORT_ROW else "K"
    if 0 < len(values) <= step:
        return ((slice(0, len(values)), np.asarray(values, order=order)),)
    tiles = slices(len(values), step)
    return ((rows, np.asarray(values[rows], order=order)) for rows in tiles)


def over_columns(work: Callable[[slice], None], n_columns: int, n_rows: int, step: int, n_threads: int) -> None:
    """Run `work` on slices of at most `step` columns, in threads where the table is large enough."""
    if n_columns * n_rows < _WORTH_THREADS:
        n_threads = 1
    step = min(step, -(-n_columns // n_threads))
    if 0 < n_columns <= step:  # a small table takes less than what follows
        work(slice(0, n_columns))
        report("coding", 1, 1)
        return
    run_parts("coding", [partial(work, columns) for columns in slices(n_columns, step)], n_threads)


def filled(values: np.ndarray, missing: np.ndarray | None) -> np.ndarray:
    """Columns of (m, p) with their missing cells filled by the first value of the column; one must be there."""
    if missing is None:
        return values
    first = (~missing).argmax(axis=0)
    return np.where(missing, values[first, np.arange(values.shape[1])], values)
