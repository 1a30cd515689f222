"""SizeScores: the score of every size in every split, and the rule that chooses among them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from certselect.results.size_choice import best_size, standard_errors

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
        NaN where a run was stopped before it came to that.
    subsets : list of lists of lists of int
        For each split and size, the columns chosen, in order of choice where the search has one.
    """

    sizes: np.ndarray
    scores: np.ndarray
    subsets: list[list[list[int]]]

    @property
    def mean(self) -> np.ndarray:
        with np.errstate(invalid="ignore"):  # infinite scores of both signs have no mean: NaN
            return self.scores.mean(axis=0)

    @property
    def standard_error(self) -> np.ndarray:
        """Of each mean: the splits' sample deviation over the square root of their number."""
        return standard_errors(self.scores)

    def best(self, *, one_standard_error: bool = False) -> int:
        """Place of the size to choose, by the rule of `best_size`."""
        return best_size(self.mean, self.standard_error, one_standard_error=one_standard_error)

    def as_cv_results(self, n_features: int) -> dict[str, Any]:
        """The scores under the names scikit-learn's RFECV gives them."""
        supports = np.zeros((len(self.scores), len(self.sizes), n_features), dtype=bool)
        for split, subsets in enumerate(self.subsets):
            for place, columns in enumerate(subsets):
                supports[split, place, columns] = True
        with np.errstate(invalid="ignore"):  # NaN where a score is infinite
            deviation = self.scores.std(axis=0)
        return {
            "mean_test_score": self.mean,
            "std_test_score": deviation,
            **{f"split{split}_test_score": scores for split, scores in enumerate(self.scores)},
            **{f"split{split}_support": support for split, support in enumerate(supports)},
            "n_features": self.sizes,
        }


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
    """Ctrl-C in the middle of a search for the size; `so_far` has the scores there are."""

    def __init__(self, so_far: SizeScores) -> None:
        self.so_far = so_far
        super().__init__("stopped before every size was scored")
