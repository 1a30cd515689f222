"""Where to cut columns of numbers.

Functions named `..._edges` return edges (p, most), ascending, NaN where a
column has fewer; those that take columns take them as contiguous rows (p, m)
of float64. Sums run over sorted columns and the rest are order statistics, so
the order of rows changes no bit.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from certselect.coding.masses import Masses, RowWeights, masses
from certselect.coding.mdlp import mdlp_edges
from certselect.coding.quantiles import FEWEST_IN_A_BIN, DenseOrder, equal_count_edges
from certselect.coding.tiles import row_tiles

_QUARTILES = np.array([0.25, 0.75])
# Of the deviation: numbers nearer to mean -+ std than this are at it, whatever rounding made of them.
_AT_AN_END = 1e-12
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
    weighed = None if weights is None else [masses(column, weights) for column in columns]
    if method == "mean_std":
        edges = mean_std_edges(columns) if weighed is None else np.stack([weighted_mean_std_edges(w) for w in weighed])
        return _flat(edges, (low < high)[:, None] & ~np.isnan(edges))
    n_bins = bins_per_column(columns, bins) if weighed is None else weighted_bins_per_column(weighed, bins)
    if method == "uniform":
        edges = uniform_edges(low, high, n_bins)
    else:
        if weighed is None:
            edges = equal_count_edges(DenseOrder(np.sort(columns, axis=1)), n_bins)
        else:
            edges = weighted_quantile_edges(weighed, n_bins)
        return levels_between(edges, low, high)
    return _flat(*_distinct(edges, low, high))


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


def weighted_quantile_edges(columns: Sequence[Masses], n_bins: np.ndarray) -> np.ndarray:
    """Bins of equal weight, as far as ties allow, and around a number that fills some: `equal_count_edges`."""
    edges = np.full((len(columns), int(n_bins.max()) - 1), np.nan)
    for own, column, count in zip(edges, columns, n_bins.tolist(), strict=True):
        own[: count - 1] = column.quantiles(np.arange(1, count) / count)
    for place, number in _filling_bins(edges):
        edges[place] = _edges_around(number, columns[place], int(n_bins[place]), edges.shape[1])
    return edges


def mean_std_edges(columns: np.ndarray) -> np.ndarray:
    """Three states: below mean - std, between, above mean + std (population deviation).

    A number at either end is between; the upper edge is the next float above
    mean + std so that "count the edges not above" stays the only rule. A column
    that these edges leave in one piece is cut at its mean instead.
    """
    exponent = _exponent(columns)
    scaled = np.sort(np.ldexp(columns, -exponent[:, None]), axis=1)
    mean, deviation = _moments(scaled)
    balanced = _nearly_balanced(scaled[:, 0], scaled[:, -1], mean, deviation)
    shifted = scaled[balanced] - scaled[balanced, :1]
    balanced[balanced] = _balanced(shifted[:, -1], *_moments(shifted))
    return _around(mean, deviation, exponent, scaled[:, [0, -1]], balanced)


def weighted_mean_std_edges(column: Masses) -> np.ndarray:
    """The same of one weighted column, by writing its rows out where they are whole and not too many."""
    repeated = column.repeated()
    if repeated is not None:
        return mean_std_edges(repeated[None])[0]
    exponent = _exponent(column.numbers[None])
    scaled = replace(column, numbers=np.ldexp(column.numbers, -exponent))
    ends = scaled.numbers[None, [0, -1]]
    shifted = replace(scaled, numbers=scaled.numbers - scaled.numbers[0])
    mean, deviation = map(np.atleast_1d, scaled.mean_and_deviation())
    balanced = _balanced(shifted.numbers[-1:], *map(np.atleast_1d, shifted.mean_and_deviation()))
    return _around(mean, deviation, exponent, ends, balanced)[0]


def bins_for_rows(n_rows: int) -> int:
    """The rule "auto": the fourth root of the number of rows, within 3 to 5.

    Features that were chosen by bins of equal counts predict best so, over tables of 50 to
    2000 rows: see docs/outcome.md.
    """
    return min(max(math.isqrt(math.isqrt(n_rows)), FEWEST_AUTO), MOST_AUTO)


def bins_per_column(columns: np.ndarray, bins: int | str) -> np.ndarray:
    """How many bins each column gets: the number given, or a rule's, kept within 2 to 256.

    With m rows: "sturges" ceil(log2 m) + 1; "sqrt" ceil(sqrt m);
    "freedman_diaconis" ceil((max - min) / (2 IQR m^(-1/3))), Sturges' where the
    quartiles coincide.
    """
    if bins == "freedman_diaconis":
        half = columns / 2
        return _by_spread(np.quantile(half, _QUARTILES, axis=1), half.max(axis=1) - half.min(axis=1), columns.shape[1])
    return np.full(len(columns), bins_by_rows(columns.shape[1], bins) if isinstance(bins, str) else bins)


def weighted_bins_per_column(columns: Sequence[Masses], bins: int | str) -> np.ndarray:
    """The same of weighted columns, m being their weight, rounded."""
    if not isinstance(bins, str):
        return np.full(len(columns), bins)
    # All columns of a call hold the same rows.
    m = max(1, round(columns[0].total))
    if bins != "freedman_diaconis":
        return np.full(len(columns), bins_by_rows(m, bins))
    halves = [replace(column, numbers=column.numbers / 2) for column in columns]
    quartiles = np.stack([half.quantiles(_QUARTILES) for half in halves], axis=1)
    return _by_spread(quartiles, np.array([half.numbers[-1] - half.numbers[0] for half in halves]), m)


def bins_by_rows(m: int, rule: str) -> int:
    found = math.ceil(math.sqrt(m)) if rule == "sqrt" else math.ceil(math.log2(m)) + 1
    return min(max(found, FEWEST_BINS), MOST_BINS)


def _by_spread(quartiles: np.ndarray, ranges: np.ndarray, m: int) -> np.ndarray:
    spread = quartiles[1] - quartiles[0]
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        ratio = ranges / (2 * spread) * m ** (1 / 3)
    found = np.where(spread > 0, np.ceil(np.minimum(ratio, MOST_BINS)), bins_by_rows(m, "sturges"))
    return np.clip(found, FEWEST_BINS, MOST_BINS).astype(np.int64)


def _exponent(columns: np.ndarray) -> np.ndarray:
    """Powers of two that scale columns to 1, without rounding: no square overflows or vanishes."""
    return np.frexp(np.abs(columns).max(axis=1))[1]


def _moments(columns: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    mean = columns.mean(axis=1)
    return mean, np.sqrt(np.square(columns - mean[:, None]).mean(axis=1))


def _around(
    mean: np.ndarray, deviation: np.ndarray, exponent: np.ndarray, ends: np.ndarray, balanced: np.ndarray
) -> np.ndarray:
    """Edges (p, 2) of columns whose moments, smallest and largest numbers (p, 2) were scaled by 2^-exponent."""
    low, high = np.ldexp(ends, exponent[:, None]).T
    with np.errstate(over="ignore"):  # an infinite edge is one that no number crosses
        lower, upper = np.ldexp(mean - deviation, exponent), np.ldexp(mean + deviation, exponent)
        upper, above_low = np.nextafter(upper, np.inf), np.nextafter(low, np.inf)
    one_piece = balanced | ((lower <= low) & (high < upper))
    middle = np.minimum(np.maximum(np.ldexp(mean, exponent), above_low), high)
    return np.stack([np.where(one_piece, middle, lower), np.where(one_piece, np.nan, upper)], axis=1)


def _balanced(span: np.ndarray, mean: np.ndarray, deviation: np.ndarray) -> np.ndarray:
    """Whether numbers from 0 to `span` all lie within mean -+ std: two of them, in equal parts.

    They lie at these very ends, and whether rounding lets them cross is chance.
    """
    within = (1 + _AT_AN_END) * deviation
    return (mean <= within) & (span - mean <= within)


def _nearly_balanced(low: np.ndarray, high: np.ndarray, mean: np.ndarray, deviation: np.ndarray) -> np.ndarray:
    """The few columns, scaled to 1, that are worth a closer look.

    The closer look is at the distances from the smallest number: of those, a common part
    that is large beside the spread leaves nothing.
    """
    near = 1e-6 * deviation + 1e-9
    return (low >= mean - deviation - near) & (high <= mean + deviation + near)


def _filling_bins(edges: np.ndarray) -> Iterator[tuple[int, float]]:
    """Columns of which a number holds several edges, and that number: the lowest of those that hold most."""
    for place in np.flatnonzero((edges[:, 1:] == edges[:, :-1]).any(axis=1)):
        numbers, counts = np.unique(edges[place][~np.isnan(edges[place])], return_counts=True)
        yield int(place), float(numbers[np.argmax(counts)])


def _edges_around(number: float, column: Masses, bins: int, room: int) -> np.ndarray:
    """Edges of a number that fills a bin or more, and of bins of equal weight for all others, NaN behind them."""
    others = column.numbers != number
    rest = replace(column, numbers=column.numbers[others], units=column.units[others])
    below, above = bool(column.numbers[0] < number), bool(number < column.numbers[-1])
    count = max(1, min(bins - 1 - (below and above), int(rest.total // FEWEST_IN_A_BIN)))
    edges = [*rest.quantiles(np.arange(1, count) / count)] if others.any() else []
    if above:  # the smallest of the rest there has an edge below it already
        smallest = rest.numbers[rest.numbers > number][0]
        edges = [np.nextafter(edge, np.inf) if edge == smallest else edge for edge in edges]
    edges += [number] * below + [np.nextafter(number, np.inf)] * above
    return np.pad(np.sort(edges), (0, room - len(edges)), constant_values=np.nan)


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
