"""Pair terms that fit the single ones: a pair never tells less about the target than its better half."""

from __future__ import annotations

from typing import Protocol

import numpy as np


class EstimatedPairs(Protocol):
    """What a measure estimates of pairs: "redundancy", and "interaction" as well as it can on its own."""

    def rows(self, kind: str, features: np.ndarray) -> np.ndarray:
        """Terms of some features with all, (len(features), n)."""
        ...

    def matrix(self, kind: str) -> np.ndarray:
        """All terms of one kind, (n, n)."""
        ...


class SoundPairs:
    """Pair terms out of estimates that need not fit together, each off by its own error.

    For every distribution I(Xi;Xj;C) is at most I(Xi;C) and I(Xj;C): together, two features tell
    no less than either. Where an estimate of the interaction is larger, it is that much; so a
    copy of a feature adds exactly nothing, whatever the measure. Conditional redundancy is the rest,
    I(Xi;Xj) - I(Xi;Xj;C), and 0 where that is below 0.
    """

    def __init__(self, estimated: EstimatedPairs, relevance: np.ndarray, entropy: np.ndarray) -> None:
        self._estimated = estimated
        self._relevance = relevance
        self._entropy = entropy

    def rows(self, kind: str, features: np.ndarray) -> np.ndarray:
        """Pair terms of some features with all, (len(features), n)."""
        if kind == "redundancy":
            return self._estimated.rows(kind, features)
        interaction = self._limited(self._estimated.rows("interaction", features), features)
        if kind == "interaction":
            return interaction
        return self._rest(self._estimated.rows("redundancy", features), interaction, features)

    def matrix(self, kind: str) -> np.ndarray:
        """All pair terms of one kind, (n, n)."""
        if kind == "conditional_redundancy":
            return self.both()[1]
        terms = self._estimated.matrix(kind)
        return terms if kind == "redundancy" else self._limited(terms, np.arange(len(terms)))

    def both(self, features: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
        """Redundancy and conditional redundancy, of some features with all or of all pairs."""
        if features is None:
            redundancy, interaction = self.matrix("redundancy"), self.matrix("interaction")
            features = np.arange(len(redundancy))
        else:
            redundancy, interaction = self.rows("redundancy", features), self.rows("interaction", features)
        return redundancy, self._rest(redundancy, interaction, features)

    def _limited(self, interaction: np.ndarray, features: np.ndarray) -> np.ndarray:
        relevance = self._relevance.astype(interaction.dtype)
        np.minimum(interaction, relevance, out=interaction)
        np.minimum(interaction, relevance[features][:, None], out=interaction)
        interaction[np.arange(len(features)), features] = relevance[features]
        return interaction

    def _rest(self, redundancy: np.ndarray, interaction: np.ndarray, features: np.ndarray) -> np.ndarray:
        rest = np.subtract(redundancy, interaction, out=interaction)  # whose place it takes: both may be large
        rest[np.arange(len(features)), features] = (self._entropy - self._relevance)[features]
        return np.maximum(rest, 0, out=rest)
