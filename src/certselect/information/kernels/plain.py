"""Joint counts with NumPy alone: for small tables, which should not wait for a compiler."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from certselect.coding import CodedTable
from certselect.information.kernels.entropy_sums import CountLogs, EntropySums, class_sums
from certselect.information.terms import PairTerms
from certselect.settings import Measuring

# Cells counted at a time: enough to amortise the calls, few enough to stay in cache.
_CHUNK = 1 << 19
# Columns of so few levels are counted by bits, 64 samples at once for each cell of their joint table; where that has
# more cells, by going through the samples.
_FEW_LEVELS, _FEW_CELLS = 8, 64
_WORD = 64


@dataclass(frozen=True, eq=False)
class _Part:
    """Features that are counted together, as many as the cache has room for: all of few levels or all of many."""

    features: np.ndarray
    codes: np.ndarray
    widest: int

    @cached_property
    def bits(self) -> np.ndarray:
        return _bit_rows(self.codes, self.widest)

    def joint_counts(self, column: np.ndarray, levels: int) -> np.ndarray:
        """How often each level of a column meets each level of the features, (levels, widest, features)."""
        if self.widest <= _FEW_LEVELS and levels * self.widest <= _FEW_CELLS:
            both = _bit_rows(column[None], levels)[:, :, None] & self.bits[:, None]
            return np.bitwise_count(both).sum(axis=0, dtype=np.min_scalar_type(len(column)))
        n = len(self.features)
        cells = (column * self.widest + self.codes) * n + np.arange(n)[:, None]
        return np.bincount(cells.ravel(), minlength=levels * self.widest * n).reshape(levels, self.widest, n)


class PlainCounter(PairTerms):
    """Pair terms of a coded table by the row or all at once, counted by bits or by `np.bincount`."""

    def __init__(self, table: CodedTable, dtype: np.dtype, correction: str = "none") -> None:
        self._dtype = dtype
        self._codes = table.codes
        m = self._codes.shape[1]
        self._levels = table.levels
        self._parts = tuple(_parts(table.codes, table.levels))
        self._target = table.target.astype(np.int64)
        self._n_classes = len(table.classes)
        logs = CountLogs(m, m, correction)
        self._logs = logs.table
        _, classes = class_sums(table.target, self._n_classes, logs)
        nothing = np.zeros(m, dtype=np.int64)
        level, level_class = self._joint_sums(nothing, 1, conditional=True)
        self.sums = EntropySums(level, level_class, classes, logs.total, logs.unit)

    def measured(self, kinds: tuple[str, ...], features: np.ndarray | None = None) -> tuple[np.ndarray, ...]:
        some = np.arange(len(self._codes)) if features is None else features
        found = np.empty((len(kinds), len(some), len(self._codes)), dtype=self._dtype)
        for row, feature in enumerate(some.tolist()):
            found[:, row] = self._terms(kinds, feature)
        return tuple(found)

    def pair_sums(self, feature: int, conditional: bool) -> tuple[np.ndarray, np.ndarray]:
        """Of one feature with all: sums over joint counts (n,), and over those within classes (n,)."""
        return self._joint_sums(self._codes[feature].astype(np.int64), int(self._levels[feature]), conditional)

    def _terms(self, kinds: tuple[str, ...], feature: int) -> list[np.ndarray]:
        whole, within = self.pair_sums(feature, kinds != ("redundancy",))
        redundancy = self.sums.redundancy(feature, whole)
        if kinds == ("redundancy",):
            return [redundancy]
        conditional = self.sums.conditional_redundancy(feature, within)
        if kinds == ("interaction",):
            return [redundancy - conditional]
        return [redundancy, conditional] if len(kinds) == 2 else [conditional]

    def _joint_sums(self, codes: np.ndarray, levels: int, conditional: bool) -> tuple[np.ndarray, np.ndarray]:
        n_classes = self._n_classes if conditional else 1
        column = codes * n_classes + self._target if conditional else codes
        whole = np.zeros(len(self._codes), dtype=np.int64)
        within = np.zeros(len(self._codes), dtype=np.int64)
        for part in self._parts:
            if levels * n_classes * part.widest * len(part.features) > 4 * _CHUNK:
                # Too many cells for a dense table: one feature at a time, sorted.
                for feature in part.features:
                    whole[feature], within[feature] = self._sorted_sums(codes, feature, conditional)
                continue
            counts = part.joint_counts(column, levels * n_classes)
            if conditional:
                within[part.features] = self._logs.take(counts).sum(axis=(0, 1))
                counts = counts.reshape(levels, n_classes, part.widest, -1).sum(axis=1)
            whole[part.features] = self._logs.take(counts).sum(axis=(0, 1))
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


def _parts(codes: np.ndarray, levels: np.ndarray) -> Iterator[_Part]:
    at_once = max(1, _CHUNK // codes.shape[1])
    few = levels <= _FEW_LEVELS
    for group in (np.flatnonzero(few), np.flatnonzero(~few)):
        for start in range(0, len(group), at_once):
            features = group[start : start + at_once]
            own = codes if len(features) == len(codes) else codes[features]
            yield _Part(features, own, int(levels[features].max()))


def _bit_rows(codes: np.ndarray, levels: int) -> np.ndarray:
    """One bit for each sample and level of (features, samples), (words, levels, features)."""
    n, m = codes.shape
    hot = np.zeros((levels, n, -(-m // _WORD) * _WORD), dtype=bool)
    np.equal(codes, np.arange(levels, dtype=codes.dtype)[:, None, None], out=hot[:, :, :m])
    return np.ascontiguousarray(np.packbits(hot, axis=-1).view(np.uint64).transpose(2, 0, 1))
