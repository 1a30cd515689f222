"""Which measure of information suits a table: what `measure="auto"` chooses, and why."""

from __future__ import annotations

import numpy as np

from certselect.coding import CodedTable, SparseCodedTable
from certselect.table import Table

# Neighbours find dependence of any shape, but with fewer rows they see mostly noise,
FEWEST_FOR_NEIGHBORS = 100
# and their time grows with rows x features^2: this many take some seconds on two cores.
MOST_FOR_NEIGHBORS = 2e7
# Samples per cell of the joint table below which the plug-in's bias matters.
SAMPLES_PER_CELL = 5


def pick_measure(table: Table) -> tuple[str, str]:
    """The measure for a table's columns, its target and its number of rows, and the reason in words."""
    if table.sparse is not None:
        return "plugin", "the table is sparse"
    others = sum(len(block.positions) for block in table.blocks if block.kind != "number")
    if others:
        return "plugin", f"{others} of {table.n_features} columns are categories or whole numbers"
    if table.missing != "pairwise" and any(block.missing is not None for block in table.blocks):
        return "plugin", "missing values are a level of their own"
    rows = _count(table.n_samples, table.weights)
    size = f"{rows} rows of {table.n_features} columns, all numbers"
    if not _whole(table.weights):
        return "gaussian_copula", f"{size}, with weights that are not whole"
    if rows < FEWEST_FOR_NEIGHBORS:
        return "gaussian_copula", f"{size}: too few rows for neighbours"
    if rows * table.n_features**2 > MOST_FOR_NEIGHBORS:
        return "gaussian_copula", f"{size}: too many for neighbours"
    return "neighbors", size


def pick_correction(coded: CodedTable | SparseCodedTable) -> tuple[str, str]:
    """The bias correction for a coded table, and the reason in words."""
    cells = float(np.median(coded.levels)) ** 2 * len(coded.classes)
    rows = _count(coded.n_samples, coded.weights)
    per_cell = f"{rows / cells:.3g} rows for each cell of a typical joint table"
    if rows >= SAMPLES_PER_CELL * cells:
        return "none", per_cell
    return ("grassberger" if _whole(coded.weights) else "miller_madow"), f"only {per_cell}"


def _count(n_samples: int, weights: np.ndarray | None) -> int:
    """How many rows there are, each counted as often as its weight."""
    return n_samples if weights is None else round(float(weights.sum()))


def _whole(weights: np.ndarray | None) -> bool:
    return weights is None or bool((weights == np.floor(weights)).all())
