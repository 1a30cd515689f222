"""Expected information of pairs of columns, compiled: look-ups in tables of expected cells, and sums of integers.

The cells themselves are those of `chance_cells`, float for float: the same additions, multiplications and divisions
in the same order, of several cells side by side. Logarithms are taken by NumPy.
"""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(nogil=True, cache=True)
def sum_patterns(
    first, last, owners, numbers, starts, places, id_starts, tables, table_rows, pattern_starts, pattern_columns,
    sums, sum_starts,
):  # fmt: skip
    """Expected cells of patterns first..last-1 of level counts with those of their slice from themselves on, added up.

    They go to sums[sum_starts[s]:], a square for each slice, also to the mirrored places.
    """
    by_count = np.empty((id_starts[1:] - id_starts[:-1]).max(), np.int64)
    for pattern in range(first, last):
        s, own = owners[pattern], numbers[pattern]
        n_patterns = pattern_starts[s + 1] - pattern_starts[s]
        _add_cells(pattern_columns[pattern], s, starts, places, id_starts, tables, table_rows, by_count)
        square = sums[sum_starts[s] : sum_starts[s] + n_patterns * n_patterns]
        for other in range(own, n_patterns):
            column = pattern_columns[pattern_starts[s] + other]
            added = 0
            for level in range(starts[column], starts[column + 1]):
                added += by_count[places[level] - id_starts[s]]
            square[own * n_patterns + other] = added
            square[other * n_patterns + own] = added


@njit(nogil=True, cache=True)
def subtract_expected(
    first, last, features, slices, signs, n, starts, places, id_starts, tables, table_rows, patterns, pattern_starts,
    pattern_columns, known, known_starts, one, samples, limited, terms,
):  # fmt: skip
    """Subtract what features[first:last] and all are expected to share from these rows of `terms`.

    Column s * n + i has the level counts of feature i in slice s, numbered over all slices by `places`; columns with
    the same counts have the same pattern. `table_rows[place]` is where the expected cells of a count begin. `known`
    are the sums of all pairs of patterns, or empty.
    """
    by_count = np.empty((id_starts[1:] - id_starts[:-1]).max(), np.int64)
    counted = np.empty((pattern_starts[1:] - pattern_starts[:-1]).max(), np.int64)
    sums = np.empty(n, np.int64)
    for row in range(first, last):
        feature = features[row]
        sums[:] = 0
        for which in range(len(slices)):
            s = slices[which]
            n_patterns = pattern_starts[s + 1] - pattern_starts[s]
            of_features = patterns[s * n : (s + 1) * n]
            by_pattern = counted
            if len(known):
                begin = known_starts[s] + of_features[feature] * n_patterns
                by_pattern = known[begin : begin + n_patterns]
            else:
                _add_cells(s * n + feature, s, starts, places, id_starts, tables, table_rows, by_count)
                for pattern in range(n_patterns):
                    column = pattern_columns[pattern_starts[s] + pattern]
                    added = 0
                    for level in range(starts[column], starts[column + 1]):
                        added += by_count[places[level] - id_starts[s]]
                    counted[pattern] = added
            if signs[which] > 0:
                for other in range(n):
                    sums[other] += by_pattern[of_features[other]]
            else:
                for other in range(n):
                    sums[other] -= by_pattern[of_features[other]]
        own = terms[row, feature]
        for other in range(n):
            less = terms[row, other] - sums[other] / one / samples
            terms[row, other] = max(less, 0.0) if limited else less
        terms[row, feature] = max(own, 0.0) if limited else own


@njit(nogil=True)
def _add_cells(column, s, starts, places, id_starts, tables, table_rows, by_count):
    """Expected cells of a column with each count of its slice, added up over its levels."""
    n_ids = id_starts[s + 1] - id_starts[s]
    by_count[:n_ids] = 0
    for level in range(starts[column], starts[column + 1]):
        begin = table_rows[places[level]]
        for other in range(n_ids):
            by_count[other] += tables[begin + other]


_LANES = 8


@njit(nogil=True, cache=True)
def sum_terms(a, b, total, count_logs, sums, values):
    """Sums over n = 1 .. len(count_logs) of the weights of `_terms_from_zero`, and of n ln n times each."""
    first, second, rest = np.empty(_LANES), np.empty(_LANES), np.empty(_LANES)
    weight, added, value = np.empty(_LANES), np.empty(_LANES), np.empty(_LANES)
    for start in range(0, len(a), _LANES):
        for lane in range(_LANES):
            cell = min(start + lane, len(a) - 1)
            first[lane], second[lane], rest[lane] = a[cell] + 1.0, b[cell] + 1.0, total[cell] - a[cell] - b[cell]
            weight[lane] = (first[lane] - 1.0) * (second[lane] - 1.0) / ((rest[lane] + 1.0) * 1.0)
            added[lane], value[lane] = weight[lane], weight[lane] * count_logs[0]
        for step in range(1, len(count_logs)):
            n, log = step + 1.0, count_logs[step]
            for lane in range(_LANES):
                ratio = (first[lane] - n) * (second[lane] - n) / ((rest[lane] + n) * n)
                weight[lane] = ratio * weight[lane]
                added[lane] += weight[lane]
                value[lane] += weight[lane] * log
        for lane in range(min(_LANES, len(a) - start)):
            sums[start + lane], values[start + lane] = added[lane], value[lane]


@njit(nogil=True, cache=True)
def expand_moments(a, b, total, mean, binomials, factors, expected):
    """The expansion of `_by_moments`; `binomials[k, j]` is k over j, and `factors[order]` that of each moment."""
    most = len(factors) - 1
    moments, brackets = np.empty((most + 1, _LANES)), np.empty((most, _LANES))
    product, sums, center = np.empty(_LANES), np.empty(_LANES), np.empty(_LANES)
    everyone, moment, result = np.empty(_LANES), np.empty(_LANES), np.empty(_LANES)
    for start in range(0, len(a), _LANES):
        for lane in range(_LANES):
            cell = min(start + lane, len(a) - 1)
            center[lane], everyone[lane] = mean[cell], total[cell]
            only_first, only_second = a[cell] - mean[cell], b[cell] - mean[cell]
            product[lane], sums[lane] = only_first * only_second, only_first + only_second
            moments[0, lane], moments[1, lane], result[lane] = 1.0, 0.0, 0.0
        for k in range(1, most):
            for lane in range(_LANES):
                known = product[lane] * moments[k - 1, lane] - sums[lane] * moments[k, lane]
                brackets[k - 1, lane] = known
                moment[lane] = known * k
            for j in range(k - 1):
                times = binomials[k, j]
                for lane in range(_LANES):
                    moment[lane] += brackets[j, lane] * times
            for lane in range(_LANES):
                moments[k + 1, lane] = moment[lane] / (everyone[lane] - k)
                brackets[k - 1, lane] += moments[k + 1, lane]
        for order in range(most, 1, -1):
            for lane in range(_LANES):
                result[lane] = (result[lane] + moments[order, lane] * factors[order]) / center[lane]
        for lane in range(min(_LANES, len(a) - start)):
            expected[start + lane] = result[lane]
