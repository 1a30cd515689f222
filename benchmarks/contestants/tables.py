"""Tables of codes by the names of their shapes: the paper's sets where the data are, else made-up ones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .problems import coded_table

GENERATED = "generated"
BINS = 5


@dataclass(frozen=True)
class Shape:
    rows: int
    columns: int
    levels: int
    classes: int
    paper: str | None = None  # the name that `load_dataset` knows it by

    def __str__(self) -> str:
        return f"{self.rows} x {self.columns}"

    def codes(self) -> tuple[np.ndarray, np.ndarray, str]:
        """Codes, classes and where they come from."""
        if self.paper is not None:
            from certselect.datasets import load_dataset
            from certselect.errors import DataUnavailable

            try:
                found: Any = load_dataset(self.paper, download=False)
            except DataUnavailable:
                pass
            else:
                X = found.X if isinstance(found.X, np.ndarray) else found.X.toarray()
                return coded(X), np.unique(found.y, return_inverse=True)[1], found.title
        return *coded_table(self.rows, self.columns, self.levels, self.classes), GENERATED


def coded(X: np.ndarray) -> np.ndarray:
    """Whole numbers from 0: of a few values each its own, else bins of equal width; a missing value is one more.

    Constant columns become copies of the first that is not, which every contestant can be given.
    """
    columns = [_coded_column(column) for column in X.T]
    varying = next(column for column in columns if column.max() > 0)
    return np.column_stack([column if column.max() > 0 else varying for column in columns])


def _coded_column(column: np.ndarray) -> np.ndarray:
    missing = np.isnan(column)
    there = column[~missing]
    values = np.unique(there)
    codes = np.zeros(len(column), dtype=np.int64)
    if len(values) <= BINS:
        codes[~missing] = np.searchsorted(values, there)
    else:
        inner = np.linspace(values[0], values[-1], BINS + 1)[1:-1]
        codes[~missing] = np.unique(np.searchsorted(inner, there, side="right"), return_inverse=True)[1]
    codes[missing] = codes.max() + 1
    return codes


# What people try first
COLON, IRIS, CANCER, SMALL = (
    Shape(62, 2000, 3, 2),
    Shape(150, 4, 5, 3),
    Shape(569, 30, 5, 2),
    Shape(1000, 20, 5, 2),
)
SMALL_TABLES = (IRIS, CANCER, SMALL, COLON)
# The paper's
MADELON = Shape(2000, 500, 5, 2, "MAD")
NCI = Shape(60, 9712, 3, 9, "NCI")
DEXTER = Shape(300, 20000, 5, 2, "DEX")
PAPER_TABLES = (MADELON, Shape(1080, 856, 5, 9, "CNA"), Shape(3279, 1558, 5, 2, "IAD"), NCI, DEXTER)
MORE_PAPER_TABLES = (Shape(32, 56, 4, 3, "LNG"), Shape(420, 278, 5, 2, "ARR"), Shape(64, 4702, 2, 2, "DBW"))
