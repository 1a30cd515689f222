"""Information of columns and a target, of one column and of two together, by nearest neighbours.

With a target of numbers, rows stand group by group, and within a group in the order of the first target column, so
that the rows near one in the target are a window around it. Discrete columns are held as numbers FAR apart, farther
than the radius of any ball. For two columns together, the ball around a row reaches to its k-th neighbour in both
columns and the target; psi counts the rows in it, in both columns whatever the target, and in the target whatever the
columns.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from certselect.information.kernels.lanes import LANES
from certselect.information.kernels.neighbor_near import (
    BEYOND,
    FAR,
    count_bits,
    edge,
    fill_buckets,
    insert_distance,
    inside,
    lowest_bit,
    near_bits,
    next_reach,
    span_of,
)
from certselect.information.kernels.neighbor_psi import (
    heft_ahead,
    heft_between,
    heft_of_bits,
    psi_in_window,
    psi_of,
    psi_of_all,
    sum_cells,
    sum_everyone,
    take_both,
    take_levels,
    weight_at,
)


@njit(nogil=True, cache=True)
def sum_with_target(rows, targets, columns, k, psi, sums, used):
    """Sums of psi for each of `columns` with all target columns together, and the weight of the rows they are over."""
    for i in range(len(columns)):
        for g in range(len(rows.group_at) - 1):
            begin, end = rows.group_at[g], rows.group_at[g + 1]
            total, weight = _sum_of_one(
                rows.values[columns[i], begin:end], targets[:, begin:end], begin, k, psi, rows.weights
            )
            sums[i] += total
            used[i] += weight


@njit(nogil=True)
def _sum_of_one(column, targets, begin, k, psi, weights):
    room = len(column) + 2 * LANES
    x, z = np.empty(room), np.empty(len(targets) * room)
    n = take_rows(column, column, targets, x, x, z, room)
    if n < 2:
        return np.int64(0), np.int64(0)
    ahead = heft_ahead(column, column, np.arange(len(column)), begin, weights)
    everyone = heft_between(0, n, ahead, weights)
    if (x[LANES : LANES + n] == x[LANES]).all():
        return np.int64(0), everyone[0]  # a constant carries no information
    total = np.int64(0)
    nearest = np.empty(min(k, n - 1))
    reach = BEYOND
    for place in range(LANES, LANES + n):
        first, behind, rho = search_along(x, x, z, room, n, place, reach, nearest)
        reach = next_reach(reach, rho)
        own = weight_at(place - LANES, ahead, weights)
        total += psi_of_all(n, everyone, own, psi, weights)
        total += psi_of_ball(x, x, z, room, place, first, behind, rho, psi, weights, ahead)
        total -= psi_along(z, room, place, first, behind, rho, psi, weights, ahead)
        total -= psi_along(x, room, place, LANES, LANES + n, rho, psi, weights, ahead)
    return total, everyone[0]


@njit(nogil=True, forceinline=True)
def take_rows(left, right, targets, x, y, z, room):
    """Copy the rows of one group that have both columns, between infinite borders; how many they are."""
    n = 0
    for row in range(len(left)):
        if not (np.isnan(left[row]) or np.isnan(right[row])):
            x[LANES + n] = left[row]
            y[LANES + n] = right[row]
            for t in range(len(targets)):
                z[t * room + LANES + n] = targets[t, row]
            n += 1
    for border in range(LANES):
        for place in (border, LANES + n + border):
            x[place] = y[place] = np.inf
            z[place::room] = np.inf if place > border else -np.inf
    return n


@njit(nogil=True, forceinline=True)
def _near_target(z, room, at, place, radius):
    """Which of eight rows are near the one at `place` in every target column."""
    bits = near_bits(z, at, z[place], radius)
    for column in range(room, len(z), room):
        bits &= near_bits(z, column + at, z[column + place], radius)
    return bits


@njit(nogil=True, forceinline=True)
def search_along(x, y, z, room, n, place, reach, nearest):
    """Walk both ways along the target: a window that holds all rows no farther than the k-th nearest, and its distance.

    Looks no farther than `reach` if that is enough.
    """
    k, end = len(nearest), LANES + n
    while True:
        for rank in range(k):
            nearest[rank] = np.inf
        bound = reach
        right, left = place + 1, place
        while z[right] - z[place] <= bound or z[place] - z[left - 1] <= bound:
            # Eight rows to the right and eight to the left; past the last ones, the borders.
            bits = near_bits(x, right, x[place], bound) & near_bits(y, right, y[place], bound)
            bits &= _near_target(z, room, right, place, bound)
            back = near_bits(x, left - LANES, x[place], bound) & near_bits(y, left - LANES, y[place], bound)
            bits |= (back & _near_target(z, room, left - LANES, place, bound)) << LANES
            while bits:
                lane = lowest_bit(bits)
                bits &= bits - 1
                other = right + lane if lane < LANES else left - 2 * LANES + lane
                distance = max(abs(x[other] - x[place]), abs(y[other] - y[place]))
                for column in range(0, len(z), room):
                    distance = max(distance, abs(z[column + other] - z[column + place]))
                insert_distance(distance, nearest, k)
                bound = min(bound, edge(nearest[k - 1]))
            right, left = min(right + LANES, end), max(left - LANES, LANES)
        if edge(nearest[k - 1]) <= reach or reach == BEYOND:
            break
        reach = BEYOND
    # Fewer rows than wanted may be at any distance at all: take those there are, or, if
    # there are none, let the ball reach as far as numbers do.
    last = k - 1
    while last > 0 and nearest[last] > BEYOND:
        last -= 1
    return left, right, min(nearest[last], BEYOND)


@njit(nogil=True, forceinline=True)
def psi_of_ball(x, y, z, room, place, first, behind, rho, psi, weights, ahead):
    """What psi counts within rho of the row at `place` in x, y and every column of z, in a window of places."""
    near, far = inside(rho), edge(rho)
    nearer = no_farther = weight = square = np.int64(0)
    for at in range(first, behind, LANES):
        inner = near_bits(x, at, x[place], near) & near_bits(y, at, y[place], near)
        inner &= _near_target(z, room, at, place, near)
        outer = near_bits(x, at, x[place], far) & near_bits(y, at, y[place], far)
        outer &= _near_target(z, room, at, place, far)
        nearer += count_bits(inner)
        no_farther += count_bits(outer)
        if weights is not None:
            heft = heft_of_bits(outer, at, ahead, weights)
            weight += heft[0]
            square += heft[1]
    own = weight_at(place - LANES, ahead, weights)
    return psi_of(nearer, no_farther, (weight, square), own, psi, weights)


@njit(nogil=True, forceinline=True)
def psi_along(z, room, place, first, behind, rho, psi, weights, ahead):
    """As `psi_of_ball`, in z alone."""
    near, far = inside(rho), edge(rho)
    nearer = no_farther = weight = square = np.int64(0)
    for at in range(first, behind, LANES):
        inner, outer = _near_target(z, room, at, place, near), _near_target(z, room, at, place, far)
        nearer += count_bits(inner)
        no_farther += count_bits(outer)
        if weights is not None:
            heft = heft_of_bits(outer, at, ahead, weights)
            weight += heft[0]
            square += heft[1]
    own = weight_at(place - LANES, ahead, weights)
    return psi_of(nearer, no_farther, (weight, square), own, psi, weights)


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
            total, weight = _sum_of_two(
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
def _sum_of_two(xs, ys, x_order, targets, begin, k, psi, weights):
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
