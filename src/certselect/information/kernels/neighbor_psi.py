"""What the rows near a point stand for: psi of their number, and of their weight where rows count differently.

The bias that psi(n) takes away goes by the number of rows, the density by their weight. m rows in a ball, the row
itself among them, of weight W and with Q the sum of their squared weights, where n of them are counted, stand for

    psi(n) + ln(W / m) + (1 / m + Q / W^2) / 2 - w / W

w being the row's own weight. ln W is too large by w / W, for the row itself is always there, and too small by
Q / 2 W^2, as a logarithm of any sum of chance; psi(n) takes both away where all weights are equal, and what is added
to it and to ln(W / m) is 0 then. The heft of rows is (W, Q), and (how many they are, 0) without weights.

Below are counts around one point, then those of rows on the same levels of discrete columns, each of which counts
itself, and those in a window of the rows sorted by one column.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from certselect.information.kernels.lanes import LANES
from certselect.information.kernels.neighbor_near import count_bits, edge, inside, lowest_bit, near_bits


@njit(nogil=True, forceinline=True)
def psi_of(nearer, no_farther, heft, own, psi, weights):
    """What psi counts in a ball, times the row's own weight.

    Rows nearer than rho, and no farther than rho, both with the row itself, and the heft of the latter.
    """
    n = max(nearer, no_farther - 1)
    if weights is None:
        return psi[n]
    weight = heft[0] / weights.largest
    scatter = heft[1] / weights.per_square / (weight * weight)
    share = own / weights.largest
    excess = np.log(weight / no_farther) + (1.0 / no_farther + scatter) / 2.0 - share / weight
    return np.int64(np.rint((psi[n] + excess * weights.per_nat) * share))


@njit(nogil=True, forceinline=True)
def psi_of_span(span, psi, weights, ahead, own):
    """As `psi_of`, of what `span_of` found; `ahead` is the heft before each place."""
    first, nearer, behind_nearer, behind = span
    return psi_of(
        behind_nearer - nearer, behind - first, heft_between(first, behind, ahead, weights), own, psi, weights
    )


@njit(nogil=True, forceinline=True)
def psi_of_all(n, heft, own, psi, weights):
    """As `psi_of`, of n rows that are all nearer."""
    return psi_of(n, n, heft, own, psi, weights)


@njit(nogil=True)
def heft_ahead(xs, ys, order, begin, weights):
    """The heft of the rows before each place (places + 1, 2), in some order, of rows begin.. that have both values."""
    if weights is None:
        return np.empty((0, 2), np.int64)
    ahead = np.zeros((len(order) + 1, 2), np.int64)
    n = 0
    for row in order:
        if not (np.isnan(xs[row]) or np.isnan(ys[row])):
            ahead[n + 1, 0] = ahead[n, 0] + weights.whole[begin + row]
            ahead[n + 1, 1] = ahead[n, 1] + weights.squares[begin + row]
            n += 1
    return ahead


@njit(nogil=True, forceinline=True)
def weight_at(place, ahead, weights):
    """Weight of the row at a place; 1 without weights."""
    if weights is None:
        return np.int64(1)
    return ahead[place + 1, 0] - ahead[place, 0]


@njit(nogil=True, forceinline=True)
def heft_between(begin, end, ahead, weights):
    """Heft of the rows from one place to before another."""
    if weights is None:
        return np.int64(end - begin), np.int64(0)
    return ahead[end, 0] - ahead[begin, 0], ahead[end, 1] - ahead[begin, 1]


@njit(nogil=True)
def take_levels(xs, ys, x_order):
    """Levels of two columns in the order of the first, without rows that lack either."""
    first, second = np.empty(len(x_order), np.int64), np.empty(len(x_order), np.int64)
    n = 0
    for row in x_order:
        if not (np.isnan(xs[row]) or np.isnan(ys[row])):
            first[n], second[n] = int(xs[row]), int(ys[row])
            n += 1
    return first[:n], second[:n]


@njit(nogil=True)
def sum_everyone(n, psi, weights, ahead):
    """The sum over n rows of psi of them all."""
    everyone = heft_between(0, n, ahead, weights)
    total = np.int64(0)
    for place in range(n):
        total += psi_of_all(n, everyone, weight_at(place, ahead, weights), psi, weights)
    return total


@njit(nogil=True)
def sum_levels(levels, n_levels, psi, weights, ahead):
    """The sum over rows of psi of those on the same level."""
    counts, hefts = np.zeros(n_levels, np.int64), np.zeros((n_levels, 2), np.int64)
    return _add_levels(levels, 0, len(levels), counts, hefts, psi, weights, ahead)


@njit(nogil=True)
def sum_cells(first, second, n_levels, psi, weights, ahead):
    """The sum over rows of psi of those on the same levels of two columns; n_levels of the second."""
    counts, hefts = np.zeros(n_levels, np.int64), np.zeros((n_levels, 2), np.int64)
    total = np.int64(0)
    begin = 0
    for end in range(1, len(first) + 1):
        if end == len(first) or first[end] != first[begin]:
            total += _add_levels(second, begin, end, counts, hefts, psi, weights, ahead)
            begin = end
    return total


@njit(nogil=True, forceinline=True)
def _add_levels(levels, begin, end, counts, hefts, psi, weights, ahead):
    """As `sum_levels`, of some places; counts and hefts are 0 before and afterwards."""
    total = np.int64(0)
    for place in range(begin, end):
        counts[levels[place]] += 1
        if weights is not None:
            hefts[levels[place]] += ahead[place + 1] - ahead[place]
    if weights is not None:
        for place in range(begin, end):
            level = levels[place]
            own = weight_at(place, ahead, weights)
            total += psi_of_all(counts[level], (hefts[level, 0], hefts[level, 1]), own, psi, weights)
    for level in levels[begin:end]:
        if weights is None:  # all rows on the level at once
            total += counts[level] * psi[counts[level]]
        counts[level] = 0
        hefts[level] = 0
    return total


@njit(nogil=True, forceinline=True)
def take_both(xs, ys, x_order, y_unit, first, second):
    """Copy two columns in the order of the first, without rows that lack either, between infinite borders."""
    n = 0
    for row in x_order:
        if not (np.isnan(xs[row]) or np.isnan(ys[row])):
            first[LANES + n] = xs[row]
            second[LANES + n] = ys[row] * y_unit
            n += 1
    first[:LANES] = -np.inf
    first[LANES + n : 2 * LANES + n] = np.inf
    second[:LANES] = np.inf
    second[LANES + n : 2 * LANES + n] = np.inf
    return n


@njit(nogil=True, forceinline=True)
def psi_in_window(first, second, span, x, y, rho, psi, weights, ahead, own):
    """What psi counts within rho of (x, y), where `span` are the rows within rho of x."""
    near, far = inside(rho), edge(rho)
    nearer = no_farther = weight = square = np.int64(0)
    for at in range(LANES + span[0], LANES + span[3], LANES):
        inner = near_bits(first, at, x, near) & near_bits(second, at, y, near)
        outer = near_bits(first, at, x, far) & near_bits(second, at, y, far)
        nearer += count_bits(inner)
        no_farther += count_bits(outer)
        if weights is not None:
            heft = heft_of_bits(outer, at, ahead, weights)
            weight += heft[0]
            square += heft[1]
    return psi_of(nearer, no_farther, (weight, square), own, psi, weights)


@njit(nogil=True, forceinline=True)
def heft_of_bits(bits, at, ahead, weights):
    """Heft of the rows whose bits are set, of the eight from place `at` on, which is LANES for the first row."""
    weight = square = np.int64(0)
    while bits:
        place = at - LANES + lowest_bit(bits)
        heft = heft_between(place, place + 1, ahead, weights)
        weight += heft[0]
        square += heft[1]
        bits &= bits - 1
    return weight, square
