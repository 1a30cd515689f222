"""Where to cut columns of numbers: equal widths, equal counts, mean and deviation.

Functions named `..._edges` take columns as contiguous rows (p, m) of float64
and return edges (p, most), ascending, NaN where a column has fewer. Sums run
over sorted columns and the rest are order statistics, so the order of rows
changes no bit.
"""

from __future__ import annotations

import math

import numpy as np

BIN_RULES = ("sturges", "freedman_diaconis", "sqrt")
_FEWEST, _MOST = 2, 256  # bins a rule may give


def uniform_edges(columns: np.ndarray, bins: int | str) -> np.ndarray:
    """Bins of equal width between the smallest and the largest number."""
    low, high = columns.min(axis=1), columns.max(axis=1)
    n_bins = bins_per_column(columns, bins)
    return equal_widths(low, high, n_bins)


def equal_widths(low: np.ndarray, high: np.ndarray, n_bins: np.ndarray) -> np.ndarray:
    """Edges low + t (high - low) / bins for t = 1 .. bins - 1."""
    half = _overflows(low, high)
    # Halving and doubling are exact where the numbers are that large.
    low, high = np.where(half, low / 2, low)[:, None], np.where(half, high / 2, high)[:, None]
    steps = np.arange(1, int(n_bins.max()))
    edges = low + steps * ((high - low) / n_bins[:, None])
    edges[half] *= 2
    edges[steps >= n_bins[:, None]] = np.nan
    return edges


def quantile_edges(columns: np.ndarray, bins: int | str) -> np.ndarray:
    """Bins of equal counts, as far as ties allow: edges at the quantiles (linear interpolation)."""
    n_bins = bins_per_column(columns, bins)
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
    with np.errstate(over="ignore"):
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
        found = np.ceil(np.minimum(ratio, _MOST))
    else:
        return np.full(p, bins)
    return np.clip(found, _FEWEST, _MOST).astype(np.int64)


def _quantiles(columns: np.ndarray, shares: np.ndarray) -> np.ndarray:
    half = _overflows(columns.min(axis=1), columns.max(axis=1))
    if not half.any():
        return np.quantile(columns, shares, axis=1)
    return np.quantile(np.where(half[:, None], columns / 2, columns), shares, axis=1) * np.where(half, 2, 1)


def _overflows(low: np.ndarray, high: np.ndarray) -> np.ndarray:
    with np.errstate(over="ignore"):
        return np.isinf(high - low)
