"""Rows on the same levels of one or two discrete columns: every row counts them, itself included."""

from __future__ import annotations

import numpy as np
from numba import njit

from certselect.information.kernels.neighbor_weights import heft_between, psi_of_all, weight_at


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
