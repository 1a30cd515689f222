"""The classifiers the command line knows by name, for tables of any columns."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from certselect.errors import InvalidInput

SCALED = ("svm", "lda", "neural", "neighbors", "logistic")
NAMES = ("svm", "lda", "tree", "forest", "neural", "neighbors", "logistic")


def make_classifier(name: str, seed: int) -> Any:
    """scikit-learn's classifier of that name, with its usual settings, after scaling where it heeds distances."""
    made = {
        "svm": SVC(random_state=seed),
        "lda": LinearDiscriminantAnalysis(),
        "tree": DecisionTreeClassifier(random_state=seed),
        "forest": RandomForestClassifier(random_state=seed),
        "neural": MLPClassifier(max_iter=1000, random_state=seed),
        "neighbors": KNeighborsClassifier(),
        "logistic": LogisticRegression(max_iter=1000, random_state=seed),
    }
    if name not in made:
        raise InvalidInput(f"--estimator {name}", f"one of {', '.join(NAMES)}", "Check the spelling.")
    return make_pipeline(NumbersAndIndicators(), *([StandardScaler()] if name in SCALED else []), made[name])


class NumbersAndIndicators(TransformerMixin, BaseEstimator):
    """Keep columns of numbers as they are; make of every other column one 0/1 column for each value it had."""

    def fit(self, X: np.ndarray, y: Any = None) -> NumbersAndIndicators:
        self.categories_ = [None if _is_numeric(column) else sorted(set(map(str, column))) for column in X.T]
        return self

    def transform(self, X: np.ndarray) -> np.ndarray:
        parts = []
        for column, categories in zip(X.T, self.categories_, strict=True):
            if categories is None:
                parts.append(column.astype(np.float64)[:, None])
            else:
                parts.append(np.array(list(map(str, column)))[:, None] == np.array(categories)[None, :])
        return np.hstack(parts).astype(np.float64)


def _is_numeric(column: np.ndarray) -> bool:
    return column.dtype.kind in "biuf" or all(isinstance(value, int | float) for value in column.tolist())
