"""Information from the cells of joint tables, with NumPy; `cell_estimates` is the same, compiled.

A term is a sum over four tables, joint - left - right + given: of phi over
counts, or, with shrinkage, of p ln p over shrunk frequencies. Shrinkage (James
and Stein) draws the frequencies of the joint table towards equal ones,

    p = w / cells + (1 - w) c / N,
    w = min(1, (1 - sum (c/N)^2) / ((N - 1) sum (1/cells - c/N)^2)),

and takes all margins from the result. Its cells are all combinations of levels
that occur in the rows concerned; empty ones share one p and are never listed.

References
----------
J. Hausser and K. Strimmer (2009), Entropy inference and the James-Stein estimator.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from certselect.information.kernels.entropy_sums import CountLogs
from certselect.information.kernels.logarithm import natural_log

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
