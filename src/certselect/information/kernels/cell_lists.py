"""Information from lists of the cells of joint tables, compiled; `cell_table` describes what is computed.

Every operation on floats is the same as there, in the same order, so that both give the same floats.

`counts[t, : sizes[t]]` are the cells of table t that are not empty, in the numbering below; there are never more than
samples. Without class slices (`conditional` false) the tables by class are left empty.
"""

# The type checker takes the functions compiled below for plain Python ones.
# pyright: reportCallIssue=false

from __future__ import annotations

import numpy as np
from numba import njit

from certselect.information.kernels.cell_table import SHRUNK_BITS, SQUARE_BITS
from certselect.information.kernels.logarithm import LN_2, LOG_OF_CENTER, ONE_OVER_CENTER

# How counts become information.
LOOKED_UP, COMPUTED, MILLER_MADOW, GRASSBERGER, SHRINKAGE = range(5)
# The tables of a pair: the first four give I(Xi;Xj), the others I(Xi;Xj|C).
WHOLE, LEFT, RIGHT, EVERYONE, WITHIN, LEFT_CLASS, RIGHT_CLASS, CLASSES = range(8)

_SHRUNK = 2.0**SHRUNK_BITS
_SHRUNK_UNIT = 2.0**-SHRUNK_BITS
_SQUARE = 2.0**SQUARE_BITS
_SQUARE_UNIT = 2.0**-SQUARE_BITS


@njit(nogil=True, cache=True)
def information(counts, sizes, first, logs, rule, weight_unit, fixed):
    """I of the four tables from `first` on: counts[t, : sizes[t]] are the cells of table t."""
    samples = _total(counts, sizes)
    if samples == 0:
        return 0.0
    joint, left, right, given = first, first + 1, first + 2, first + 3
    if rule == SHRINKAGE:
        slices = np.float64(sizes[given])
        cells = np.float64(sizes[LEFT]) * np.float64(sizes[RIGHT]) * slices
        weight = _shrinkage(counts[joint], sizes[joint], cells, samples, weight_unit)
        total = (
            _shrunk_sum(counts[joint], sizes[joint], cells, samples, weight)
            - _shrunk_sum(counts[left], sizes[left], np.float64(sizes[LEFT]) * slices, samples, weight)
            - _shrunk_sum(counts[right], sizes[right], np.float64(sizes[RIGHT]) * slices, samples, weight)
            + _shrunk_sum(counts[given], sizes[given], slices, samples, weight)
        )
        return max(total, 0) * _SHRUNK_UNIT
    total = (
        _phi_sum(counts[joint], sizes[joint], logs, rule, weight_unit, fixed)
        - _phi_sum(counts[left], sizes[left], logs, rule, weight_unit, fixed)
        - _phi_sum(counts[right], sizes[right], logs, rule, weight_unit, fixed)
        + _phi_sum(counts[given], sizes[given], logs, rule, weight_unit, fixed)
    )
    return max(total, 0) * (1.0 / (samples * weight_unit * fixed))


@njit(nogil=True, cache=True)
def entropies(counts, sizes, logs, rule, weight_unit, fixed):
    """H(right), and H(right|left) from the joint table."""
    samples = _total(counts, sizes)
    if samples == 0:
        return 0.0, 0.0
    if rule == SHRINKAGE:
        levels = np.float64(sizes[RIGHT])
        weight = _shrinkage(counts[RIGHT], sizes[RIGHT], levels, samples, weight_unit)
        together = _shrunk_sum(counts[EVERYONE], sizes[EVERYONE], 1.0, samples, weight)
        own = together - _shrunk_sum(counts[RIGHT], sizes[RIGHT], levels, samples, weight)
        slices = np.float64(sizes[LEFT])
        weight = _shrinkage(counts[WHOLE], sizes[WHOLE], levels * slices, samples, weight_unit)
        within = _shrunk_sum(counts[LEFT], sizes[LEFT], slices, samples, weight)
        within -= _shrunk_sum(counts[WHOLE], sizes[WHOLE], levels * slices, samples, weight)
        return max(own, 0) * _SHRUNK_UNIT, max(within, 0) * _SHRUNK_UNIT
    unit = 1.0 / (samples * weight_unit * fixed)
    own = _phi_sum(counts[EVERYONE], sizes[EVERYONE], logs, rule, weight_unit, fixed)
    own -= _phi_sum(counts[RIGHT], sizes[RIGHT], logs, rule, weight_unit, fixed)
    within = _phi_sum(counts[LEFT], sizes[LEFT], logs, rule, weight_unit, fixed)
    within -= _phi_sum(counts[WHOLE], sizes[WHOLE], logs, rule, weight_unit, fixed)
    return max(own, 0) * unit, max(within, 0) * unit


@njit(nogil=True, forceinline=True)
def _total(counts, sizes):
    return counts[EVERYONE, 0] if sizes[EVERYONE] else 0


@njit(nogil=True, cache=True)
def _phi_sum(counts, size, logs, rule, weight_unit, fixed):
    """Sum of phi in fixed point; `logs` begins its table, `rule` says how it goes on.

    Another table stands beside it for a cell that holds all samples, the only one then.
    """
    of_cell, of_everyone = logs
    total = np.int64(0)
    if size == 1:
        of_cell = of_everyone
        if rule == GRASSBERGER:
            rule = COMPUTED
    if rule == LOOKED_UP:
        for i in range(size):
            total += of_cell[counts[i]]
        return total
    for i in range(size):
        count = counts[i]
        if count < len(of_cell):
            total += of_cell[count]
            continue
        samples = count * weight_unit
        if rule == GRASSBERGER:
            half = np.float64(count // 2)
            value = samples * (natural_log(2 * half) + 1 / (24 * half * half))
        else:
            value = samples * natural_log(samples)
            if rule == MILLER_MADOW:
                value = value - 0.5
        total += np.int64(np.rint(value * fixed))
    return total


@njit(nogil=True, cache=True)
def _shrinkage(counts, size, cells, samples, weight_unit):
    """The weight of equal frequencies."""
    squares = np.int64(0)
    for i in range(size):
        frequency = counts[i] / samples
        squares += np.int64(np.rint(frequency * frequency * _SQUARE))
    together = squares * _SQUARE_UNIT
    apart = (samples * weight_unit - 1) * (together - 1 / cells)
    return min((1 - together) / apart, 1.0) if apart > 0 else 1.0


@njit(nogil=True, cache=True)
def _shrunk_sum(counts, size, cells, samples, weight):
    """Sum of p ln p in fixed point, over the cells that are not empty and those that are."""
    equal = weight / cells
    rest = 1 - weight
    total = np.int64(0)
    for i in range(size):
        frequency = equal + rest * (counts[i] / samples)
        total += np.int64(np.rint(frequency * natural_log(frequency) * _SHRUNK))
    if equal > 0:
        unseen = (cells - size) * (equal * natural_log(equal))
        total += np.int64(np.rint(unseen * _SHRUNK))
    return total


@njit(nogil=True, forceinline=True)
def natural_log(value):
    """`logarithm.natural_log` of one number, taken apart by its bits."""
    bits = np.float64(value).view(np.int64)
    entry = (bits >> 44) & 255
    mantissa = np.int64((bits & 0x000FFFFFFFFFFFFF) | 0x3FE0000000000000).view(np.float64)
    r = (mantissa - (entry + 256.5) / 512) * ONE_OVER_CENTER[entry]
    series = r * (1 - r * (1 / 2 - r * (1 / 3 - r * (1 / 4 - r * (1 / 5 - r * (1 / 6))))))
    return ((bits >> 52) - 1022) * LN_2 + (LOG_OF_CENTER[entry] + series)


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
