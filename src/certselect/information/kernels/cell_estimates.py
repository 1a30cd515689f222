"""Information from the cells of a joint table, compiled; `cell_measures` says what is computed.

Every operation on floats is the same as there, in the same order, so that both
give the same floats.
"""

# The type checker takes the functions compiled below for plain Python ones.
# pyright: reportCallIssue=false

from __future__ import annotations

import numpy as np
from numba import njit

from certselect.information.kernels.cell_measures import SHRUNK_BITS, SQUARE_BITS
from certselect.information.kernels.logarithm import LN_2, LOG_OF_CENTER, ONE_OVER_CENTER

# How counts become information.
LOOKED_UP, COMPUTED, MILLER_MADOW, GRASSBERGER, SHRINKAGE = range(5)
# The tables of a pair: the first four give I(Xi;Xj), the others I(Xi;Xj|C).
WHOLE, LEFT, RIGHT, EVERYONE, WITHIN, LEFT_CLASS, RIGHT_CLASS, CLASSES = range(8)

_SHRUNK = 2.0**SHRUNK_BITS
_SHRUNK_UNIT = 2.0**-SHRUNK_BITS
_SQUARE = 2.0**SQUARE_BITS
_SQUARE_UNIT = 2.0**-SQUARE_BITS


@njit(nogil=True, cache=True)
def information(counts, sizes, first, logs, rule, weight_unit, fixed):
    """I of the four tables from `first` on: counts[t, : sizes[t]] are the cells of table t."""
    samples = _total(counts, sizes)
    if samples == 0:
        return 0.0
    joint, left, right, given = first, first + 1, first + 2, first + 3
    if rule == SHRINKAGE:
        slices = np.float64(sizes[given])
        cells = np.float64(sizes[LEFT]) * np.float64(sizes[RIGHT]) * slices
        weight = _shrinkage(counts[joint], sizes[joint], cells, samples, weight_unit)
        total = (
            _shrunk_sum(counts[joint], sizes[joint], cells, samples, weight)
            - _shrunk_sum(counts[left], sizes[left], np.float64(sizes[LEFT]) * slices, samples, weight)
            - _shrunk_sum(counts[right], sizes[right], np.float64(sizes[RIGHT]) * slices, samples, weight)
            + _shrunk_sum(counts[given], sizes[given], slices, samples, weight)
        )
        return max(total, 0) * _SHRUNK_UNIT
    total = (
        _phi_sum(counts[joint], sizes[joint], logs, rule, weight_unit, fixed)
        - _phi_sum(counts[left], sizes[left], logs, rule, weight_unit, fixed)
        - _phi_sum(counts[right], sizes[right], logs, rule, weight_unit, fixed)
        + _phi_sum(counts[given], sizes[given], logs, rule, weight_unit, fixed)
    )
    return max(total, 0) * (1.0 / (samples * weight_unit * fixed))


@njit(nogil=True, cache=True)
def entropies(counts, sizes, logs, rule, weight_unit, fixed):
    """H(right), and H(right|left) from the joint table."""
    samples = _total(counts, sizes)
    if samples == 0:
        return 0.0, 0.0
    if rule == SHRINKAGE:
        levels = np.float64(sizes[RIGHT])
        weight = _shrinkage(counts[RIGHT], sizes[RIGHT], levels, samples, weight_unit)
        together = _shrunk_sum(counts[EVERYONE], sizes[EVERYONE], 1.0, samples, weight)
        own = together - _shrunk_sum(counts[RIGHT], sizes[RIGHT], levels, samples, weight)
        slices = np.float64(sizes[LEFT])
        weight = _shrinkage(counts[WHOLE], sizes[WHOLE], levels * slices, samples, weight_unit)
        within = _shrunk_sum(counts[LEFT], sizes[LEFT], slices, samples, weight)
        within -= _shrunk_sum(counts[WHOLE], sizes[WHOLE], levels * slices, samples, weight)
        return max(own, 0) * _SHRUNK_UNIT, max(within, 0) * _SHRUNK_UNIT
    unit = 1.0 / (samples * weight_unit * fixed)
    own = _phi_sum(counts[EVERYONE], sizes[EVERYONE], logs, rule, weight_unit, fixed)
    own -= _phi_sum(counts[RIGHT], sizes[RIGHT], logs, rule, weight_unit, fixed)
    within = _phi_sum(counts[LEFT], sizes[LEFT], logs, rule, weight_unit, fixed)
    within -= _phi_sum(counts[WHOLE], sizes[WHOLE], logs, rule, weight_unit, fixed)
    return max(own, 0) * unit, max(within, 0) * unit


@njit(nogil=True, forceinline=True)
def _total(counts, sizes):
    return counts[EVERYONE, 0] if sizes[EVERYONE] else 0


@njit(nogil=True, cache=True)
def _phi_sum(counts, size, logs, rule, weight_unit, fixed):
    """Sum of phi in fixed point; `logs` begins its table, `rule` says how it goes on.

    Another table stands beside it for a cell that holds all samples, the only one then.
    """
    of_cell, of_everyone = logs
    total = np.int64(0)
    if size == 1:
        of_cell = of_everyone
        if rule == GRASSBERGER:
            rule = COMPUTED
    if rule == LOOKED_UP:
        for i in range(size):
            total += of_cell[counts[i]]
        return total
    for i in range(size):
        count = counts[i]
        if count < len(of_cell):
            total += of_cell[count]
            continue
        samples = count * weight_unit
        if rule == GRASSBERGER:
            half = np.float64(count // 2)
            value = samples * (natural_log(2 * half) + 1 / (24 * half * half))
        else:
            value = samples * natural_log(samples)
            if rule == MILLER_MADOW:
                value = value - 0.5
        total += np.int64(np.rint(value * fixed))
    return total


@njit(nogil=True, cache=True)
def _shrinkage(counts, size, cells, samples, weight_unit):
    """The weight of equal frequencies."""
    squares = np.int64(0)
    for i in range(size):
        frequency = counts[i] / samples
        squares += np.int64(np.rint(frequency * frequency * _SQUARE))
    together = squares * _SQUARE_UNIT
    apart = (samples * weight_unit - 1) * (together - 1 / cells)
    return min((1 - together) / apart, 1.0) if apart > 0 else 1.0


@njit(nogil=True, cache=True)
def _shrunk_sum(counts, size, cells, samples, weight):
    """Sum of p ln p in fixed point, over the cells that are not empty and those that are."""
    equal = weight / cells
    rest = 1 - weight
    total = np.int64(0)
    for i in range(size):
        frequency = equal + rest * (counts[i] / samples)
        total += np.int64(np.rint(frequency * natural_log(frequency) * _SHRUNK))
    if equal > 0:
        unseen = (cells - size) * (equal * natural_log(equal))
        total += np.int64(np.rint(unseen * _SHRUNK))
    return total


@njit(nogil=True, forceinline=True)
def natural_log(value):
    """`logarithm.natural_log` of one number, taken apart by its bits."""
    bits = np.float64(value).view(np.int64)
    entry = (bits >> 44) & 255
    mantissa = np.int64((bits & 0x000FFFFFFFFFFFFF) | 0x3FE0000000000000).view(np.float64)
    r = (mantissa - (entry + 256.5) / 512) * ONE_OVER_CENTER[entry]
    series = r * (1 - r * (1 / 2 - r * (1 / 3 - r * (1 / 4 - r * (1 / 5 - r * (1 / 6))))))
    return ((bits >> 52) - 1022) * LN_2 + (LOG_OF_CENTER[entry] + series)
