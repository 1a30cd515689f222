"""Information of columns and a target of numbers, by nearest neighbours.

Rows stand group by group, and within a group in the order of the first target column, so
that the rows near one in the target are a window around it. Discrete columns are held as
numbers FAR apart, farther than the radius of any ball.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from certselect.information.kernels.lanes import LANES
from certselect.information.kernels.neighbor_counts import BEYOND, edge, insert_distance, inside, next_reach
from certselect.information.kernels.neighbor_lanes import count_bits, lowest_bit, near_bits
from certselect.information.kernels.neighbor_weights import heft_ahead, heft_between, psi_of, psi_of_all, weight_at
from certselect.information.kernels.neighbor_windows import heft_of_bits


@njit(nogil=True, cache=True)
def sum_with_target(rows, targets, columns, k, psi, sums, used):
    """Sums of psi for each of `columns` with all target columns together, and the weight of the rows they are over."""
    for i in range(len(columns)):
        for g in range(len(rows.group_at) - 1):
            begin, end = rows.group_at[g], rows.group_at[g + 1]
            total, weight = _sum_group(
                rows.values[columns[i], begin:end], targets[:, begin:end], begin, k, psi, rows.weights
            )
            sums[i] += total
            used[i] += weight


@njit(nogil=True)
def _sum_group(column, targets, begin, k, psi, weights):
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
