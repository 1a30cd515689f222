"""Cuts that separate the classes, as many as the minimum description length allows (Fayyad and Irani 1993)."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from certselect.coding.quantiles import RowWeights
from certselect.errors import InvalidInput, keyword

_MOST_COUNTS = 50_000_000  # class counts of one column: 400 MB
_TIE = 1e-12  # scores closer than this, relative to the largest they could be, are equal: the lowest cut wins


def mdlp_edges(column: np.ndarray, target: np.ndarray, n_classes: int, weights: RowWeights | None = None) -> np.ndarray:
    """Cut a column where the class entropy falls most, while the description length falls too.

    A set S of N rows is cut in S1 and S2 at the place of least entropy
    (N1 H(S1) + N2 H(S2)) / N, if the gain H(S) minus that exceeds

        (log2(N - 1) + log2(3^k - 2) - k H(S) + k1 H(S1) + k2 H(S2)) / N

    with k, k1, k2 the numbers of classes in S, S1, S2; then both sides are cut
    in the same way. Edges lie midway between neighbouring numbers. Only class
    counts enter, so the order of rows does not matter. Where rows have weights,
    these are what is counted.

    References
    ----------
    Fayyad, U. M. and Irani, K. B. (1993). Multi-interval discretization of
    continuous-valued attributes for classification learning. IJCAI.
    """
    distinct, place = np.unique(column, return_inverse=True)
    _refuse_many(len(distinct), n_classes)
    cells = place * n_classes + target
    units = np.bincount(cells, None if weights is None else weights.units, minlength=len(distinct) * n_classes)
    return class_cuts(distinct, units.reshape(len(distinct), n_classes), None if weights is None else weights.shift)


def class_cuts(distinct: np.ndarray, units: np.ndarray, shift: int | None) -> np.ndarray:
    """The same of a column's different numbers, ascending, and how often each class occurs at them, (g, classes).

    Where rows have weights, those are units of 2^-shift.
    """
    _refuse_many(*units.shape)
    # cumulative[g] counts the classes among the rows below the g-th distinct number.
    cumulative = np.zeros((len(distinct) + 1, units.shape[1]), dtype=units.dtype)
    np.cumsum(units, axis=0, out=cumulative[1:])
    if shift is None:
        sizes = np.arange(int(cumulative[-1].sum()) + 1)
        information = (sizes * np.log2(np.maximum(sizes, 1))).__getitem__  # c log2 c for every count that can occur
    else:
        cumulative = np.ldexp(cumulative, -shift)
        information = _information

    cuts: list[int] = []
    waiting = [(0, len(distinct))]
    while waiting:
        start, stop = waiting.pop()
        cut = _best_cut(cumulative[start : stop + 1] - cumulative[start], information)
        if cut is not None:
            cuts.append(start + cut)
            waiting += [(start, start + cut), (start + cut, stop)]
    below, above = distinct[np.array(sorted(cuts), dtype=np.intp) - 1], distinct[np.array(sorted(cuts), dtype=np.intp)]
    middle = below / 2 + above / 2
    return np.where(middle > below, middle, above)  # between two neighbouring floats there is no middle


def _refuse_many(n_numbers: int, n_classes: int) -> None:
    if n_numbers * n_classes > _MOST_COUNTS:
        raise InvalidInput(
            f"{keyword('discretize', 'mdlp')} with {n_classes} classes and a column of {n_numbers} different numbers",
            f"at most {_MOST_COUNTS:,} of one times the other",
            f"Use {keyword('discretize', 'quantile')}, or {keyword('task', 'regression')} if the classes are numbers.",
        )


def _information(counts: np.ndarray) -> np.ndarray:
    return counts * np.log2(np.where(counts > 0, counts, 1))


def _best_cut(left: np.ndarray, information: Callable[[np.ndarray], np.ndarray]) -> int | None:
    """Where to cut the set whose cumulative class counts these are (g + 1, classes); None if nowhere.

    `information` gives c log2 c of counts c.
    """
    total = left[-1]
    n = total.sum()
    if len(left) < 3 or np.count_nonzero(total) < 2:
        return None
    left = left[1:-1]
    right = total - left
    left_cost = information(left.sum(axis=1)) - information(left).sum(axis=1)
    right_cost = information(right.sum(axis=1)) - information(right).sum(axis=1)
    cost = left_cost + right_cost  # N1 H(S1) + N2 H(S2)
    best = int(np.argmax(cost <= cost.min() + _TIE * information(n)))

    n, n_left = float(n), float(left[best].sum())
    entropy = float(information(total.sum()) - information(total).sum()) / n
    k, k_left, k_right = (int(np.count_nonzero(part)) for part in (total, left[best], right[best]))
    sides = k_left * float(left_cost[best]) / n_left + k_right * float(right_cost[best]) / (n - n_left)
    # A weight below 2 has no price: fewer than two whole rows are never cut.
    price = math.log2(max(n - 1, 1)) + math.log2(3**k - 2) - k * entropy + sides
    gain = entropy - float(cost[best]) / n
    return best + 1 if gain > price / n else None
