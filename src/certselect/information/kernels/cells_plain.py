"""Pair terms cell by cell with NumPy alone: for small tables, which should not wait for a compiler."""

from __future__ import annotations

import numpy as np

from certselect.information.kernels.cell_table import CellMeasures, CellTable, PairCounts, SingleTerms
from certselect.information.terms import PairTerms

# Cells counted at a time: enough to amortise the calls, few enough to stay in cache.
_CHUNK = 1 << 18


class PlainCellCounter(PairTerms):
    """Pair terms of a table by the row or all at once, each pair from its own joint table."""

    def __init__(self, table: CellTable, dtype: np.dtype) -> None:
        self._table = table
        self._dtype = dtype
        self._measures = CellMeasures(table.logs, table.shrinks)
        self._one_class = np.zeros_like(table.target)
        self.sums = self._single_terms()

    def measured(self, kinds: tuple[str, ...], features: np.ndarray | None = None) -> tuple[np.ndarray, ...]:
        some = (np.arange(len(self._table.codes)) if features is None else features).tolist()
        return tuple(np.array([self._terms(kind, i) for i in some], dtype=self._dtype) for kind in kinds)

    def _terms(self, kind: str, feature: int) -> np.ndarray:
        table, measures = self._table, self._measures
        codes = table.codes[feature].astype(np.int64)
        levels, absent = int(table.levels[feature]), int(table.absent[feature])
        result = np.empty(len(table.codes))
        start = 0
        while start < len(result):
            stop, counts = self._count(codes, levels, absent, start, kind != "redundancy")
            terms = np.zeros(stop - start)
            if kind != "conditional_redundancy":
                terms = measures.redundancy(counts)
            if kind != "redundancy":
                within = measures.conditional_redundancy(counts)
                terms = within if kind == "conditional_redundancy" else terms - within
            result[start:stop] = terms
            start = stop
        result[feature] = self.sums.diagonal(kind)[feature]
        return result

    def _single_terms(self) -> SingleTerms:
        """Each feature's joint table with the target gives its terms, its own counts its entropy."""
        table, measures = self._table, self._measures
        n = len(table.codes)
        relevance, entropy, conditional = np.empty(n), np.empty(n), np.empty(n)
        start = 0
        while start < n:
            stop, counts = self._count(table.target, table.n_classes, -1, start, False)
            here = slice(start, stop)
            relevance[here], entropy[here], conditional[here] = measures.single(counts.whole, counts.right, counts.left)
            start = stop
        return SingleTerms(relevance, entropy, conditional, target_entropy(table))

    def _count(self, codes: np.ndarray, levels: int, absent: int, start: int, by_class: bool) -> tuple[int, PairCounts]:
        """Joint counts of a column with the features from `start` up to some other, and which that is."""
        table = self._table
        n, m = table.codes.shape
        target, n_classes = (table.target, table.n_classes) if by_class else (self._one_class, 1)
        stop = min(n, start + max(1, _CHUNK // m))
        widest = int(table.levels[start:stop].max())
        if (stop - start) * levels * n_classes * widest > 4 * _CHUNK:
            # Too many cells for a dense table: one feature at a time, sorted.
            there = (codes != absent) & (table.codes[start] != table.absent[start])
            others = table.codes[start][there].astype(np.int64)
            return start + 1, _sorted_counts(codes[there], others, target[there], table.weights[there])
        pairs = np.arange(stop - start)
        slices = pairs[:, None] * (levels * n_classes) + (codes * n_classes + target)
        cells = slices * widest + table.codes[start:stop]
        # Weights are added as floats, which is exact: all together are below 2**53.
        weights = np.broadcast_to(table.weights, cells.shape).ravel()
        shape = len(pairs), levels, n_classes, widest
        counts = np.bincount(cells.ravel(), weights, minlength=int(np.prod(shape))).astype(np.int64).reshape(shape)
        if absent >= 0:
            counts[:, absent] = 0
        partly = pairs[table.absent[start:stop] >= 0]
        counts[partly, :, :, table.absent[start:stop][partly]] = 0
        return stop, PairCounts.of(counts)


def target_entropy(table: CellTable) -> float:
    """H(C) of all rows."""
    sizes = np.bincount(table.target, table.weights, minlength=table.n_classes).astype(np.int64)
    return float(CellMeasures(table.logs, table.shrinks).entropy(sizes[None])[0])


def _sorted_counts(left: np.ndarray, right: np.ndarray, target: np.ndarray, weights: np.ndarray) -> PairCounts:
    """The counts of `_count` for one pair, of the cells that are not empty."""
    whole = _numbered(left, right)
    keys = _numbered(whole, target), _numbered(left, target), _numbered(right, target), target, whole, left, right
    return PairCounts(*(_added_up(key, weights) for key in keys))


def _numbered(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """A number for each combination of two codes, less than the number of samples."""
    keys = first * (1 + int(second.max(initial=0))) + second
    return np.unique(keys, return_inverse=True)[1]


def _added_up(keys: np.ndarray, weights: np.ndarray) -> np.ndarray:
    _, places = np.unique(keys, return_inverse=True)
    return np.bincount(places, weights).astype(np.int64)[None]
