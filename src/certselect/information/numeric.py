"""Columns as numbers, for estimators that measure distances or ranks instead of counting levels."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from certselect.table import Table


@dataclass(frozen=True, eq=False)
class NumericColumns:
    """Every feature as float64, one contiguous row per feature.

    Attributes
    ----------
    values : ndarray of float64 (n, m)
        Integers and numbers as they are, NaN where missing; bools and categories by their codes.
    discrete : ndarray of bool (n,)
        Bools and categories: equal or not, but nothing between.
    constant : ndarray of bool (n,)
        One value only, missing cells apart.
    complete : bool
        No cell is missing.
    """

    values: np.ndarray
    discrete: np.ndarray
    constant: np.ndarray
    complete: bool


def numeric_columns(table: Table) -> NumericColumns:
    """The columns of a dense table as numbers."""
    values = np.empty((table.n_features, table.n_samples))
    discrete = np.zeros(table.n_features, dtype=bool)
    complete = True
    for block in table.blocks:
        values[block.positions] = block.values.T
        discrete[block.positions] = block.kind == "category" or block.values.dtype == bool
        if block.missing is None:
            continue
        complete = False
        some = values[block.positions]
        some[block.missing.T] = np.nan
        values[block.positions] = some
    if complete:
        constant = (values == values[:, :1]).all(axis=1)
    else:
        lowest, highest = np.nanmin(values, axis=1, initial=np.inf), np.nanmax(values, axis=1, initial=-np.inf)
        constant = lowest >= highest
    return NumericColumns(values, discrete, constant, complete)
