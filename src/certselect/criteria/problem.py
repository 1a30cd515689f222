"""A criterion, a size and the terms: the quadratic 0-1 problem a search solves."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Protocol

import numpy as np

from certselect.criteria.definitions import Criterion, find_criterion
from certselect.errors import InvalidInput

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
class SubsetProblem:
    """Choose k of n features so that the criterion is largest: max x'Qx, x in {0,1}^n, sum x = k.

    Only `candidates` may be chosen: constant features, which score 0 everywhere
    and could beat informative ones, are left out. Indices always count the
    columns of the table the terms came from.
    """

    linear: np.ndarray
    pairs: PairSource | None
    rule: Criterion
    k: int
    feature_names: tuple[str, ...]
    candidates: np.ndarray

    @classmethod
    def from_matrix(cls, Q: np.ndarray, k: int, *, feature_names: Sequence[str] | None = None) -> SubsetProblem:
        """State your own quadratic subset problem: max x'Qx over 0/1 vectors with k ones.

        Opens the searches, the relaxation and the certificates to any symmetric
        matrix: information estimated elsewhere, densest subgraphs, portfolios.

        Examples
        --------
        >>> import numpy as np
        >>> from certselect import SubsetProblem, select
        >>> Q = np.array([[1.0, 2.0, 0.0], [2.0, 1.0, 0.0], [0.0, 0.0, 4.0]])
        >>> select(SubsetProblem.from_matrix(Q, k=2), "exhaustive").objective  # Q00 + Q11 + 2 Q01
        6.0
        """
        Q = np.asarray(Q)
        if Q.dtype not in (np.float32, np.float64):
            Q = Q.astype(np.float64)
        if Q.ndim != 2 or Q.shape[0] != Q.shape[1] or len(Q) == 0:
            raise InvalidInput(f"a matrix of shape {Q.shape}", "a square one", "Pass Q as an (n, n) array.")
        if not np.isfinite(Q).all():
            raise InvalidInput("a matrix with NaN or infinite entries", "finite ones", "Check where Q came from.")
        if not np.allclose(Q, Q.T, rtol=1e-12, atol=1e-12 * float(np.abs(Q).max())):
            raise InvalidInput("a matrix that is not symmetric", "Q equal to its transpose", "Use (Q + Q.T) / 2.")
        names = tuple(f"x{i}" for i in range(len(Q))) if feature_names is None else tuple(map(str, feature_names))
        if len(names) != len(Q):
            raise InvalidInput(f"{len(names)} feature names", f"{len(Q)}, one per row of Q", "Name every feature.")
        check_size(k, len(Q), names, np.zeros(len(Q), dtype=bool))
        # value = sum Q_ii - sum over pairs of -2 Q_ij, whatever the subset's size.
        criterion = Criterion("given matrix", None, lambda size: 1.0, "x'Qx")
        return cls(Q.diagonal().astype(np.float64), _GivenPairs(-2.0 * Q), criterion, int(k), names, np.arange(len(Q)))

    @property
    def criterion(self) -> str:
        """Name of the criterion."""
        return self.rule.name

    @property
    def n_features(self) -> int:
        return len(self.linear)

    def weight(self, size: int) -> float:
        """What a unit of pair term costs in a subset of this size."""
        return self.rule.weight(size)

    def pair_row(self, feature: int) -> np.ndarray:
        """Pair terms of one feature with all others (n,), computed when first asked for."""
        if self.pairs is None:
            return np.zeros(self.n_features)
        return self.pairs.row(feature)

    @cached_property
    def pair_matrix(self) -> np.ndarray:
        """All pair terms (n, n), whole: for searches that look everywhere."""
        if self.pairs is None:
            return np.zeros((self.n_features, self.n_features))
        return self.pairs.matrix()

    @cached_property
    def matrix(self) -> np.ndarray:
        """The paper's Q: relevance on the diagonal, -(w/2) times the pair terms beside it."""
        matrix = self.pair_matrix * np.asarray(-0.5 * self.weight(self.k), dtype=self.pair_matrix.dtype)
        np.fill_diagonal(matrix, self.linear)
        return matrix

    @property
    def candidate_matrix(self) -> np.ndarray:
        """Q of the candidates alone, in their order: what relaxations and bounds are about."""
        if len(self.candidates) == self.n_features:
            return self.matrix
        return self.matrix[np.ix_(self.candidates, self.candidates)]

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


@dataclass(frozen=True, eq=False)
class _GivenPairs:
    """Pair terms that are there already."""

    terms: np.ndarray

    def row(self, feature: int) -> np.ndarray:
        return self.terms[feature]

    def matrix(self) -> np.ndarray:
        return self.terms


@dataclass(frozen=True, eq=False)
class _TermPairs:
    """The pair terms of one kind, out of InformationTerms."""

    terms: InformationTerms
    kind: str

    def row(self, feature: int) -> np.ndarray:
        return self.terms.pair_row(self.kind, feature)

    def matrix(self) -> np.ndarray:
        return self.terms.pair_matrix(self.kind)


def subset_problem(
    terms: InformationTerms, k: int, criterion: str | Criterion = "jmi", *, beta: float | None = None
) -> SubsetProblem:
    """State "which k features are worth most together?" as a quadratic 0-1 problem.

    Parameters
    ----------
    terms : InformationTerms
        From `information_terms`.
    k : int
        How many features to choose, 1 to the number of features that are not constant.
    criterion : {"jmi", "mrmr", "mifs", "d1", "max_relevance"} or Criterion
        What a subset is worth ("cife" is another name of "d1", "d2" of "jmi").
    beta : float, optional
        Weight of the pair terms of "mifs" (1 if not given).

    Examples
    --------
    >>> import numpy as np
    >>> from certselect import information_terms, subset_problem
    >>> X = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])
    >>> problem = subset_problem(information_terms(X, X[:, 0] ^ X[:, 1]), k=2)
    >>> round(problem.value([0, 1]), 6)  # XOR: nothing alone, one bit together
    0.693147
    """
    found = find_criterion(criterion, beta)
    candidates = np.flatnonzero(~terms.constant)
    check_size(k, len(candidates), terms.feature_names, terms.constant)
    pairs = _TermPairs(terms, found.pair) if found.pair is not None else None
    return SubsetProblem(terms.relevance, pairs, found, int(k), terms.feature_names, candidates)


def check_size(k: object, available: int, names: Sequence[str], constant: np.ndarray) -> None:
    """Refuse a size that no subset of the candidates can have."""
    if isinstance(k, bool) or not isinstance(k, int | np.integer):
        raise InvalidInput(f"k={k!r} ({type(k).__name__})", "a whole number", "Pass k as an int.")
    if 1 <= k <= available:
        return
    dropped = np.flatnonzero(constant)
    note = ""
    if len(dropped):
        some = ", ".join(repr(names[i]) for i in dropped[:5]) + (", ..." if len(dropped) > 5 else "")
        note = f" ({len(dropped)} constant features cannot be chosen: {some})"
    if available == 0:
        raise InvalidInput(
            f"a table whose {len(names)} features are all constant",
            "at least one feature that takes two values",
            "Check that the right columns and rows were read.",
        )
    raise InvalidInput(f"k={k}", f"1 to {available}{note}", "Choose a smaller or larger k.")
