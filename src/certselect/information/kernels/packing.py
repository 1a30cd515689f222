"""Where every sample and feature stands in the bit rows, and the rows themselves."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from itertools import pairwise

import numpy as np

from certselect.coding import CodedTable
from certselect.coding.tiles import stretch_starts
from certselect.information.kernels.bits import pack_blocks
from certselect.information.kernels.entropy_sums import FEW_LEVELS, CountLogs, EntropySums, class_sums
from certselect.information.kernels.lanes import LANES
from certselect.information.kernels.scatter import sum_features
from certselect.settings import Measuring
from certselect.threads import run_parts

_WORTH_THREADS = 500_000  # cells; packing fewer takes a fraction of a millisecond
_MOST_GROWTH = 8  # bit rows may take this many times the memory of the codes ...
_FREE_MEMORY = 1 << 28  # ... beyond a quarter of a gigabyte


@dataclass(frozen=True, eq=False)
class PackedTable:
    """A coded table as bit rows, in blocks of `LANES` features sorted by number of levels.

    Slot s is lane s % LANES of block s // LANES. Blocks 0..n_packed-1 have bit rows.
    """

    codes: np.ndarray
    levels: np.ndarray
    target: np.ndarray
    row_order: np.ndarray  # samples sorted by class
    class_size: np.ndarray
    class_word: np.ndarray  # first word of each class, and the end
    slot_feature: np.ndarray
    feature_slot: np.ndarray
    slot_levels: np.ndarray
    block_levels: np.ndarray
    block_at: np.ndarray
    margin_at: np.ndarray
    n_packed: int
    bits: np.ndarray
    margins: np.ndarray
    logs: np.ndarray  # phi of 0 .. m samples, as in `CountLogs`
    steps: np.ndarray  # logs[c + 1] - logs[c]
    level_sums: np.ndarray  # by slot
    level_class_sums: np.ndarray  # by slot
    class_sum: int
    unit: float

    @property
    def sums(self) -> EntropySums:
        level, level_class = self.level_sums[self.feature_slot], self.level_class_sums[self.feature_slot]
        return EntropySums(level, level_class, self.class_sum, int(self.logs[-1]), self.unit)

    @property
    def n_words(self) -> int:
        return int(self.class_word[-1])


def pack_table(table: CodedTable, n_threads: int, correction: str = "none") -> PackedTable:
    """Pack a coded table into bit rows; its margins and entropy sums come along."""
    n, m = table.codes.shape
    n_classes = len(table.classes)
    logs = CountLogs(m, m, correction)
    sizes, class_sum = class_sums(table.target, n_classes, logs)
    row_order = np.argsort(table.target, kind="stable")
    class_word = stretch_starts(-(-sizes // 64))
    sample_bit = np.empty(m, dtype=np.int64)
    sample_bit[row_order] = np.arange(m) + np.repeat(class_word[:-1] * 64 - stretch_starts(sizes)[:-1], sizes)

    n_blocks = -(-n // LANES)
    by_levels = np.argsort(table.levels, kind="stable")
    slot_feature = np.full(n_blocks * LANES, -1, dtype=np.int64)
    slot_feature[:n] = by_levels
    feature_slot = np.empty(n, dtype=np.int64)
    feature_slot[by_levels] = np.arange(n)
    slot_levels = np.ones(n_blocks * LANES, dtype=np.int64)
    slot_levels[:n] = table.levels[by_levels]
    block_levels = slot_levels.reshape(n_blocks, LANES).max(axis=1)

    n_packed = int(np.searchsorted(block_levels, FEW_LEVELS, side="right"))
    rows = block_levels - 1
    if rows[:n_packed].sum() * LANES * int(class_word[-1]) * 8 > _MOST_GROWTH * table.codes.nbytes + _FREE_MEMORY:
        n_packed = 0  # almost as many classes as samples: padding each to a word costs too much
    rows[n_packed:] = 0
    block_at = stretch_starts(rows * int(class_word[-1]) * LANES)
    margin_at = stretch_starts(rows * (n_classes + 1) * LANES)

    packed = PackedTable(
        table.codes, table.levels, table.target, row_order, sizes.astype(np.uint64), class_word, slot_feature,
        feature_slot, slot_levels, block_levels, block_at, margin_at, n_packed,
        np.zeros(int(block_at[-1]), dtype=np.uint64), np.zeros(int(margin_at[-1]), dtype=np.uint64),
        logs.table, np.diff(logs.table), np.zeros(n_blocks * LANES, dtype=np.int64),
        np.zeros(n_blocks * LANES, dtype=np.int64), class_sum, logs.unit,
    )  # fmt: skip
    cuts = np.linspace(0, n_packed, 1 + (max(1, min(n_threads, n_packed)) if n * m > _WORTH_THREADS else 1)).astype(int)
    parts = [partial(_pack, packed, sample_bit, first, last) for first, last in pairwise(cuts.tolist())]
    run_parts("packing", parts, n_threads)
    return packed


def _pack(packed: PackedTable, sample_bit: np.ndarray, first: int, last: int) -> None:
    pack_blocks(
        packed.codes, sample_bit, packed.slot_feature, packed.block_levels, packed.block_at, packed.margin_at,
        packed.class_word, packed.class_size, packed.logs, first, last,
        packed.bits, packed.margins, packed.level_sums, packed.level_class_sums,
    )  # fmt: skip
    if last == packed.n_packed and last * LANES < len(packed.levels):
        sum_features(
            np.arange(last * LANES, len(packed.levels)), packed.slot_feature, packed.codes, packed.levels,
            packed.target, packed.row_order, packed.steps, packed.level_sums, packed.level_class_sums,
        )  # fmt: skip
