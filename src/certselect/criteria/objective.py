"""What a set of features, or of units made of several, is worth under a criterion."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

import numpy as np

from certselect.criteria.definitions import Criterion
from certselect.criteria.pairs import PairSource
from certselect.errors import InvalidInput
from certselect.memory import check_room_for_pairs

# Fewer features have room for all their pairs on any machine, and are not asked how large a pair term is.
_LARGE = 2000


@dataclass(frozen=True, eq=False)
class Objective:
    """The sum of `linear` over a set, minus the criterion's weight times the pair terms inside it.

    The weight is that of `k` features, whatever the size of the set: x'Qx, with Q = `matrix`.
    """

    linear: np.ndarray
    pairs: PairSource | None
    criterion: Criterion
    k: int

    def __getstate__(self) -> dict[str, Any]:
        """The fields alone: what was derived from them can be derived again."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    @property
    def n_features(self) -> int:
        return len(self.linear)

    def weight(self, size: int) -> float:
        """What a unit of pair term costs in a subset of this size."""
        return self.criterion.weight(size)

    def pair_row(self, feature: int) -> np.ndarray:
        """Pair terms of one feature with all others (n,), computed when first asked for."""
        if self.pairs is None:
            return np.zeros(self.n_features)
        return self.pairs.row(feature)

    @cached_property
    def pair_matrix(self) -> np.ndarray:
        """All pair terms (n, n), whole: for searches that look everywhere."""
        self.check_room_for_pairs()
        if self.pairs is None:
            return np.zeros((self.n_features, self.n_features))
        return self.pairs.matrix()

    def check_room_for_pairs(self) -> None:
        """Refuse, before anything is counted, the whole of the pair terms where memory has no room for it."""
        if self.n_features >= _LARGE:
            check_room_for_pairs(self.n_features, self.pair_row(0).itemsize)

    @property
    def inner(self) -> np.ndarray | None:
        """Pair terms inside each feature, where features are units of several columns."""
        return None

    @property
    def worth_alone(self) -> np.ndarray:
        """What each feature is worth by itself in a subset of size k; a unit pays for the pairs inside it."""
        return self.linear if self.inner is None else self.linear - self.weight(self.k) * self.inner

    @cached_property
    def matrix(self) -> np.ndarray:
        """The paper's Q: relevance on the diagonal, -(w/2) times the pair terms beside it."""
        matrix = self.pair_matrix * np.asarray(-0.5 * self.weight(self.k), dtype=self.pair_matrix.dtype)
        np.fill_diagonal(matrix, self.worth_alone)
        return matrix

    def value(self, indices: Iterable[int]) -> float:
        """Value of a subset, x'Qx, with the pair weight of size k whatever the subset's size.

        The same set gives the same float in whatever order it is listed.
        """
        chosen = self.check_indices(indices)
        weight = self.weight(self.k)
        terms = [float(self.linear[i]) for i in chosen]
        if weight and self.pairs is not None:
            for place, i in enumerate(chosen[1:], start=1):
                terms.extend((-weight * self.pair_row(i)[chosen[:place]].astype(np.float64)).tolist())
        if self.inner is not None:
            terms.extend((-weight * self.inner[chosen]).tolist())
        return math.fsum(terms)

    def check_indices(self, indices: Iterable[int]) -> list[int]:
        """The indices as a sorted list, or an error that names the one that is wrong."""
        chosen = sorted(int(i) for i in indices)
        for i in chosen:
            if not 0 <= i < self.n_features:
                raise InvalidInput(
                    f"feature index {i}", f"0 to {self.n_features - 1}", "Indices count the table's columns from 0."
                )
        if len(set(chosen)) < len(chosen):
            raise InvalidInput(f"indices {chosen}", "no feature twice", "Remove the repeated index.")
        return chosen
