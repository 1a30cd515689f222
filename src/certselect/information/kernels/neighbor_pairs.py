"""Information two columns share, by nearest neighbours, within each of some groups of rows.

Rows stand group by group (the classes, or one group of all). Every function adds up whole
numbers, the psi of counts in fixed point, so that no order of rows or threads matters.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from certselect.information.kernels.lanes import LANES
from certselect.information.kernels.neighbor_counts import (
    BEYOND,
    edge,
    fill_buckets,
    insert_distance,
    inside,
    just_below,
    kth_distance,
    next_reach,
    span_of,
)
from certselect.information.kernels.neighbor_lanes import count_bits, lowest_bit, near_bits


@njit(nogil=True, cache=True)
def sum_pairs(values, order, group_at, discrete, n_levels, left, rights, k, psi, sums, used):
    """Sums of psi for column `left` with each of `rights`, and over how many rows.

    values (n, m) holds numbers in units of their standard deviation or the codes of discrete
    columns, NaN where missing; order (n, m) sorts each group's rows, counted from the group's
    first, missing ones last. Group g has the rows group_at[g]..group_at[g + 1] - 1.
    """
    m = values.shape[1]
    room = m + 2 * LANES
    first, second, sorted_second = np.empty(room), np.empty(room), np.empty(room)
    first_buckets, second_buckets = np.empty(m + 1, np.int32), np.empty(m + 1, np.int32)
    most_levels = n_levels.max()
    counts, starts = np.zeros(most_levels, np.int64), np.zeros(most_levels + 1, np.int64)
    nearest = np.empty(k)
    for r in range(len(rights)):
        # Neighbours are searched for along a number.
        x, y = (rights[r], left) if discrete[left] else (left, rights[r])
        total, rows = np.int64(0), np.int64(0)
        for g in range(len(group_at) - 1):
            begin, end = group_at[g], group_at[g + 1]
            xs, ys = values[x, begin:end], values[y, begin:end]
            x_order, y_order = order[x, begin:end], order[y, begin:end]
            if discrete[x]:
                part, n = _sum_discrete(xs, ys, x_order, n_levels[y], counts, psi)
            elif discrete[y]:
                part, n = _sum_mixed(
                    xs, ys, x_order, n_levels[y], k, counts, starts, first, first_buckets, second, second_buckets, psi
                )
            else:
                n = _take_both(xs, ys, x_order, first, second)
                _take_one(xs, ys, y_order, sorted_second)
                part = _sum_numbers(
                    first, second, sorted_second, n, min(k, n - 1), nearest, first_buckets, second_buckets, psi
                )
            if n > 1:
                total += part
                rows += n
        sums[r], used[r] = total, rows


@njit(nogil=True, cache=True)
def sum_alone(values, order, discrete, columns, k, psi, sums, used):
    """As `sum_pairs`, of each column with itself."""
    m = values.shape[1]
    column, buckets = np.empty(m + LANES), np.empty(m + 1, np.int32)
    for i in range(len(columns)):
        own = values[columns[i]]
        n = 0
        for row in order[columns[i]]:
            if not np.isnan(own[row]):
                column[n] = own[row]
                n += 1
        total = np.int64(0)
        if n > 1 and column[0] < column[n - 1]:
            per_unit = fill_buckets(column, n, buckets)
            for place in range(n):
                if discrete[columns[i]]:
                    first, behind, _ = span_of(column, n, buckets, per_unit, column[place], 0.0)
                    total -= psi[behind - first]
                else:
                    rho = kth_distance(column, n, place, min(k, n - 1))
                    total -= psi[span_of(column, n, buckets, per_unit, column[place], rho)[2]]
            total += n * psi[n]
        sums[i], used[i] = total, n


@njit(nogil=True, forceinline=True)
def _take_both(xs, ys, x_order, first, second):
    """Copy two columns in the order of the first, without rows that lack either, between infinite borders."""
    n = 0
    for row in x_order:
        if not (np.isnan(xs[row]) or np.isnan(ys[row])):
            first[LANES + n] = xs[row]
            second[LANES + n] = ys[row]
            n += 1
    first[:LANES] = -np.inf
    first[LANES + n : 2 * LANES + n] = np.inf
    second[:LANES] = np.inf
    second[LANES + n : 2 * LANES + n] = np.inf
    return n


@njit(nogil=True, forceinline=True)
def _take_one(xs, ys, y_order, sorted_second):
    """Copy the second column in its own order, without rows that lack either."""
    n = 0
    for row in y_order:
        if not (np.isnan(xs[row]) or np.isnan(ys[row])):
            sorted_second[n] = ys[row]
            n += 1


@njit(nogil=True)
def _sum_numbers(first, second, sorted_second, n, k, nearest, first_buckets, second_buckets, psi):
    """Two columns of numbers, n rows from place LANES on in the order of the first."""
    if n < 2 or first[LANES] == first[LANES + n - 1] or sorted_second[0] == sorted_second[n - 1]:
        return np.int64(0)  # a constant carries no information
    total = n * psi[n]
    sorted_first = first[LANES:]
    first_per_unit = fill_buckets(sorted_first, n, first_buckets)
    second_per_unit = fill_buckets(sorted_second, n, second_buckets)
    reach = BEYOND
    for place in range(LANES, LANES + n):
        x, y = first[place], second[place]
        tied = _search(first, second, n, place, k, reach, nearest)
        rho = nearest[k - 1]
        reach = next_reach(reach, rho)
        begin, behind, n_first = span_of(sorted_first, n, first_buckets, first_per_unit, x, rho)
        n_second = span_of(sorted_second, n, second_buckets, second_per_unit, y, rho)[2]
        n_joint = np.int64(k)
        if tied:
            near, far = inside(rho), edge(rho)
            nearer = np.int64(0)
            n_joint = np.int64(-1)  # without the row itself
            for at in range(LANES + begin, LANES + behind, LANES):
                nearer += count_bits(near_bits(first, at, x, near) & near_bits(second, at, y, near))
                n_joint += count_bits(near_bits(first, at, x, far) & near_bits(second, at, y, far))
            n_joint = max(n_joint, nearer)
        total += psi[n_joint] - psi[n_first] - psi[n_second]
    return total


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
def _sum_mixed(xs, codes, x_order, n_levels, k, counts, starts, everyone, all_buckets, grouped, buckets, psi):
    """A column of numbers and a discrete one; rows alone on their level have no neighbour and are left out."""
    counts[:n_levels] = 0
    for row in x_order:
        if not (np.isnan(xs[row]) or np.isnan(codes[row])):
            counts[int(codes[row])] += 1
    starts[0] = 0
    for level in range(n_levels):
        starts[level + 1] = starts[level] + (counts[level] if counts[level] > 1 else 0)
        counts[level] = 0 if counts[level] > 1 else -1
    n = 0
    for row in x_order:
        if np.isnan(xs[row]) or np.isnan(codes[row]):
            continue
        level = int(codes[row])
        if counts[level] >= 0:
            everyone[n] = xs[row]
            grouped[starts[level] + counts[level]] = xs[row]
            counts[level] += 1
            n += 1
    if n < 2 or everyone[0] == everyone[n - 1]:
        return np.int64(0), n
    total = n * psi[n]
    all_per_unit = fill_buckets(everyone, n, all_buckets)
    for level in range(n_levels):
        size = starts[level + 1] - starts[level]
        if size == n:  # one level only
            return np.int64(0), n
        if size == 0:
            continue
        own = grouped[starts[level] :]
        per_unit = fill_buckets(own, size, buckets)
        for place in range(size):
            rho = kth_distance(own, size, place, min(k, size - 1))
            n_joint = span_of(own, size, buckets, per_unit, own[place], rho)[2]
            n_number = span_of(everyone, n, all_buckets, all_per_unit, own[place], rho)[2]
            n_level = size if rho > 0.0 else size - 1
            total += psi[n_joint] - psi[n_number] - psi[n_level]
    return total, n


@njit(nogil=True)
def _sum_discrete(xs, ys, x_order, n_levels, counts, psi):
    """Two discrete columns: every row counts those on its levels, itself included."""
    counts[:n_levels] = 0
    n = 0
    for row in x_order:
        if not (np.isnan(xs[row]) or np.isnan(ys[row])):
            counts[int(ys[row])] += 1
            n += 1
    total = n * psi[n]
    for level in range(n_levels):
        total -= counts[level] * psi[counts[level]]
        counts[level] = 0
    begin = 0
    while begin < len(x_order) and not np.isnan(xs[x_order[begin]]):
        end = begin
        size = np.int64(0)
        while end < len(x_order) and xs[x_order[end]] == xs[x_order[begin]]:
            code = ys[x_order[end]]
            if not np.isnan(code):
                counts[int(code)] += 1
                size += 1
            end += 1
        total -= size * psi[size]
        for place in range(begin, end):
            code = ys[x_order[place]]
            if not np.isnan(code):
                together = counts[int(code)]
                total += together * psi[together]
                counts[int(code)] = 0
        begin = end
    return total, n
