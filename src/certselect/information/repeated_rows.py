"""Rows that stand in a table several times, which to neighbours are one row of that weight.

A row that was written down twice has itself for a neighbour, at no distance at all, and columns that
have nothing to do with each other seem to be copies. But equal rows are a sign of repetition only
where some column of numbers differs in all rows that are not equal; among levels and small whole
numbers they come by themselves.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from certselect.information.kernels.weights import whole_weights
from certselect.information.numeric import numeric_columns
from certselect.table import Table

_MANY = 20  # different whole numbers that may have been measured


def merge_repeated_rows(table: Table) -> Table:
    """The table with rows that are equal in every column as one row of their weight together."""
    columns = numeric_columns(table)
    numbers = np.concatenate([columns.values[~columns.discrete], table.target_numbers.T])
    if any(_all_differ(column) for column in numbers):
        return table  # the usual case: no row stands here twice
    first, place = _distinct(np.concatenate([columns.values, table.target[None], table.target_numbers.T]))
    if len(first) == len(place) or not any(_measured(column) for column in numbers[:, first]):
        return table
    whole, bits = (None, 0) if table.weights is None else whole_weights(table.weights)
    weights = np.ldexp(np.bincount(place, whole), -bits)  # sums of whole numbers: no order of rows matters
    return replace(table.rows(first), weights=None if (weights == weights[0]).all() else weights)


def _all_differ(column: np.ndarray) -> bool:
    ordered = np.sort(column)
    return bool((ordered[1:] != ordered[:-1]).all()) and not np.isnan(ordered[-1])


def _measured(column: np.ndarray) -> bool:
    """Whether a column of distinct rows has numbers that are all different, and not just a few whole ones."""
    return _all_differ(column) and (len(column) >= _MANY or bool((column != np.rint(column)).any()))


def _distinct(cells: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The first of the rows that are equal in all columns, and which of these each row is."""
    seen: dict[bytes, int] = {}
    rows = np.ascontiguousarray(cells.T) + 0.0  # -0.0 is 0.0
    place = np.array([seen.setdefault(row.tobytes(), len(seen)) for row in rows])
    return np.unique(place, return_index=True)[1], place
