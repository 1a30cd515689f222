"""Sparse columns coded by their stored cells, with the codes the dense table would have."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from certselect.coding.cuts import Cutter, edges_between, levels_between, only_ends
from certselect.coding.levels import Levels, NumberCuts, count_edges_of_cells, sparse_integer_levels
from certselect.coding.model import CodedCells, Part
from certselect.coding.quantiles import SparseOrder, equal_count_edges
from certselect.coding.tiles import filled, over_columns, slices, stretch_starts
from certselect.errors import InvalidInput, keyword
from certselect.settings.measuring import MOST_WHOLE_LEVELS
from certselect.table import SparseBlock

_SLICE_CELLS = 1 << 21  # cells of a slice of columns that is filled up with its zeros, or of edges side by side


def code_sparse(
    block: SparseBlock, *, integers: str, cutter: Cutter, n_threads: int
) -> tuple[tuple[Part, ...], np.ndarray | None, CodedCells]:
    """Levels or edges of every column, which columns have missing values, and the codes of all stored cells."""
    values = block.values
    m, n = len(cutter.target), len(block.positions)
    starts = values.indptr.astype(np.int64)
    stored = np.diff(starts)
    columns = np.repeat(np.arange(n), stored)
    if block.kind == "integer" and not (integers == "numbers" and values.dtype != bool):
        part, codes, background = sparse_integer_levels(values.data, columns, stored < m)
        many = np.flatnonzero(part.levels > MOST_WHOLE_LEVELS) if integers == "auto" else np.empty(0, dtype=np.intp)
        if not len(many):
            return (part,), None, CodedCells(starts, values.indices, codes, background)
        return _with_some_cut(
            block, part, CodedCells(starts, values.indices, codes, background), many, cutter, n_threads
        )

    data = values.data if values.data.dtype.kind == "f" else values.data.astype(np.float64)
    missing = np.isnan(data)
    lacking = np.bincount(columns[missing], minlength=n)
    void = lacking == m
    kept = np.flatnonzero(~void)
    there = data[~missing], columns[~missing]
    if only_ends(cutter.method, cutter.bins):
        edges, counts = _uniform(*there, stored < m, kept, int(cutter.bins))
    elif cutter.method == "quantile" and isinstance(cutter.bins, int) and cutter.weights is None:
        edges, counts = _equal_counts(*there, m - stored, kept, cutter.bins)
    else:
        edges, counts = _filled_up(block, kept, cutter, n_threads)
    parts: list[Part] = [NumberCuts(kept, edges, stretch_starts(counts))] if len(kept) else []
    if void.any():
        parts.append(Levels(np.flatnonzero(void), np.zeros(int(void.sum()), dtype=np.int64)))
    edge_counts = np.zeros(n, dtype=np.int64)
    edge_counts[kept] = counts
    edge_starts = stretch_starts(edge_counts)
    codes = count_edges_of_cells(data, columns, edges, edge_starts)
    codes[missing] = np.where(void, 0, edge_counts + 1)[columns[missing]]
    background = count_edges_of_cells(np.zeros(n), np.arange(n), edges, edge_starts)
    return tuple(parts), lacking > 0 if missing.any() else None, CodedCells(starts, values.indices, codes, background)


def _with_some_cut(
    block: SparseBlock, levels: Levels, cells: CodedCells, many: np.ndarray, cutter: Cutter, n_threads: int
) -> tuple[tuple[Part, ...], np.ndarray | None, CodedCells]:
    """Integers coded by their values, but for these columns, which have too many and are cut like numbers."""
    own = SparseBlock("integer", np.arange(len(many)), block.values[:, many])
    (cut,), _, codes = code_sparse(own, integers="numbers", cutter=cutter, n_threads=n_threads)
    assert isinstance(cut, NumberCuts)
    few = np.setdiff1d(np.arange(len(levels.levels)), many)
    kept: list[Part] = [Levels(few, levels.levels[few])] if len(few) else []
    background = cells.background.copy()
    background[many] = codes.background
    recoded = cells.codes.copy()
    stored = np.diff(cells.starts)
    recoded[np.isin(np.repeat(np.arange(len(stored)), stored), many)] = codes.codes
    return (
        (*kept, replace(cut, positions=many)),
        None,
        CodedCells(cells.starts, cells.rows, recoded, background),
    )


def refuse_pairwise() -> InvalidInput:
    return InvalidInput(
        f"missing values in a sparse matrix and {keyword('missing', 'pairwise')}",
        f"{keyword('missing', 'level')}, or a dense table",
        f"Pass {keyword('missing', 'level')}, which makes them a value of their own, or X.toarray().",
    )


def _uniform(
    data: np.ndarray, columns: np.ndarray, with_zero: np.ndarray, kept: np.ndarray, bins: int
) -> tuple[np.ndarray, np.ndarray]:
    """Edges of bins of equal width, from the smallest and largest number of every column."""
    low, high = np.where(with_zero, 0.0, np.inf), np.where(with_zero, 0.0, -np.inf)
    np.minimum.at(low, columns, data.astype(np.float64))
    np.maximum.at(high, columns, data.astype(np.float64))
    found = [
        edges_between(low[kept[part]], high[kept[part]], bins)
        for part in slices(len(kept), max(1, _SLICE_CELLS // bins))
    ]
    return _joined(found)


def _equal_counts(
    data: np.ndarray, columns: np.ndarray, zeros: np.ndarray, kept: np.ndarray, bins: int
) -> tuple[np.ndarray, np.ndarray]:
    """Edges of bins of equal counts, from the stored numbers in order and how many zeros each column has besides."""
    order = np.lexsort((data, columns))
    data, columns = data[order].astype(np.float64), columns[order]
    starts = stretch_starts(np.bincount(columns, minlength=len(zeros)))
    negative = np.bincount(columns[data < 0], minlength=len(zeros))
    ordered = SparseOrder(data, starts[:-1], starts[1:], zeros, negative)
    found = []
    for part in slices(len(kept), max(1, _SLICE_CELLS // bins)):
        own = ordered.of(kept[part])
        ends = own.at(np.stack([np.zeros_like(own.units), own.units - 1], axis=1))
        edges = equal_count_edges(own, np.full(len(own.units), bins))
        found.append(levels_between(edges, ends[:, 0], ends[:, 1]))
    return _joined(found)


def _filled_up(block: SparseBlock, kept: np.ndarray, cutter: Cutter, n_threads: int) -> tuple[np.ndarray, np.ndarray]:
    """Edges by all cells of a column, its zeros written down for one slice of columns at a time."""
    values, m = block.values, len(cutter.target)
    found: dict[int, tuple[np.ndarray, np.ndarray]] = {}

    def cut(part: slice) -> None:
        dense = values[:, kept[part]].toarray()
        if dense.dtype.kind != "f":
            dense = dense.astype(np.float64)
        missing = np.isnan(dense)
        gaps = missing if missing.any() else None
        found[part.start] = cutter.edges(filled(dense, gaps), gaps)

    if len(kept):
        over_columns(cut, len(kept), m, max(1, _SLICE_CELLS // m), n_threads)
    return _joined([found[start] for start in sorted(found)])


def _joined(found: list[tuple[np.ndarray, np.ndarray]]) -> tuple[np.ndarray, np.ndarray]:
    if not found:
        return np.empty(0), np.empty(0, dtype=np.int64)
    return np.concatenate([edges for edges, _ in found]), np.concatenate([counts for _, counts in found])
