"""The cells of a joint table and of its margins as lists of counts, empty ones left out, compiled.

`counts[t, : sizes[t]]` are the cells of table t, in the numbering of
`cell_estimates`; there are never more than samples. Without class slices
(`conditional` false) the tables by class are left empty.
"""

# The type checker takes the functions compiled below for plain Python ones.
# pyright: reportCallIssue=false

from __future__ import annotations

import numpy as np
from numba import njit

from certselect.information.kernels.cell_estimates import (
    CLASSES,
    EVERYONE,
    LEFT,
    LEFT_CLASS,
    RIGHT,
    RIGHT_CLASS,
    WHOLE,
    WITHIN,
)


@njit(nogil=True, cache=True)
def list_table(
    table, width, n_left, n_classes, n_right, left_absent, right_absent, conditional, row, right_sums, counts, sizes
):
    """List the cells of a table counted whole, and clear it."""
    sizes[:] = 0
    size_whole = size_within = 0
    everyone = np.int64(0)
    right_sums[: n_classes * n_right] = 0
    for a in range(n_left):
        at = a * n_classes * width
        if a == left_absent:
            table[at : at + n_classes * width] = 0
            continue
        row[:n_right] = 0
        in_row = np.int64(0)
        for c in range(n_classes):
            if right_absent >= 0:
                table[at + right_absent] = 0
            in_slice = np.int64(0)
            for b in range(n_right):
                count = table[at + b]
                table[at + b] = 0
                row[b] += count
                right_sums[c * n_right + b] += count
                in_slice += count
                if conditional:  # an empty cell is written over by the next
                    counts[WITHIN, size_within] = count
                    size_within += count != 0
            if conditional:
                _append(counts, sizes, LEFT_CLASS, in_slice)
            in_row += in_slice
            at += width
        for b in range(n_right):
            counts[WHOLE, size_whole] = row[b]
            size_whole += row[b] != 0
        _append(counts, sizes, LEFT, in_row)
        everyone += in_row
    sizes[WHOLE], sizes[WITHIN] = size_whole, size_within
    row[:n_right] = 0
    for c in range(n_classes):
        in_class = np.int64(0)
        for b in range(n_right):
            count = right_sums[c * n_right + b]
            row[b] += count
            in_class += count
            if conditional:
                _append(counts, sizes, RIGHT_CLASS, count)
        if conditional:
            _append(counts, sizes, CLASSES, in_class)
    for b in range(n_right):
        _append(counts, sizes, RIGHT, row[b])
        row[b] = 0
    _append(counts, sizes, EVERYONE, everyone)


@njit(nogil=True, forceinline=True)
def _append(counts, sizes, table, count):
    counts[table, sizes[table]] = count  # an empty cell is written over by the next
    sizes[table] += count != 0


@njit(nogil=True, cache=True)
def sort_samples(left, n_left, left_absent, target, class_order):
    """Class-sorted samples that have a left level, sorted by it; where slices end, and whether runs do."""
    starts = np.zeros(n_left + 1, np.int64)
    for sample in class_order:
        if left[sample] != left_absent:
            starts[left[sample] + 1] += 1
    for level in range(n_left):
        starts[level + 1] += starts[level]
    n_there = starts[n_left]
    order = np.empty(n_there, np.int64)
    for sample in class_order:  # stable: the classes stay sorted within a level
        if left[sample] != left_absent:
            order[starts[left[sample]]] = sample
            starts[left[sample]] += 1
    slice_end = np.empty(n_there, np.int64)
    ends_run = np.empty(n_there, np.bool_)
    n_slices = 0
    for i in range(n_there):
        new_run = i + 1 == n_there or left[order[i]] != left[order[i + 1]]
        if new_run or target[order[i]] != target[order[i + 1]]:
            slice_end[n_slices] = i + 1
            ends_run[n_slices] = new_run
            n_slices += 1
    return order, slice_end[:n_slices], ends_run[:n_slices]


@njit(nogil=True, cache=True)
def list_runs(
    right, right_absent, left, left_absent, target, order, slice_end, ends_run, class_order, weights, conditional,
    row, piece, counts, sizes,
):  # fmt: skip
    """List the cells of a table too large to be counted whole; `row` and `piece` are left all zero."""
    sizes[:] = 0
    everyone = in_row = np.int64(0)
    run_start = slice_start = 0
    for s in range(len(slice_end)):
        in_slice = np.int64(0)
        for i in range(slice_start, slice_end[s]):
            code = right[order[i]]
            if code != right_absent:
                weight = weights[order[i]]
                row[code] += weight
                piece[code] += weight
                in_slice += weight
        _take(right, order, slice_start, slice_end[s], piece, counts, sizes, WITHIN, conditional)
        if conditional:
            _append(counts, sizes, LEFT_CLASS, in_slice)
        in_row += in_slice
        slice_start = slice_end[s]
        if ends_run[s]:
            _take(right, order, run_start, slice_start, row, counts, sizes, WHOLE, True)
            _append(counts, sizes, LEFT, in_row)
            everyone += in_row
            in_row = np.int64(0)
            run_start = slice_start
    _append(counts, sizes, EVERYONE, everyone)
    in_class = np.int64(0)
    start = 0
    for i in range(len(class_order)):
        sample = class_order[i]
        code = right[sample]
        if code != right_absent and left[sample] != left_absent:
            row[code] += weights[sample]
            piece[code] += weights[sample]
            in_class += weights[sample]
        if i + 1 == len(class_order) or target[sample] != target[class_order[i + 1]]:
            _take(right, class_order, start, i + 1, piece, counts, sizes, RIGHT_CLASS, conditional)
            if conditional:
                _append(counts, sizes, CLASSES, in_class)
            in_class = np.int64(0)
            start = i + 1
    _take(right, class_order, 0, len(class_order), row, counts, sizes, RIGHT, True)


@njit(nogil=True, forceinline=True)
def _take(right, order, start, stop, sums, counts, sizes, table, listed):
    """Clear the sums that some samples left, after listing them as cells of a table if `listed`."""
    for i in range(start, stop):
        code = right[order[i]]
        if listed:
            _append(counts, sizes, table, sums[code])
        sums[code] = 0
