"""Joint counts of some features with all, for a block of rows, compiled; unlike sums of phi they can be added up.

Every level of a feature is a bit row: one bit for each row of the block, rows of a class side by side. How often
two levels occur together in a class is the population count of the AND of two bit rows. Features of many levels are
scattered instead.
"""

# The type checker takes the functions compiled below for plain Python ones.
# pyright: reportCallIssue=false

from __future__ import annotations

import numpy as np
from numba import njit

from certselect.information.kernels.lanes import LANES
from certselect.information.kernels.tile import count_four_rows

TILE_ROWS = 4  # bit rows on the left of a tile


@njit(nogil=True, cache=True)
def pack_levels(codes, places, starts, counted, first, last, bits):
    """Set the bit of every row's level of the features first..last-1, in bits (words, levels).

    `places` are the rows' bits, `starts` the features' first bit rows, -1 for one that has none, and `counted` how many
    of its levels have one.
    """
    for feature in range(first, last):
        start = starts[feature]
        if start < 0:
            continue
        column = codes[feature]
        for row in range(len(places)):
            place = places[row]
            # A level that is not counted goes to the last place, which is nobody's: cheaper than to leave it out.
            at = start + column[row] if column[row] < counted[feature] else bits.shape[1] - 1
            bits[place >> 6, at] |= np.uint64(1) << np.uint64(place & 63)


@njit(nogil=True, cache=True)
def count_levels(bits, class_words, starts, tiles, rows, right_from, first, last, counts):
    """Add the joint counts of the left features first..last-1 with all levels from `right_from` on.

    `starts` are their bit rows, `tiles` how many times four of them, `rows` where their counts begin in
    counts (classes, rows, levels).
    """
    stride = bits.shape[1]
    flat = bits.ravel()
    found = np.empty(TILE_ROWS * LANES, np.uint64)
    for left in range(first, last):
        for tile in range(tiles[left]):
            row = rows[left] + TILE_ROWS * tile
            for group in range(len(class_words) - 1):
                begin, end = class_words[group], class_words[group + 1]
                if begin == end:
                    continue
                for right in range(right_from[left], stride, LANES):
                    count_four_rows(
                        flat, starts[left] + TILE_ROWS * tile, stride, flat, right, stride, begin, end, found, 0
                    )
                    for r in range(TILE_ROWS):
                        for lane in range(LANES):
                            counts[group, row + r, right + lane] += np.int64(found[r * LANES + lane])


@njit(nogil=True, cache=True)
def scatter_levels(left, right, target, row, column, left_counted, right_counted, counts):
    """Add the joint counts of two features, whose counted levels begin at `row` and `column`, row by row."""
    for sample in range(len(target)):
        if left[sample] < left_counted and right[sample] < right_counted:
            counts[target[sample], row + left[sample], column + right[sample]] += 1


@njit(nogil=True, cache=True)
def scatter_weights(left, right, target, weights, row, column, left_counted, right_counted, counts):
    """The same of rows that count as often as their weights say."""
    for sample in range(len(target)):
        if left[sample] < left_counted and right[sample] < right_counted:
            counts[target[sample], row + left[sample], column + right[sample]] += weights[sample]
