"""SizeScores: the score of every size in every split, and the rule that chooses among them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

# Means of the same scores added in another order differ by less; such sizes tie.
_ROUNDING = 1e-12


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
        return self.scores.mean(axis=0)

    @property
    def standard_error(self) -> np.ndarray:
        """Of each mean: the splits' sample deviation over the square root of their number."""
        splits = len(self.scores)
        return self.scores.std(axis=0, ddof=1) / np.sqrt(splits) if splits > 1 else np.zeros(len(self.sizes))

    def best(self, *, one_standard_error: bool = False) -> int:
        """Place of the size to choose: the smallest of those with the best mean score.

        With `one_standard_error`, the smallest whose mean is within one standard error
        of the best (that of the best size's mean). Sizes without a score in every
        split do not take part.
        """
        mean = np.where(np.isnan(self.mean), -np.inf, self.mean)
        top = int(np.argmax(mean))
        margin = self.standard_error[top] if one_standard_error else 0.0
        return int(np.argmax(mean >= mean[top] - margin - _ROUNDING * abs(mean[top])))

    def as_cv_results(self, n_features: int) -> dict[str, Any]:
        """The scores under the names scikit-learn's RFECV gives them."""
        supports = np.zeros((len(self.scores), len(self.sizes), n_features), dtype=bool)
        for split, subsets in enumerate(self.subsets):
            for place, columns in enumerate(subsets):
                supports[split, place, columns] = True
        return {
            "mean_test_score": self.mean,
            "std_test_score": self.scores.std(axis=0),
            **{f"split{split}_test_score": scores for split, scores in enumerate(self.scores)},
            **{f"split{split}_support": support for split, support in enumerate(supports)},
            "n_features": self.sizes,
        }


class StoppedEarly(KeyboardInterrupt):
    """Ctrl-C in the middle of a search for the size; `so_far` has the scores there are."""

    def __init__(self, so_far: SizeScores) -> None:
        self.so_far = so_far
        super().__init__("stopped before every size was scored")
