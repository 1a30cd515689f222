"""code_table: Table -> CodedTable, or SparseCodedTable."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np

from certselect.coding import cuts
from certselect.coding.levels import Levels, NumberCuts, category_levels, count_edges, integer_levels
from certselect.coding.model import (
    BINNED,
    CodedColumns,
    CodedTable,
    Coding,
    Part,
    SparseCodedTable,
    assemble,
    assemble_sparse,
)
from certselect.coding.quantiles import RowWeights, row_weights
from certselect.coding.sparse import code_sparse, refuse_pairwise
from certselect.coding.tiles import TILE_WIDTH, filled, over_columns, stretch_starts
from certselect.settings import Measuring
from certselect.settings.measuring import MOST_WHOLE_LEVELS
from certselect.table import Block, Table
from certselect.table.target import NO_LABELS
from certselect.threads import thread_count

_DIGITS = range(6, 18)  # of an edge in the name of a bin: as few as keep the edges apart
_SLICE_CELLS = 1 << 18  # cells of a slice of columns that is cut and coded while in the cache


def code_table(
    table: Table, measuring: Measuring | None = None, *, n_jobs: int | None = None, **settings: Any
) -> CodedTable | SparseCodedTable:
    """Turn every column into small integers, the only thing that counting needs.

    Integers, bools and categories are coded by their distinct values in order.
    Numbers are cut into bins: a code is the number of edges that are not above
    the number. Which rows come first changes neither edges nor codes, and whole
    weights change them as repeated rows would. A missing value has the last code
    of its column; edges are found by the values that are there.

    Parameters
    ----------
    table : Table
        From `read_table` or `read_file`.
    measuring : Measuring, or its settings by keyword
        `discretize` is how numbers are cut: into bins of equal width ("uniform"); of equal
        counts ("quantile"); into three states, below mean - std, between, above mean + std
        ("mean_std"; Peng, Long and Ding 2005), or two, at the mean, for two numbers in equal
        parts; or where the classes change, by Fayyad and Irani's entropy and description length
        ("mdlp"), which may leave a column uncut and so constant.
        `bins` is the number of bins per column of the first two, or the rule that gives it;
        `integers` whether integers (not bools) are coded by their values or cut like numbers, or
        the one up to 10 different values and the other beyond ("auto");
        `target_bins` into how many bins of equal counts a target of numbers is cut.
    n_jobs : int, optional
        Threads; all cores if None.

    Returns
    -------
    CodedTable, or SparseCodedTable of a sparse table
        With the same codes. Integers by their values and bins of equal width in a given
        number cost time and memory by the cells stored; for all else the zeros are written
        down for some columns at a time, 2 million cells together.

    Notes
    -----
    With m rows, "auto" gives the fourth root of m, rounded down, within 3 to 5; Sturges'
    rule gives ceil(log2 m) + 1 bins; "sqrt" ceil(sqrt m);
    Freedman and Diaconis' ceil((max - min) / (2 IQR m^(-1/3))), Sturges' number
    where the quartiles coincide. All are kept within 2 to 256.

    A number that holds several of the edges of equal counts is a level of its own,
    and the rest is cut on its own, ten rows or more in a bin.

    Equal edges are merged, and an edge that would lie at the smallest number
    moves to the next float above, so that uniform and quantile bins never make
    a column constant that is not. A number at which two or more quantiles lie
    has a level of its own, between an edge at it and one at the next float above.

    With weights, m in these rules is their sum, rounded, and quantiles, means and class
    counts are weighted.

    Examples
    --------
    >>> import numpy as np
    >>> from certselect.table import read_table
    >>> table = read_table(np.array([[0.0], [0.5], [1.0]]), ["a", "b", "b"])
    >>> code_table(table, bins=2).codes
    array([[0, 1, 1]], dtype=uint8)
    """
    how = measuring or Measuring(**settings)
    n_rows = table.n_samples if table.weights is None else round(float(table.weights.sum()))
    discretize = how.discretize
    usual = cuts.bins_for_rows(n_rows)
    bins = usual if how.bins == "auto" else how.bins
    target_bins = usual if how.target_bins == "auto" else how.target_bins
    n_threads = thread_count(n_jobs)
    weights = None if table.weights is None else row_weights(table.weights)
    target_edges = _cut_target(table, int(target_bins), weights) if table.target_numbers.shape[1] else ()
    target, classes = _joint_classes(table, target_edges)
    cutter = cuts.Cutter(discretize, bins, target, len(classes), weights)

    def coding(parts: tuple[Part, ...], lacking: np.ndarray | None) -> Coding:
        return Coding(
            discretize,
            bins if discretize in BINNED else None,
            how.integers,
            table.feature_names,
            classes,
            parts,
            int(target_bins) if target_edges else None,
            target_edges,
            table.missing,
            lacking,
        )

    if table.sparse is not None:
        if table.missing == "pairwise" and table.sparse.missing is not None:
            raise refuse_pairwise()
        parts, lacking, cells = code_sparse(table.sparse, integers=how.integers, cutter=cutter, n_threads=n_threads)
        return assemble_sparse(coding(parts, lacking), cells, target, table.weights)
    coded: list[CodedColumns] = []
    lacking = np.zeros(table.n_features, dtype=bool)
    parts: tuple[Part, ...] = ()
    for block in table.blocks:
        assert isinstance(block, Block)
        for piece in (block,) if block.missing is None else _complete_and_not(block):
            coded.extend(_code_block(piece, how.integers, cutter, n_threads))
    for some in coded:
        parts += (some.part,)
        lacking[some.part.positions] = some.missing is not None
    return assemble(coding(parts, lacking if lacking.any() else None), coded, target, table.weights)


def _complete_and_not(block: Block) -> Iterator[Block]:
    """The columns that have all their values, those that have some, and those that have none."""
    assert block.missing is not None
    some, none = block.missing.any(axis=0), block.missing.all(axis=0)
    for complete, places in ((True, ~some), (False, some & ~none), (False, none)):
        places = np.flatnonzero(places)
        if len(places):
            yield Block(
                block.kind,
                block.positions[places],
                block.values[:, places],
                tuple(block.vocabularies[place] for place in places) if block.vocabularies else (),
                None if complete else block.missing[:, places],
            )


def _code_block(block: Block, integers: str, cutter: cuts.Cutter, n_threads: int) -> list[CodedColumns]:
    missing = block.missing
    if missing is not None:
        if missing.all():  # columns without any value: no level but that of missing
            empty = Levels(block.positions, np.zeros(len(block.positions), dtype=np.int64))
            return [CodedColumns(empty, np.zeros(missing.shape[::-1], dtype=np.uint8), missing)]
        block = replace(block, values=filled(block.values, missing))
    if block.kind == "category":
        return [CodedColumns(*category_levels(block), missing)]
    values = block.values
    if values.dtype.kind == "f" or (integers == "numbers" and values.dtype != bool):
        return [_code_numbers(values, missing, block.positions, cutter, n_threads)]
    coded: list[CodedColumns] = []
    for part, codes in integer_levels(block, n_threads):
        few = np.full(len(codes), True) if integers == "levels" else part.levels <= MOST_WHOLE_LEVELS
        places = np.searchsorted(block.positions, part.positions)
        if few.any():
            kept = (Levels(part.positions[few], part.levels[few]), codes[few]) if not few.all() else (part, codes)
            coded.append(CodedColumns(*kept, None if missing is None else missing[:, places[few]]))
        if not few.all():
            many = places[~few]
            own = None if missing is None else missing[:, many]
            coded.append(_code_numbers(values[:, many], own, part.positions[~few], cutter, n_threads))
    return coded


def _code_numbers(
    values: np.ndarray, missing: np.ndarray | None, positions: np.ndarray, cutter: cuts.Cutter, n_threads: int
) -> CodedColumns:
    """Edges and codes together, a slice of columns at a time, while its numbers are in the cache."""
    if values.dtype.kind != "f":
        values = values.astype(np.float64)
    m, p = values.shape
    bins = cutter.bins
    most = {"mean_std": 3, "mdlp": m}.get(cutter.method, bins if isinstance(bins, int) else cuts.MOST_BINS)
    codes = np.empty((p, m), dtype=np.min_scalar_type(most - 1))
    found: dict[int, tuple[np.ndarray, np.ndarray]] = {}

    def code(columns: slice) -> None:
        part = values[:, columns]
        edges, counts = cutter.edges(part, None if missing is None else missing[:, columns])
        count_edges(part, edges, counts, codes[columns])
        found[columns.start] = edges, counts

    # A given number of equal widths copies nothing, so slices may be wide; all else copies its slice.
    copies = not cuts.only_ends(cutter.method, bins)
    over_columns(code, p, m, max(16 if copies else TILE_WIDTH, _SLICE_CELLS // m), n_threads)
    edges, counts = [], []
    for start in sorted(found):
        edges.append(found[start][0])
        counts.append(found[start][1])
    part = NumberCuts(positions, np.concatenate(edges), stretch_starts(np.concatenate(counts)))
    return CodedColumns(part, codes, missing)


# The target: labels as they are, numbers cut into bins of equal counts


def _cut_target(table: Table, bins: int, weights: RowWeights | None) -> tuple[np.ndarray, ...]:
    """Edges of every target column that is numbers, so that the bins have equal counts as far as ties allow."""
    return tuple(
        cuts.find_edges(column[:, None], "quantile", bins, table.target, len(table.classes), weights)[0]
        for column in table.target_numbers.T
    )


def _joint_classes(table: Table, edges: tuple[np.ndarray, ...]) -> tuple[np.ndarray, tuple[Hashable, ...]]:
    """Class of every row (int32), and the classes: the combinations of labels and bins that occur, in order."""
    if not edges:
        return table.target, table.classes
    bins = [
        np.searchsorted(own, column, side="right") for own, column in zip(edges, table.target_numbers.T, strict=True)
    ]
    joint = table.target.astype(np.int64)
    for own, column in zip(edges, bins, strict=True):
        # Numbered anew after each column, the combinations never outgrow rows x bins.
        joint = np.unique(joint * (len(own) + 1) + column, return_inverse=True)[1]
    _, first = np.unique(joint, return_index=True)
    names = [bin_names(own) for own in edges]
    labelled = table.classes != NO_LABELS
    classes: list[Hashable] = []
    for row in first:
        intervals = [own[column[row]] for own, column in zip(names, bins, strict=True)]
        label = [table.classes[table.target[row]]] if labelled else []
        classes.append(tuple(label + intervals) if labelled or len(intervals) > 1 else intervals[0])
    return joint.astype(np.int32), tuple(classes)


def bin_names(edges: np.ndarray) -> list[str]:
    if not len(edges):
        return ["any number"]
    # The edge of a number that has a bin of its own is followed by the next float: that bin is
    # called by the number, the one behind it begins "> " the number.
    follows = np.zeros(len(edges), dtype=bool)
    for i in range(1, len(edges)):
        follows[i] = not follows[i - 1] and edges[i] == np.nextafter(edges[i - 1], np.inf)
    texts: list[str] = []
    for digits in _DIGITS:
        texts = [f"{edge:.{digits}g}" for edge in edges[~follows]]
        if len(set(texts)) == len(texts):
            break
    texts = [texts[place] for place in np.cumsum(~follows) - 1]
    names = [f"< {texts[0]}"]
    for i, (low, high) in enumerate(pairwise(texts)):
        begin = f"> {low}" if follows[i] else low
        names.append(low if follows[i + 1] else f"{begin} to {high}")
    return [*names, f"> {texts[-1]}" if follows[-1] else f">= {texts[-1]}"]
