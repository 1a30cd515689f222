"""Numbers of a column that lie between given bounds, compiled: the innermost loop of order statistics of streams."""

# The type checker takes the functions compiled below for plain Python ones.
# pyright: reportCallIssue=false

from __future__ import annotations

import numpy as np
from numba import njit

_TILE = 512


@njit(nogil=True, cache=True)
def split_by_bounds(values, bounds, counts, kept):
    """How many numbers have reached so many of the bounds; those that have reached an odd number of them are kept.

    Adds to counts (len(bounds) + 1,), writes to kept, and returns how many are there. NaN reaches no bound, and is
    not counted.
    """
    n_kept = 0
    reached = np.empty(_TILE, np.uint8)
    for start in range(0, len(values), _TILE):
        stop = min(start + _TILE, len(values))
        for i in range(stop - start):
            reached[i] = 0
        for bound in bounds:
            for i in range(stop - start):
                reached[i] += np.uint8(values[start + i] >= bound)
        for i in range(stop - start):
            value, place = values[start + i], reached[i]
            counts[place] += value == value
            kept[n_kept] = value
            n_kept += place & 1
    return n_kept


@njit(nogil=True, cache=True)
def code_by_edges(values, edges, missing_code, codes):
    """How many of the edges each number has reached, `missing_code` for NaN; written to codes."""
    for start in range(0, len(values), _TILE):
        stop = min(start + _TILE, len(values))
        for i in range(start, stop):
            codes[i] = 0
        for edge in edges:
            for i in range(start, stop):
                codes[i] += values[i] >= edge
        for i in range(start, stop):
            if values[i] != values[i]:
                codes[i] = missing_code
