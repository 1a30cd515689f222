"""Numbers without bins: relevance by neighbours and by the copula beside scikit-learn's."""

from __future__ import annotations

from typing import Any

import numpy as np

from .match import OURS, Match
from .problems import number_table

JOBS = 2
NEIGHBORS = 3  # scikit-learn's default


def relevance(m: int, n: int, *, classes: bool, measure: str) -> Match:
    X, number, labels = number_table(m, n)
    y = labels if classes else number

    def ours() -> np.ndarray:
        from certselect import information_terms

        settings: dict[str, Any] = {"n_neighbors": NEIGHBORS} if measure == "neighbors" else {}
        return information_terms(X, y, measure=measure, n_jobs=JOBS, **settings).relevance

    def theirs() -> np.ndarray:
        from sklearn.feature_selection import mutual_info_classif, mutual_info_regression

        options: dict[str, Any] = {"n_jobs": JOBS}
        return (mutual_info_classif if classes else mutual_info_regression)(X, y, random_state=0, **options)

    name = f"scikit-learn mutual_info_{'classif' if classes else 'regression'}"
    first: dict[str, np.ndarray] = {}

    def facts(contestant: str, answer: np.ndarray) -> dict[str, Any]:
        """How far apart the two are; scikit-learn moves equal values apart at random."""
        first[contestant] = answer
        both = list(first.values())
        return {"apart": float(np.abs(both[0] - both[-1]).max())} if len(both) > 1 else {}

    return Match({OURS: ours, name: theirs}, facts=facts)
