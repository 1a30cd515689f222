"""Joint counts from bit rows: one bit per sample and (feature, level), eight features side by side.

Layout. Features are sorted by number of levels and cut into blocks of eight
lanes. Samples are sorted by class and each class is padded to whole 64-bit
words, so one pass over the words gives every class slice. Within a block, word
w of level b of lane l stands at `block_at + (w * (levels - 1) + b - 1) * 8 + l`;
level 0 has no row: its counts follow from the margins.
"""

# The type checker takes the functions compiled below for plain Python ones.
# pyright: reportCallIssue=false

from __future__ import annotations

import numpy as np
from numba import njit

from certselect.information.kernels.lanes import (
    LANES,
    add,
    add_looked_up,
    add_to,
    counted,
    load,
    shifted,
    spread,
    store,
    store_scaled,
    subtract,
)
from certselect.information.kernels.tile import count_four_rows, count_one_row, level_bits

# What to write for a pair; `BOTH` is redundancy and conditional redundancy.
REDUNDANCY, INTERACTION, BOTH = 0, 1, 2
# Levels of no more samples than this have their sums of phi over three cells looked up in one go.
SMALL_MARGIN = 127


@njit(nogil=True, cache=True)
def pack_blocks(
    codes, sample_bit, slot_feature, block_levels, block_at, margin_at, class_word, class_size, logs,
    first_block, last_block, bits, margins, level_sums, level_class_sums,
):  # fmt: skip
    """Write the bit rows, margins and entropy sums (by slot) of blocks first_block..last_block-1."""
    n_classes = len(class_size)
    n_words = class_word[n_classes]
    all_ones = np.full(1, np.uint64(0xFFFFFFFFFFFFFFFF))
    # Codes in the order of the bits; the padding stays at level 0, which has no row.
    ordered = np.zeros(n_words * 64, np.uint8)
    for block in range(first_block, last_block):
        rows = block_levels[block] - 1
        step = rows * LANES
        for lane in range(LANES):
            feature = slot_feature[block * LANES + lane]
            if feature < 0:
                continue
            for i in range(len(sample_bit)):
                ordered[sample_bit[i]] = codes[feature, i]
            for w in range(n_words):
                for row in range(rows):
                    bits[block_at[block] + w * step + row * LANES + lane] = level_bits(ordered, w * 64, row + 1)
        at = margin_at[block]
        for c in range(n_classes):
            for row in range(rows):
                # Counting against all ones counts the row itself.
                count_one_row(
                    all_ones, 0, 0, bits, block_at[block] + row * LANES, step, class_word[c], class_word[c + 1],
                    margins, at + (c * rows + row) * LANES,
                )  # fmt: skip
        for x in range(step):
            total = np.uint64(0)
            for c in range(n_classes):
                total += margins[at + c * step + x]
            margins[at + n_classes * step + x] = total
        for lane in range(LANES):
            feature = slot_feature[block * LANES + lane]
            if feature < 0:
                continue
            level_class = np.int64(0)
            for c in range(n_classes):
                level_class += _sum_levels(margins, at + c * step + lane, rows, class_size[c], logs)
            level_class_sums[block * LANES + lane] = level_class
            size = np.uint64(len(sample_bit))
            level_sums[block * LANES + lane] = _sum_levels(margins, at + n_classes * step + lane, rows, size, logs)


@njit(nogil=True, forceinline=True)
def _sum_levels(margins, at, rows, size, logs):
    total = np.int64(0)
    rest = size
    for row in range(rows):
        count = margins[at + row * LANES]
        rest -= count
        total += logs[count]
    return total + logs[rest]


@njit(nogil=True, cache=True)
def count_groups(
    left_slots, group_at, right_first, right_last, bits, margins, slot_feature, slot_levels, block_levels, block_at,
    margin_at, class_word, class_size, logs, level_sums, level_class_sums, class_sum, unit, what, mirror,
    left_row, out, out_conditional,
):  # fmt: skip
    """Pair terms of groups of features (left) with whole blocks (right), written into `out`.

    Group g holds left_slots[group_at[g]:group_at[g+1]] and meets the blocks
    right_first[g]..right_last[g]-1. The terms of left slot s go to row
    left_row[s], at the columns of the right features; with `mirror` also to the
    transposed places. Entropy sums are by slot.
    """
    n_classes = len(class_size)
    n_words = class_word[n_classes]
    n_samples = np.uint64(len(logs) - 1)
    n_slices = 1 if what == REDUNDANCY else n_classes
    most_rows = most_right = most_slots = 0
    for g in range(len(group_at) - 1):
        if right_first[g] < right_last[g]:
            rows = 0
            for s in range(group_at[g], group_at[g + 1]):
                rows += slot_levels[left_slots[s]] - 1
            most_rows = max(most_rows, rows)
            most_slots = max(most_slots, group_at[g + 1] - group_at[g])
            most_right = max(most_right, block_levels[right_last[g] - 1] - 1)  # blocks ascend in levels
    left = np.empty(n_words * most_rows, np.uint64)
    counts = np.empty(most_right * most_rows * LANES, np.uint64)
    totals = np.empty(most_right * most_rows * LANES, np.uint64)
    within = np.empty(most_slots * LANES, np.int64)
    terms, slices = np.empty(LANES), np.empty(LANES)
    most_tables = (n_classes + 1) * (most_rows + most_slots)
    table_at, table_bits = np.empty(most_tables, np.int64), np.empty(most_tables, np.int64)
    wholes = np.empty(most_slots * LANES, np.int64)

    for g in range(len(group_at) - 1):
        if right_first[g] >= right_last[g]:
            continue
        begin, end = group_at[g], group_at[g + 1]
        rows = _gather_left(left_slots[begin:end], bits, block_levels, block_at, slot_levels, n_words, left)
        row_sums = _row_tables(
            left_slots[begin:end], block_levels, slot_levels, margins, margin_at, class_size, n_samples,
            what != REDUNDANCY, logs, table_at, table_bits,
        )  # fmt: skip
        for block in range(right_first[g], right_last[g]):
            n_right = block_levels[block] - 1
            few = len(row_sums) > 0 and 1 <= n_right <= 2
            if few:
                row = 0
                for s in range(begin, end):
                    n_left = slot_levels[left_slots[s]] - 1
                    _count_few(
                        left, row, rows, n_left, bits, block_at[block], n_right, margins, margin_at[block], class_word,
                        what == REDUNDANCY, row + s - begin, rows + end - begin, table_at, table_bits, row_sums, wholes,
                        within, (s - begin) * LANES,
                    )  # fmt: skip
                    row += n_left
            else:
                within[:] = 0
            size = n_right * rows * LANES
            for c in range(0 if few else n_slices):
                first, last = (0, n_words) if what == REDUNDANCY else (class_word[c], class_word[c + 1])
                target = counts if c else totals
                for b in range(n_right):
                    at, step = block_at[block] + b * LANES, n_right * LANES
                    row = 0
                    while row + 4 <= rows:
                        count_four_rows(left, row, rows, bits, at, step, first, last, target, (b * rows + row) * LANES)
                        row += 4
                    while row < rows:
                        count_one_row(left, row, rows, bits, at, step, first, last, target, (b * rows + row) * LANES)
                        row += 1
                if what != REDUNDANCY:
                    row = 0
                    for s in range(begin, end):
                        slot = left_slots[s]
                        n_left = slot_levels[slot] - 1
                        home = slot // LANES
                        left_margin = margin_at[home] + c * (block_levels[home] - 1) * LANES + slot % LANES
                        right_margin = margin_at[block] + c * n_right * LANES
                        cells = _sum_cells(
                            target, rows, row, n_left, n_right, margins, left_margin, right_margin, class_size[c], logs
                        )
                        add_to(within, (s - begin) * LANES, cells)
                        row += n_left
                if c:
                    for x in range(size):
                        totals[x] += counts[x]
            row = 0
            for s in range(begin, end):
                slot = left_slots[s]
                n_left = slot_levels[slot] - 1
                home = slot // LANES
                left_margin = margin_at[home] + n_classes * (block_levels[home] - 1) * LANES + slot % LANES
                right_margin = margin_at[block] + n_classes * n_right * LANES
                if few:
                    cells = load(wholes, (s - begin) * LANES)
                else:
                    cells = _sum_cells(
                        totals, rows, row, n_left, n_right, margins, left_margin, right_margin, n_samples, logs
                    )
                row += n_left
                _write_block(
                    cells, within, (s - begin) * LANES, slot_feature, slot, block, level_sums, level_class_sums,
                    logs[-1], class_sum, unit, what, mirror, left_row[s], terms, slices, out, out_conditional,
                )  # fmt: skip


@njit(nogil=True, forceinline=True)
def _gather_left(slots, bits, block_levels, block_at, slot_levels, n_words, left):
    """Copy the bit rows of some slots side by side: row r of word w at w * rows + r."""
    rows = 0
    for slot in slots:
        rows += slot_levels[slot] - 1
    row = 0
    for slot in slots:
        block = slot // LANES
        step = (block_levels[block] - 1) * LANES
        for level in range(slot_levels[slot] - 1):
            at = block_at[block] + level * LANES + slot % LANES
            for w in range(n_words):
                left[w * rows + row] = bits[at + w * step]
            row += 1
    return rows


@njit(nogil=True, forceinline=True)
def _sum_cells(counts, rows, row_at, n_left, n_right, margins, left_margin, right_margin, size, logs):
    """Sums of phi over all cells of eight joint tables; level 0 of either side is what the margins leave."""
    cells = spread(np.int64(0))
    left_over = size
    for row in range(n_left):
        margin = margins[left_margin + row * LANES]
        left_over -= margin
        rest = spread(margin)
        for b in range(n_right):
            here = load(counts, (b * rows + row_at + row) * LANES)
            cells = add_looked_up(cells, logs, here)
            rest = subtract(rest, here)
        cells = add_looked_up(cells, logs, rest)
    corner = spread(left_over)
    for b in range(n_right):
        rest = load(margins, right_margin + b * LANES)
        for row in range(n_left):
            rest = subtract(rest, load(counts, (b * rows + row_at + row) * LANES))
        cells = add_looked_up(cells, logs, rest)
        corner = subtract(corner, rest)
    return add_looked_up(cells, logs, corner)


@njit(nogil=True)
def _row_tables(
    slots, block_levels, slot_levels, margins, margin_at, class_size, n_samples, conditional, logs, table_at, table_bits
):
    """For each level of the left, sums of phi over its cells: of a counts, b counts and what they leave, at (b, a).

    All in one array, by slice (classes, then all samples), slot and level, level 0 last; `table_at` and `table_bits`
    say where and how wide. Empty where a level has too many samples, or a slot other than two or three levels.
    """
    n_classes, end, place, nothing = len(class_size), 0, 0, np.empty(0, np.int64)
    level_size = np.zeros(len(table_at), np.int64)
    for c in range(n_classes + 1):
        for slot in slots:
            n_left = slot_levels[slot] - 1
            if n_left < 1 or n_left > 2:
                return nothing
            home = slot // LANES
            at = margin_at[home] + c * (block_levels[home] - 1) * LANES + slot % LANES
            rest = np.int64(class_size[c] if c < n_classes else n_samples)
            for level in range(n_left):
                level_size[place + level] = margins[at + level * LANES]
                rest -= level_size[place + level]
            level_size[place + n_left] = rest
            for _ in range(n_left + 1):
                bits = 0
                while (1 << bits) <= level_size[place]:
                    bits += 1
                table_at[place], table_bits[place] = end, bits
                if conditional or c == n_classes:
                    if level_size[place] > SMALL_MARGIN:
                        return nothing
                    end += 1 << (2 * bits)
                place += 1
    row_sums = np.empty(end, np.int64)
    first = 0 if conditional else place - place // (n_classes + 1)
    for table in range(first, place):
        size = level_size[table]
        for b in range(size + 1):
            at = table_at[table] + (b << table_bits[table])
            for a in range(size + 1 - b):
                row_sums[at + a] = logs[a] + logs[b] + logs[size - a - b]
    return row_sums


@njit(nogil=True)
def _count_few(
    left, row, rows, n_left, bits, at, n_right, margins, right_margin, class_word, whole_alone, table, tables,
    table_at, table_bits, row_sums, wholes, within, out_at,
):  # fmt: skip
    """Sums of phi over the cells of eight joint tables of two or three levels on both sides, and those by class.

    All in registers: `a` and `b` count levels 1 and 2 of the right beside level 1 of the left, `c` and `d` beside
    level 2. One look-up for each level of the left gives the sum over its cells.
    """
    nothing, step, n_classes = spread(np.int64(0)), n_right * LANES, len(class_word) - 1
    all_a = all_b = all_c = all_d = in_classes = nothing
    for k in range(1 if whole_alone else n_classes):
        first, last = (0, class_word[n_classes]) if whole_alone else (class_word[k], class_word[k + 1])
        a = b = c = d = nothing
        for w in range(first, last):
            one = left[w * rows + row]
            two = left[w * rows + row + 1] if n_left == 2 else np.uint64(0)
            here = load(bits, at + w * step)
            there = load(bits, at + w * step + LANES) if n_right == 2 else nothing
            a, b = counted(a, one, here), counted(b, one, there)
            c, d = counted(c, two, here), counted(d, two, there)
        if not whole_alone:
            in_classes = _add_rows(
                in_classes, a, b, c, d, n_left, n_right, margins, right_margin + k * step, k * tables + table, table_at,
                table_bits, row_sums,
            )  # fmt: skip
        all_a, all_b, all_c, all_d = add(all_a, a), add(all_b, b), add(all_c, c), add(all_d, d)
    store(within, out_at, in_classes)
    cells = _add_rows(
        nothing, all_a, all_b, all_c, all_d, n_left, n_right, margins, right_margin + n_classes * step,
        n_classes * tables + table, table_at, table_bits, row_sums,
    )  # fmt: skip
    store(wholes, out_at, cells)


@njit(nogil=True, forceinline=True)
def _add_rows(
    sums, a, b, c, d, n_left, n_right, margins, right_margin, table, table_at, table_bits, row_sums
):  # fmt: skip
    """`sums` and those of one slice: of the levels of the left, of which level 0 has what the margins leave."""
    sums = add_looked_up(sums, row_sums, shifted(b, table_bits[table], a, table_at[table]))
    rest_a = subtract(load(margins, right_margin), a)
    rest_b = subtract(load(margins, right_margin + LANES), b) if n_right == 2 else b
    if n_left == 2:
        sums = add_looked_up(sums, row_sums, shifted(d, table_bits[table + 1], c, table_at[table + 1]))
        rest_a, rest_b = subtract(rest_a, c), subtract(rest_b, d)
    return add_looked_up(sums, row_sums, shifted(rest_b, table_bits[table + n_left], rest_a, table_at[table + n_left]))


@njit(nogil=True, forceinline=True)
def _write_block(
    whole, within, within_at, slot_feature, slot, block, level_sums, level_class_sums, total_sum, class_sum, unit,
    what, mirror, row, terms, slices, out, out_conditional,
):  # fmt: skip
    """Turn the sums of one feature with eight others into terms and put them where they belong."""
    at = block * LANES
    own = spread(level_sums[slot] - total_sum)
    store_scaled(terms, subtract(subtract(whole, own), load(level_sums, at)), unit)
    if what != REDUNDANCY:
        own = spread(level_class_sums[slot] - class_sum)
        store_scaled(slices, subtract(subtract(load(within, within_at), own), load(level_class_sums, at)), unit)
    for lane in range(LANES):
        other = slot_feature[at + lane]
        if other < 0:  # an empty lane of the last block
            break
        term = terms[lane] - slices[lane] if what == INTERACTION else terms[lane]
        out[row, other] = term
        if mirror:
            out[other, row] = term
        if what == BOTH:
            out_conditional[row, other] = slices[lane]
            if mirror:
                out_conditional[other, row] = slices[lane]
