"""Where to cut columns of numbers.

Functions named `..._edges` return edges (p, most), ascending, NaN where a
column has fewer; those that take columns take them as contiguous rows (p, m)
of float64. Sums run over sorted columns and the rest are order statistics, so
the order of rows changes no bit.
"""

from __future__ import annotations

import math

import numpy as np

from certselect.coding.mdlp import mdlp_edges
from certselect.coding.tiles import row_tiles

METHODS = ("uniform", "quantile", "mean_std", "mdlp")
BIN_RULES = ("sturges", "freedman_diaconis", "sqrt")
FEWEST_BINS, MOST_BINS = 2, 256  # that a rule may give


def find_edges(
    values: np.ndarray, method: str, bins: int | str, target: np.ndarray, n_classes: int
) -> tuple[np.ndarray, np.ndarray]:
    """Edges of the columns of (m, p), flat, and how many each column has; none for a constant one."""
    low, high = _ends(values)
    if method == "uniform" and not isinstance(bins, str):  # the ends are enough: no copy of the columns
        edges = uniform_edges(low, high, np.full(len(low), bins))
        return _flat(*_distinct(edges, low, high))
    columns = np.ascontiguousarray(values.T, dtype=np.float64)
    if method == "mdlp":
        found = [mdlp_edges(column, target, n_classes) for column in columns]
        return np.concatenate(found) + 0.0, np.array([len(edges) for edges in found])
    if method == "mean_std":
        edges = mean_std_edges(columns)
        return _flat(edges, np.broadcast_to((low < high)[:, None], edges.shape))
    n_bins = bins_per_column(columns, bins)
    edges = uniform_edges(low, high, n_bins) if method == "uniform" else quantile_edges(columns, n_bins)
    return _flat(*_distinct(edges, low, high))


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


def quantile_edges(columns: np.ndarray, n_bins: np.ndarray) -> np.ndarray:
    """Bins of equal counts, as far as ties allow: edges at the quantiles (linear interpolation)."""
    edges = np.full((len(columns), int(n_bins.max()) - 1), np.nan)
    for count in np.unique(n_bins):
        same = n_bins == count
        edges[same, : count - 1] = _quantiles(columns[same], np.arange(1, count) / count).T
    return edges


def mean_std_edges(columns: np.ndarray) -> np.ndarray:
    """Three states: below mean - std, between, above mean + std (population deviation).

    A number at either end is between; the upper edge is the next float above
    mean + std so that "count the edges not above" stays the only rule.
    """
    # Powers of two scale without rounding: no square overflows or vanishes.
    _, exponent = np.frexp(np.abs(columns).max(axis=1))
    scaled = np.sort(np.ldexp(columns, -exponent[:, None]), axis=1)
    mean = scaled.mean(axis=1)
    deviation = np.sqrt(np.square(scaled - mean[:, None]).mean(axis=1))
    with np.errstate(over="ignore"):  # an infinite edge is one that no number crosses
        lower, upper = np.ldexp(mean - deviation, exponent), np.ldexp(mean + deviation, exponent)
        return np.stack([lower, np.nextafter(upper, np.inf)], axis=1)


def bins_per_column(columns: np.ndarray, bins: int | str) -> np.ndarray:
    """How many bins each column gets: the number given, or a rule's, kept within 2 to 256.

    With m rows: "sturges" ceil(log2 m) + 1; "sqrt" ceil(sqrt m);
    "freedman_diaconis" ceil((max - min) / (2 IQR m^(-1/3))), Sturges' where the
    quartiles coincide.
    """
    p, m = columns.shape
    if bins == "sturges":
        found = np.full(p, math.ceil(math.log2(m)) + 1)
    elif bins == "sqrt":
        found = np.full(p, math.ceil(math.sqrt(m)))
    elif bins == "freedman_diaconis":
        half = columns / 2
        quartiles = _quantiles(half, np.array([0.25, 0.75]))
        spread = quartiles[1] - quartiles[0]
        with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
            ratio = (half.max(axis=1) - half.min(axis=1)) / (2 * spread) * m ** (1 / 3)
        ratio = np.where(spread > 0, ratio, math.ceil(math.log2(m)) + 1)
        found = np.ceil(np.minimum(ratio, MOST_BINS))
    else:
        return np.full(p, bins)
    return np.clip(found, FEWEST_BINS, MOST_BINS).astype(np.int64)


def _quantiles(columns: np.ndarray, shares: np.ndarray) -> np.ndarray:
    half = _overflows(columns.min(axis=1), columns.max(axis=1))
    if not half.any():
        return np.quantile(columns, shares, axis=1)
    return np.quantile(np.where(half[:, None], columns / 2, columns), shares, axis=1) * np.where(half, 2, 1)


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
