"""Pair terms of a coded table with compiled kernels, on all cores."""

from __future__ import annotations

from functools import partial
from itertools import pairwise

import numpy as np

from certselect.coding import CodedTable
from certselect.information.kernels.bits import BOTH, INTERACTION, REDUNDANCY, count_groups
from certselect.information.kernels.entropy_sums import EntropySums
from certselect.information.kernels.lanes import LANES
from certselect.information.kernels.packing import pack_table
from certselect.information.kernels.scatter import scatter_pairs
from certselect.information.terms import PairTerms
from certselect.memory import large_array
from certselect.settings import Measuring
from certselect.threads import run_parts, side_by_side

_ALONE: dict[tuple[str, ...], int] = {("redundancy",): REDUNDANCY, ("interaction",): INTERACTION}
# Nanoseconds on one core, measured: a word ANDed and counted, a look-up of phi, a
# sample scattered without and with class slices. Only their ratios matter much.
_WORD, _LOOK_UP, _SCATTER, _SCATTER_SLICES = 0.07, 1.3, 1.8, 3.2
_ROWS_PER_GROUP = 32  # bit rows on the left at a time: their counts stay in the first-level cache
_WORTH_A_THREAD = 4e5  # nanoseconds of work below which a second thread costs more than it brings
_PARTS_PER_THREAD = 2  # of a row: few, as each costs a call; not one, as a thread may have to wait for its core
_ONE = np.array([0, 1])  # where one group of one feature begins and ends
_PART = 5e7  # nanoseconds of work between two reports of progress


class CompiledCounter(PairTerms):
    """Pair terms by the row or all at once, each pair counted by the cheaper of two kernels."""

    def __init__(
        self, table: CodedTable, n_threads: int, dtype: np.dtype, correction: str = "none"
    ) -> None:
        self._packed = pack_table(table, n_threads, correction)
        self._threads = n_threads
        self._dtype = dtype
        self._plans: dict[tuple[int, bool, int], tuple[int, int]] = {}

    @property
    def sums(self) -> EntropySums:
        return self._packed.sums

    def measured(self, kinds: tuple[str, ...], features: np.ndarray | None = None) -> tuple[np.ndarray, ...]:
        what = _ALONE.get(kinds, BOTH)
        found = self._all_pairs(what) if features is None else self._count_rows(what, features)
        return found[-len(kinds) :] if what == BOTH else found[:1]

    def _count_rows(self, what: int, features: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        packed = self._packed
        out = np.empty((len(features), len(packed.levels)), dtype=self._dtype)
        other = np.empty_like(out) if what == BOTH else out
        for row, feature in enumerate(features):
            slot = int(packed.feature_slot[feature])
            plan = self._plan_row(int(packed.levels[feature]), slot // LANES < packed.n_packed, what)
            count = partial(self._count_row, slot, row, plan, what, out, other)
            side_by_side(count, range(plan[1]), self._threads)
        return out, other

    def _count_row(self, slot, row, plan, what, out, other, part) -> None:
        """One part of one feature's terms with all: its share of the blocks by bit rows, and of the rest."""
        (limit, n_parts), n = plan, len(self._packed.levels)
        left, rows = np.array([slot]), np.array([row])
        first, last = limit * part // n_parts, limit * (part + 1) // n_parts
        if first < last:
            self._count(left, _ONE, np.array([first]), np.array([last]), what, False, rows, out, other)
        behind = min(n, limit * LANES)
        first, last = (behind + (n - behind) * p // n_parts for p in (part, part + 1))
        if first < last:
            self._scatter(left, np.array([first]), np.array([last]), what, False, rows, out, other)

    def _all_pairs(self, what: int) -> tuple[np.ndarray, np.ndarray]:
        packed, n = self._packed, len(self._packed.levels)
        out = large_array((n, n), self._dtype)
        other = large_array((n, n), self._dtype) if what == BOTH else out
        # Blocks stand by number of levels: each block meets itself and those behind
        # it, by bit rows up to some block and by scattering from there on.
        n_blocks = len(packed.block_levels)
        limits = [
            max(b, self._bit_blocks(int(packed.block_levels[b]), b < packed.n_packed, what)) for b in range(n_blocks)
        ]
        cost = sum(LANES * self._cost(int(packed.block_levels[b]), b, limits[b], what) for b in range(n_blocks))
        n_parts = min(n_blocks, self._part_count(cost))
        # Neighbours together, so that what is written is near to what was: of a map, the same pages. The first parts
        # have the most pairs, so that the last thread is done soon after the others.
        cuts = (n_blocks * part // n_parts for part in range(n_parts + 1))
        parts = [partial(self._count_blocks, range(*blocks), limits, what, out, other) for blocks in pairwise(cuts)]
        run_parts("pairs", parts, self._threads)
        return out, other

    def _count_blocks(self, blocks: range, limits: list[int], what: int, out: np.ndarray, other: np.ndarray) -> None:
        n = len(self._packed.levels)
        slots, starts, first, last, behind = [], [0], [], [], []
        for block in blocks:
            mine = range(block * LANES, min(n, (block + 1) * LANES))
            per_group = max(1, _ROWS_PER_GROUP // max(1, int(self._packed.block_levels[block]) - 1))
            slots.extend(mine)
            behind.extend([limits[block] * LANES] * len(mine))
            for start in range(0, len(mine), per_group):
                starts.append(starts[-1] + min(per_group, len(mine) - start))
                first.append(block)
                last.append(limits[block])
        left = np.array(slots)
        rows = self._packed.slot_feature[left]
        if any(begin < end for begin, end in zip(first, last, strict=True)):
            self._count(left, np.array(starts), np.array(first), np.array(last), what, True, rows, out, other)
        if min(behind) < n:
            self._scatter(left, np.minimum(behind, n), np.full(len(left), n), what, True, rows, out, other)

    def _count(self, left, group_at, first, last, what, mirror, rows, out, other) -> None:
        packed = self._packed
        count_groups(
            left, group_at, first, last, packed.bits, packed.margins, packed.slot_feature, packed.slot_levels,
            packed.block_levels, packed.block_at, packed.margin_at, packed.class_word, packed.class_size, packed.logs,
            packed.level_sums, packed.level_class_sums, packed.class_sum, packed.unit, what, mirror, rows, out, other,
        )  # fmt: skip

    def _scatter(self, left, first, last, what, mirror, rows, out, other) -> None:
        packed = self._packed
        scatter_pairs(
            left, first, last, packed.slot_feature, packed.codes, packed.levels, packed.target, packed.row_order,
            packed.steps, packed.level_sums, packed.level_class_sums, int(packed.logs[-1]), packed.class_sum,
            packed.unit, what, mirror, rows, out, other,
        )  # fmt: skip

    def _plan_row(self, levels: int, has_bits: bool, what: int) -> tuple[int, int]:
        """For one feature with all: how many blocks by bit rows, and in how many parts."""
        plan = self._plans.get((levels, has_bits, what))
        if plan is None:
            limit = self._bit_blocks(levels, has_bits, what)
            worth = self._cost(levels, 0, limit, what) > _WORTH_A_THREAD and self._threads > 1
            plan = limit, _PARTS_PER_THREAD * self._threads if worth else 1
            self._plans[levels, has_bits, what] = plan
        return plan

    def _bit_blocks(self, levels: int, has_bits: bool, what: int) -> int:
        """How many blocks such a feature should meet by bit rows; the rest are scattered."""
        packed = self._packed
        if not has_bits:
            return 0
        n_slices = 1 if what == REDUNDANCY else len(packed.class_size) + 1
        right = packed.block_levels[: packed.n_packed]
        by_bits = (levels - 1) * (right - 1) * packed.n_words * _WORD + levels * right * n_slices * _LOOK_UP
        return int(np.searchsorted(by_bits, self._scatter_cost(what), side="right"))

    def _scatter_cost(self, what: int) -> float:
        return self._packed.codes.shape[1] * (_SCATTER if what == REDUNDANCY else _SCATTER_SLICES)

    def _cost(self, levels: int, first: int, limit: int, what: int) -> float:
        """Nanoseconds to meet all features from block `first` on, those up to block `limit` by bit rows."""
        packed = self._packed
        n_slices = 1 if what == REDUNDANCY else len(packed.class_size) + 1
        right = packed.block_levels[first:limit]
        words = (levels - 1) * float((right - 1).sum()) * packed.n_words
        look_ups = levels * float(right.sum()) * n_slices
        scattered = max(0, len(packed.levels) - limit * LANES) * self._scatter_cost(what)
        return LANES * (words * _WORD + look_ups * _LOOK_UP) + scattered

    def _part_count(self, cost: float) -> int:
        few = 1 if cost < _WORTH_A_THREAD or self._threads == 1 else 4 * self._threads
        return max(few, int(cost / _PART))
