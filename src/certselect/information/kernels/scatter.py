"""Joint counts by scattering: for columns with so many levels that bit rows cost more.

Samples are sorted by (left level, class), so each left level is a run of
samples and each class within it a slice of that run. A run is one row of the
joint table: it is counted into a table over the right levels, and the cells it
touched are cleared again. Memory is one table over the right levels, whatever
the product of the levels, and no product of levels is ever formed.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from certselect.information.kernels.bits import BOTH, INTERACTION, REDUNDANCY


@njit(nogil=True, cache=True)
def sum_features(slots, slot_feature, codes, levels, target, row_order, steps, level_sums, level_class_sums):
    """Entropy sums of single features, by slot; `steps[c]` is what phi grows by from c to c + 1."""
    # A feature alone is its joint table with a feature of one level.
    one_level = np.zeros_like(codes[0, :])
    order, slice_end, ends_run = _sort_rows(one_level, 1, target, row_order)
    for slot in slots:
        feature = slot_feature[slot]
        run = np.zeros(levels[feature], np.uint32)
        piece = np.zeros(levels[feature], np.uint32)
        whole, within = _sum_joint(codes[feature, :], order, slice_end, ends_run, steps, run, piece, True)
        level_sums[slot] = whole
        level_class_sums[slot] = within


@njit(nogil=True, cache=True)
def scatter_pairs(
    left_slots, right_first, right_last, slot_feature, codes, levels, target, row_order, steps, level_sums,
    level_class_sums, total_sum, class_sum, unit, what, mirror, left_row, out, out_conditional,
):  # fmt: skip
    """Pair terms of left slot i with the slots right_first[i]..right_last[i]-1, written as by `count_groups`."""
    run = np.zeros(levels.max(), np.uint32)
    piece = np.zeros(levels.max(), np.uint32)
    for i in range(len(left_slots)):
        slot, row = left_slots[i], left_row[i]
        feature = slot_feature[slot]
        order, slice_end, ends_run = _sort_rows(codes[feature, :], levels[feature], target, row_order)
        for right in range(right_first[i], right_last[i]):
            other = slot_feature[right]
            whole, within = _sum_joint(
                codes[other, :], order, slice_end, ends_run, steps, run, piece, what != REDUNDANCY
            )
            # Rounding of phi may leave a unit or two below 0, a correction more.
            redundancy = max(whole - level_sums[slot] + total_sum - level_sums[right], 0) * unit
            conditional = max(within - level_class_sums[slot] + class_sum - level_class_sums[right], 0) * unit
            out[row, other] = redundancy - conditional if what == INTERACTION else redundancy
            if mirror:
                out[other, row] = out[row, other]
            if what == BOTH:
                out_conditional[row, other] = conditional
                if mirror:
                    out_conditional[other, row] = conditional


@njit(nogil=True, forceinline=True)
def _sort_rows(codes, n_levels, target, row_order):
    """Sort class-sorted samples by code; where each slice ends, and whether its run ends there too."""
    n_samples = len(row_order)
    starts = np.zeros(n_levels + 1, np.int64)
    for sample in row_order:
        starts[np.int64(codes[sample]) + 1] += 1
    for level in range(n_levels):
        starts[level + 1] += starts[level]
    order = np.empty(n_samples, np.uint32)
    for sample in row_order:  # stable: the classes stay sorted within a level
        order[starts[codes[sample]]] = sample
        starts[codes[sample]] += 1
    slice_end = np.empty(n_samples, np.int64)
    ends_run = np.empty(n_samples, np.bool_)
    n_slices = 0
    for i in range(n_samples):
        last = i + 1 == n_samples
        new_run = last or codes[order[i]] != codes[order[i + 1]]
        if new_run or target[order[i]] != target[order[i + 1]]:
            slice_end[n_slices] = i + 1
            ends_run[n_slices] = new_run
            n_slices += 1
    return order, slice_end[:n_slices], ends_run[:n_slices]


@njit(nogil=True, forceinline=True)
def _sum_joint(codes, order, slice_end, ends_run, steps, run, piece, conditional):
    """Sums of phi over a joint table, and over its class slices; `run` and `piece` are left all zero."""
    whole = np.int64(0)
    within = np.int64(0)
    run_start = slice_start = 0
    for s in range(len(slice_end)):
        if conditional:
            for i in range(slice_start, slice_end[s]):
                code = codes[order[i]]
                whole += steps[run[code]]
                run[code] += np.uint32(1)
                within += steps[piece[code]]
                piece[code] += np.uint32(1)
            for i in range(slice_start, slice_end[s]):
                piece[codes[order[i]]] = 0
        else:
            for i in range(slice_start, slice_end[s]):
                code = codes[order[i]]
                whole += steps[run[code]]
                run[code] += np.uint32(1)
        slice_start = slice_end[s]
        if ends_run[s]:
            for i in range(run_start, slice_start):
                run[codes[order[i]]] = 0
            run_start = slice_start
    return whole, within
