"""How the number of features was chosen by cross-validation."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


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
