"""How the number of features was chosen by cross-validation: the scores, and the rule that chooses by them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

HONEST, PAPER = "honest", "paper"
# Means of the same scores added in another order differ by less; such sizes tie.
_ROUNDING = 1e-12


@dataclass(frozen=True, eq=False)
class TriedCombination:
    """How well a classifier or regressor did with one combination of settings, for every size and split.

    Attributes
    ----------
    settings : mapping
        The settings of which several values were tried, by name; empty if there were none.
    split_scores : ndarray (splits, s)
        NaN where a score could not be had, and for sizes that these settings do not allow.
    mean_scores, standard_errors : ndarray (s,)
    """

    settings: Mapping[str, Any]
    split_scores: np.ndarray
    mean_scores: np.ndarray
    standard_errors: np.ndarray

    @property
    def words(self) -> str:
        """The settings in a line."""
        return in_words(self.settings)


@dataclass(frozen=True, eq=False)
class SizeChoice:
    """How well a classifier or regressor did on rows not seen, and what was chosen by that.

    Attributes
    ----------
    estimator, scoring : str
        What was fitted, and what its predictions were judged by.
    protocol : str
        "honest" or "paper".
    one_standard_error : bool
        Whether the smallest size within one standard error of the best was taken.
    sizes : ndarray of int (s,)
        Ascending.
    combinations : tuple of TriedCombination
        The scores of every combination of settings that was tried; one if there was nothing to combine.
    chosen : int
        Which of them was chosen.
    """

    estimator: str
    scoring: str
    protocol: str
    one_standard_error: bool
    sizes: np.ndarray
    combinations: tuple[TriedCombination, ...]
    chosen: int

    @property
    def split_scores(self) -> np.ndarray:
        """Of the combination that was chosen, (splits, s)."""
        return self.combinations[self.chosen].split_scores

    @property
    def mean_scores(self) -> np.ndarray:
        """Of the combination that was chosen, (s,)."""
        return self.combinations[self.chosen].mean_scores

    @property
    def standard_errors(self) -> np.ndarray:
        """Of the means of the combination that was chosen, (s,)."""
        return self.combinations[self.chosen].standard_errors


def in_words(settings: Mapping[str, Any]) -> str:
    """Settings as a reader is told of them.

    >>> in_words({"criterion": "jmi", "bins": 5})
    'criterion=jmi, bins=5'
    """
    return ", ".join(f"{name}={value}" for name, value in settings.items())


def scored_splits(scores: Sequence[np.ndarray]) -> np.ndarray:
    """In which splits some score is finite, of the scores (splits, s) of each combination."""
    return np.any([np.isfinite(each).any(axis=1) for each in scores], axis=0)


def counted_splits(scores: Sequence[np.ndarray]) -> np.ndarray:
    """Which splits count: those with a score, for one in which nothing could be judged says nothing about any size."""
    scored = scored_splits(scores)
    return scored if scored.any() else np.ones_like(scored)


def mean_scores(scores: np.ndarray) -> np.ndarray:
    """Of each column of the scores in the splits that count."""
    with np.errstate(invalid="ignore"):  # infinite scores of both signs have no mean: NaN
        return scores.mean(axis=0)


def standard_errors(scores: np.ndarray) -> np.ndarray:
    """Of these means: the splits' sample deviation over the square root of their number."""
    splits = len(scores)
    with np.errstate(invalid="ignore"):  # NaN where a score is infinite
        return scores.std(axis=0, ddof=1) / np.sqrt(splits) if splits > 1 else np.zeros(scores.shape[1])


def best_choice(means: np.ndarray, errors: np.ndarray, *, one_standard_error: bool) -> tuple[int, int]:
    """Combination and place of the size to choose, by the means (combinations, sizes) and their standard errors.

    The best mean of all decides. Of everything that reaches it, or with `one_standard_error`
    comes within one standard error (that of the best mean), the smallest size is chosen, of
    several combinations the one with the higher mean at that size, of equals the first.
    What has no score in every split does not take part.
    """
    means = np.where(np.isnan(means), -np.inf, means)
    # By sizes first, so that of equal means the one of the smallest size is met first.
    place, combination = divmod(int(np.argmax(means.T)), len(means))
    top = means[combination, place]
    if np.isinf(top):  # no margin can be taken from it
        return combination, place
    margin = errors[combination, place] if one_standard_error else 0.0
    place = int(np.argmax((means >= _just_below(top - margin, top)).any(axis=0)))
    highest = means[:, place].max()
    return int(np.argmax(means[:, place] >= _just_below(highest, highest))), place


def _just_below(value: float, scale: float) -> float:
    return value - _ROUNDING * abs(scale)
