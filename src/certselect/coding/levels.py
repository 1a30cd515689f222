"""Columns as levels: the distinct values of integers and categories, numbered in order, and the bins of numbers.

The code of a number is how many edges are not above it.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass

import numpy as np

from certselect.coding.tiles import TILE_BYTES, TILE_WIDTH, over_columns, row_tiles, stretch_starts
from certselect.table import Block

# Does the pass over a table of int64 in a third of NumPy's time. It comes with the counting
# kernels and is used where they are loaded: no small table waits for a compiler on its account.
_COMPILED = "certselect.coding.narrowing"
_NARROW = 255  # largest max - min whose offsets fit in a byte
_TABULATED = 65535  # largest max - min for which a table of seen values beats sorting
_RESIDUES = 64  # numbers that have a bit of their own among the residues
_COMPARED = 16  # largest max - min for which comparing with each value beats scattering into a table
_EDGES_COMPARED = 16  # most edges for which comparing with each beats a binary search


@dataclass(frozen=True, eq=False)
class Levels:
    """How many distinct values each of some columns of integers or categories has."""

    positions: np.ndarray
    levels: np.ndarray


def integer_levels(block: Block, n_threads: int) -> list[tuple[Levels, np.ndarray]]:
    """Number the distinct integers of every column; narrow columns all at once, wide ones one by one.

    Returns (levels, codes) for the columns whose values span at most 256
    integers, and for the rest, where there are any.
    """
    values = block.values.view(np.uint8) if block.values.dtype == bool else block.values
    offsets, low, span, full = _offsets(values, n_threads)
    wide = np.flatnonzero(span > _NARROW)
    if not len(wide):
        return [_narrow_levels(offsets, span.astype(np.intp), full, block.positions, n_threads)]
    fitted = [_wide_levels(values, wide, low, span, block.positions)]
    narrow = np.flatnonzero(span <= _NARROW)
    if len(narrow):
        span = span[narrow].astype(np.intp)
        fitted.append(_narrow_levels(offsets[narrow], span, full[narrow], block.positions[narrow], n_threads))
    return fitted


def sparse_integer_levels(
    values: np.ndarray, columns: np.ndarray, with_zero: np.ndarray
) -> tuple[Levels, np.ndarray, np.ndarray]:
    """Number the distinct integers of sparse columns: levels, codes of the cells, and each column's code of 0.

    `columns` (cells,) says where a cell stands, `with_zero` (n,) which columns hold a 0 too;
    the code of 0 is 0 for the others.
    """
    values = values.view(np.uint8) if values.dtype == bool else values
    zeros = np.flatnonzero(with_zero)
    everywhere = np.concatenate([columns, zeros])
    everything = np.concatenate([values, np.zeros(len(zeros), dtype=values.dtype)])
    order = np.lexsort((everything, everywhere))
    everywhere, everything = everywhere[order], everything[order]
    fresh = np.ones(len(order), dtype=bool)
    fresh[1:] = (everywhere[1:] != everywhere[:-1]) | (everything[1:] != everything[:-1])
    levels = np.bincount(everywhere[fresh], minlength=len(with_zero))
    codes = np.empty(len(order), dtype=np.int64)
    codes[order] = np.cumsum(fresh) - 1 - stretch_starts(levels)[everywhere]
    background = np.zeros(len(with_zero), dtype=np.int64)
    background[zeros] = codes[len(values) :]
    return Levels(np.arange(len(with_zero)), levels), codes[: len(values)], background


def category_levels(block: Block) -> tuple[Levels, np.ndarray]:
    """Category codes with the vocabulary entries that never occur left out."""
    codes = np.empty(block.values.shape[::-1], dtype=np.int32)
    levels = np.empty(len(block.positions), dtype=np.int64)
    for j, vocabulary in enumerate(block.vocabularies):
        seen = np.bincount(block.values[:, j], minlength=len(vocabulary)) > 0
        codes[j] = (np.cumsum(seen) - 1)[block.values[:, j]]
        levels[j] = seen.sum()
    return Levels(block.positions, levels), codes


def _offsets(values: np.ndarray, n_threads: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Values less their column's smallest, as bytes (p, m), each column's smallest and span, and whether it is full.

    A full column has every number between its smallest and its largest, for sure; others may have.

    The bytes are taken modulo 256 in the one pass that finds the smallest and
    the largest: right for columns that span at most 256 integers, arbitrary for
    the others. Spans are uint64, where the difference of any two integers of
    64 bits fits.
    """
    m, p = values.shape
    low, high = np.empty(p, dtype=values.dtype), np.empty(p, dtype=values.dtype)
    offsets, residues = np.empty((p, m), dtype=np.uint8), np.zeros(p, dtype=np.uint64)

    compiled = sys.modules.get(_COMPILED)
    suits = values.dtype == np.int64 and values.flags.c_contiguous and values.flags.writeable

    def narrow(columns: slice) -> None:
        lowest, highest = low[columns], high[columns]
        if compiled is not None and suits:
            compiled.narrow_columns(values, columns.start, columns.stop, low, high, residues, offsets)
        else:
            lowest[:] = highest[:] = values[0, columns]
            for rows, tile in row_tiles(values[:, columns]):
                np.minimum(lowest, tile.min(axis=0), out=lowest)
                np.maximum(highest, tile.max(axis=0), out=highest)
                offsets[columns, rows] = tile.astype(np.uint8).T
        start = lowest.astype(np.uint8)
        if start.any():
            offsets[columns] -= start[:, None]

    over_columns(narrow, p, m, TILE_WIDTH, n_threads)
    span = high.astype(np.uint64) - low.astype(np.uint64)
    # Among fewer numbers than there are residues, each has one of its own.
    full = (span < _RESIDUES) & (np.bitwise_count(residues) > span)
    return offsets, low, span, full


def _narrow_levels(
    offsets: np.ndarray, span: np.ndarray, full: np.ndarray, positions: np.ndarray, n_threads: int
) -> tuple[Levels, np.ndarray]:
    """Offsets to codes, in place: they differ only where a value between smallest and largest is absent."""
    levels = span + 1
    # Of two numbers both occur, and nothing lies between.
    doubtful = np.flatnonzero(~full & (span > 1))
    if not len(doubtful):
        return Levels(positions, levels), offsets
    p, m = len(doubtful), offsets.shape[1]

    def close_gaps(columns: slice) -> None:
        places = doubtful[columns]
        part = offsets[columns] if p == len(offsets) else offsets[places]
        found = np.zeros((len(places), int(span[places].max()) + 1), dtype=bool)
        found[:, 0] = True
        found[np.arange(len(places)), span[places]] = True
        top = found.shape[1] - 1
        if top <= _COMPARED:
            for value in range(1, top):
                found[:, value] |= (part == value).any(axis=1)
        else:
            found[np.arange(len(part))[:, None], part] = True
        levels[places] = found.sum(axis=1)
        gaps = np.flatnonzero(levels[places] <= span[places])
        if len(gaps):
            rank = np.cumsum(found[gaps], axis=1) - 1
            offsets[places[gaps]] = np.take_along_axis(rank, part[gaps].astype(np.intp), axis=1)

    over_columns(close_gaps, p, m, max(1, TILE_BYTES // m), n_threads)
    return Levels(positions, levels), offsets


def _wide_levels(
    values: np.ndarray, wide: np.ndarray, low: np.ndarray, span: np.ndarray, positions: np.ndarray
) -> tuple[Levels, np.ndarray]:
    codes = np.empty((len(wide), len(values)), dtype=np.uint32)
    levels = np.empty(len(wide), dtype=np.int64)
    for place, j in enumerate(wide):
        column = values[:, j]
        if span[j] <= _TABULATED:
            offset = (column.astype(np.uint64) - low[j].astype(np.uint64)).astype(np.intp)
            seen = np.zeros(int(span[j]) + 1, dtype=bool)
            seen[offset] = True
            codes[place] = (np.cumsum(seen) - 1)[offset]
            levels[place] = seen.sum()
        else:
            found, codes[place] = np.unique(column, return_inverse=True)
            levels[place] = len(found)
    return Levels(positions[wide], levels), codes


# Numbers


@dataclass(frozen=True, eq=False)
class NumberCuts:
    """The edges of some number columns, flat: column j has edges[starts[j]:starts[j + 1]], ascending.

    The edges alone define the codes, bin j being [edge j-1, edge j): no formula
    is evaluated again that might put a number beside its bin.
    """

    positions: np.ndarray
    edges: np.ndarray
    starts: np.ndarray

    @property
    def levels(self) -> np.ndarray:
        return np.diff(self.starts) + 1

    def column_edges(self, place: int) -> np.ndarray:
        return self.edges[self.starts[place] : self.starts[place + 1]]


def count_edges_of_cells(values: np.ndarray, columns: np.ndarray, edges: np.ndarray, starts: np.ndarray) -> np.ndarray:
    """How many of its column's edges each of the cells has reached: a binary search of all at once.

    Column j has edges[starts[j]:starts[j + 1]].
    """
    first = starts[columns]
    low, high = first.copy(), starts[columns + 1]
    most = int(np.diff(starts).max(initial=0))
    for _ in range(most.bit_length()):
        middle = (low + high) // 2
        between = low < high
        reached = between & (edges[np.minimum(middle, len(edges) - 1)] <= values)
        low = np.where(reached, middle + 1, low)
        high = np.where(between & ~reached, middle, high)
    return low - first


def count_edges(values: np.ndarray, edges: np.ndarray, counts: np.ndarray, codes: np.ndarray) -> None:
    """Write into codes (p, m) how many of its column's edges each number of (m, p) has reached.

    Column j owns the next counts[j] of the flat edges.
    """
    if values.dtype == np.float32:
        edges = _rounded_up(edges)
    most = int(counts.max())
    if most == 0:
        codes[:] = 0
    elif most <= _EDGES_COMPARED:
        # One row per edge, filled up with infinities, which are above every number.
        filled = np.full((len(counts), most), np.inf, dtype=edges.dtype)
        filled[np.arange(most) < counts[:, None]] = edges
        _compare_edges(values, np.ascontiguousarray(filled.T), codes)
    else:
        for j, own in enumerate(np.split(edges, np.cumsum(counts)[:-1])):
            codes[j] = np.searchsorted(own, values[:, j], side="right")


def _compare_edges(values: np.ndarray, edges: np.ndarray, codes: np.ndarray) -> None:
    first, *others = edges
    for rows, tile in row_tiles(values):
        count = np.greater_equal(tile, first).view(np.uint8)
        reached = np.empty_like(count, dtype=bool)
        for edge in others:
            np.greater_equal(tile, edge, out=reached)
            count += reached.view(np.uint8)
        codes[:, rows] = count.T


def _rounded_up(edges: np.ndarray) -> np.ndarray:
    """The smallest float32 not below each edge: the same float32 numbers reach it as reach the edge."""
    with np.errstate(over="ignore"):  # an edge beyond all float32 is infinite, and no number reaches it
        near = edges.astype(np.float32)
        return np.where(near < edges, np.nextafter(near, np.float32(np.inf)), near)
