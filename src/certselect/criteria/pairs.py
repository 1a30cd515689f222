"""Where pair terms come from: a matrix, the terms of a table, or sums over the columns of units."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Protocol

import numpy as np

from certselect.clock import Stopwatch
from certselect.memory import large_array

if TYPE_CHECKING:
    from certselect.information.derived import PairKind
    from certselect.information.terms import InformationTerms

# So many rows, and so many cells (samples x features x rows), tell how long all of them take: fewer may be counted in
# another way than a whole matrix.
ROWS, CELLS = 16, 20_000_000
# Of numbers in fresh memory, which takes as long as counting where rows are few; and matrices that are made.
NUMBERS, MATRICES = 2_000_000, 2
# Rows of a large matrix that are copied at a time.
AT_ONCE = 256


class PairSource(Protocol):
    """A matrix of pair terms, symmetric to rounding, that can be had by the row or whole."""

    def row(self, feature: int) -> np.ndarray:
        """Pair terms of one feature with all (n,); the feature's own entry is arbitrary."""
        ...

    def matrix(self) -> np.ndarray:
        """All pair terms (n, n), on disk where memory has no room for them (`memory.large_array`)."""
        ...

    def seconds_for_matrix(self) -> float:
        """About how long that would take here and now; 0 where it is there already."""
        ...


@dataclass(frozen=True, eq=False)
class GivenPairs:
    """Pair terms that are there already."""

    terms: np.ndarray

    def row(self, feature: int) -> np.ndarray:
        return self.terms[feature]

    def matrix(self) -> np.ndarray:
        return self.terms

    def seconds_for_matrix(self) -> float:
        return 0.0


@dataclass(frozen=True, eq=False)
class TermPairs:
    """The pair terms of one kind, out of InformationTerms."""

    terms: InformationTerms
    kind: PairKind

    @cached_property
    def _known(self) -> dict[int, np.ndarray]:
        return self.terms.known_rows(self.kind)

    def row(self, feature: int) -> np.ndarray:
        row = self._known.get(feature)
        return self.terms.pair_row(self.kind, feature) if row is None else row

    def matrix(self) -> np.ndarray:
        return self.terms.pair_matrix(self.kind)

    def seconds_for_matrix(self) -> float:
        """Judged by some rows, the second time: the first may compile something. Each pair is in two rows.

        The memory of the terms, and of the matrix that a problem makes of them, counts too.
        """
        if self.terms.has_matrix(self.kind):
            return 0.0
        n, of_a_row = self.terms.n_features, max(1, self.terms.n_features * self.terms.n_samples)
        seconds, few = [], np.arange(min(n, max(ROWS, CELLS // of_a_row + 1)))
        for _ in range(2):
            watch = Stopwatch()
            self.terms.counted_rows(self.kind, few)
            seconds.append(watch.seconds)
        watch = Stopwatch()
        np.ones(NUMBERS)
        memory = watch.seconds / NUMBERS * MATRICES * n * n
        return min(seconds) / len(few) * n / 2 + memory


@dataclass(frozen=True, eq=False)
class SummedPairs:
    """Pair terms of units: sums over their columns, in double precision whatever the columns' terms are kept in."""

    columns: PairSource
    order: np.ndarray
    starts: np.ndarray

    def row(self, feature: int) -> np.ndarray:
        ends = np.append(self.starts, len(self.order))
        members = self.order[ends[feature] : ends[feature + 1]]
        total = np.zeros(len(self.order))
        for column in members:
            total += self.columns.row(int(column))
        return np.add.reduceat(total[self.order], self.starts)

    def matrix(self) -> np.ndarray:
        return self._whole

    def seconds_for_matrix(self) -> float:
        return self.columns.seconds_for_matrix()

    @cached_property
    def _whole(self) -> np.ndarray:
        terms, ends = self.columns.matrix(), np.append(self.starts, len(self.order))
        whole = large_array((len(self.starts), len(self.starts)), np.float64)
        for top in range(0, len(whole), AT_ONCE):
            starts, end = self.starts[top : top + AT_ONCE], ends[min(top + AT_ONCE, len(whole))]
            rows = terms[self.order[starts[0] : end]][:, self.order]
            by_row = np.add.reduceat(rows, starts - starts[0], axis=0, dtype=np.float64)
            np.add.reduceat(by_row, self.starts, axis=1, out=whole[top : top + AT_ONCE])
        return whole


def square_part(matrix: np.ndarray, places: np.ndarray) -> np.ndarray:
    """Rows and columns of a matrix (n, n) at some places, in their order; the matrix itself where these are all."""
    if len(places) == len(matrix):
        return matrix
    part = large_array((len(places), len(places)), matrix.dtype)
    for top in range(0, len(places), AT_ONCE):
        part[top : top + AT_ONCE] = matrix[places[top : top + AT_ONCE]][:, places]
    return part
