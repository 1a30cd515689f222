"""Columns as numbers, for estimators that measure distances or ranks instead of counting levels."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from certselect.errors import InvalidInput
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


def numeric_columns(table: Table, estimator: str) -> NumericColumns:
    """The columns of a table as `estimator`, named in errors, sees them."""
    if table.sparse is not None:
        raise InvalidInput(
            f"a sparse matrix with measure={estimator!r}",
            "a dense table",
            "Use measure='plugin', which counts what is not zero, or pass X.toarray().",
        )
    values = np.empty((table.n_features, table.n_samples))
    discrete = np.zeros(table.n_features, dtype=bool)
    complete = True
    for block in table.blocks:
        values[block.positions] = block.values.T
        discrete[block.positions] = block.kind == "category" or block.values.dtype == bool
        if block.missing is None:
            continue
        if table.missing == "level":
            raise InvalidInput(
                f"missing values and missing='level' with measure={estimator!r}",
                "missing='pairwise': numbers have no level for what is missing",
                "Pass missing='pairwise', or measure='plugin'.",
            )
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
