"""Pair terms that follow from others, entry by entry: nothing is counted for them that is not counted anyway.

What is made of which terms:

    positive interaction        max(0, I(Xi;Xj;C))
    symmetric uncertainty       2 I(Xi;Xj) / (H(Xi) + H(Xj)), 0 to 1
    symmetrical relevance       I(Xi,Xj;C) / H(Xi,Xj,C), 0 to 1
    weighted sum                beta I(Xi;Xj) - gamma I(Xi;Xj|C)

where H(Xi,Xj,C) = H(C) + H(Xi|C) + H(Xj|C) - I(Xi;Xj|C). Where rows are left out (missing="pairwise"), each part is
that of the rows which have its columns.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from certselect.errors import InvalidInput

if TYPE_CHECKING:
    from certselect.information.terms import InformationTerms

_TINY = np.finfo(np.float64).tiny
_PAIR = ("redundancy", "conditional_redundancy")


@dataclass(frozen=True)
class DerivedTerm:
    """A pair term made of the terms it `needs`: `made(terms, features, *needed)`, rows of some features with all."""

    needs: tuple[str, ...]
    made: Callable[..., np.ndarray]


@dataclass(frozen=True)
class WeightedSum:
    """beta I(Xi;Xj) - gamma I(Xi;Xj|C): what a pair costs in the family of Brown et al. (2012)."""

    beta: float
    gamma: float

    def __str__(self) -> str:
        return "redundancy and conditional redundancy"

    @property
    def needs(self) -> tuple[str, ...]:
        return _PAIR

    def made(
        self, terms: InformationTerms, features: np.ndarray, redundancy: np.ndarray, conditional: np.ndarray
    ) -> np.ndarray:
        # Weights of the terms' own precision, which a NumPy scalar of another one would change.
        kind = redundancy.dtype.type
        return kind(self.beta) * redundancy - kind(self.gamma) * conditional


PairKind = str | WeightedSum


def derived_term(kind: PairKind) -> DerivedTerm | WeightedSum | None:
    """How a kind of pair term is made of others; None if it is measured itself."""
    return kind if isinstance(kind, WeightedSum) else DERIVED.get(kind)


def _positive_interaction(terms: InformationTerms, features: np.ndarray, interaction: np.ndarray) -> np.ndarray:
    return np.maximum(interaction, 0)


def _symmetric_uncertainty(terms: InformationTerms, features: np.ndarray, redundancy: np.ndarray) -> np.ndarray:
    if not terms.has_entropies:
        raise _no_entropy(terms, "2 I(Xi;Xj) / (H(Xi) + H(Xj))")
    together = terms.entropy[features][:, None] + terms.entropy
    return _part(2.0 * redundancy, together).astype(redundancy.dtype, copy=False)


def _symmetrical_relevance(
    terms: InformationTerms, features: np.ndarray, redundancy: np.ndarray, conditional: np.ndarray
) -> np.ndarray:
    if not terms.has_entropies or not math.isfinite(terms.target_entropy):
        raise _no_entropy(terms, "I(Xi,Xj;C) / H(Xi,Xj,C)")
    relevance, within = terms.relevance, terms.conditional_entropy
    # The interaction is written as what it is made of, so that one count of a pair serves both parts of the quotient.
    informative = relevance[features][:, None] + relevance - (redundancy - conditional)
    whole = (within[features][:, None] + within) + terms.target_entropy - conditional
    return _part(np.maximum(informative, 0.0), whole).astype(redundancy.dtype, copy=False)


def _part(some: np.ndarray, whole: np.ndarray) -> np.ndarray:
    """some / whole, 0 where there is nothing; terms that are estimated apart may not fit, but no part exceeds 1."""
    return some / np.maximum(np.maximum(whole, some), _TINY)


def _no_entropy(terms: InformationTerms, wanted: str) -> InvalidInput:
    measure = terms.settings.get("measure", "another measure than 'plugin'")
    return InvalidInput(
        f"a criterion of {wanted} with measure={measure!r}",
        "measure='plugin': numbers that are not cut into levels have no entropy to divide by",
        "Pass measure='plugin', or choose a criterion without a quotient, such as 'jmi'.",
    )


DERIVED: dict[str, DerivedTerm] = {
    "positive_interaction": DerivedTerm(("interaction",), _positive_interaction),
    "symmetric_uncertainty": DerivedTerm(("redundancy",), _symmetric_uncertainty),
    "symmetrical_relevance": DerivedTerm(_PAIR, _symmetrical_relevance),
}
