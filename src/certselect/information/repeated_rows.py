"""Rows that stand in a table several times, which to neighbours are one row of that weight.

A row that was written down twice has itself for a neighbour, at no distance at all, and columns that
have nothing to do with each other seem to be copies. But equal rows are a sign of repetition only
where they would hardly come by chance; among a few columns of small whole numbers they do.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from certselect.information.normal_scores import fixed_point, normal_scores
from certselect.information.numeric import NumericColumns
from certselect.table import Table

_BY_CHANCE = 0.1  # pairs of equal rows to be expected: with more, equal rows are no repeated ones
# Fewer distinct rows say nothing about that, unless they have fractions and do not occur more often on average.
_FEW, _OFTEN = 20, 4


def merge_repeated_rows(table: Table, columns: NumericColumns) -> Table:
    """The table with rows that are equal in every column as one row of their weight together."""
    cells = np.concatenate([columns.values, table.target[None], table.target_numbers.T])
    if any(_all_differ(column) for column in cells):
        return table  # the usual case: no row stands here twice
    first, place = _distinct(cells)
    if len(first) == len(place) or not _rarely_equal(cells[:, first], len(place)):
        return table
    weights = np.bincount(place, table.weights).astype(np.float64)
    return replace(table.rows(first), weights=None if (weights == weights[0]).all() else weights)


def _all_differ(column: np.ndarray) -> bool:
    ordered = np.sort(column)
    return bool((ordered[1:] != ordered[:-1]).all()) and not np.isnan(ordered[-1])


def _distinct(cells: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The first of the rows that are equal in all columns, and which of these each row is."""
    seen: dict[bytes, int] = {}
    rows = np.ascontiguousarray(cells.T) + 0.0  # -0.0 is 0.0
    place = np.array([seen.setdefault(row.tobytes(), len(seen)) for row in rows])
    return np.unique(place, return_index=True)[1], place


def _rarely_equal(cells: np.ndarray, n_rows: int) -> bool:
    """Whether two of these rows, which are all distinct, would hardly be equal if columns were independent."""
    m = cells.shape[1]
    if m < _FEW and (n_rows > _OFTEN * m or (cells == np.rint(cells)).all()):
        return False
    tied = normal_scores(cells, fixed_point(None, m), None)[1]  # of two rows, each column's chance to be equal
    return float(np.prod(tied)) * m * (m - 1) / 2 < _BY_CHANCE
