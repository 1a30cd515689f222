"""InformationTerms: the information of each feature about the target, and of each pair of features about each other."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from certselect.errors import InvalidInput
from certselect.table.model import Decision

if TYPE_CHECKING:
    from certselect.coding import Coding
    from certselect.information.chance import ChanceInformation


Families = tuple[tuple[int, ...], ...]


class PairTerms(Protocol):
    """A measure's pair terms of a table, by the row or all at once."""

    def rows(self, kind: str, features: np.ndarray) -> np.ndarray:
        """Pair terms of some features with all, (len(features), n)."""
        ...

    def matrix(self, kind: str) -> np.ndarray:
        """All pair terms of one kind, (n, n)."""
        ...

    def both(self) -> tuple[np.ndarray, np.ndarray]:
        """Redundancy and conditional redundancy, (n, n) each, which share their counts."""
        ...


class NotKept:
    """Pair terms of a table that is no longer there."""

    def rows(self, kind: str, features: np.ndarray) -> np.ndarray:
        raise _table_gone()

    def matrix(self, kind: str) -> np.ndarray:
        raise _table_gone()

    def both(self) -> tuple[np.ndarray, np.ndarray]:
        raise _table_gone()


def _table_gone() -> InvalidInput:
    return InvalidInput(
        "a question about pairs of features of a table that was not saved with the result",
        "one about the chosen features: only their pair terms are saved",
        "Measure the table again with information_terms, or fit again.",
    )


@dataclass(frozen=True, eq=False)
class InformationTerms:
    """Mutual-information terms of a table, in nats, by whichever measure.

    Rows of the pair matrices are computed when first asked for, so a forward
    search over 20 000 features never builds a 20 000 x 20 000 matrix.

    Attributes
    ----------
    relevance : ndarray (n,)
        I(Xi;C).
    entropy : ndarray (n,)
        H(Xi).
    target_entropy : float
        H(C).
    n_samples : int
    feature_names : tuple of str
    levels : ndarray of int (n,)
        How many levels each feature was coded into; 0 where it was measured as a number.
    constant : ndarray of bool (n,)
        Features that take one value only; no search may choose them.
    settings : dict
        The settings of `information_terms` that give these terms again, but for the table.
    picked : str
        What `measure="auto"` chose, and why; empty if it was not asked.
    decisions : tuple of Decision
        What was made of columns that was not asked for: identifiers left out, dates measured,
        whole numbers of many values cut.
    """

    relevance: np.ndarray
    entropy: np.ndarray
    target_entropy: float
    n_samples: int
    feature_names: tuple[str, ...]
    levels: np.ndarray
    constant: np.ndarray
    pairs: PairTerms
    coding: Coding | None = None
    by_chance: ChanceInformation | None = None
    settings: dict[str, Any] = field(default_factory=dict)
    picked: str = ""
    decisions: tuple[Decision, ...] = ()
    find_copies: Callable[[], Families] = tuple
    seconds: dict[str, float] = field(default_factory=dict)
    _rows: dict[tuple[str, int], np.ndarray] = field(default_factory=dict, repr=False)

    @property
    def n_features(self) -> int:
        return len(self.relevance)

    @cached_property
    def copies(self) -> Families:
        """Families of columns that say the same, two or more each: looked for when first asked about."""
        return self.find_copies()

    @cached_property
    def redundancy(self) -> np.ndarray:
        """I(Xi;Xj), all pairs (n, n); the diagonal is H(Xi)."""
        return self.pairs.matrix("redundancy")

    @cached_property
    def conditional_redundancy(self) -> np.ndarray:
        """I(Xi;Xj|C), all pairs (n, n); the diagonal is H(Xi|C). Brings `redundancy` along, of the same counts."""
        redundancy, conditional = self.pairs.both()
        self.__dict__.setdefault("redundancy", redundancy)
        return conditional

    @cached_property
    def interaction(self) -> np.ndarray:
        """I(Xi;Xj;C) = I(Xi;Xj) - I(Xi;Xj|C), negative for synergy; the diagonal is I(Xi;C).

        Where I(Xi;Xj|C) would be negative by the error of an estimate, it is 0, and this is what it is.
        """
        # Counted on its own, without the other two, which large tables have no room for.
        return self.pairs.matrix("interaction")

    @property
    def joint_relevance(self) -> np.ndarray:
        """I(Xi,Xj;C) = I(Xi;C) + I(Xj;C) - I(Xi;Xj;C), all pairs (n, n)."""
        return self.relevance[:, None] + self.relevance[None, :] - self.interaction

    @cached_property
    def chance(self) -> np.ndarray:
        """What a feature of these levels would be expected to tell about a shuffled target, (n,).

        The exact mean of I(Xi;C) over all orders of the rows of the target (expected mutual information),
        computed when first asked for. NaN where it is not known: for other measures than counts, and
        other corrections than "none" and "chance", which subtracts it.
        """
        return self._unknown if self.by_chance is None else self.by_chance.expected

    @cached_property
    def chance_p_values(self) -> np.ndarray:
        """How probable as much information about a shuffled target is, (n,); NaN where that is not known.

        Of each feature by itself: the best of many is above chance more often.
        """
        return self._unknown if self.by_chance is None else self.by_chance.p_values

    @property
    def _unknown(self) -> np.ndarray:
        return np.full(self.n_features, np.nan)

    def shared_part(self, feature: int) -> np.ndarray:
        """How much of each feature's information is in this one, 0 to 1 (n,).

        For levels the share of its entropy, I(Xi;Xj) / H(Xi); for numbers, whose entropy has
        no end, 1 - exp(-2 I), which is the squared correlation where they are Gaussian.
        """
        shared = self.pair_row("redundancy", feature).astype(np.float64)
        levels = self.levels > 0
        part = -np.expm1(-2.0 * shared)
        part[levels] = np.divide(shared, self.entropy, out=np.zeros_like(shared), where=self.entropy > 0)[levels]
        return np.clip(part, 0.0, 1.0)

    def keeping(self, features: Iterable[int], kinds: Iterable[str]) -> InformationTerms:
        """The same without the table: the terms of all single features, and pair rows of these kinds of some.

        What a result needs to explain itself, small enough to be saved or sent to another process.
        """
        rows = {(kind, int(i)): np.array(self.pair_row(kind, int(i))) for kind in kinds for i in features}
        kept = replace(self, pairs=NotKept(), by_chance=None, find_copies=tuple, _rows=rows)
        found = ("copies", "chance", "chance_p_values")
        kept.__dict__.update({name: getattr(self, name) for name in found})
        return kept

    def pair_matrix(self, kind: str) -> np.ndarray:
        """All pair terms of a kind: "redundancy", "conditional_redundancy" or "interaction"."""
        return getattr(self, kind)

    def pair_row(self, kind: str, feature: int) -> np.ndarray:
        """Pair terms of one feature with all (n,); kept, so asking twice costs once."""
        if kind in self.__dict__:  # the whole matrix is there already
            return self.__dict__[kind][feature]
        row = self._rows.get((kind, feature))
        if row is None:
            row = self.pairs.rows(kind, np.array([feature]))[0]
            self._rows[kind, feature] = row
        return row
