"""Which rows are trained on and which are tested: 10 folds, or every row in turn."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from sklearn.model_selection import KFold, LeaveOneOut, StratifiedKFold

FOLDS = 10


@dataclass(frozen=True, eq=False)
class Splits:
    """Pairs of training and test rows, and how they are grouped to tell how much accuracy varies.

    Attributes
    ----------
    rows : list of (train, test)
    group : ndarray of int
        For each pair one of 10 groups: the fold itself, or for leave-one-out, where a fold is right or
        wrong and nothing between, one of 10 random groups of rows.
    """

    rows: list[tuple[np.ndarray, np.ndarray]]
    group: np.ndarray

    def group_means(self, accuracies: np.ndarray) -> np.ndarray:
        return np.array([accuracies[self.group == group].mean() for group in np.unique(self.group)])


def split_rows(y: np.ndarray, *, leave_one_out: bool, seed: int) -> Splits:
    """Stratified shuffled folds, or every row left out once."""
    if not leave_one_out:
        rows = list(StratifiedKFold(FOLDS, shuffle=True, random_state=seed).split(y, y))
        return Splits(rows, np.arange(FOLDS))
    group = np.empty(len(y), dtype=int)
    for number, (_, together) in enumerate(KFold(FOLDS, shuffle=True, random_state=seed).split(y)):
        group[together] = number
    return Splits(list(LeaveOneOut().split(y)), group)
