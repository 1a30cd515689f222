"""Scores that are no numbers: what to do where an estimator could not be judged, and why that may be."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from certselect.errors import InvalidInput, warn_user
from certselect.names import shown
from certselect.results.size_choice import scored_splits
from certselect.selectors.size_scores import SizeScores


class MissingScoreWarning(UserWarning):
    """Some scores are not numbers: splits or sizes were left out."""


def check_scores(
    combinations: Sequence[SizeScores], scoring: Any, test_parts: Sequence[np.ndarray], labels: np.ndarray
) -> None:
    """Refuse scores among which no size can be chosen, and warn of splits and sizes that take no part."""
    lacking = ~scored_splits([scores.scores for scores in combinations])
    why = _reason([labels[rows] for rows, lacks in zip(test_parts, lacking, strict=True) if lacks])
    said = f"scoring={shown(scoring)}"
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
            "use fewer splits, such as cv=5, or scoring='neg_mean_squared_error' or 'accuracy'."
        )
    if all(len(np.unique(target)) == 1 for target in targets):
        return (
            "There the test part has one class only, for which some scores are not defined (AUC among them): "
            "use StratifiedKFold, larger test parts, or scoring='accuracy'."
        )
    return ""
