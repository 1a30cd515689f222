"""JointCounts: how often levels of some features occur with those of all, in every class, learnt block by block."""

# The type checker takes compiled functions for plain Python ones.
# pyright: reportCallIssue=false

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from itertools import pairwise

import numpy as np

from certselect.coding.block_coding import StreamedCoding, changed
from certselect.coding.streamed_sums import Units, columns_read
from certselect.coding.tiles import stretch_starts
from certselect.information.level_layout import LANES, TILE_ROWS, LevelLayout
from certselect.table.streams.passes import digest
from certselect.table.streams.row_source import Rows
from certselect.threads import side_by_side

# Rows packed at a time: their bit rows stay in the second-level cache where there are some hundred levels.
_ROWS = 1 << 13
_ROWS_PER_CLASS = 1 << 11  # at least, else adding up tiles takes longer than counting
# Nanoseconds on one core, measured: a cell of a table read and coded, and two words of bit rows ANDed and counted.
READ, WORD = 20.0, 0.15
# Bytes of the counts of a part that is counted apart: what travels well, and what a worker has room for a few times.
_LIGHT, _HEAVIEST = 1 << 26, 1 << 29
_MADE_AGAIN = ("_lefts", "_scattered", "margins")


class JointCounts:
    """Whole numbers that add up; `Learnt` of a stream.

    Parameters
    ----------
    coding : StreamedCoding
    layout : LevelLayout
    features : sequence of int
        Those whose counts with all are wanted; how often every level occurs in each class is counted anyway.
    n_threads : int
    most : int
        Rows that there are at most, for which counts have room.
    later_only : bool
        Count each feature only with itself and those behind it in the layout.
    units : Units, optional
        How much each row counts, where that differs; the layout has no bit rows then.

    Attributes
    ----------
    n_rows : int
        That were counted.
    """

    def __init__(
        self,
        coding: StreamedCoding,
        layout: LevelLayout,
        features: Sequence[int],
        n_threads: int,
        *,
        most: int,
        later_only: bool = False,
        units: Units | None = None,
    ) -> None:
        self.columns = columns_read(coding.columns, units)
        self._units = units
        self.features = tuple(features)
        self._coding = coding
        self._layout = layout
        self._threads = n_threads
        self._most = most
        self._later_only = later_only
        heights = [TILE_ROWS, *(layout.height(i) for i in features)]
        starts = stretch_starts(np.array(heights))
        self._row_of = dict(zip(features, starts[1:-1].tolist(), strict=True))
        self._shape = (coding.n_classes, int(starts[-1]), layout.counted_width)
        self._sizes = np.zeros(coding.n_classes, dtype=np.int64)
        self.n_rows = 0

    @cached_property
    def _counts(self) -> np.ndarray:
        """Row 0 is that of every row together, then come the levels of the features; made when first needed."""
        return np.zeros(self._shape, dtype=self._count_type)

    @property
    def _count_type(self) -> np.dtype:
        return count_type(self._most, self._units)

    @property
    def n_bytes(self) -> int:
        """What the counts take, as soon as there are any."""
        return self._count_type.itemsize * int(np.prod(self._shape))

    def take(self, block: Rows, where: str) -> None:
        codes, target = self._coding.code_block(block, where, self._threads)
        self.n_rows += len(target)
        if self._units is not None:
            self._weigh(codes, target, self._units.of(block))
            return
        self._sizes += np.bincount(target, minlength=self._coding.n_classes)
        step = max(_ROWS, _ROWS_PER_CLASS * self._coding.n_classes)
        for start in range(0, len(target), step):
            self._count(codes[:, start : start + step], target[start : start + step])

    def add(self, other: JointCounts) -> None:
        self._counts += other._counts  # which may be narrower: see __getstate__
        self._sizes += other._sizes
        self.n_rows += other.n_rows

    def divided(self) -> list[JointCounts]:
        """Counters of some of the features each, of about equal cost and size, which know nothing yet.

        So many that their counts are light, unless reading the rows as often would take longer than counting them.
        """
        heights = np.array([self._layout.height(i) for i in self.features], dtype=np.int64)
        words = heights * [self._right_width(i) for i in self.features]
        worth = WORD * int(words.sum()) / 64 / (READ * len(self.columns))
        n_parts = int(np.clip(worth, -(-self.n_bytes // _HEAVIEST), -(-self.n_bytes // _LIGHT)))
        if min(n_parts, len(self.features)) <= 1:
            return [self]
        return [
            JointCounts(
                self._coding,
                self._layout,
                self.features[first:end],
                self._threads,
                most=self._most,
                later_only=self._later_only,
                units=self._units,
            )
            for first, end in _balanced(words / words.sum() + heights / heights.sum(), n_parts)
        ]

    def put_in(self, part: JointCounts) -> None:
        """Take over the counts of some features with all rows, which another has counted."""
        if self.n_rows and part.n_rows != self.n_rows:
            raise changed(f"{part.n_rows} rows where there had been {self.n_rows}")
        self._counts[:, :TILE_ROWS] = part._counts[:, :TILE_ROWS]
        for i in part.features:
            row, other, height = self._row_of[i], part._row_of[i], self._layout.height(i)
            self._counts[:, row : row + height] = part._counts[:, other : other + height]
        self._sizes, self.n_rows = part._sizes, part.n_rows

    @property
    def key(self) -> str:
        return digest("counts", self.features, self._later_only, self._coding.key, self._units and self._units.key)

    def saved(self) -> dict[str, np.ndarray]:
        return {"counts": self._counts, "sizes": self._sizes, "rows": np.array([self.n_rows])}

    def restore(self, saved: Mapping[str, np.ndarray]) -> None:
        counts, sizes = saved["counts"], saved["sizes"]
        if counts.shape != self._shape or sizes.shape != self._sizes.shape:
            raise ValueError("counts of something else")
        if counts.dtype.kind != "i" or sizes.dtype.kind != "i" or min(counts.min(), sizes.min()) < 0:
            raise ValueError("counts that are none")
        self._counts[:], self._sizes[:] = counts, sizes
        self.n_rows = int(saved["rows"][0])
        rows_add_up = self._units is not None or self.n_rows == self._sizes.sum()
        if not rows_add_up or not np.array_equal(self._counts[:, 0, 0], self._sizes):
            raise ValueError("counts of other rows")

    @cached_property
    def margins(self) -> np.ndarray:
        """How often each level of each feature occurs in each class, (classes, width of the layout)."""
        return self._layout.completed(self._counts[:, 0], self._sizes)

    @property
    def sizes(self) -> np.ndarray:
        """Rows of each class, or units of weight."""
        return self._sizes

    def joint(self, feature: int) -> np.ndarray:
        """How often its levels occur with each level of each feature in each class, (classes, levels, width)."""
        layout, row, levels = self._layout, self._row_of[feature], int(self._layout.levels[feature])
        counted = int(layout.counted[feature])
        own = self.margins[:, layout.starts[feature] : layout.starts[feature] + counted]
        full = np.empty((len(own), levels, layout.width), dtype=np.int64)
        full[:, :counted] = layout.completed(self._counts[:, row : row + counted], own)
        if counted < levels:
            full[:, counted] = self.margins - full[:, :counted].sum(axis=1)
        # Beside features that were not counted with this one stands nonsense, but no negative count.
        return np.maximum(full, 0) if self._later_only else full

    def __getstate__(self) -> dict[str, object]:
        """Without threads of this machine, of which another may have fewer, and what is quickly made again.

        Counts of few rows travel in two bytes each, which can be added up but hold no more rows.
        """
        kept = {name: value for name, value in self.__dict__.items() if name not in _MADE_AGAIN}
        if "_counts" in kept and self._units is None and self.n_rows < 1 << 16:
            kept["_counts"] = self._counts.astype(np.uint16)
        return {**kept, "_threads": 1}

    @cached_property
    def _lefts(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Of every row together and the features with bit rows: bit rows, tiles, rows of counts, first right level."""
        layout = self._layout
        packed = [i for i in self.features if layout.packed[i]]
        starts = np.array([0, *layout.counted_starts[packed]], dtype=np.int64)
        tiles = np.array([1, *(layout.height(i) // TILE_ROWS for i in packed)], dtype=np.int64)
        rows = np.array([0, *(self._row_of[i] for i in packed)], dtype=np.int64)
        right = starts // LANES * LANES if self._later_only else np.zeros_like(starts)
        return starts, tiles, rows, right

    def _right_width(self, feature: int) -> int:
        """With how many counted places a feature is counted."""
        before = int(self._layout.counted_starts[feature]) // LANES * LANES if self._later_only else 0
        return self._layout.counted_width - before

    @cached_property
    def _scattered(self) -> list[tuple[int, int]]:
        """Pairs of features, -1 for every row together, one of which has no bit rows."""
        layout = self._layout
        wide = np.flatnonzero(~layout.packed)
        pairs = [(-1, j) for j in wide.tolist()]
        for i in self.features:
            others = wide if layout.packed[i] else np.arange(len(layout.levels))
            if self._later_only:
                others = others[layout.counted_starts[others] >= layout.counted_starts[i]]
            pairs += [(i, j) for j in others.tolist()]
        return pairs

    def _count(self, codes: np.ndarray, target: np.ndarray) -> None:
        from certselect.information.kernels.block_counts import count_levels, pack_levels, scatter_levels

        layout, n_classes = self._layout, self._coding.n_classes
        sizes = np.bincount(target, minlength=n_classes)
        class_words = stretch_starts(-(-sizes // 64))
        order = np.argsort(target, kind="stable")
        places = np.empty(len(target), dtype=np.int64)
        places[order] = np.arange(len(target)) + np.repeat(class_words[:-1] * 64 - stretch_starts(sizes)[:-1], sizes)
        bits = np.zeros((int(class_words[-1]), layout.n_packed), dtype=np.uint64)
        starts = np.where(layout.packed, layout.counted_starts, -1)
        everyone = np.zeros((1, len(target)), dtype=np.uint8)
        pack_levels(everyone, places, np.zeros(1, dtype=np.int64), np.ones(1, dtype=np.int64), 0, 1, bits)
        side_by_side(
            lambda part: pack_levels(codes, places, starts, layout.counted, *part, bits),
            _parts(len(codes), self._threads),
            self._threads,
        )
        lefts, tiles, rows, right = self._lefts
        side_by_side(
            lambda part: count_levels(bits, class_words, lefts, tiles, rows, right, *part, self._counts),
            _balanced(tiles * (layout.n_packed - right), 4 * self._threads),
            self._threads,
        )

        def scatter(pair: tuple[int, int]) -> None:
            scatter_levels(*self._pair(pair, codes, everyone[0]), target, *self._places(pair), self._counts)

        side_by_side(scatter, self._scattered, self._threads)

    def _weigh(self, codes: np.ndarray, target: np.ndarray, units: np.ndarray) -> None:
        """The same of rows that count as often as their units say: every pair is scattered."""
        from certselect.information.kernels.block_counts import scatter_weights

        # Sums of units stay below 2^53.
        sizes = np.bincount(target, units, minlength=self._coding.n_classes).astype(np.int64)
        self._sizes += sizes
        self._counts[:, 0, 0] += sizes
        everyone = np.zeros(len(target), dtype=np.uint8)

        def scatter(pair: tuple[int, int]) -> None:
            scatter_weights(*self._pair(pair, codes, everyone), target, units, *self._places(pair), self._counts)

        side_by_side(scatter, self._scattered, self._threads)

    def _pair(self, pair: tuple[int, int], codes: np.ndarray, everyone: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The codes of a pair of features, -1 standing for every row together."""
        i, j = pair
        return everyone if i < 0 else codes[i], codes[j]

    def _places(self, pair: tuple[int, int]) -> tuple[int, int, int, int]:
        """Where the counts of a pair begin, and how many levels of both are counted."""
        (i, j), layout = pair, self._layout
        row, height = (0, 1) if i < 0 else (self._row_of[i], int(layout.counted[i]))
        return row, int(layout.counted_starts[j]), height, int(layout.counted[j])


def count_type(most: int, units: Units | None = None) -> np.dtype:
    """Of counts of so many rows at most."""
    return np.dtype(np.int32 if most < 1 << 31 and units is None else np.int64)


def _parts(n: int, n_threads: int) -> list[tuple[int, int]]:
    return list(pairwise(np.linspace(0, n, min(n, n_threads) + 1).astype(int).tolist()))


def _balanced(costs: np.ndarray, n_parts: int) -> list[tuple[int, int]]:
    """Ranges of about equal cost."""
    ends = np.cumsum(costs)
    cuts = np.searchsorted(ends, np.linspace(0, ends[-1], n_parts + 1)[1:-1]) + 1
    return list(pairwise(np.unique([0, *cuts.tolist(), len(costs)]).tolist()))
