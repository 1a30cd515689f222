"""Tables whose pairs are each measured from all cells of their own joint table, and what these cells are worth.

Bit rows count samples, with margins that all pairs share. Samples that weigh differently, pairs that leave out rows
of their own (missing values) and estimates that look at a joint table as a whole (shrinkage) need every cell of every
pair: `cells_plain` counts them with NumPy, `cells_compiled` with Numba.

A term is a sum over four tables, joint - left - right + given: of phi over counts, or, with shrinkage, of p ln p over
shrunk frequencies. Shrinkage (James and Stein) draws the frequencies of the joint table towards equal ones,

    p = w / cells + (1 - w) c / N,
    w = min(1, (1 - sum (c/N)^2) / ((N - 1) sum (1/cells - c/N)^2)),

and takes all margins from the result. Its cells are all combinations of levels that occur in the rows concerned;
empty ones share one p and are never listed. `cell_lists` computes the same, compiled.

References
----------
J. Hausser and K. Strimmer (2009), Entropy inference and the James-Stein estimator.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from certselect.coding import CodedTable
from certselect.errors import InvalidInput, keyword
from certselect.information.kernels.entropy_sums import CountLogs
from certselect.information.kernels.logarithm import natural_log
from certselect.information.kernels.weights import whole_weights


@dataclass(frozen=True, eq=False)
class CellTable:
    """A coded table with what it takes to measure its pairs cell by cell.

    Attributes
    ----------
    codes, levels
        As in `CodedTable`.
    absent : ndarray of int64 (n,)
        The code that leaves a row out of a feature's terms; -1 if there is none.
    target : ndarray of int64 (m,)
    n_classes : int
    weights : ndarray of int64 (m,)
        In units of 2**-logs.weight_bits; all 1 for samples that weigh the same.
    logs : CountLogs
        Not looked at where `shrinks`, but for its weight_bits.
    shrinks : bool
        Frequencies are shrunk towards equal ones before they are measured.
    """

    codes: np.ndarray
    levels: np.ndarray
    absent: np.ndarray
    target: np.ndarray
    n_classes: int
    weights: np.ndarray
    logs: CountLogs
    shrinks: bool


@dataclass(frozen=True, eq=False)
class SingleTerms:
    """Terms of single features, each from the rows where it has a value.

    `relevance` is I(Xi;C), `entropy` H(Xi), `conditional_entropy` H(Xi|C), all (n,);
    `target_entropy` is H(C) of all rows.
    """

    relevance: np.ndarray
    entropy: np.ndarray
    conditional_entropy: np.ndarray
    target_entropy: float

    def diagonal(self, kind: str) -> np.ndarray:
        """Pair terms of features with themselves."""
        if kind == "redundancy":
            return self.entropy
        return self.conditional_entropy if kind == "conditional_redundancy" else self.entropy - self.conditional_entropy


def needs_cells(table: CodedTable, correction: str) -> bool:
    """Whether bit rows cannot serve a table."""
    absent = table.absent is not None and bool((table.absent >= 0).any())
    return absent or table.weights is not None or correction == "shrinkage"


def cell_table(table: CodedTable, correction: str) -> CellTable:
    n, m = table.codes.shape
    weights, logs = counting_units(table.weights, m, correction)
    return CellTable(
        codes=table.codes,
        levels=table.levels,
        absent=np.full(n, -1, dtype=np.int64) if table.absent is None else table.absent,
        target=table.target.astype(np.int64),
        n_classes=len(table.classes),
        weights=np.ones(m, dtype=np.int64) if weights is None else weights,
        logs=logs,
        shrinks=correction == "shrinkage",
    )


def counting_units(weights: np.ndarray | None, m: int, correction: str) -> tuple[np.ndarray | None, CountLogs]:
    """Weights of m samples as whole numbers, if there are any, and phi of sums of them."""
    phi = "none" if correction == "shrinkage" else correction
    if weights is None:
        return None, CountLogs(m, m, phi)
    whole, bits = whole_weights(weights)
    refuse_broken_counts(bits, correction)
    return whole, CountLogs(int(whole.sum()), m, phi, bits)


def refuse_broken_counts(bits: int, correction: str) -> None:
    """Refuse Grassberger's correction for weights that are multiples of a unit of so many bits."""
    if bits and correction == "grassberger":
        raise InvalidInput(
            f"sample weights that are not whole numbers with {keyword('correction', 'grassberger')}",
            "whole numbers, that is, repeated rows: the correction is one for counts",
            f"Use {keyword('correction', 'miller_madow', 'shrinkage')}.",
        )


# Shrunk frequencies: four entropies below 64 nats each are put together, in 63 bits.
SHRUNK_BITS = 54
# Sums of squared frequencies, at most 1.
SQUARE_BITS = 60


class PairCounts(NamedTuple):
    """Counts of pairs of features, one row for each pair, over (left, class, right) and all that it is about."""

    joint: np.ndarray
    left_class: np.ndarray
    right_class: np.ndarray
    classes: np.ndarray
    whole: np.ndarray
    left: np.ndarray
    right: np.ndarray

    @classmethod
    def of(cls, joint: np.ndarray) -> PairCounts:
        """From the joint tables (pairs, left, class, right)."""
        whole = joint.sum(axis=2)
        by_class = joint, joint.sum(axis=3), joint.sum(axis=1), joint.sum(axis=(1, 3))
        arrays = (*by_class, whole, whole.sum(axis=2), whole.sum(axis=1))
        return cls(*(np.ascontiguousarray(array).reshape(len(joint), -1) for array in arrays))


class CellMeasures:
    """Sums over joint tables in fixed point, and their values in nats.

    Counts of several pairs are given as (pairs, cells) arrays; empty cells
    change nothing.
    """

    def __init__(self, logs: CountLogs, shrinks: bool) -> None:
        self._logs = logs
        self._shrinks = shrinks

    def entropy(self, counts: np.ndarray) -> np.ndarray:
        """H of each row of counts, (pairs,)."""
        samples = counts.sum(axis=1)
        everyone, alone = samples[:, None], np.ones(len(counts))
        own, together = self.sums([(counts, occurring(counts)), (everyone, alone)], samples)
        return self.nats(together - own, samples)

    def information(self, tables: list[np.ndarray], cells: list[np.ndarray], samples: np.ndarray) -> np.ndarray:
        """I(left;right|given), (pairs,).

        `tables` are the counts of (left, right, given), (left, given), (right,
        given) and given; `cells` how many combinations each could have, (pairs,).
        """
        joint, left, right, given = self.sums(list(zip(tables, cells, strict=True)), samples)
        return self.nats(joint - left - right + given, samples)

    def redundancy(self, counts: PairCounts) -> np.ndarray:
        """I(Xi;Xj), (pairs,)."""
        samples, i, j = counts.left.sum(axis=1), occurring(counts.left), occurring(counts.right)
        tables = [counts.whole, counts.left, counts.right, samples[:, None]]
        return self.information(tables, [i * j, i, j, np.ones_like(i)], samples)

    def conditional_redundancy(self, counts: PairCounts) -> np.ndarray:
        """I(Xi;Xj|C), (pairs,)."""
        i, j, k = occurring(counts.left), occurring(counts.right), occurring(counts.classes)
        tables = [counts.joint, counts.left_class, counts.right_class, counts.classes]
        return self.information(tables, [i * j * k, i * k, j * k, k], counts.left.sum(axis=1))

    def single(
        self, whole: np.ndarray, levels: np.ndarray, classes: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """I(X;C), H(X) and H(X|C) of features, each from its counts by level and class, by level, and by class."""
        samples, k, i = classes.sum(axis=1), occurring(classes), occurring(levels)
        tables = [whole, levels, classes, samples[:, None]]
        relevance = self.information(tables, [i * k, i, k, np.ones_like(i)], samples)
        of_pairs, of_classes = self.sums([(whole, i * k), (classes, k)], samples)
        return relevance, self.entropy(levels), self.nats(of_classes - of_pairs, samples)

    def sums(self, tables: list[tuple[np.ndarray, np.ndarray]], samples: np.ndarray) -> list[np.ndarray]:
        """Sums over the cells of several tables, (pairs,) each; the first is the joint table."""
        if not self._shrinks:
            return [self._logs.of_cells(counts, samples) for counts, _ in tables]
        samples = np.maximum(samples, 1)  # of no rows there are no cells to sum over
        weight = self._shrinkage(*tables[0], samples)
        return [_shrunk_sums(counts, cells, samples, weight) for counts, cells in tables]

    def nats(self, sums: np.ndarray, samples: np.ndarray) -> np.ndarray:
        """Sums in nats, never negative: rounding may leave a unit or two below 0, a correction more."""
        if self._shrinks:
            return np.maximum(sums, 0) * 2.0**-SHRUNK_BITS
        return np.maximum(sums, 0) * (1.0 / (self._real(np.maximum(samples, 1)) * 2.0**self._logs.fraction_bits))

    def _real(self, samples: np.ndarray) -> np.ndarray:
        return samples * 2.0**-self._logs.weight_bits

    def _shrinkage(self, counts: np.ndarray, cells: np.ndarray, samples: np.ndarray) -> np.ndarray:
        """The weight of equal frequencies, (pairs,)."""
        frequencies = counts / samples[:, None]
        squares = np.rint(frequencies * frequencies * 2.0**SQUARE_BITS).astype(np.int64).sum(axis=1)
        squares = squares * 2.0**-SQUARE_BITS
        # The sum of (1/cells - c/N)^2 over all cells, empty ones too.
        apart = (self._real(samples) - 1) * (squares - 1 / np.maximum(cells, 1))
        spread = apart > 0
        return np.where(spread, np.minimum((1 - squares) / np.where(spread, apart, 1), 1), 1.0)


def occurring(counts: np.ndarray) -> np.ndarray:
    """How many cells are not empty, (pairs,), as floats, whose products cannot overflow."""
    return np.count_nonzero(counts, axis=1).astype(np.float64)


def _shrunk_sums(counts: np.ndarray, cells: np.ndarray, samples: np.ndarray, weight: np.ndarray) -> np.ndarray:
    equal = weight / np.maximum(cells, 1)
    frequencies = equal[:, None] + (1 - weight)[:, None] * (counts / samples[:, None])
    listed = counts > 0
    frequencies = np.where(listed, frequencies, 1)
    seen = np.rint(frequencies * natural_log(frequencies) * 2.0**SHRUNK_BITS).astype(np.int64)
    drawn = np.where(equal > 0, equal, 1)
    unseen = (cells - np.count_nonzero(listed, axis=1)) * (drawn * natural_log(drawn))
    return seen.sum(axis=1) + np.rint(unseen * 2.0**SHRUNK_BITS).astype(np.int64)
