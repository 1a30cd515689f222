"""What a set of features, or of units made of several, is worth under a criterion."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

import numpy as np

from certselect.criteria.known import AnyCriterion
from certselect.criteria.pairs import PairSource
from certselect.criteria.stepwise import TermSteps
from certselect.errors import InvalidInput
from certselect.memory import check_room_for_pairs, check_room_on_disk, has_room_for_pairs, large_array

# Fewer features have room for all their pairs on any machine, and are not asked how large a pair term is.
_LARGE = 2000
# Matrices of all pairs that may be on disk together: pair terms, Q, and what is left of it without excluded features.
_ON_DISK = 3

# Beyond these sums, squares and quotients of entries overflow or vanish on the way to a proof.
SMALLEST, LARGEST = 2.0**-500, 2.0**500


def check_scale(what: Callable[[], str], magnitude: float) -> None:
    """Refuse numbers of an order that sums and proofs cannot be had for; 0 is fine. An error says `what` they are."""
    if magnitude != 0.0 and not SMALLEST <= magnitude <= LARGEST:
        raise InvalidInput(
            f"{what()} is {magnitude:.3g}",
            f"0, or {SMALLEST:.0e} to {LARGEST:.0e} in absolute value",
            "Multiply everything by the same number: the best subset stays the same.",
        )


@dataclass(frozen=True, eq=False)
class Objective:
    """The sum of `linear` over a set, minus the criterion's weight times the pair terms inside it.

    The weight is that of `k` features, whatever the size of the set: x'Qx, with Q = `matrix`. Criteria that look at
    pairs alone count `linear` for sets of one feature only (`singles`).
    """

    linear: np.ndarray
    pairs: PairSource | None
    criterion: AnyCriterion
    k: int

    def __getstate__(self) -> dict[str, Any]:
        """The fields alone: what was derived from them can be derived again."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    @cached_property
    def n_features(self) -> int:
        return len(self.linear)

    @cached_property
    def steps(self) -> TermSteps | None:
        """Where scores come from, if the criterion is no sum over pairs: then the order of a subset matters."""
        return self.pairs if isinstance(self.pairs, TermSteps) else None

    def weight(self, size: int) -> float:
        """What a unit of pair term costs in a subset of this size."""
        return self.criterion.weight(size)

    def singles(self, size: int) -> np.ndarray:
        """What each feature brings by itself to a subset of this size (n,), without its pairs."""
        part = self.criterion.alone(size)
        return self.linear if part == 1.0 else part * self.linear

    def pair_row(self, feature: int) -> np.ndarray:
        """Pair terms of one feature with all others (n,), computed when first asked for."""
        if self.pairs is None:
            return np.zeros(self.n_features)
        return self.pairs.row(feature)

    @cached_property
    def pair_matrix(self) -> np.ndarray:
        """All pair terms (n, n), whole, for searches that look everywhere; on disk where memory has no room."""
        if self.pairs is None:
            return np.broadcast_to(0.0, (self.n_features, self.n_features))
        return self.pairs.matrix()

    def check_room_for_pairs(self) -> None:
        """Refuse, before anything is counted, what solvers make of all pair terms where memory has no room for it."""
        if self.n_features >= _LARGE:
            check_room_for_pairs(self.n_features, self.pair_row(0).itemsize)

    @property
    def has_room_for_pairs(self) -> bool:
        """Whether memory has room for it."""
        return self.n_features < _LARGE or has_room_for_pairs(self.n_features, self.pair_row(0).itemsize)

    def check_room_on_disk(self) -> None:
        """Refuse, before anything is counted, all pair terms and Q where there is no room for them anywhere."""
        check_room_on_disk(_ON_DISK * self.n_features**2 * self.pair_row(0).itemsize)

    @property
    def inner(self) -> np.ndarray | None:
        """Pair terms inside each feature, where features are units of several columns."""
        return None

    @property
    def worth_alone(self) -> np.ndarray:
        """What each feature is worth by itself in a subset of size k; a unit pays for the pairs inside it."""
        singles = self.singles(self.k)
        return singles if self.inner is None else singles - self.weight(self.k) * self.inner

    @cached_property
    def matrix(self) -> np.ndarray:
        """The paper's Q: relevance on the diagonal, -(w/2) times the pair terms beside it. On disk where these are."""
        pairs = self.pair_matrix
        matrix = large_array(pairs.shape, pairs.dtype)
        np.multiply(pairs, np.asarray(-0.5 * self.weight(self.k), dtype=pairs.dtype), out=matrix)
        np.fill_diagonal(matrix, self.worth_alone)
        return matrix

    def value(self, indices: Iterable[int]) -> float:
        """Value of a subset, x'Qx, with the pair weight of size k whatever the subset's size.

        The float nearest to the exact sum of the subset's terms, so the same in whatever order it is listed, but for
        criteria that are no sums over pairs: these value the order of choice.
        """
        return math.fsum(self.terms(self.check_indices(indices)))

    def terms(self, chosen: Sequence[int]) -> list[float]:
        """The numbers whose exact sum a subset (ascending) is worth: relevances, and minus what its pairs cost.

        For criteria that are no sums over pairs, what each feature added to those before it.
        """
        if self.steps is not None:
            return self.steps.along(chosen)
        weight, places = self.criterion.weight(self.k), np.array(chosen, dtype=np.intp)
        terms = self.singles(self.k)[places].tolist()
        if weight and self.pairs is not None:
            for place, i in enumerate(chosen[1:], start=1):
                terms.extend((-weight * self.pair_row(i)[places[:place]].astype(np.float64)).tolist())
        return terms

    def magnitude(self, indices: Iterable[int]) -> float:
        """The sum of the absolute values of a subset's terms: what differences of its value are measured against."""
        return math.fsum(map(abs, self.terms(self.check_indices(indices))))

    def check_indices(self, indices: Iterable[int]) -> list[int]:
        """The indices as a list, sorted unless their order matters, or an error that names the one that is wrong."""
        chosen = list(map(int, indices))
        if self.steps is None:
            chosen.sort()
        for i in chosen:
            if not 0 <= i < self.n_features:
                raise InvalidInput(
                    f"feature index {i}", f"0 to {self.n_features - 1}", "Indices count the table's columns from 0."
                )
        if len(set(chosen)) < len(chosen):
            raise InvalidInput(f"indices {chosen}", "no feature twice", "Remove the repeated index.")
        return chosen
