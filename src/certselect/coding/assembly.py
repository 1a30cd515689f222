"""Coded parts of a table put together, every feature at its place."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from certselect.coding.levels import Levels
from certselect.coding.model import CodedTable, Coding, Part, SparseCodedTable


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
