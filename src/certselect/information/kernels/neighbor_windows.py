"""Rows near a point in two columns, looked for in a window of the rows sorted by the first."""

from __future__ import annotations

import numpy as np
from numba import njit

from certselect.information.kernels.lanes import LANES
from certselect.information.kernels.neighbor_counts import edge, inside
from certselect.information.kernels.neighbor_lanes import count_bits, lowest_bit, near_bits
from certselect.information.kernels.neighbor_weights import heft_between, psi_of


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
