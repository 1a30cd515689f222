"""Terms of pairs of features, each from all cells of its joint table, compiled.

Two ways to count, by the number of cells a table could have. Small tables are
counted whole, four pairs in one pass over the samples. For large ones samples
are sorted by (left level, class), as in `scatter`: memory is one row over the
right levels, whatever the product of the levels.
"""

# The type checker takes the functions compiled below for plain Python ones.
# pyright: reportCallIssue=false

from __future__ import annotations

import numpy as np
from numba import njit

from certselect.information.kernels.bits import BOTH, INTERACTION, REDUNDANCY
from certselect.information.kernels.cell_lists import (
    WHOLE,
    WITHIN,
    entropies,
    information,
    list_runs,
    list_table,
    sort_samples,
)

_MOST_CELLS = 1 << 17  # of a table counted whole: one megabyte
_CELLS_PER_SAMPLE = 4  # a cell looked at costs less than a sample sorted


@njit(nogil=True, cache=True)
def measure_pairs(
    lefts, left_rows, right_first, right_last, codes, levels, absent, target, n_classes, class_order, weights, logs,
    rule, weight_unit, fixed, what, mirror, out, out_conditional,
):  # fmt: skip
    """Pair terms of feature lefts[i] with the features right_first[i]..right_last[i]-1 but itself.

    They go to row left_rows[i] of `out`, with `mirror` also to the transposed
    places. Without class slices (REDUNDANCY) the target must be one class.
    """
    m = len(target)
    conditional = what != REDUNDANCY
    most = _most_cells(m)
    tables = np.zeros(4 * most, np.int64)
    counts = np.empty((8, m + 1), np.int64)
    sizes = np.zeros(8, np.int64)
    widest = levels.max()
    row, piece = np.zeros(widest, np.int64), np.zeros(widest, np.int64)
    right_sums = np.zeros(most, np.int64)
    left = np.empty(m, np.int64)
    slices = np.empty(m, np.uint64)
    small = np.empty(len(levels), np.int64)
    for i in range(len(lefts)):
        feature = lefts[i]
        n_left = levels[feature]
        for s in range(m):
            left[s] = codes[feature, s]
            slices[s] = left[s] * n_classes + target[s]
        n_small = 0
        sorted_yet = False
        order, slice_end, ends_run = class_order, class_order, class_order == class_order
        for right in range(right_first[i], right_last[i]):
            if right == feature:
                continue
            if _is_small(n_left, n_classes, levels[right], most):
                small[n_small] = right
                n_small += 1
                continue
            if not sorted_yet:
                order, slice_end, ends_run = sort_samples(left, n_left, absent[feature], target, class_order)
                sorted_yet = True
            list_runs(
                codes[right], absent[right], left, absent[feature], target, order, slice_end, ends_run, class_order,
                weights, conditional, row, piece, counts, sizes,
            )  # fmt: skip
            _write(
                counts, sizes, logs, rule, weight_unit, fixed, what, mirror, left_rows[i], right, out, out_conditional
            )
        for start in range(0, n_small, 4):
            some = small[start : min(n_small, start + 4)]
            width = levels[some].max()
            _count_tables(slices, weights, codes, some, width, most, tables)
            for place in range(len(some)):
                right = some[place]
                table = tables[place * most : (place + 1) * most]
                list_table(
                    table, width, n_left, n_classes, levels[right], absent[feature], absent[right], conditional, row,
                    right_sums, counts, sizes,
                )  # fmt: skip
                _write(
                    counts, sizes, logs, rule, weight_unit, fixed, what, mirror, left_rows[i], right, out,
                    out_conditional,
                )  # fmt: skip


@njit(nogil=True, cache=True)
def measure_singles(
    first, last, codes, levels, absent, target, n_classes, class_order, weights, logs, rule, weight_unit, fixed,
    relevance, entropy, conditional_entropy,
):  # fmt: skip
    """Terms of the features first..last-1 from their joint tables with the target, which stands on the left."""
    m = len(target)
    most = _most_cells(m)
    tables = np.zeros(4 * most, np.int64)
    counts = np.empty((8, m + 1), np.int64)
    sizes = np.zeros(8, np.int64)
    widest = levels.max()
    row, piece = np.zeros(widest, np.int64), np.zeros(widest, np.int64)
    right_sums = np.zeros(most, np.int64)
    one_class = np.zeros_like(target)
    slices = target.astype(np.uint64)
    order, slice_end, ends_run = sort_samples(target, n_classes, -1, one_class, class_order)
    for feature in range(first, last):
        if _is_small(n_classes, 1, levels[feature], most):
            width = levels[feature]
            _count_tables(slices, weights, codes, np.full(1, feature), width, most, tables)
            list_table(
                tables, width, n_classes, 1, width, -1, absent[feature], False, row, right_sums, counts, sizes
            )  # fmt: skip
        else:
            list_runs(
                codes[feature], absent[feature], target, -1, one_class, order, slice_end, ends_run, class_order,
                weights, False, row, piece, counts, sizes,
            )  # fmt: skip
        relevance[feature] = information(counts, sizes, WHOLE, logs, rule, weight_unit, fixed)
        own, within = entropies(counts, sizes, logs, rule, weight_unit, fixed)
        entropy[feature] = own
        conditional_entropy[feature] = within


@njit(nogil=True, forceinline=True)
def _most_cells(m):
    return min(max(64, _CELLS_PER_SAMPLE * m), _MOST_CELLS)


@njit(nogil=True, forceinline=True)
def _is_small(n_left, n_classes, n_right, most):
    return n_left <= most and n_left * n_classes <= most and n_left * n_classes * n_right <= most


@njit(nogil=True, forceinline=True)
def _write(counts, sizes, logs, rule, weight_unit, fixed, what, mirror, row, right, out, out_conditional):
    term = information(counts, sizes, WHOLE, logs, rule, weight_unit, fixed)
    if what != REDUNDANCY:
        within = information(counts, sizes, WITHIN, logs, rule, weight_unit, fixed)
        if what == INTERACTION:
            term = term - within
        if what == BOTH:
            out_conditional[row, right] = within
            if mirror:
                out_conditional[right, row] = within
    out[row, right] = term
    if mirror:
        out[right, row] = term


@njit(nogil=True, forceinline=True)
def _count_tables(slices, weights, codes, rights, width, most, tables):
    """Joint tables of the left slices with up to four features, `most` apart, rows of `width`; all zero before."""
    width = np.uint64(width)
    if len(rights) == 4:
        # Four additions under way at a time, to four tables: none waits for another.
        # Rows of one width, since a product for each takes twice the time.
        first, second, third, fourth = codes[rights[0]], codes[rights[1]], codes[rights[2]], codes[rights[3]]
        at_second, at_third, at_fourth = np.uint64(most), np.uint64(2 * most), np.uint64(3 * most)
        for s in range(len(slices)):
            row, weight = slices[s] * width, weights[s]
            tables[row + np.uint64(first[s])] += weight
            tables[row + np.uint64(second[s]) + at_second] += weight
            tables[row + np.uint64(third[s]) + at_third] += weight
            tables[row + np.uint64(fourth[s]) + at_fourth] += weight
        return
    for place in range(len(rights)):
        column, at = codes[rights[place]], np.uint64(place * most)
        for s in range(len(slices)):
            tables[slices[s] * width + np.uint64(column[s]) + at] += weights[s]
