"""How the number of features was chosen by cross-validation: the scores, and the rule that chooses by them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

HONEST, PAPER = "honest", "paper"
# Means of the same scores added in another order differ by less; such sizes tie.
_ROUNDING = 1e-12


@dataclass(frozen=True, eq=False)
class SizeChoice:
    """How well a classifier or regressor did on rows not seen, for every size and split.

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
    split_scores : ndarray (splits, s)
        NaN where a score could not be had.
    mean_scores, standard_errors : ndarray (s,)
    """

    estimator: str
    scoring: str
    protocol: str
    one_standard_error: bool
    sizes: np.ndarray
    split_scores: np.ndarray
    mean_scores: np.ndarray
    standard_errors: np.ndarray


def standard_errors(scores: np.ndarray) -> np.ndarray:
    """Of the mean of each column: the splits' sample deviation over the square root of their number."""
    splits = len(scores)
    with np.errstate(invalid="ignore"):  # NaN where a score is infinite
        return scores.std(axis=0, ddof=1) / np.sqrt(splits) if splits > 1 else np.zeros(scores.shape[1])


def best_size(means: np.ndarray, errors: np.ndarray, *, one_standard_error: bool) -> int:
    """Place of the size to choose: the smallest of those with the best mean score.

    With `one_standard_error`, the smallest whose mean is within one standard error
    of the best (that of the best size's mean). Sizes without a score in every
    split do not take part.
    """
    means = np.where(np.isnan(means), -np.inf, means)
    top = int(np.argmax(means))
    if np.isinf(means[top]):  # no margin can be taken from it
        return top
    margin = errors[top] if one_standard_error else 0.0
    return int(np.argmax(means >= means[top] - margin - _ROUNDING * abs(means[top])))
