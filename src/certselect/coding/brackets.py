"""Numbers of a column that lie between given bounds, compiled: the innermost loop of order statistics of streams."""

# The type checker takes the functions compiled below for plain Python ones.
# pyright: reportCallIssue=false

from __future__ import annotations

import numpy as np
from numba import njit

_TILE = 512
_AT_ONCE = 4  # bounds that every number is compared with while it is at hand


@njit(nogil=True, cache=True)
def split_by_bounds(values, bounds, counts, kept):
    """How many numbers have reached so many of the bounds; those that have reached an odd number of them are kept.

    Adds to counts (len(bounds) + 1,), writes to kept, and returns how many are there. NaN reaches no bound, and is
    not counted.
    """
    n_kept = 0
    inside = np.empty(_TILE, np.int64)
    four = np.full(-(-len(bounds) // _AT_ONCE) * _AT_ONCE, np.inf)
    four[: len(bounds)] = bounds
    reached = np.zeros(len(four) + 1, np.int64)
    for start in range(0, len(values), _TILE):
        tile = values[start : start + _TILE]
        there = np.int64(0)
        for i in range(len(tile)):
            there += tile[i] == tile[i]
            inside[i] = 0
        reached[len(four)] += there
        for b in range(0, len(four), _AT_ONCE):
            b0, b1, b2, b3 = four[b], four[b + 1], four[b + 2], four[b + 3]
            n0 = n1 = n2 = n3 = np.int64(0)
            for i in range(len(tile)):
                value = tile[i]
                r0, r1, r2, r3 = (
                    np.int64(value >= b0),
                    np.int64(value >= b1),
                    np.int64(value >= b2),
                    np.int64(value >= b3),
                )
                n0 += r0
                n1 += r1
                n2 += r2
                n3 += r3
                inside[i] ^= r0 ^ r1 ^ r2 ^ r3
            reached[b] += n0
            reached[b + 1] += n1
            reached[b + 2] += n2
            reached[b + 3] += n3
        for i in range(len(tile)):
            kept[n_kept] = tile[i]
            n_kept += inside[i]
    before = reached[len(four)]
    for b in range(len(bounds)):
        counts[b] += before - reached[b]
        before = reached[b]
    counts[len(bounds)] += before
    return n_kept


@njit(nogil=True, cache=True)
def code_by_edges(values, edges, missing_code, codes):
    """How many of the edges each number has reached, `missing_code` for NaN; written to codes."""
    four = np.full(max(1, -(-len(edges) // _AT_ONCE)) * _AT_ONCE, np.inf)
    four[: len(edges)] = edges
    found = np.empty(_TILE, np.int64)
    for start in range(0, len(values), _TILE):
        tile = values[start : start + _TILE]
        for i in range(len(tile)):
            found[i] = 0 if tile[i] == tile[i] else missing_code
        for b in range(0, len(four), _AT_ONCE):
            b0, b1, b2, b3 = four[b], four[b + 1], four[b + 2], four[b + 3]
            for i in range(len(tile)):
                value = tile[i]
                found[i] += (
                    np.int64(value >= b0) + np.int64(value >= b1) + np.int64(value >= b2) + np.int64(value >= b3)
                )
        for i in range(len(tile)):
            codes[start + i] = found[i]


@njit(nogil=True, cache=True)
def look_up(values, low, table, codes):
    """Codes table[value - low]; whether all are there, that is, none outside the table or below 0 in it."""
    known = True
    for i in range(len(values)):
        place = np.int64(values[i]) - low
        inside = 0 <= place < len(table)
        code = table[place] if inside else -1
        known &= code >= 0
        codes[i] = code
    return known
