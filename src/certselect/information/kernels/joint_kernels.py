"""Sums over the cells of a column, each feature and the class, compiled; `joint_cells` says what is computed.

For tables small enough to be counted whole, of samples that weigh the same. Sums are the same whole numbers as there.
"""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(nogil=True, cache=True)
def sum_phi(codes, levels, column, n_column, target, n_classes, logs, sums):
    """Sums of phi over (column, feature, class) and over (column, feature), into two columns of `sums`."""
    table = np.zeros(n_column * levels.max() * n_classes, np.int64)
    for feature in range(len(levels)):
        n_levels = levels[feature]
        _count(codes, feature, n_levels, column, target, n_classes, table)
        by_class = whole = np.int64(0)
        for cell in range(n_column * n_levels):
            total = np.int64(0)
            for place in range(cell * n_classes, (cell + 1) * n_classes):
                total += table[place]
                by_class += logs[table[place]]
                table[place] = 0
            whole += logs[total]
        sums[feature, 0], sums[feature, 1] = by_class, whole


@njit(nogil=True, cache=True)
def sum_mean_squares(codes, levels, column, n_column, target, n_classes, unit, sums):
    """Sums over the cells of (column, feature) of squared class counts by the cell's own count, into `sums`."""
    table = np.zeros(n_column * levels.max() * n_classes, np.int64)
    for feature in range(len(levels)):
        n_levels = levels[feature]
        _count(codes, feature, n_levels, column, target, n_classes, table)
        added = np.int64(0)
        for cell in range(n_column * n_levels):
            total = squares = np.int64(0)
            for place in range(cell * n_classes, (cell + 1) * n_classes):
                count = table[place]
                total += count
                squares += count * count
                table[place] = 0
            if total:
                added += np.int64(np.rint(np.float64(squares) / np.float64(total) * unit))
        sums[feature] = added


@njit(nogil=True, forceinline=True)
def _count(codes, feature, n_levels, column, target, n_classes, table):
    for sample in range(len(column)):
        cell = column[sample] * n_levels + np.int64(codes[feature, sample])
        table[cell * n_classes + target[sample]] += 1
