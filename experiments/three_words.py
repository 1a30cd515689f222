"""Can three words tell Dexter's documents apart as well as the paper prints? Every three of them are tried.

The paper prints up to 94 % with 3 features. A rule that looks at nothing but which of three words occur in a document
puts it into one of 8 cells, and does best, on the documents it was made from, by taking each cell for its larger class.
The most any such rule gets right is found here by counting all triples, with no search that could have missed one.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import comb

import numpy as np
from joblib import delayed
from numba import njit

from certselect.information.kernels.neighbor_near import count_bits
from experiments.grids import Grid
from experiments.preparation import RECIPES, load, measure
from experiments.store import EVERY_GRID, Result
from experiments.workers import processes, say

SET = "DEX"
PARTS = 64  # pieces of the work, so that processes end together


def run(grid: Grid, sets: Sequence[str], jobs: int) -> None:
    """Count once; neither grid nor the other sets matter here."""
    if SET not in sets:
        return
    question = {"experiment": "three_words", "set": SET}
    result = Result(EVERY_GRID, question, {"recipe": vars(RECIPES[SET])})
    if result.content.get("finished"):
        return
    data = load(SET)
    kept = measure(data.X, data.y, RECIPES[SET]).columns
    # Words that occur in the same documents are one.
    occurs, first = np.unique(data.X[:, kept] > 0, axis=1, return_index=True)
    right, triple = most_told_right(occurs, data.y == data.y.max(), jobs)
    result.content.update(
        rows=len(data.y),
        kept=len(kept),
        distinct=occurs.shape[1],
        triples=comb(occurs.shape[1], 3),
        right=right,
        words=sorted(kept[first[list(triple)]].tolist()),
        finished=True,
    )
    result.finish()
    say(f"three_words {SET}: {right} of {len(data.y)} at most")


def most_told_right(occurs: np.ndarray, positive: np.ndarray, jobs: int = 1) -> tuple[int, tuple[int, int, int]]:
    """The most rows that a table of three columns (m, n) of booleans tells right, and the first three that do."""
    of_class = [_packed(occurs[rows]) for rows in (positive, ~positive)]
    whole = [_packed(np.ones((int(rows.sum()), 1), dtype=bool))[0] for rows in (positive, ~positive)]
    n = occurs.shape[1]
    # The first column of a triple takes turns: low ones have most of the work.
    parts = [np.arange(start, n, PARTS) for start in range(min(PARTS, n))]
    with processes(jobs) as pool:
        found = list(pool(delayed(_best_triple)(*of_class, *whole, part) for part in parts))
    right, *triple = min(found, key=lambda one: (-one[0], *one[1:]))
    return int(right), (int(triple[0]), int(triple[1]), int(triple[2]))


def _packed(columns: np.ndarray) -> np.ndarray:
    """The rows of (m, n) booleans as the bits of (n, w) words."""
    words = -(-len(columns) // 64)
    bits = np.zeros((columns.shape[1], 64 * words), dtype=np.uint8)
    bits[:, : len(columns)] = columns.T
    return np.packbits(bits, axis=1, bitorder="little").view(np.uint64)


@njit(nogil=True)
def _best_triple(positive, negative, all_positive, all_negative, first):
    """(rows told right, three columns) of the best triple whose first column is in `first`."""
    n = len(positive)
    best = (-1, 0, 0, 0)
    cells = np.empty((2, 4, max(positive.shape[1], negative.shape[1])), dtype=np.uint64)
    totals = np.empty((2, 4), dtype=np.int64)
    for i in first:
        for j in range(i + 1, n):
            _cut(positive, all_positive, i, j, cells[0], totals[0])
            _cut(negative, all_negative, i, j, cells[1], totals[1])
            for k in range(j + 1, n):
                right = 0
                for cell in range(4):
                    with_k = _count(cells[0, cell], positive[k])
                    against = _count(cells[1, cell], negative[k])
                    right += max(with_k, against) + max(totals[0, cell] - with_k, totals[1, cell] - against)
                if right > best[0]:
                    best = (right, i, j, k)
    return best


@njit(nogil=True)
def _cut(columns, everything, i, j, cells, totals):
    """The four cells of two columns, as bits, and how many rows each has."""
    totals[:] = 0
    for word in range(columns.shape[1]):
        a, b, rest = columns[i, word], columns[j, word], everything[word]
        cells[0, word] = a & b
        cells[1, word] = a & ~b
        cells[2, word] = ~a & b
        cells[3, word] = ~a & ~b & rest
        for cell in range(4):
            totals[cell] += count_bits(cells[cell, word])


@njit(nogil=True)
def _count(cell, column):
    total = 0
    for word in range(len(column)):
        total += count_bits(cell[word] & column[word])
    return total
