"""What pairs of columns share by chance: sums over tables of expected cells, of all pairs of level counts that occur.

Level counts are numbered once for each slice, which is all rows or the rows of a class. Quantile bins have few
different counts, so the tables are small, and many columns have the same counts: they share one sum.
"""

from __future__ import annotations

from functools import cached_property, partial
from itertools import pairwise

import numpy as np

from certselect.information.kernels.chance_cells import expected_cells
from certselect.information.kernels.margins import LevelCounts
from certselect.threads import side_by_side

# Expected cells that are kept: 128 MB. Where there are more, those of some features at a time are computed anew.
MOST_KEPT = 1 << 24
# In a slice with more different counts than this, those of half the rows or less are rounded to eight significant
# bits, and larger ones so that the rest of the rows is: then no slice has more than some thousands, and what is
# expected is right to half a percent.
_MOST_COUNTS, _SIGNIFICANT = 2048, 8
# Up to so many cells, all are computed when the first is asked for: fewer calls take less time than fewer cells.
_ALL_AT_ONCE = 30_000
# Up to so many sums, those of all pairs are made when the first is asked for.
_FEW_SUMS = 1 << 17
_CHUNK = 1 << 20  # numbers looked up at a time by NumPy
# From so many features on, the sums of all pairs of patterns are made once, if these are no more: 16 MB.
_MANY_FEATURES, _MOST_PATTERN_SUMS = 256, 1 << 21
_NOTHING = np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64)
# Sums that NumPy makes before the compiled kernel is loaded, and those that are worth a thread.
_PLAIN_SUMS, _WORTH_A_THREAD = 50_000_000, 200_000


class ChanceTables:
    """Expected information of pairs of columns whose level counts among all rows and in each class are known.

    Parameters
    ----------
    counts : LevelCounts
        Of all features in each slice: `Margins.of_slices`.
    n_features : int
    one : float
        Expected cells are rounded to whole multiples of 1 / one, so that no order of levels, rows or features matters.
    n_threads : int
    """

    def __init__(self, counts: LevelCounts, n_features: int, one: float, n_threads: int) -> None:
        self._n, self._one, self._threads = n_features, one, n_threads
        self._starts = counts.starts
        self._slices = (len(counts.starts) - 1) // n_features
        owners = np.repeat(np.arange(self._slices), counts.levels.reshape(self._slices, n_features).sum(axis=1))
        # Of any feature: its samples are all there are.
        self._samples = counts.summed(counts.counts).reshape(self._slices, n_features)[:, 0]
        rounded = _rounded(counts.counts, owners, self._samples)
        keys = owners * (1 + int(self._samples[0])) + rounded
        distinct, self._places = _numbered(keys)
        owner, self._distinct = np.divmod(distinct, 1 + int(self._samples[0]))
        self._id_starts = np.searchsorted(owner, np.arange(self._slices + 1))
        self._sizes = np.diff(self._id_starts)
        self._kept = int((self._sizes**2).sum()) <= MOST_KEPT
        begins = np.cumsum(self._sizes**2) - self._sizes**2
        within = np.arange(len(owner)) - self._id_starts[owner]
        self._rows = begins[owner] + within * self._sizes[owner]  # where the cells of each count begin
        self._known = np.zeros(len(owner), dtype=bool)
        self._all_known = False
        self._sums: np.ndarray | None = None
        self._made, self._compiled = 0, False

    def with_column(self, others: np.ndarray) -> np.ndarray:
        """Expected cells of each feature and another column with these counts, among all rows, added up, (n,)."""
        own = self._distinct[: self._id_starts[1]]
        others = others[others > 0]
        cells = self._cells(np.repeat(own, len(others)), np.tile(others, len(own)), np.zeros(1, dtype=np.int64))
        starts = self._starts[: self._n + 1]
        levels = LevelCounts(starts, self._places[: starts[-1]])
        return levels.summed(cells.reshape(len(own), -1).sum(axis=1)[levels.counts])

    def subtract(self, kind: str, features: np.ndarray, terms: np.ndarray, *, compiled: bool) -> None:
        """Subtract what some features and all share by chance from their rows of pair terms, (len(features), n).

        Information that is below that is 0; interaction is what is left.
        """
        self._made += self._n * self._n_slices(kind) * len(features)
        self._compiled = self._compiled or compiled or self._made > _PLAIN_SUMS
        if self._n**2 * self._slices <= _FEW_SUMS:
            self._subtract_known(kind, features, terms)
            return
        at_once = len(features) if self._kept else max(1, MOST_KEPT // max(1, 8 * int(self._sizes.sum())))
        for start in range(0, len(features), at_once):
            some, rows = features[start : start + at_once], terms[start : start + at_once]
            if self._compiled:
                self._subtract_compiled(kind, some, rows)
            else:
                self._subtract_plain(kind, some, rows)

    def _n_slices(self, kind: str) -> int:
        return {"redundancy": 1, "conditional_redundancy": self._slices - 1}.get(kind, self._slices)

    def _chosen(self, kind: str) -> list[tuple[int, int]]:
        """Slices whose sums are added up, and their signs."""
        if kind == "redundancy":
            return [(0, 1)]
        classes = range(1, self._slices)
        return [(s, 1) for s in classes] if kind == "conditional_redundancy" else [(0, 1), *((s, -1) for s in classes)]

    def _subtract_known(self, kind: str, features: np.ndarray, terms: np.ndarray) -> None:
        if self._sums is None:
            everyone = np.arange(self._n)
            tables = self._tables("interaction", everyone)
            whole = self._sums_in(0, everyone, tables)
            within = np.zeros_like(whole)
            for s in range(1, self._slices):
                within += self._sums_in(s, everyone, tables)
            self._sums = np.stack([whole, within, whole - within])
        which = {"redundancy": 0, "conditional_redundancy": 1}.get(kind, 2)
        self._write(kind, features, self._sums[which, features], terms)

    def _subtract_plain(self, kind: str, features: np.ndarray, terms: np.ndarray) -> None:
        tables = self._tables(kind, features)
        widest = int(self._sizes.max()) + max(1, len(self._places) // self._slices)
        for start in range(0, len(features), max(1, _CHUNK // widest)):
            some = slice(start, start + max(1, _CHUNK // widest))
            sums = np.zeros((len(features[some]), self._n), dtype=np.int64)
            for s, sign in self._chosen(kind):
                sums += sign * self._sums_in(s, features[some], tables)
            self._write(kind, features[some], sums, terms[some])

    def _sums_in(self, s: int, features: np.ndarray, tables: tuple[np.ndarray, np.ndarray]) -> np.ndarray:
        """Expected cells of some features with all in one slice, added up, (features, n)."""
        cells, rows = tables
        starts = self._starts[s * self._n : (s + 1) * self._n + 1]
        own = self._levels_of(s, features)
        ends = np.cumsum(starts[features + 1] - starts[features])
        lefts = rows[self._places[own]][:, None] + np.arange(self._sizes[s])
        by_count = np.add.reduceat(cells[lefts], np.concatenate([[0], ends[:-1]]), axis=0)
        others = self._places[starts[0] : starts[-1]] - self._id_starts[s]
        return np.add.reduceat(by_count[:, others], starts[:-1] - starts[0], axis=1)

    def _write(self, kind: str, features: np.ndarray, sums: np.ndarray, terms: np.ndarray) -> None:
        at = np.arange(len(features)), features
        own = terms[at]
        less = terms - sums / self._one / float(self._samples[0])
        terms[...] = less
        terms[at] = own  # with itself a feature shares its entropy, whatever is shuffled
        if kind != "interaction":
            np.maximum(terms, 0.0, out=terms)

    def _subtract_compiled(self, kind: str, features: np.ndarray, terms: np.ndarray) -> None:
        from certselect.information.kernels.chance_kernels import subtract_expected

        tables, rows = self._tables(kind, features)
        slices, signs = (np.array(each) for each in zip(*self._chosen(kind), strict=True))
        patterns, pattern_starts, pattern_columns = self._patterns
        known, known_starts = self._pattern_sums if self._worth_all(features) else _NOTHING
        work = partial(
            subtract_expected, features=features, slices=slices, signs=signs, n=self._n, starts=self._starts,
            places=self._places, id_starts=self._id_starts, tables=tables, table_rows=rows, patterns=patterns,
            pattern_starts=pattern_starts, pattern_columns=pattern_columns, known=known,
            known_starts=known_starts, one=self._one,
            samples=float(self._samples[0]), limited=kind != "interaction", terms=terms,
        )  # fmt: skip
        sums = len(features) * self._n * len(slices)
        n_parts = min(len(features), 1 if sums < _WORTH_A_THREAD else 4 * self._threads)
        cuts = np.linspace(0, len(features), n_parts + 1).astype(int).tolist()
        side_by_side(lambda part: work(*part), list(pairwise(cuts)), self._threads)

    def _worth_all(self, features: np.ndarray) -> bool:
        """Whether so many features are asked for that the sums of all pairs of patterns are made once."""
        known = "_pattern_sums" in self.__dict__
        some = len(features) >= min(self._n, _MANY_FEATURES) and self._kept
        return known or (some and int((np.diff(self._patterns[1]) ** 2).sum()) <= _MOST_PATTERN_SUMS)

    @cached_property
    def _pattern_sums(self) -> tuple[np.ndarray, np.ndarray]:
        """Expected cells of all pairs of patterns, added up: a square for each slice, and where these begin."""
        from certselect.information.kernels.chance_kernels import sum_patterns

        _, starts, columns = self._patterns
        n_patterns = np.diff(starts)
        owners = np.repeat(np.arange(self._slices), n_patterns)
        begins = np.concatenate([[0], np.cumsum(n_patterns**2)])
        sums = np.empty(int(begins[-1]), dtype=np.int64)
        tables, rows = self._tables("interaction", np.arange(self._n))
        work = partial(
            sum_patterns, owners=owners, numbers=np.arange(len(owners)) - starts[owners], starts=self._starts,
            places=self._places, id_starts=self._id_starts, tables=tables, table_rows=rows, pattern_starts=starts,
            pattern_columns=columns, sums=sums, sum_starts=begins,
        )  # fmt: skip
        n_parts = min(len(owners), 1 if len(sums) < _WORTH_A_THREAD else 8 * self._threads)
        cuts = np.linspace(0, len(owners), n_parts + 1).astype(int).tolist()
        side_by_side(lambda part: work(*part), list(pairwise(cuts)), self._threads)
        return sums, begins

    @cached_property
    def _patterns(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Which counts each column has, numbered in each slice; where slices begin; a column of each.

        Columns are compared by hashes, and then count by count. No hash that is shared by chance goes unseen: then
        each column has its own pattern.
        """
        columns = np.arange(self._slices * self._n)
        sizes = np.diff(self._starts)
        owners = np.repeat(columns, sizes)
        most = len(self._distinct)
        ordered = np.sort(owners * most + self._places) - owners * most
        mixed = np.arange(1, most + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
        mixed = (mixed ^ (mixed >> np.uint64(29))) * np.uint64(0xBF58476D1CE4E5B9)
        hashes = np.add.reduceat(mixed[ordered] ^ (mixed[ordered] >> np.uint64(32)), self._starts[:-1])
        _, first, pattern = np.unique(hashes, return_index=True, return_inverse=True)
        # Counts are numbered over all slices, so that patterns of different slices differ; in the order of columns.
        order = np.argsort(first, kind="stable")
        number = np.empty(len(first), dtype=np.int64)
        number[order] = np.arange(len(first))
        pattern, first = number[pattern], first[order]
        same = sizes[first[pattern]] == sizes
        if same.all():
            place = self._starts[first[pattern]][owners] + (np.arange(len(owners)) - self._starts[owners])
            same = ordered[place] == ordered
        if not same.all():
            pattern, first = columns, columns
        starts = np.searchsorted(first // self._n, np.arange(self._slices + 1))
        return (pattern - starts[columns // self._n]).astype(np.int32), starts, first

    def _places_of(self, kind: str, features: np.ndarray) -> np.ndarray:
        return self._places[np.concatenate([self._levels_of(s, features) for s, _ in self._chosen(kind)])]

    def _levels_of(self, s: int, features: np.ndarray) -> np.ndarray:
        """Where the levels of some features in a slice are, one feature after the other."""
        begins = self._starts[s * self._n + features]
        sizes = self._starts[s * self._n + features + 1] - begins
        ends = np.cumsum(sizes)
        return np.repeat(begins - (ends - sizes), sizes) + np.arange(int(ends[-1]))

    def _tables(self, kind: str, features: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Expected cells of the counts of some features with all of their slice, and where each count's begin."""
        if not self._kept:
            return self._anew(np.unique(self._places_of(kind, features)))
        if not self._all_known:
            new = np.ones(len(self._known), dtype=bool)
            if int((self._sizes**2).sum()) > 2 * _ALL_AT_ONCE:
                new[:] = False
                new[self._places_of(kind, features)] = True
            new &= ~self._known
            if new.any():
                self._learn(new)
                self._all_known = bool(self._known.all())
        return self._cells_kept, self._rows

    @cached_property
    def _cells_kept(self) -> np.ndarray:
        return np.empty(int((self._sizes**2).sum()), dtype=np.int64)

    def _learn(self, new: np.ndarray) -> None:
        """Compute the cells of new counts with all; those of two counts once, as a cell equals its mirror image."""
        lists = []
        for s, (start, stop) in enumerate(pairwise(self._id_starts.tolist())):
            rows = np.flatnonzero(new[start:stop])
            missing = np.broadcast_to(~self._known[start:stop], (len(rows), stop - start)).copy()
            missing &= ~new[start:stop] | (np.arange(stop - start) >= rows[:, None])
            row, column = np.nonzero(missing)
            lists.append((start + rows[row], start + column, np.full(len(row), s)))
        row, column, owner = (np.concatenate(each) for each in zip(*lists, strict=True))
        cells = self._cells(self._distinct[row], self._distinct[column], owner)
        table = self._cells_kept
        begin = self._id_starts[owner]
        table[self._rows[row] + column - begin] = cells
        table[self._rows[column] + row - begin] = cells
        self._known |= new

    def _anew(self, ids: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        owner = np.searchsorted(self._id_starts, ids, side="right") - 1
        sizes = self._sizes[owner]
        begins = np.cumsum(sizes) - sizes
        row = np.repeat(ids, sizes)
        column = np.arange(int(sizes.sum())) + np.repeat(self._id_starts[owner] - begins, sizes)
        rows = np.zeros(len(self._distinct), dtype=np.int64)
        rows[ids] = begins
        return self._cells(self._distinct[row], self._distinct[column], np.repeat(owner, sizes)), rows

    def _cells(self, first: np.ndarray, second: np.ndarray, owner: np.ndarray) -> np.ndarray:
        samples = np.broadcast_to(self._samples[owner], first.shape)
        return fixed_cells(first, second, samples, self._one, compiled=self._compiled)


def fixed_cells(
    first: np.ndarray, second: np.ndarray, samples: np.ndarray, one: float, *, compiled: bool = False
) -> np.ndarray:
    """Expected cells in fixed point, whose sums are exact: no order of levels, rows or features matters."""
    return np.rint(expected_cells(first, second, samples, compiled=compiled) * one).astype(np.int64)


def _rounded(counts: np.ndarray, owners: np.ndarray, samples: np.ndarray) -> np.ndarray:
    """Counts, rounded in slices that have too many different ones."""
    found = counts
    for s, size in enumerate(samples.tolist()):
        if size <= _MOST_COUNTS:
            continue
        here = owners == s
        own = counts[here]
        if len(np.unique(own)) > _MOST_COUNTS:
            less = np.minimum(own, size - own)
            step = np.exp2(np.maximum(np.floor(np.log2(np.maximum(less, 1))) - (_SIGNIFICANT - 1), 0))
            less = (np.rint(less / step) * step).astype(np.int64)
            found = found.copy() if found is counts else found
            found[here] = np.where(own <= size - own, less, size - less)
    return found


def _numbered(keys: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The different keys in order, and which of them stands at each place."""
    most = int(keys.max(initial=0))
    if most > 16 * len(keys) + 1000:
        distinct, places = np.unique(keys, return_inverse=True)
        return distinct, places
    there = np.zeros(most + 1, dtype=bool)
    there[keys] = True
    return np.flatnonzero(there), (np.cumsum(there) - 1)[keys]
