"""Information two columns share, by nearest neighbours, within each of some groups of rows.

Rows stand group by group (the classes, or one group of all). Every function adds up whole
numbers, the psi of counts in fixed point, so that no order of rows or threads matters.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from certselect.information.kernels.lanes import LANES
from certselect.information.kernels.neighbor_near import (
    BEYOND,
    edge,
    fill_buckets,
    insert_distance,
    just_below,
    kth_distance,
    lowest_bit,
    near_bits,
    next_reach,
    span_of,
)
from certselect.information.kernels.neighbor_psi import (
    heft_ahead,
    heft_between,
    psi_in_window,
    psi_of,
    psi_of_all,
    psi_of_span,
    sum_cells,
    sum_everyone,
    sum_levels,
    take_both,
    take_levels,
    weight_at,
)


@njit(nogil=True, cache=True)
def sum_pairs(rows, discrete, n_levels, left, rights, k, psi, sums, used):
    """Sums of psi for column `left` with each of `rights`, and the weight of the rows they are over.

    rows are GroupedColumns.
    """
    for r in range(len(rights)):
        # Neighbours are searched for along a number.
        x, y = (rights[r], left) if discrete[left] else (left, rights[r])
        for g in range(len(rows.group_at) - 1):
            begin, end = rows.group_at[g], rows.group_at[g + 1]
            xs, ys = rows.values[x, begin:end], rows.values[y, begin:end]
            x_order, y_order = rows.order[x, begin:end], rows.order[y, begin:end]
            if discrete[x]:
                total, weight = _sum_discrete(xs, ys, x_order, begin, n_levels[x], n_levels[y], psi, rows.weights)
            elif discrete[y]:
                total, weight = _sum_mixed(xs, ys, x_order, begin, n_levels[y], k, psi, rows.weights)
            else:
                total, weight = _sum_numbers(xs, ys, x_order, y_order, begin, k, psi, rows.weights)
            sums[r] += total
            used[r] += weight


@njit(nogil=True, cache=True)
def sum_alone(rows, discrete, columns, k, psi, sums, used):
    """As `sum_pairs`, of each column with itself, in the one group there is."""
    for i in range(len(columns)):
        sums[i], used[i] = _sum_alone(
            rows.values[columns[i]], rows.order[columns[i]], discrete[columns[i]], k, psi, rows.weights
        )


@njit(nogil=True)
def _sum_alone(own, order, is_discrete, k, psi, weights):
    column, buckets = np.empty(len(own) + LANES), np.empty(len(own) + 1, np.int32)
    ahead = heft_ahead(own, own, order, 0, weights)
    n = 0
    for row in order:
        if not np.isnan(own[row]):
            column[n] = own[row]
            n += 1
    everyone = heft_between(0, n, ahead, weights)
    total = np.int64(0)
    if n > 1 and column[0] < column[n - 1]:
        per_unit = fill_buckets(column, n, buckets)
        for place in range(n):
            weight = weight_at(place, ahead, weights)
            total += psi_of_all(n, everyone, weight, psi, weights)
            rho = 0.0 if is_discrete else kth_distance(column, n, place, min(k, n - 1))
            span = span_of(column, n, buckets, per_unit, column[place], rho)
            if is_discrete:
                level = heft_between(span[0], span[3], ahead, weights)
                total -= psi_of_all(span[3] - span[0], level, weight, psi, weights)
            else:
                total -= psi_of_span(span, psi, weights, ahead, weight)
    return total, everyone[0]


@njit(nogil=True)
def _sum_numbers(xs, ys, x_order, y_order, begin, k, psi, weights):
    """Two columns of numbers; from place LANES on in the order of the first."""
    room = len(xs) + 2 * LANES
    first, second, sorted_second = np.empty(room), np.empty(room), np.empty(room)
    n = take_both(xs, ys, x_order, 1.0, first, second)
    if n < 2:
        return np.int64(0), np.int64(0)
    _take_one(xs, ys, y_order, sorted_second)
    first_ahead = heft_ahead(xs, ys, x_order, begin, weights)
    second_ahead = heft_ahead(xs, ys, y_order, begin, weights)
    everyone = heft_between(0, n, first_ahead, weights)
    if first[LANES] == first[LANES + n - 1] or sorted_second[0] == sorted_second[n - 1]:
        return np.int64(0), everyone[0]  # a constant carries no information
    total = np.int64(0)
    k = min(k, n - 1)
    nearest = np.empty(k)
    sorted_first = first[LANES:]
    first_buckets, second_buckets = np.empty(n + 1, np.int32), np.empty(n + 1, np.int32)
    first_per_unit = fill_buckets(sorted_first, n, first_buckets)
    second_per_unit = fill_buckets(sorted_second, n, second_buckets)
    reach = BEYOND
    for place in range(LANES, LANES + n):
        x, y = first[place], second[place]
        tied = _search(first, second, n, place, k, reach, nearest)
        rho = nearest[k - 1]
        reach = next_reach(reach, rho)
        own = weight_at(place - LANES, first_ahead, weights)
        span = span_of(sorted_first, n, first_buckets, first_per_unit, x, rho)
        if weights is None and not tied:
            total += psi[k]
        else:
            total += psi_in_window(first, second, span, x, y, rho, psi, weights, first_ahead, own)
        total += psi_of_all(n, everyone, own, psi, weights) - psi_of_span(span, psi, weights, first_ahead, own)
        span = span_of(sorted_second, n, second_buckets, second_per_unit, y, rho)
        total -= psi_of_span(span, psi, weights, second_ahead, own)
    return total, everyone[0]


@njit(nogil=True, forceinline=True)
def _take_one(xs, ys, y_order, sorted_second):
    """Copy the second column in its own order, without rows that lack either."""
    n = 0
    for row in y_order:
        if not (np.isnan(xs[row]) or np.isnan(ys[row])):
            sorted_second[n] = ys[row]
            n += 1


@njit(nogil=True, forceinline=True)
def _search(first, second, n, place, k, reach, nearest):
    """Distances to the k nearest rows, by walking both ways along the first column; whether rows may tie for the last.

    Looks no farther than `reach` if that is enough.
    """
    x, y, end = first[place], second[place], LANES + n
    while True:
        for rank in range(k):
            nearest[rank] = np.inf
        tied = False
        bound = reach
        right, left = place + 1, place
        while first[right] - x <= bound or x - first[left - 1] <= bound:
            # Eight rows to the right and eight to the left; past the last ones, the borders.
            bits = near_bits(first, right, x, bound) & near_bits(second, right, y, bound)
            bits |= (near_bits(first, left - LANES, x, bound) & near_bits(second, left - LANES, y, bound)) << LANES
            while bits:
                lane = lowest_bit(bits)
                bits &= bits - 1
                other = right + lane if lane < LANES else left - 2 * LANES + lane
                leaving = insert_distance(max(abs(first[other] - x), abs(second[other] - y)), nearest, k)
                tied |= leaving <= edge(nearest[k - 1])
                # Rows that tie are counted afterwards: once there are some, only nearer ones matter.
                bound = min(bound, just_below(nearest[k - 1]) if tied else edge(nearest[k - 1]))
            right, left = min(right + LANES, end), max(left - LANES, LANES)
        if edge(nearest[k - 1]) <= reach:
            return tied
        reach = BEYOND


@njit(nogil=True)
def _sum_mixed(xs, codes, x_order, begin, n_levels, k, psi, weights):
    """A column of numbers and a discrete one; rows alone on their level have no neighbour and are left out."""
    counts, starts = np.zeros(n_levels, np.int64), np.zeros(n_levels + 1, np.int64)
    for row in x_order:
        if not (np.isnan(xs[row]) or np.isnan(codes[row])):
            counts[int(codes[row])] += 1
    for level in range(n_levels):
        starts[level + 1] = starts[level] + (counts[level] if counts[level] > 1 else 0)
        counts[level] = 0 if counts[level] > 1 else -1
    n = starts[n_levels]
    # All rows in the order of the number, and level by level; with the weights before each place.
    everyone, grouped = np.empty(n + LANES), np.empty(n + LANES)
    weighted = 0 if weights is None else n + 1
    all_ahead, ahead = np.zeros((weighted, 2), np.int64), np.zeros((weighted, 2), np.int64)
    at = 0
    for row in x_order:
        if np.isnan(xs[row]) or np.isnan(codes[row]):
            continue
        level = int(codes[row])
        if counts[level] >= 0:
            place = starts[level] + counts[level]
            everyone[at] = grouped[place] = xs[row]
            if weights is not None:
                ahead[place + 1] = weights.whole[begin + row], weights.squares[begin + row]
                all_ahead[at + 1] = all_ahead[at] + ahead[place + 1]
            counts[level] += 1
            at += 1
    for place in range(weighted - 1):
        ahead[place + 1] += ahead[place]
    if n < 2:
        return np.int64(0), np.int64(0)
    of_all = heft_between(0, n, all_ahead, weights)
    if everyone[0] == everyone[n - 1]:
        return np.int64(0), of_all[0]
    total = np.int64(0)
    all_buckets, buckets = np.empty(n + 1, np.int32), np.empty(n + 1, np.int32)
    all_per_unit = fill_buckets(everyone, n, all_buckets)
    for level in range(n_levels):
        start, size = starts[level], starts[level + 1] - starts[level]
        if size == n:  # one level only
            return np.int64(0), of_all[0]
        if size == 0:
            continue
        of_level = heft_between(start, start + size, ahead, weights)
        own, own_ahead = grouped[start:], ahead[start:]
        per_unit = fill_buckets(own, size, buckets)
        for place in range(size):
            weight = weight_at(place, own_ahead, weights)
            rho = kth_distance(own, size, place, min(k, size - 1))
            total += psi_of_all(n, of_all, weight, psi, weights)
            total -= psi_of(size if rho > 0.0 else 0, size, of_level, weight, psi, weights)
            span = span_of(own, size, buckets, per_unit, own[place], rho)
            total += psi_of_span(span, psi, weights, own_ahead, weight)
            span = span_of(everyone, n, all_buckets, all_per_unit, own[place], rho)
            total -= psi_of_span(span, psi, weights, all_ahead, weight)
    return total, of_all[0]


@njit(nogil=True)
def _sum_discrete(xs, ys, x_order, begin, x_levels, y_levels, psi, weights):
    """Two discrete columns: every row counts those on its levels, itself included."""
    first, second = take_levels(xs, ys, x_order)
    n = len(first)
    if n < 2:
        return np.int64(0), np.int64(0)
    ahead = heft_ahead(xs, ys, x_order, begin, weights)
    total = sum_everyone(n, psi, weights, ahead) + sum_cells(first, second, y_levels, psi, weights, ahead)
    total -= sum_levels(first, x_levels, psi, weights, ahead)
    total -= sum_levels(second, y_levels, psi, weights, ahead)
    return total, heft_between(0, n, ahead, weights)[0]
