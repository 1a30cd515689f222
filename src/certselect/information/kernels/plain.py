"""Joint counts with NumPy alone: for small tables, which should not wait for a compiler."""

from __future__ import annotations

import numpy as np

from certselect.coding import CodedTable
from certselect.information.kernels.entropy_sums import CountLogs, EntropySums, class_sums
from certselect.settings import Measuring

# Cells counted at a time: enough to amortise the calls, few enough to stay in cache.
_CHUNK = 1 << 19


class PlainCounter:
    """Pair terms of a coded table by the row or all at once, counted by `np.bincount`."""

    def __init__(self, table: CodedTable, dtype: np.dtype, correction: str = Measuring.correction) -> None:
        self._dtype = dtype
        self._codes = table.codes
        m = self._codes.shape[1]
        self._levels = table.levels
        self._target = table.target.astype(np.int64)
        self._n_classes = len(table.classes)
        logs = CountLogs(m, m, correction)
        self._logs = logs.table
        _, classes = class_sums(table.target, self._n_classes, logs)
        nothing = np.zeros(m, dtype=np.int64)
        level, level_class = self._joint_sums(nothing, 1, conditional=True)
        self.sums = EntropySums(level, level_class, classes, logs.total, logs.unit)

    def rows(self, kind: str, features: np.ndarray) -> np.ndarray:
        """Pair terms of some features with all, (len(features), n)."""
        return np.array([self._terms(kind, int(feature)) for feature in features], dtype=self._dtype)

    def matrix(self, kind: str) -> np.ndarray:
        """All pair terms, (n, n)."""
        return self.rows(kind, np.arange(len(self._codes)))

    def both(self, features: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
        """Redundancy and conditional redundancy, of some features with all or of all pairs."""
        some = np.arange(len(self._codes)) if features is None else features
        terms = np.array([self._both_terms(int(feature)) for feature in some], dtype=self._dtype)
        return terms[:, 0], terms[:, 1]

    def pair_sums(self, feature: int, conditional: bool) -> tuple[np.ndarray, np.ndarray]:
        """Of one feature with all: sums over joint counts (n,), and over those within classes (n,)."""
        return self._joint_sums(self._codes[feature].astype(np.int64), int(self._levels[feature]), conditional)

    def _terms(self, kind: str, feature: int) -> np.ndarray:
        if kind == "redundancy":
            return self._redundancy(feature, self.pair_sums(feature, False)[0])
        redundancy, conditional = self._both_terms(feature)
        return conditional if kind == "conditional_redundancy" else redundancy - conditional

    def _both_terms(self, feature: int) -> tuple[np.ndarray, np.ndarray]:
        sums = self.sums
        whole, within = self.pair_sums(feature, True)
        conditional = within - sums.level_class[feature] - sums.level_class + sums.classes
        return self._redundancy(feature, whole), np.maximum(conditional, 0) * sums.unit

    def _redundancy(self, feature: int, whole: np.ndarray) -> np.ndarray:
        # Rounding of phi may leave a unit or two below 0, a correction more.
        sums = self.sums
        return np.maximum(whole - sums.level[feature] - sums.level + sums.total, 0) * sums.unit

    def _joint_sums(self, codes: np.ndarray, levels: int, conditional: bool) -> tuple[np.ndarray, np.ndarray]:
        n, m = self._codes.shape
        n_classes = self._n_classes if conditional else 1
        slices = codes * n_classes + self._target if conditional else codes
        whole = np.zeros(n, dtype=np.int64)
        within = np.zeros(n, dtype=np.int64)
        start = 0
        while start < n:
            stop = min(n, start + max(1, _CHUNK // m))
            widest = int(self._levels[start:stop].max())
            if (stop - start) * levels * n_classes * widest > 4 * _CHUNK:
                # Too many cells for a dense table: one feature at a time, sorted.
                whole[start], within[start] = self._sorted_sums(codes, start, conditional)
                start += 1
                continue
            shape = (stop - start, levels, n_classes, widest)
            offsets = np.arange(stop - start)[:, None] * (levels * n_classes)
            cells = (offsets + slices) * widest + self._codes[start:stop]
            counts = np.bincount(cells.ravel(), minlength=int(np.prod(shape))).reshape(shape)
            if conditional:
                within[start:stop] = self._logs[counts].sum(axis=(1, 2, 3))
                counts = counts.sum(axis=2, keepdims=True)
            whole[start:stop] = self._logs[counts].sum(axis=(1, 2, 3))
            start = stop
        return whole, within

    def _sorted_sums(self, codes: np.ndarray, other: int, conditional: bool) -> tuple[int, int]:
        # Levels never outnumber samples, so the product of two stays below 2**62.
        joint = codes * int(self._levels[other]) + self._codes[other]
        _, cells, counts = np.unique(joint, return_inverse=True, return_counts=True)
        whole = int(self._logs[counts].sum())
        if not conditional:
            return whole, 0
        _, counts = np.unique(cells * self._n_classes + self._target, return_counts=True)
        return whole, int(self._logs[counts].sum())
