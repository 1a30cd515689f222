"""Which measure of information suits a table: what `measure="auto"` chooses, and why.

Nobody knows the shape of a dependence beforehand, so a table is counted, which sees any shape. Only
where rows are too few to be counted are numbers ranked. Distances are never picked: on none of the
tables of benchmarks/outcomes.py do they choose features that predict better than counts do.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from certselect.coding import CodedTable, SparseCodedTable
from certselect.information.normal_scores import fixed_point, normal_scores
from certselect.information.numeric import numeric_columns
from certselect.information.tied_columns import MOST_TIED
from certselect.settings import Measuring
from certselect.table import Table

# With fewer rows than the first, columns of numbers are ranked if each class has as many as the second.
FEWEST_TO_COUNT, FEWEST_OF_A_CLASS = 50, 10
# Bins of equal counts: the fourth root of the number of rows, but for these.
FEWEST_BINS, MOST_BINS = 3, 5
# Samples per cell of the joint table below which the plug-in's bias matters.
SAMPLES_PER_CELL = 5


def pick_measure(table: Table, measuring: Measuring) -> tuple[Measuring, str]:
    """The measure for a table, with settings that were not changed; and the reason in words."""
    counted = replace(measuring, measure="plugin")
    if table.sparse is not None:
        return counted, "the table is sparse"
    rows = _count(table.n_samples, table.weights)
    others = sum(len(block.positions) for block in table.blocks if block.kind != "number")
    kinds = f"{others} of categories or whole numbers" if others else "all numbers"
    size = f"{rows} rows of {table.n_features} columns, {kinds}"
    if not others and _ranked(table, rows):
        return Measuring(
            measure="gaussian_copula"
        ), f"{size}: too few rows to count, so what is neither rising nor falling cannot be seen"
    bins = int(np.clip(np.floor(rows**0.25), FEWEST_BINS, MOST_BINS))
    cut = []
    if others < table.n_features and (measuring.discretize, measuring.bins) == (Measuring.discretize, Measuring.bins):
        counted = replace(counted, discretize="quantile", bins=bins)
        cut.append("columns")
    if table.task == "regression" and measuring.target_bins == Measuring.target_bins:
        counted = replace(counted, target_bins=bins)
        cut.append("target")
    if cut:
        size += f"; {' and '.join(cut)} cut into {bins} bins of equal counts, within which nothing can be seen"
    return counted, size


def pick_correction(coded: CodedTable | SparseCodedTable) -> tuple[str, str]:
    """The bias correction for a coded table, and the reason in words."""
    cells = float(np.median(coded.levels)) ** 2 * len(coded.classes)
    rows = _count(coded.n_samples, coded.weights)
    per_cell = f"{rows / cells:.3g} rows for each cell of a typical joint table"
    if rows >= SAMPLES_PER_CELL * cells:
        return "none", per_cell
    whole = coded.weights is None or bool((coded.weights == np.floor(coded.weights)).all())
    return ("grassberger" if whole else "miller_madow"), f"only {per_cell}"


def _ranked(table: Table, rows: int) -> bool:
    """Whether columns of numbers are better ranked than counted."""
    if not FEWEST_OF_A_CLASS * len(table.classes) <= rows < FEWEST_TO_COUNT:
        return False
    if table.missing != "pairwise" and any(block.missing is not None for block in table.blocks):
        return False  # what is missing is a level of its own
    fixed = fixed_point(table.weights, table.n_samples)
    columns = np.concatenate([numeric_columns(table, "gaussian_copula").values, table.target_numbers.T])
    return bool((normal_scores(columns, fixed, fixed.weights)[1] <= MOST_TIED).all())


def _count(n_samples: int, weights: np.ndarray | None) -> int:
    """How many rows there are, each counted as often as its weight."""
    return n_samples if weights is None else round(float(weights.sum()))
