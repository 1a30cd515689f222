"""Where pair terms come from: a matrix, the terms of a table, or sums over the columns of units."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Protocol

import numpy as np

if TYPE_CHECKING:
    from certselect.information.terms import InformationTerms


class PairSource(Protocol):
    """A matrix of pair terms, symmetric to rounding, that can be had by the row or whole."""

    def row(self, feature: int) -> np.ndarray:
        """Pair terms of one feature with all (n,); the feature's own entry is arbitrary."""
        ...

    def matrix(self) -> np.ndarray:
        """All pair terms (n, n)."""
        ...


@dataclass(frozen=True, eq=False)
class GivenPairs:
    """Pair terms that are there already."""

    terms: np.ndarray

    def row(self, feature: int) -> np.ndarray:
        return self.terms[feature]

    def matrix(self) -> np.ndarray:
        return self.terms


@dataclass(frozen=True, eq=False)
class TermPairs:
    """The pair terms of one kind, out of InformationTerms."""

    terms: InformationTerms
    kind: str

    def row(self, feature: int) -> np.ndarray:
        return self.terms.pair_row(self.kind, feature)

    def matrix(self) -> np.ndarray:
        return self.terms.pair_matrix(self.kind)


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

    @cached_property
    def _whole(self) -> np.ndarray:
        terms = self.columns.matrix()[np.ix_(self.order, self.order)]
        by_row = np.add.reduceat(terms, self.starts, axis=0, dtype=np.float64)
        return np.add.reduceat(by_row, self.starts, axis=1)
