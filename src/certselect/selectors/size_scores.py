"""SizeScores: the score of every size in every split, for each combination of settings that was tried."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from certselect.errors import CertselectWarning, InvalidInput, keyword, warn_user
from certselect.results.size_choice import (
    TriedCombination,
    best_choice,
    counted_splits,
    in_words,
    mean_scores,
    scored_splits,
    standard_errors,
)

# How scikit-learn's names of scores begin that lie between 0 and 1, and those that are 1 at most.
_SHARES = (
    *("accuracy", "balanced_accuracy", "top_k_accuracy", "average_precision", "roc_auc"),
    *("f1", "precision", "recall", "jaccard"),
)
_AT_MOST_ONE = ("r2", "explained_variance", "d2_", "matthews_corrcoef")
_SLACK = 1e-9  # sums of weights round


@dataclass(frozen=True, eq=False)
class SizeScores:
    """How well a classifier did on the rows left out, for every size and split.

    Attributes
    ----------
    sizes : ndarray of int (s,)
        Ascending.
    scores : ndarray (splits, s)
        NaN where a score could not be had, or a run was stopped before it came to that.
    subsets : list of lists of lists of int
        For each split and size, the columns chosen, in order of choice where the search has one.
    settings : mapping
        The settings of which several values were tried, by name; empty if there were none.
    tried : ndarray of bool (s,)
        Which sizes these settings allow; all if not given.
    counted : ndarray of bool (splits,)
        Which splits count in means and errors; all if not given.
    """

    sizes: np.ndarray
    scores: np.ndarray
    subsets: list[list[list[int]]]
    settings: Mapping[str, Any] = field(default_factory=dict)
    tried: Any = None
    counted: Any = None

    def __post_init__(self) -> None:
        for name, length in (("tried", len(self.sizes)), ("counted", len(self.scores))):
            if getattr(self, name) is None:
                object.__setattr__(self, name, np.ones(length, dtype=bool))

    @property
    def words(self) -> str:
        """The settings in a line."""
        return in_words(self.settings)

    @property
    def mean(self) -> np.ndarray:
        """Over the splits that count."""
        return mean_scores(self.scores[self.counted])

    @property
    def standard_error(self) -> np.ndarray:
        """Of each mean: the splits' sample deviation over the square root of their number."""
        return standard_errors(self.scores[self.counted])

    def best(self, *, one_standard_error: bool = False) -> int:
        """Place of the size to choose, by the rule of `best_choice`."""
        return best_of([self], one_standard_error=one_standard_error)[1]

    def as_tried(self) -> TriedCombination:
        """What a result keeps of them."""
        return TriedCombination(self.settings, self.scores, self.mean, self.standard_error)

    def as_cv_results(self, n_features: int) -> dict[str, Any]:
        """The scores under the names scikit-learn's RFECV gives them."""
        supports = np.zeros((len(self.scores), len(self.sizes), n_features), dtype=bool)
        for split, subsets in enumerate(self.subsets):
            for place, columns in enumerate(subsets):
                supports[split, place, columns] = True
        with np.errstate(invalid="ignore"):  # NaN where a score is infinite
            deviation = self.scores[self.counted].std(axis=0)
        return {
            "mean_test_score": self.mean,
            "std_test_score": deviation,
            **{f"split{split}_test_score": scores for split, scores in enumerate(self.scores)},
            **{f"split{split}_support": support for split, support in enumerate(supports)},
            "n_features": self.sizes,
        }


def best_of(combinations: Sequence[SizeScores], *, one_standard_error: bool = False) -> tuple[int, int]:
    """Which combination to choose, and the place of its size, by the rule of `best_choice`."""
    means = np.array([scores.mean for scores in combinations])
    errors = np.array([scores.standard_error for scores in combinations])
    return best_choice(means, errors, one_standard_error=one_standard_error)


def counting(combinations: Sequence[SizeScores]) -> tuple[SizeScores, ...]:
    """The scores of a finished run, of which splits without any do not count."""
    counted = counted_splits([scores.scores for scores in combinations])
    return tuple(replace(scores, counted=counted) for scores in combinations)


def score_range(scoring: Any) -> tuple[float, float]:
    """Between which numbers scores lie that scikit-learn gives by this name; any number by a function of the user's."""
    if not isinstance(scoring, str):
        return -np.inf, np.inf
    if scoring.startswith(_SHARES):
        return -_SLACK, 1.0 + _SLACK
    if scoring.startswith("neg_"):
        return -np.inf, _SLACK
    highest = 1.0 + _SLACK if scoring.startswith(_AT_MOST_ONE) else np.inf
    return -np.inf, highest


class StoppedEarly(KeyboardInterrupt):
    """Ctrl-C in the middle of a search for the size.

    `combinations` has the scores there are, of each combination of settings; `so_far` those of the best of them.
    """

    def __init__(self, combinations: Sequence[SizeScores]) -> None:
        self.combinations = tuple(combinations)
        self.so_far = self.combinations[best_of(combinations)[0]]
        super().__init__("stopped before every size was scored")


class MissingScoreWarning(CertselectWarning):
    """Some scores are not numbers: splits or sizes were left out."""


def check_scores(
    combinations: Sequence[SizeScores], scoring: Any, test_parts: Sequence[np.ndarray], labels: np.ndarray
) -> None:
    """Refuse scores among which no size can be chosen, and warn of splits and sizes that take no part."""
    lacking = ~scored_splits([scores.scores for scores in combinations])
    why = _reason([labels[rows] for rows, lacks in zip(test_parts, lacking, strict=True) if lacks])
    said = keyword("scoring", scoring)
    if not any((scores.mean > -np.inf).any() for scores in combinations):
        where = f"{lacking.sum()} of {len(lacking)} splits" if lacking.any() else "one split or more, at every size"
        raise InvalidInput(
            f"no finite score by {said} in {where}",
            "a score in every split for one size at least",
            why or "Look at what the scorer returns, and pass another scoring.",
        )
    if lacking.any():
        left_out = f"{said} gave no finite score in {lacking.sum()} of {len(lacking)} splits, which are left out."
        warn_user(f"{left_out} {why}".rstrip(), MissingScoreWarning)
    sizes = sorted({int(k) for scores in combinations for k in scores.sizes[scores.tried & np.isnan(scores.mean)]})
    if sizes:
        some = ", ".join(map(str, sizes[:10])) + (", ..." if len(sizes) > 10 else "")
        warn_user(
            f"{said} gave NaN in some splits for k = {some}: where it did, that size is not chosen.",
            MissingScoreWarning,
        )


def _reason(targets: Sequence[np.ndarray]) -> str:
    """What may have kept a scorer from scoring these test rows, and what to do about it; empty if it cannot be told."""
    if not targets:
        return ""
    if all(len(target) == 1 for target in targets):
        return (
            "There the test part is a single row, for which many scores are not defined (R2 and AUC among them): "
            f"use fewer splits, such as {keyword('cv', 5)}, or "
            f"{keyword('scoring', 'neg_mean_squared_error', 'accuracy')}."
        )
    if all(len(np.unique(target)) == 1 for target in targets):
        return (
            "There the test part has one class only, for which some scores are not defined (AUC among them): "
            f"use StratifiedKFold, larger test parts, or {keyword('scoring', 'accuracy')}."
        )
    return ""
