"""code_table: Table -> CodedTable."""

from __future__ import annotations

import numpy as np

from certselect.coding import cuts
from certselect.coding.levels import category_levels, integer_levels
from certselect.coding.mdlp import mdlp_edges
from certselect.coding.model import CodedTable, Coding, Part, assemble
from certselect.coding.numbers import NumberCuts
from certselect.coding.tiles import slices
from certselect.errors import InvalidInput
from certselect.table import Table

METHODS = ("uniform", "quantile", "mean_std", "mdlp")
_BINNED = ("uniform", "quantile")  # methods that ask how many bins
_INTEGERS = ("levels", "numbers")
_TOGETHER = 1 << 20  # cells of the float64 copy in which edges are looked for


def code_table(
    table: Table, *, discretize: str = "uniform", bins: int | str = 5, integers: str = "levels"
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
    coded: list[tuple[Part, np.ndarray]] = []
    for block in table.blocks:
        values = block.values
        if block.kind == "integer" and integers == "numbers" and values.dtype != bool:
            values = values.astype(np.float64)
        if block.kind == "category":
            coded.append(category_levels(block))
        elif values.dtype.kind == "f":
            edges, starts = _find_edges(values, discretize, bins, table.target, len(table.classes))
            part = NumberCuts(block.positions, edges, starts)
            coded.append((part, part.code(values)))
        else:
            coded.extend(integer_levels(block))
    coding = Coding(
        discretize,
        bins if discretize in _BINNED else None,
        integers,
        table.feature_names,
        table.classes,
        tuple(part for part, _ in coded),
    )
    return assemble(coding, coded, table.target)


def _find_edges(
    values: np.ndarray, discretize: str, bins: int | str, target: np.ndarray, n_classes: int
) -> tuple[np.ndarray, np.ndarray]:
    """Edges of all columns, flat, and where each column's begin."""
    if discretize == "uniform" and not isinstance(bins, str):
        # Nothing but the ends is needed: no copy of the columns.
        low, high = values.min(axis=0).astype(np.float64), values.max(axis=0).astype(np.float64)
        return _flat(*_cleaned(cuts.equal_widths(low, high, np.full(len(low), bins)), low, high))
    m, p = values.shape
    edges, counts = [], []
    for some in slices(p, max(1, _TOGETHER // m)):
        columns = np.ascontiguousarray(values[:, some].T, dtype=np.float64)
        low, high = columns.min(axis=1), columns.max(axis=1)
        if discretize == "mdlp":
            found = [mdlp_edges(column, target, n_classes) for column in columns]
            edges.extend(found)
            counts.extend(map(len, found))
            continue
        if discretize == "mean_std":
            kept = cuts.mean_std_edges(columns)
            keep = np.repeat((low < high)[:, None], 2, axis=1)
        elif discretize == "quantile":
            kept, keep = _cleaned(cuts.quantile_edges(columns, bins), low, high)
        else:
            kept, keep = _cleaned(cuts.uniform_edges(columns, bins), low, high)
        flat, starts = _flat(kept, keep)
        edges.append(flat)
        counts.extend(np.diff(starts).tolist())
    return np.concatenate(edges) + 0.0, np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)


def _cleaned(edges: np.ndarray, low: np.ndarray, high: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Edges above the smallest number, and a mask that leaves out repeated ones and those of constant columns."""
    edges = np.maximum(edges, np.nextafter(low, np.inf)[:, None])
    keep = np.empty(edges.shape, dtype=bool)
    keep[:, 0] = True
    keep[:, 1:] = edges[:, 1:] > edges[:, :-1]
    keep &= (low < high)[:, None]
    return edges, keep


def _flat(edges: np.ndarray, keep: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    starts = np.concatenate([[0], np.cumsum(keep.sum(axis=1))]).astype(np.int64)
    return edges[keep] + 0.0, starts  # 0.0 turns -0.0 into 0.0, whichever of the two came first


def _check_options(discretize: str, bins: int | str, integers: str) -> None:
    if discretize not in METHODS:
        raise InvalidInput(f"discretize={discretize!r}", f"one of {', '.join(METHODS)}", "Check the spelling.")
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
