"""How much every row counts."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np

from certselect.errors import InvalidInput, keyword
from certselect.table.model import Table
from certselect.table.series import checked, columns_of
from certselect.table.target import refuse_constant

MOST_WHOLE = 2.0**53  # up to here every sum of whole weights is exact, in any order


def read_weights(sample_weight: Any, n_samples: int) -> tuple[np.ndarray | None, np.ndarray | None]:
    """Which rows count, None for all, and how much, None if each counts once.

    Whole weights stand for repeated rows and stay as they are. Others say only how rows
    compare with each other: they are scaled to add up to the number of rows that count.
    """
    if sample_weight is None:
        return None, None
    weights = _read(sample_weight, n_samples)
    rows = None
    if not weights.all():
        rows = np.flatnonzero(weights)
        if len(rows) < 2:
            raise InvalidInput(
                f"a {keyword('sample_weight')} that is zero for all rows but {len(rows)}",
                "at least two rows with a weight above 0",
                "Rows of weight 0 are left out: check the weights.",
            )
        weights = weights[rows]
    if _whole(weights):
        return rows, None if (weights == 1).all() else weights
    if (weights == weights[0]).all():
        return rows, None
    # Dividing by a power of two first, which is exact, keeps the sum of very large weights finite.
    weights = np.ldexp(weights, -np.frexp(weights.max())[1])
    scaled = weights / math.fsum(weights) * len(weights)
    return rows, np.maximum(scaled, np.nextafter(0.0, 1.0))


def weigh(table: Table, sample_weight: Any) -> Table:
    """The table with these weights, one for each of its rows; rows of weight 0 leave it."""
    rows, weights = read_weights(sample_weight, table.n_samples)
    if rows is not None:
        table = table.rows(rows)
        refuse_constant(table.classes, table.target_numbers, trimmed=True)
    return replace(table, weights=weights, weighted=True)


def _read(sample_weight: Any, n_samples: int) -> np.ndarray:
    if isinstance(sample_weight, str | int | float | np.generic):
        raise _refused(keyword("sample_weight", spelled=f"{sample_weight!r}"))
    columns = columns_of(sample_weight, "sample_weight")
    if len(columns) > 1 or len(columns[0]) != n_samples:
        shape = f"{len(columns)} columns of " if len(columns) > 1 else ""
        raise _refused(f"{shape}{len(columns[0])} weights for {n_samples} rows")
    weights = checked(columns[0], "sample_weight", "weight")
    if not isinstance(weights, np.ndarray):
        raise _refused(f"a {keyword('sample_weight')} that holds something else than numbers")
    weights = weights.astype(np.float64)
    if (weights < 0).any():
        raise _refused(f"the negative weight {weights.min()} in {keyword('sample_weight')}")
    return weights


def _whole(weights: np.ndarray) -> bool:
    with np.errstate(over="ignore"):
        return bool((weights == np.floor(weights)).all() and weights.sum() < MOST_WHOLE)


def _refused(what: str) -> InvalidInput:
    return InvalidInput(what, "one finite number for every row, 0 or more", f"Check {keyword('sample_weight')}.")
