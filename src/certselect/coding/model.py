"""CodedTable and SparseCodedTable, the Coding they were made with, and how they are put together of their parts."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np

from certselect.coding.levels import Levels, NumberCuts
from certselect.errors import InvalidInput

Part = Levels | NumberCuts
BINNED = ("uniform", "quantile")  # methods that ask how many bins


@dataclass(frozen=True, eq=False)
class CodedTable:
    """Every feature as small integers, one contiguous row per feature.

    Attributes
    ----------
    codes : ndarray (n, m), C-contiguous
        Of the smallest of uint8, uint16 and uint32 that holds every level.
    levels : ndarray of int64 (n,)
        Codes of feature i are in 0 .. levels[i] - 1; not all need occur.
    constant : ndarray of bool (n,)
        The feature takes one code only on these rows.
    target : ndarray of int32 (m,)
        Target columns that are numbers are cut into bins, and a class is a combination of
        labels and bins.
    classes : tuple
    feature_names : tuple of str
    coding : Coding
    absent : ndarray of int64 (n,), or None
        The code that means "no value here, leave this row out of my terms", -1 for a feature
        that has none; None if no feature has one. It is the last code, levels[i] - 1.
    weights : ndarray of float64 (m,), or None
        As in `Table`.
    """

    codes: np.ndarray
    levels: np.ndarray
    constant: np.ndarray
    target: np.ndarray
    classes: tuple[Hashable, ...]
    feature_names: tuple[str, ...]
    coding: Coding
    absent: np.ndarray | None = None
    weights: np.ndarray | None = None

    @property
    def n_samples(self) -> int:
        return len(self.target)


@dataclass(frozen=True, eq=False)
class SparseCodedTable:
    """Every feature as the cells whose code is not that of 0, feature by feature.

    Attributes
    ----------
    starts : ndarray of int64 (n + 1,)
        Feature i has the cells starts[i] .. starts[i + 1] - 1.
    rows : ndarray of int32 (cells,)
        Ascending within a feature.
    codes : ndarray of uint32 (cells,)
        Never the feature's background.
    background : ndarray of int64 (n,)
        The code of all cells not listed, which is that of 0; code 0 for a column that holds no 0.
    levels, constant, target, classes, feature_names, coding, weights
        As in `CodedTable`; codes and levels are those the dense table would have.
    """

    starts: np.ndarray
    rows: np.ndarray
    codes: np.ndarray
    background: np.ndarray
    levels: np.ndarray
    constant: np.ndarray
    target: np.ndarray
    classes: tuple[Hashable, ...]
    feature_names: tuple[str, ...]
    coding: Coding
    weights: np.ndarray | None = None

    @property
    def n_samples(self) -> int:
        return len(self.target)


@dataclass(frozen=True, eq=False)
class Coding:
    """What was learnt from the rows a table was coded by: levels, edges and classes.

    Attributes
    ----------
    discretize, bins, integers
        As given to `code_table`; bins is None where the method chooses its own.
    feature_names : tuple of str
    classes : tuple
        As in the table that was coded.
    parts : tuple
        Levels or edges of some features each, together of all.
    target_bins : int or None
        As given to `code_table`; None if no target column is numbers.
    target_edges : tuple of ndarray
        Interior cut points of every target column that is numbers.
    missing : {"error", "level", "pairwise"}
        What became of missing values.
    lacking : ndarray of bool (n,), or None
        Features whose last level is that of missing values; None if none has any.
    """

    discretize: str
    bins: int | str | None
    integers: str
    feature_names: tuple[str, ...]
    classes: tuple[Hashable, ...]
    parts: tuple[Part, ...]
    target_bins: int | None = None
    target_edges: tuple[np.ndarray, ...] = ()
    missing: str = "error"
    lacking: np.ndarray | None = None

    @property
    def levels(self) -> np.ndarray:
        """How many codes each feature has, that of missing values among them."""
        levels = np.zeros(len(self.feature_names), dtype=np.int64)
        for part in self.parts:
            levels[part.positions] = part.levels
        return levels if self.lacking is None else levels + self.lacking

    @property
    def absent(self) -> np.ndarray | None:
        """The code that leaves a row out of a feature's terms, -1 for those that have none; None if none has."""
        if self.missing != "pairwise" or self.lacking is None:
            return None
        return np.where(self.lacking, self.levels - 1, -1)

    def describe(self) -> dict[str, int | str | None]:
        """How numbers, integers and the target were coded, for a report."""
        return {
            "discretize": self.discretize,
            "bins": self.bins,
            "integers": self.integers,
            "target_bins": self.target_bins,
        }

    def edges(self, position: int) -> np.ndarray | None:
        """Interior cut points of a feature coded as a number; None for one coded by its levels."""
        if not 0 <= position < len(self.feature_names):
            raise InvalidInput(
                f"feature position {position}", f"0 to {len(self.feature_names) - 1}", "Positions count from 0."
            )
        for part in self.parts:
            if isinstance(part, NumberCuts):
                place = np.flatnonzero(part.positions == position)
                if len(place):
                    return part.column_edges(int(place[0]))
        return None


@dataclass(frozen=True, eq=False)
class CodedColumns:
    """Codes (p, m) of some features, and which cells (m, p) are missing; these have the code of some other cell."""

    part: Part
    codes: np.ndarray
    missing: np.ndarray | None = None


@dataclass(frozen=True, eq=False)
class CodedCells:
    """The cells of a sparse table, feature by feature, and the code of those not listed."""

    starts: np.ndarray
    rows: np.ndarray
    codes: np.ndarray
    background: np.ndarray


def assemble(
    coding: Coding, coded: Sequence[CodedColumns], target: np.ndarray, weights: np.ndarray | None
) -> CodedTable:
    """A coded table of its parts."""
    levels = coding.levels
    constant = np.empty(len(levels), dtype=bool)
    for some in coded:
        # Every level occurs, but not every bin of numbers.
        by_levels = isinstance(some.part, Levels)
        same = some.part.levels <= 1 if by_levels else some.codes.min(axis=1) == some.codes.max(axis=1)
        if some.missing is not None and coding.missing != "pairwise":
            same &= some.missing.all(axis=0) | ~some.missing.any(axis=0)
        constant[some.part.positions] = same
    dtype = np.min_scalar_type(int(levels.max()) - 1)
    if len(coded) == 1:  # the part's positions are 0 .. n - 1, for they ascend
        codes = coded[0].codes.astype(dtype, copy=False)
    else:
        codes = np.empty((len(levels), len(target)), dtype=dtype)
        for some in coded:
            codes[some.part.positions] = some.codes
    for some in coded:
        if some.missing is not None:
            place, row = np.nonzero(some.missing.T)
            codes[some.part.positions[place], row] = some.part.levels[place]
    return CodedTable(
        codes, levels, constant, target, coding.classes, coding.feature_names, coding, coding.absent, weights
    )


def assemble_sparse(
    coding: Coding, cells: CodedCells, target: np.ndarray, weights: np.ndarray | None
) -> SparseCodedTable:
    """A sparse coded table of the stored cells' codes, without those that equal the background."""
    n = len(coding.feature_names)
    columns = np.repeat(np.arange(n), np.diff(cells.starts))
    kept = np.flatnonzero(cells.codes != cells.background[columns])
    columns, codes = columns[kept], cells.codes[kept]
    starts = np.concatenate([[0], np.cumsum(np.bincount(columns, minlength=n))]).astype(np.int64)
    lowest, highest = np.full(n, np.iinfo(np.int64).max), np.full(n, -1)
    np.minimum.at(lowest, columns, codes)
    np.maximum.at(highest, columns, codes)
    listed = np.diff(starts)
    constant = (listed == 0) | ((listed == len(target)) & (lowest == highest))
    return SparseCodedTable(
        starts,
        cells.rows[kept].astype(np.int32),
        codes.astype(np.uint32),
        cells.background,
        coding.levels,
        constant,
        target,
        coding.classes,
        coding.feature_names,
        coding,
        weights,
    )
