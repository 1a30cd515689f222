"""code_table: Table -> CodedTable."""

from __future__ import annotations

import numpy as np

from certselect.coding import cuts
from certselect.coding.levels import category_levels, integer_levels
from certselect.coding.model import CodedTable, Coding, Part, assemble
from certselect.coding.numbers import NumberCuts, count_edges
from certselect.coding.tiles import TILE_WIDTH, over_columns
from certselect.errors import InvalidInput
from certselect.table import Table
from certselect.threads import thread_count

_BINNED = ("uniform", "quantile")  # methods that ask how many bins
_INTEGERS = ("levels", "numbers")
_SLICE_CELLS = 1 << 18  # cells of a slice of columns that is cut and coded while in the cache


def code_table(
    table: Table,
    *,
    discretize: str = "uniform",
    bins: int | str = 5,
    integers: str = "levels",
    n_jobs: int | None = None,
) -> CodedTable:
    """Turn every column into small integers, the only thing that counting needs.

    Integers, bools and categories are coded by their distinct values in order.
    Numbers are cut into bins: a code is the number of edges that are not above
    the number. Which rows come first changes neither edges nor codes.

    Parameters
    ----------
    table : Table
        From `read_table` or `read_file`.
    discretize : {"uniform", "quantile", "mean_std", "mdlp"}
        How numbers are cut: into bins of equal width; of equal counts; into
        three states, below mean - std, between, above mean + std (Peng, Long
        and Ding 2005); or where the classes change, by Fayyad and Irani's
        entropy and description length, which may leave a column uncut and so
        constant.
    bins : int or {"sturges", "freedman_diaconis", "sqrt"}
        Bins per column of "uniform" and "quantile", at least 2, or the rule
        that gives their number. Not used by the other two methods.
    integers : {"levels", "numbers"}
        Whether integers (not bools) are coded by their values or cut like numbers.
    n_jobs : int, optional
        Threads; all cores if None.

    Notes
    -----
    With m rows, Sturges' rule gives ceil(log2 m) + 1 bins; "sqrt" ceil(sqrt m);
    Freedman and Diaconis' ceil((max - min) / (2 IQR m^(-1/3))), Sturges' number
    where the quartiles coincide. All are kept within 2 to 256.

    Equal edges are merged, and an edge that would lie at the smallest number
    moves to the next float above, so that uniform and quantile bins never make
    a column constant that is not.

    Examples
    --------
    >>> import numpy as np
    >>> from certselect.table import read_table
    >>> table = read_table(np.array([[0.0], [0.5], [1.0]]), ["a", "b", "b"])
    >>> code_table(table, bins=2).codes
    array([[0, 1, 1]], dtype=uint8)
    """
    _check_options(discretize, bins, integers)
    bins = bins if isinstance(bins, str) else int(bins)
    n_threads = thread_count(n_jobs)
    coded: list[tuple[Part, np.ndarray]] = []
    for block in table.blocks:
        values = block.values
        if block.kind == "integer" and integers == "numbers" and values.dtype != bool:
            values = values.astype(np.float64)
        if block.kind == "category":
            coded.append(category_levels(block))
        elif values.dtype.kind == "f":
            coded.append(_code_numbers(values, block.positions, discretize, bins, table, n_threads))
        else:
            coded.extend(integer_levels(block, n_threads))
    coding = Coding(
        discretize,
        bins if discretize in _BINNED else None,
        integers,
        table.feature_names,
        table.classes,
        tuple(part for part, _ in coded),
    )
    return assemble(coding, coded, table.target, fitted=True)


def _code_numbers(
    values: np.ndarray, positions: np.ndarray, discretize: str, bins: int | str, table: Table, n_threads: int
) -> tuple[NumberCuts, np.ndarray]:
    """Edges and codes together, a slice of columns at a time, while its numbers are in the cache."""
    m, p = values.shape
    most = {"mean_std": 3, "mdlp": m}.get(discretize, bins if isinstance(bins, int) else cuts.MOST_BINS)
    codes = np.empty((p, m), dtype=np.min_scalar_type(most - 1))
    found: dict[int, tuple[np.ndarray, np.ndarray]] = {}

    def code(columns: slice) -> None:
        part = values[:, columns]
        edges, counts = cuts.find_edges(part, discretize, bins, table.target, len(table.classes))
        count_edges(part, edges, counts, codes[columns])
        found[columns.start] = edges, counts

    # A given number of equal widths copies nothing, so slices may be wide; all else copies its slice.
    copies = discretize != "uniform" or isinstance(bins, str)
    over_columns(code, p, m, max(16 if copies else TILE_WIDTH, _SLICE_CELLS // m), n_threads)
    slices_in_order = [found[start] for start in sorted(found)]
    counts = np.concatenate([counts for _, counts in slices_in_order])
    starts = np.concatenate([[0], np.cumsum(counts)])
    return NumberCuts(positions, np.concatenate([edges for edges, _ in slices_in_order]), starts), codes


def _check_options(discretize: str, bins: int | str, integers: str) -> None:
    if discretize not in cuts.METHODS:
        raise InvalidInput(f"discretize={discretize!r}", f"one of {', '.join(cuts.METHODS)}", "Check the spelling.")
    if integers not in _INTEGERS:
        raise InvalidInput(f"integers={integers!r}", f"one of {', '.join(_INTEGERS)}", "Check the spelling.")
    if isinstance(bins, str):
        known = bins in cuts.BIN_RULES
    else:
        known = isinstance(bins, int | np.integer) and not isinstance(bins, bool) and bins >= 2
    if known:
        return
    raise InvalidInput(
        f"bins={bins!r}", f"a whole number, 2 or more, or one of {', '.join(cuts.BIN_RULES)}", "The default is 5."
    )
