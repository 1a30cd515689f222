"""Which estimator suits a table: what `estimator="auto"` chooses, and why."""

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


def pick_estimator(table: Table) -> tuple[str, str]:
    """The estimator for a table's columns, its target and its number of rows, and the reason in words."""
    if table.sparse is not None:
        return "plugin", "the table is sparse"
    others = sum(len(block.positions) for block in table.blocks if block.kind != "number")
    if others:
        return "plugin", f"{others} of {table.n_features} columns are categories or whole numbers"
    if table.missing == "level" and any(block.missing is not None for block in table.blocks):
        return "plugin", "missing values are a level of their own"
    size = f"{table.n_samples} rows of {table.n_features} columns, all numbers"
    if table.weights is not None:
        return "gaussian_copula", f"{size}, with weights"
    if table.n_samples < FEWEST_FOR_NEIGHBORS:
        return "gaussian_copula", f"{size}: too few rows for neighbours"
    if table.n_samples * table.n_features**2 > MOST_FOR_NEIGHBORS:
        return "gaussian_copula", f"{size}: too many for neighbours"
    return "neighbors", size


def pick_correction(coded: CodedTable | SparseCodedTable) -> tuple[str, str]:
    """The bias correction for a coded table, and the reason in words."""
    cells = float(np.median(coded.levels)) ** 2 * len(coded.classes)
    per_cell = f"{coded.n_samples / cells:.3g} rows for each cell of a typical joint table"
    if coded.n_samples >= SAMPLES_PER_CELL * cells:
        return "none", per_cell
    fractional = coded.weights is not None and bool((coded.weights != np.floor(coded.weights)).any())
    return ("miller_madow" if fractional else "grassberger"), f"only {per_cell}"
