"""Information two columns together carry about the target, by nearest neighbours.

The ball around a row reaches to its k-th neighbour in both columns and the target; psi counts
the rows in it, in both columns whatever the target, and in the target whatever the columns.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from certselect.information.kernels.lanes import LANES
from certselect.information.kernels.neighbor_counts import BEYOND, FAR, fill_buckets, next_reach, span_of
from certselect.information.kernels.neighbor_levels import sum_cells, sum_everyone, take_levels
from certselect.information.kernels.neighbor_targets import psi_along, psi_of_ball, search_along, take_rows
from certselect.information.kernels.neighbor_weights import heft_ahead, heft_between, psi_of, psi_of_all, weight_at
from certselect.information.kernels.neighbor_windows import psi_in_window, take_both


@njit(nogil=True, cache=True)
def sum_joint_with_labels(whole, by_class, discrete, n_levels, label, left, rights, k, psi, sums, used):
    """Sums of psi for column `left` and each of `rights` with the labels, and the weight of the rows they are over.

    The rows in one group and class by class; `label` is the column of labels. Rows alone in
    their class are left out.
    """
    for r in range(len(rights)):
        # Neighbours are searched for along a number.
        x, y = (rights[r], left) if discrete[left] else (left, rights[r])
        xs, ys = whole.values[x], _without_lone_rows(by_class, x, y, whole.values[y], whole.values[label])
        if discrete[x]:
            sums[r], used[r] = _sum_discrete(xs, ys, whole, by_class, x, y, n_levels[y], psi, whole.weights)
        else:
            y_unit = FAR if discrete[y] else 1.0
            sums[r], used[r] = _sum_numbers(xs, ys, whole, by_class, x, y, y_unit, k, psi, whole.weights)


@njit(nogil=True)
def _without_lone_rows(by_class, x, y, ys, labels):
    """A copy of column y without the rows that are alone in their class among those with x and y."""
    ys = ys.copy()
    for g in range(len(by_class.group_at) - 1):
        n = 0
        for row in range(by_class.group_at[g], by_class.group_at[g + 1]):
            n += not (np.isnan(by_class.values[x, row]) or np.isnan(by_class.values[y, row]))
        if n == 1:
            ys[labels == g] = np.nan
    return ys


@njit(nogil=True)
def _sum_numbers(xs, ys, whole, by_class, x, y, y_unit, k, psi, weights):
    """A column of numbers and another, or a discrete one whose codes are `y_unit` apart."""
    first, second = np.empty(len(xs) + 2 * LANES), np.empty(len(xs) + 2 * LANES)
    n = take_both(xs, ys, whole.order[x], y_unit, first, second)
    ahead = heft_ahead(xs, ys, whole.order[x], 0, weights)
    everyone = heft_between(0, n, ahead, weights)
    if n < 2:
        return np.int64(0), np.int64(0)
    sorted_first, buckets = first[LANES:], np.empty(n + 1, np.int32)
    per_unit = fill_buckets(sorted_first, n, buckets)
    total = np.int64(0)
    for g in range(len(by_class.group_at) - 1):
        begin, end = by_class.group_at[g], by_class.group_at[g + 1]
        own_xs, own_ys = by_class.values[x, begin:end], by_class.values[y, begin:end]
        order = by_class.order[x, begin:end]
        room = end - begin + 2 * LANES
        own_first, own_second = np.empty(room), np.empty(room)
        size = take_both(own_xs, own_ys, order, y_unit, own_first, own_second)
        if size < 2:
            continue
        own_ahead = heft_ahead(own_xs, own_ys, order, begin, by_class.weights)
        of_class = heft_between(0, size, own_ahead, weights)
        nearest = np.empty(min(k, size - 1))
        reach = BEYOND
        for place in range(LANES, LANES + size):
            at, other = own_first[place], own_second[place]
            left, right, rho = search_along(own_second, own_second, own_first, room, size, place, reach, nearest)
            reach = next_reach(reach, rho)
            own = weight_at(place - LANES, own_ahead, weights)
            total += psi_of_all(n, everyone, own, psi, weights)
            total += psi_of_ball(
                own_second, own_second, own_first, room, place, left, right, rho, psi, weights, own_ahead
            )
            total -= psi_of(size if rho > 0.0 else 0, size, of_class, own, psi, weights)
            span = span_of(sorted_first, n, buckets, per_unit, at, rho)
            total -= psi_in_window(first, second, span, at, other, rho, psi, weights, ahead, own)
    return total, everyone[0]


@njit(nogil=True)
def _sum_discrete(xs, ys, whole, by_class, x, y, n_levels, psi, weights):
    """Two discrete columns: every row counts those on its levels, itself included."""
    first, second = take_levels(xs, ys, whole.order[x])
    ahead = heft_ahead(xs, ys, whole.order[x], 0, weights)
    n = len(first)
    total = sum_everyone(n, psi, weights, ahead) - sum_cells(first, second, n_levels, psi, weights, ahead)
    for g in range(len(by_class.group_at) - 1):
        begin, end = by_class.group_at[g], by_class.group_at[g + 1]
        own_xs, own_ys = by_class.values[x, begin:end], by_class.values[y, begin:end]
        order = by_class.order[x, begin:end]
        first, second = take_levels(own_xs, own_ys, order)
        if len(first) < 2:
            continue
        own_ahead = heft_ahead(own_xs, own_ys, order, begin, by_class.weights)
        total += sum_cells(first, second, n_levels, psi, weights, own_ahead)
        total -= sum_everyone(len(first), psi, weights, own_ahead)
    return total, heft_between(0, n, ahead, weights)[0]


@njit(nogil=True, cache=True)
def sum_joint_with_target(rows, targets, discrete, left, rights, k, psi, sums, used):
    """Sums of psi for column `left` and each of `rights` with the target's numbers, as `sum_with_target` has them."""
    for r in range(len(rights)):
        # Rows are counted along a number.
        x, y = (rights[r], left) if discrete[left] else (left, rights[r])
        for g in range(len(rows.group_at) - 1):
            begin, end = rows.group_at[g], rows.group_at[g + 1]
            total, weight = _sum_group(
                rows.values[x, begin:end],
                rows.values[y, begin:end],
                rows.order[x, begin:end],
                targets[:, begin:end],
                begin,
                k,
                psi,
                rows.weights,
            )
            sums[r] += total
            used[r] += weight


@njit(nogil=True)
def _sum_group(xs, ys, x_order, targets, begin, k, psi, weights):
    room = len(xs) + 2 * LANES
    x, y, z = np.empty(room), np.empty(room), np.empty(len(targets) * room)
    first, second = np.empty(room), np.empty(room)
    n = take_rows(xs, ys, targets, x, y, z, room)
    if n < 2:
        return np.int64(0), np.int64(0)
    take_both(xs, ys, x_order, 1.0, first, second)
    ahead = heft_ahead(xs, ys, np.arange(len(xs)), begin, weights)
    first_ahead = heft_ahead(xs, ys, x_order, begin, weights)
    everyone = heft_between(0, n, ahead, weights)
    sorted_first, buckets = first[LANES:], np.empty(n + 1, np.int32)
    per_unit = fill_buckets(sorted_first, n, buckets)
    total = np.int64(0)
    nearest = np.empty(min(k, n - 1))
    reach = BEYOND
    for place in range(LANES, LANES + n):
        left, right, rho = search_along(x, y, z, room, n, place, reach, nearest)
        reach = next_reach(reach, rho)
        own = weight_at(place - LANES, ahead, weights)
        total += psi_of_all(n, everyone, own, psi, weights)
        total += psi_of_ball(x, y, z, room, place, left, right, rho, psi, weights, ahead)
        total -= psi_along(z, room, place, left, right, rho, psi, weights, ahead)
        span = span_of(sorted_first, n, buckets, per_unit, x[place], rho)
        total -= psi_in_window(first, second, span, x[place], y[place], rho, psi, weights, first_ahead, own)
    return total, everyone[0]
