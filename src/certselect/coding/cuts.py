"""Where to cut columns of numbers.

Functions named `..._edges` return edges (p, most), ascending, NaN where a
column has fewer; those that take columns take them as contiguous rows (p, m)
of float64. Sums run over sorted columns and the rest are order statistics, so
the order of rows changes no bit.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from certselect.coding.mdlp import mdlp_edges
from certselect.coding.moments import exact_sums, exponents, mean_std_edges
from certselect.coding.quantiles import (
    DenseOrder,
    Ordered,
    RowWeights,
    WeightedOrder,
    equal_count_edges,
    quartiles_of_halves,
)
from certselect.coding.tiles import row_tiles

FEWEST_BINS, MOST_BINS = 2, 256  # that a rule may give
FEWEST_AUTO, MOST_AUTO = 3, 5  # that the rule "auto" may


@dataclass(frozen=True, eq=False)
class Cutter:
    """How columns are to be cut, and what their rows are: the class and the weight of each."""

    method: str
    bins: int | str
    target: np.ndarray
    n_classes: int
    weights: RowWeights | None

    def edges(self, values: np.ndarray, missing: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
        """Edges of the columns of (m, p), flat, and how many each has, by the rows that are not missing.

        Where a cell is missing, `values` must hold some other value of its column.
        """
        if missing is None or only_ends(self.method, self.bins):
            return find_edges(values, self.method, self.bins, self.target, self.n_classes, self.weights)
        found = [self._column_edges(values[:, j], ~missing[:, j]) for j in range(values.shape[1])]
        return np.concatenate([edges for edges, _ in found]), np.concatenate([counts for _, counts in found])

    def _column_edges(self, column: np.ndarray, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        weights = None if self.weights is None else self.weights.of_rows(rows)
        return find_edges(column[rows, None], self.method, self.bins, self.target[rows], self.n_classes, weights)


def find_edges(
    values: np.ndarray,
    method: str,
    bins: int | str,
    target: np.ndarray,
    n_classes: int,
    weights: RowWeights | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Edges of the columns of (m, p), flat, and how many each column has; none for a constant one."""
    low, high = _ends(values)
    if only_ends(method, bins):  # no copy of the columns
        return edges_between(low, high, int(bins))
    columns = np.ascontiguousarray(values.T, dtype=np.float64)
    if method == "mdlp":
        found = [mdlp_edges(column, target, n_classes, weights) for column in columns]
        return np.concatenate(found) + 0.0, np.array([len(edges) for edges in found])
    if method == "mean_std":
        sums = exact_sums(columns, exponents(low, high), None if weights is None else weights.units)
        return moment_edges(sums, low, high)
    if weights is None:
        return order_edges(DenseOrder(np.sort(columns, axis=1)), low, high, method, bins)
    return order_edges(WeightedOrder.of_rows(columns, weights), low, high, method, bins)


def order_edges(
    order: Ordered, low: np.ndarray, high: np.ndarray, method: str, bins: int | str
) -> tuple[np.ndarray, np.ndarray]:
    """Edges, flat, of bins of equal width or of equal counts of columns in order, and how many each column has."""
    n_bins = bins_per_column(order, low, high, bins)
    if method == "uniform":
        return _flat(*_distinct(uniform_edges(low, high, n_bins), low, high))
    return levels_between(equal_count_edges(order, n_bins), low, high)


def moment_edges(sums: np.ndarray, low: np.ndarray, high: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Edges, flat, at mean -+ deviation of columns of these exact sums and ends, and how many each column has."""
    edges = mean_std_edges(sums, low, high)
    return _flat(edges, (low < high)[:, None] & ~np.isnan(edges))


def levels_between(edges: np.ndarray, low: np.ndarray, high: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Edges of equal counts, flat, and how many each column has: a number between two equal ones has a level."""
    return _flat(*_distinct(_with_levels_of_their_own(edges, high), low, high))


def edges_between(low: np.ndarray, high: np.ndarray, bins: int) -> tuple[np.ndarray, np.ndarray]:
    """Edges, flat, of bins of equal width between these ends, and how many each column has."""
    return _flat(*_distinct(uniform_edges(low, high, np.full(len(low), bins)), low, high))


def only_ends(method: str, bins: int | str) -> bool:
    """Whether a column's cuts depend on its smallest and largest number alone."""
    return method == "uniform" and not isinstance(bins, str)


def uniform_edges(low: np.ndarray, high: np.ndarray, n_bins: np.ndarray) -> np.ndarray:
    """Bins of equal width: edges low + t (high - low) / bins for t = 1 .. bins - 1."""
    half = _overflows(low, high)
    # Halving and doubling are exact where the numbers are that large.
    low, high = np.where(half, low / 2, low)[:, None], np.where(half, high / 2, high)[:, None]
    n_bins = n_bins[:, None]
    steps = np.minimum(np.arange(1, int(n_bins.max())), n_bins)
    edges = low + steps * ((high - low) / n_bins)
    edges[half] *= 2
    edges[steps == n_bins] = np.nan
    return edges


def bins_for_rows(n_rows: int) -> int:
    """The rule "auto": the fourth root of the number of rows, within 3 to 5.

    Features that were chosen by bins of equal counts predict best so, over tables of 50 to
    2000 rows: see docs/outcome.md.
    """
    return min(max(math.isqrt(math.isqrt(n_rows)), FEWEST_AUTO), MOST_AUTO)


def bins_per_column(order: Ordered, low: np.ndarray, high: np.ndarray, bins: int | str) -> np.ndarray:
    """How many bins each column gets: the number given, or a rule's, kept within 2 to 256.

    With m rows, or a weight of m, rounded: "sturges" ceil(log2 m) + 1; "sqrt" ceil(sqrt m); "freedman_diaconis"
    ceil((max - min) / (2 IQR m^(-1/3))), Sturges' where the quartiles coincide.
    """
    if not isinstance(bins, str):
        return np.full(len(low), bins)
    rows = np.maximum(1, np.rint(order.units / order.unit)).astype(np.int64)
    by_rows = {m: bins_by_rows(m, bins if bins == "sqrt" else "sturges") for m in set(rows.tolist())}
    found = np.array([by_rows[m] for m in rows.tolist()])
    if bins != "freedman_diaconis":
        return found
    first, third = quartiles_of_halves(order)
    spread, roots = third - first, np.array([m ** (1 / 3) for m in rows.tolist()])
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        ratio = (high / 2 - low / 2) / (2 * spread) * roots
    found = np.where(spread > 0, np.ceil(np.minimum(ratio, MOST_BINS)), found)
    return np.clip(found, FEWEST_BINS, MOST_BINS).astype(np.int64)


def bins_by_rows(m: int, rule: str) -> int:
    found = math.ceil(math.sqrt(m)) if rule == "sqrt" else math.ceil(math.log2(m)) + 1
    return min(max(found, FEWEST_BINS), MOST_BINS)


def _with_levels_of_their_own(edges: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Move the second of equal edges to the next float above: the number between them fills a bin or more.

    The largest number needs no edge above it.
    """
    again = np.zeros(edges.shape, dtype=bool)
    again[:, 1:] = (edges[:, 1:] == edges[:, :-1]) & (edges[:, 1:] < high[:, None])
    edges[again] = np.nextafter(edges[again], np.inf)
    return edges


def _overflows(low: np.ndarray, high: np.ndarray) -> np.ndarray:
    with np.errstate(over="ignore"):
        return np.isinf(high - low)


def _ends(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    low, high = values[0].copy(), values[0].copy()
    for _, tile in row_tiles(values):
        np.minimum(low, tile.min(axis=0), out=low)
        np.maximum(high, tile.max(axis=0), out=high)
    return low.astype(np.float64), high.astype(np.float64)


def _distinct(edges: np.ndarray, low: np.ndarray, high: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Edges above the smallest number, and which to keep: none twice, and none of a constant column."""
    with np.errstate(over="ignore"):  # nothing is above the largest float; a column of it is constant
        edges = np.maximum(edges, np.nextafter(low, np.inf)[:, None])
    keep = np.empty(edges.shape, dtype=bool)
    keep[:, 0] = low < high
    keep[:, 1:] = (edges[:, 1:] > edges[:, :-1]) & keep[:, :1]
    return edges, keep


def _flat(edges: np.ndarray, keep: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return edges[keep] + 0.0, keep.sum(axis=1)  # 0.0 turns -0.0 into 0.0, whichever of the two came first
