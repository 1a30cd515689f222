"""Expected information of pairs of columns, compiled: look-ups in tables of expected cells, and sums of integers."""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(nogil=True, cache=True)
def subtract_expected(
    first, last, features, slices, signs, n, starts, places, id_starts, tables, table_rows, patterns, pattern_starts,
    pattern_columns, one, samples, limited, terms,
):  # fmt: skip
    """Subtract what features[first:last] and all are expected to share from these rows of `terms`.

    Column s * n + i has the level counts of feature i in slice s, numbered over all slices by `places`; columns with
    the same counts have the same pattern. `table_rows[place]` is where the expected cells of a count begin.
    """
    beside_counts = np.empty((id_starts[1:] - id_starts[:-1]).max(), np.int64)
    beside_patterns = np.empty((pattern_starts[1:] - pattern_starts[:-1]).max(), np.int64)
    sums = np.empty(n, np.int64)
    for row in range(first, last):
        feature = features[row]
        sums[:] = 0
        for which in range(len(slices)):
            s = slices[which]
            lowest, n_ids = id_starts[s], id_starts[s + 1] - id_starts[s]
            beside_counts[:n_ids] = 0
            for level in range(starts[s * n + feature], starts[s * n + feature + 1]):
                cells = tables[table_rows[places[level]] : table_rows[places[level]] + n_ids]
                for other in range(n_ids):
                    beside_counts[other] += cells[other]
            n_patterns = pattern_starts[s + 1] - pattern_starts[s]
            for pattern in range(n_patterns):
                column = pattern_columns[pattern_starts[s] + pattern]
                added = 0
                for level in range(starts[column], starts[column + 1]):
                    added += beside_counts[places[level] - lowest]
                beside_patterns[pattern] = signs[which] * added
            of_features = patterns[s * n : (s + 1) * n]
            for other in range(n):
                sums[other] += beside_patterns[of_features[other]]
        own = terms[row, feature]
        for other in range(n):
            less = terms[row, other] - sums[other] / one / samples
            terms[row, other] = max(less, 0.0) if limited else less
        terms[row, feature] = max(own, 0.0) if limited else own
