"""Which measure of information suits a table: what `measure="auto"` chooses, and why.

Nobody knows the shape of a dependence beforehand, so a table is counted, which sees any shape. Only
where rows are too few to be counted are numbers ranked. Distances are never picked: over the tables of
benchmarks/measure_outcomes.py they choose features that predict no better, in far more time.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from certselect.coding import Coding
from certselect.coding.levels import NumberCuts
from certselect.information.normal_scores import fixed_point, normal_scores
from certselect.information.numeric import numeric_columns
from certselect.information.tied_columns import MOST_TIED
from certselect.settings import Measuring
from certselect.settings.measuring import MOST_WHOLE_LEVELS
from certselect.table import Table
from certselect.table.model import Decision

# With fewer rows than the first, columns of numbers are ranked if every class has as many as the second.
FEWEST_TO_COUNT, FEWEST_OF_A_CLASS = 50, 10
# More levels than this are corrected for,
MOST_LEVELS = 20
# unless there are so many rows for each cell of the largest joint table,
SAMPLES_PER_CELL = 5
# by shrinkage, whose time grows with rows x columns^2: this many take some seconds on two cores.
MOST_TO_SHRINK = 5e8


def pick_measure(table: Table, measuring: Measuring) -> tuple[Measuring, str]:
    """The measure for a table, and the settings it needs where they were left as they are; and the reason in words."""
    # Whoever gave a setting that has no effect was told so.
    counted = replace(measuring, measure="plugin", **{name: getattr(Measuring, name) for name in measuring.idle()})
    if table.sparse is not None:
        return counted, "the table is sparse"
    rows = count_rows(table.n_samples, table.weights)
    others = sum(len(block.positions) for block in table.blocks if block.kind != "number")
    size = size_in_words(rows, table.n_features, others)
    if not others and measuring == Measuring(measure="auto") and _ranked(table, rows):
        blind = "too few rows to count, so what is neither rising nor falling cannot be seen"
        return Measuring(measure="gaussian_copula"), f"{size}: {blind}"
    return counted, size


def size_in_words(rows: int, n_features: int, others: int) -> str:
    """What a table is measured by: its rows, its columns, and how many of these are not numbers."""
    kinds = f"{others} of categories or whole numbers" if others else "all numbers"
    return f"{rows} rows of {n_features} columns, {kinds}"


def _blind_within_bins(coding: Coding) -> str:
    """What counting cannot see of numbers in bins of equal counts, in words; empty if there are none."""
    if coding.discretize != "quantile" or not any(isinstance(part, NumberCuts) for part in coding.parts):
        return ""
    return f"; numbers cut into {coding.bins} bins of equal counts, within which nothing can be seen"


def correct_for_bias(coding: Coding, measuring: Measuring, rows: int, *, can_shrink: bool) -> tuple[Measuring, str]:
    """The settings with a correction that suits a coding where none was named, and what there is to say of it."""
    why = _blind_within_bins(coding)
    if measuring.correction != "none":
        return measuring, why
    correction, because = _correction_for(coding.levels, len(coding.classes), rows, can_shrink=can_shrink)
    return replace(measuring, correction=correction), f"{why}; {because}"


def _correction_for(levels: np.ndarray, n_classes: int, rows: int, *, can_shrink: bool) -> tuple[str, str]:
    """The bias correction for columns of so many levels, and the reason in words.

    Bias does no harm where all columns have about as much of it; those of many levels have more.
    """
    most = int(levels.max())
    if most <= MOST_LEVELS or rows >= SAMPLES_PER_CELL * most**2 * n_classes:
        return "none", f"no correction for columns of {most} levels at most"
    shrinks = can_shrink and rows * len(levels) ** 2 <= MOST_TO_SHRINK
    correction = "shrinkage" if shrinks else "miller_madow"
    return correction, f"{correction} correction for columns of up to {most} levels"


def cut_integers(whole: np.ndarray, coding: Coding) -> tuple[Decision, ...]:
    """What there is to say of columns of whole numbers that have too many values to be levels."""
    if coding.integers != "auto" or not len(whole):
        return ()
    cut = [part.positions for part in coding.parts if isinstance(part, NumberCuts)]
    if not cut:
        return ()
    columns = tuple(np.intersect1d(whole, np.concatenate(cut)).astype(int).tolist())
    return (Decision("number", columns, {"more_than": MOST_WHOLE_LEVELS}),) if columns else ()


def _ranked(table: Table, rows: int) -> bool:
    """Whether columns of numbers are better ranked than counted."""
    if rows >= FEWEST_TO_COUNT or np.bincount(table.target, table.weights).min() < FEWEST_OF_A_CLASS:
        return False
    if table.missing != "pairwise" and any(block.missing is not None for block in table.blocks):
        return False  # what is missing is a level of its own
    fixed = fixed_point(table.weights, table.n_samples)
    columns = np.concatenate([numeric_columns(table).values, table.target_numbers.T])
    return bool((normal_scores(columns, fixed, fixed.weights).tied <= MOST_TIED).all())


def count_rows(n_samples: int, weights: np.ndarray | None) -> int:
    """How many rows there are, each counted as often as its weight."""
    return n_samples if weights is None else round(float(weights.sum()))
