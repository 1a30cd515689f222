"""Pair terms that fit the single ones: a pair never tells less about the target than its better half."""

from __future__ import annotations

import numpy as np

from certselect.information.chance import ChancePairs
from certselect.information.terms import BOTH, PairTerms


class SoundPairs(PairTerms):
    """Pair terms out of estimates that need not fit together, each off by its own error.

    For every distribution I(Xi;Xj;C) is at most I(Xi;C) and I(Xj;C): together, two features tell
    no less than either. Where an estimate of the interaction is larger, it is that much; so a
    copy of a feature adds exactly nothing, whatever the measure. Conditional redundancy is the rest,
    I(Xi;Xj) - I(Xi;Xj;C), and 0 where that is below 0.

    `estimated` measures "redundancy", and "interaction" as well as it can on its own, each alone.
    """

    def __init__(self, estimated: PairTerms, relevance: np.ndarray, entropy: np.ndarray) -> None:
        self._estimated = estimated
        self._relevance = relevance
        self._entropy = entropy

    def measured(self, kinds: tuple[str, ...], features: np.ndarray | None = None) -> tuple[np.ndarray, ...]:
        if kinds == ("redundancy",):
            return self._estimated.measured(kinds, features)
        redundancy = None
        if kinds != ("interaction",) and isinstance(self._estimated, ChancePairs):
            redundancy, interaction = self._estimated.redundancy_and_interaction(features)
        else:
            [interaction] = self._estimated.measured(("interaction",), features)
        some = np.arange(len(interaction)) if features is None else features
        interaction = self._limited(interaction, some)
        if kinds == ("interaction",):
            return (interaction,)
        if redundancy is None:
            [redundancy] = self._estimated.measured(("redundancy",), features)
        conditional = self._rest(redundancy, interaction, some)
        return (redundancy, conditional) if kinds == BOTH else (conditional,)

    def overlap(self, features: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray | None]:
        return self._estimated.overlap(features)  # limits would take what pairs share by chance, but not what they gain

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
