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


@njit(nogil=True, cache=True)
def sum_given_target(values, targets, group_at, left, rights, k, psi, sums, used):
    """Sums of psi for column `left` with each of `rights` given the target, and over how many rows."""
    room = values.shape[1] + 2 * LANES
    x, y, z = np.empty(room), np.empty(room), np.empty(len(targets) * room)
    nearest = np.empty(k)
    for r in range(len(rights)):
        total, rows = np.int64(0), np.int64(0)
        for g in range(len(group_at) - 1):
            n = _take_rows(values[left], values[rights[r]], targets, group_at[g], group_at[g + 1], x, y, z, room)
            if n < 2:
                continue
            rows += n
            reach = BEYOND
            for place in range(LANES, LANES + n):
                first, behind, rho = _search(x, y, z, room, n, place, min(k, n - 1), reach, nearest)
                reach = next_reach(reach, rho)
                n_xyz, n_xz, n_yz, n_z = _count(x, y, z, room, place, first, behind, rho)
                total += psi[n_xyz] - psi[n_xz] - psi[n_yz] + psi[n_z]
        sums[r], used[r] = total, rows


@njit(nogil=True, cache=True)
def sum_with_target(values, targets, group_at, columns, k, psi, sums, used):
    """Sums of psi for each of `columns` with all target columns together, and over how many rows."""
    room = values.shape[1] + 2 * LANES
    x, z = np.empty(room), np.empty(len(targets) * room)
    nearest = np.empty(k)
    for i in range(len(columns)):
        column = values[columns[i]]
        total, rows = np.int64(0), np.int64(0)
        for g in range(len(group_at) - 1):
            n = _take_rows(column, column, targets, group_at[g], group_at[g + 1], x, x, z, room)
            if n < 2:
                continue
            rows += n
            if (x[LANES : LANES + n] == x[LANES]).all():
                continue  # a constant carries no information
            total += n * psi[n]
            reach = BEYOND
            for place in range(LANES, LANES + n):
                first, behind, rho = _search(x, x, z, room, n, place, min(k, n - 1), reach, nearest)
                reach = next_reach(reach, rho)
                n_xz, _, _, n_z = _count(x, x, z, room, place, first, behind, rho)
                nearer, n_x = np.int64(0), np.int64(-1)
                for at in range(LANES, LANES + n, LANES):
                    nearer += count_bits(near_bits(x, at, x[place], inside(rho)))
                    n_x += count_bits(near_bits(x, at, x[place], edge(rho)))
                total += psi[n_xz] - psi[max(n_x, nearer)] - psi[n_z]
        sums[i], used[i] = total, rows


@njit(nogil=True, forceinline=True)
def _take_rows(left, right, targets, begin, end, x, y, z, room):
    """Copy the rows of one group that have both columns, between infinite borders; how many they are."""
    n = 0
    for row in range(begin, end):
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
def _search(x, y, z, room, n, place, k, reach, nearest):
    """Walk both ways along the target: a window that holds all rows no farther than the k-th nearest, and its distance.

    Looks no farther than `reach` if that is enough.
    """
    end = LANES + n
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
def _count(x, y, z, room, place, first, behind, rho):
    """How many rows are near in everything, in x and target, in y and target, in the target, as psi counts them."""
    near, far = inside(rho), edge(rho)
    n_xyz = n_xz = n_yz = n_z = np.int64(-1)  # without the row itself
    at_xyz = at_xz = at_yz = at_z = np.int64(0)  # is some row exactly as far as rho?
    for at in range(first, behind, LANES):
        x_near, y_near = near_bits(x, at, x[place], near), near_bits(y, at, y[place], near)
        x_far, y_far = near_bits(x, at, x[place], far), near_bits(y, at, y[place], far)
        z_near, z_far = _near_target(z, room, at, place, near), _near_target(z, room, at, place, far)
        n_z += count_bits(z_far)
        n_xz += count_bits(x_far & z_far)
        n_yz += count_bits(y_far & z_far)
        n_xyz += count_bits(x_far & y_far & z_far)
        at_z |= z_far & ~z_near
        at_xz |= x_far & z_far & ~(x_near & z_near)
        at_yz |= y_far & z_far & ~(y_near & z_near)
        at_xyz |= x_far & y_far & z_far & ~(x_near & y_near & z_near)
    return n_xyz + (at_xyz == 0), n_xz + (at_xz == 0), n_yz + (at_yz == 0), n_z + (at_z == 0)
