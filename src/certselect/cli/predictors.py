"""The classifiers and regressors the command line knows by name, for tables of any columns."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.linear_model import LogisticRegression, RidgeCV
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from certselect.errors import InvalidInput

UNSCALED = ("tree", "forest")
MOST_INDICATORS = 100  # of one column: a name or a number for each row tells a classifier nothing


def make_predictor(name: str, task: str, seed: int) -> Any:
    """scikit-learn's estimator of that name, with its usual settings, after scaling where it heeds distances."""
    made: dict[str, Any]
    if task == "regression":
        made = {
            "svm": SVR(),
            "linear": RidgeCV(),
            "tree": DecisionTreeRegressor(random_state=seed),
            "forest": RandomForestRegressor(random_state=seed),
            "neural": MLPRegressor(max_iter=1000, random_state=seed),
            "neighbors": KNeighborsRegressor(),
        }
    else:
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
        raise InvalidInput(f"--estimator {name} for {task}", f"one of {', '.join(made)}", "Check the spelling.")
    return make_pipeline(NumbersAndIndicators(), *([] if name in UNSCALED else [StandardScaler()]), made[name])


class NumbersAndIndicators(TransformerMixin, BaseEstimator):
    """Keep columns of numbers; make of every other column one 0/1 column for each of its values.

    Of a column of many values the most frequent get a column. A missing number is filled
    with the median of those that were there and marked in a 0/1 column of its own; a missing
    category is a value like any other.
    """

    def fit(self, X: np.ndarray, y: Any = None) -> NumbersAndIndicators:
        self.medians_, self.lacking_, self.categories_ = [], [], []
        for column in X.T:
            numbers = _as_numbers(column)
            self.categories_.append(_most_frequent(column) if numbers is None else None)
            known = numbers[~np.isnan(numbers)] if numbers is not None else np.empty(0)
            self.medians_.append(float(np.median(known)) if len(known) else 0.0)
            self.lacking_.append(numbers is not None and len(known) < len(numbers))
        return self

    def transform(self, X: np.ndarray) -> np.ndarray:
        parts = []
        for column, categories, median, lacking in zip(
            X.T, self.categories_, self.medians_, self.lacking_, strict=True
        ):
            if categories is not None:
                place_of = {value: place for place, value in enumerate(categories)}
                places = np.array([place_of.get(_name(value), -1) for value in column])
                parts.append(places[:, None] == np.arange(len(categories)))
                continue
            numbers = column.astype(np.float64)  # None becomes NaN
            missing = np.isnan(numbers)
            parts.append(np.where(missing, median, numbers)[:, None])
            if lacking:
                parts.append(missing[:, None])
        return np.hstack(parts).astype(np.float64)


def _most_frequent(column: np.ndarray) -> list[tuple[bool, str]]:
    """The values of a column in order, but for rare ones where there are many."""
    counts = Counter(map(_name, column))
    often = sorted(counts, key=lambda value: (-counts[value], value))[:MOST_INDICATORS]
    return sorted(often)


def _name(value: object) -> tuple[bool, str]:
    """A category by its text, which is not that of a missing one whatever it is."""
    return value is not None, str(value)


def _as_numbers(column: np.ndarray) -> np.ndarray | None:
    """A column of numbers and missing ones as floats; None if there is anything else in it."""
    if column.dtype.kind in "biuf" or all(isinstance(value, int | float | None) for value in column.tolist()):
        return column.astype(np.float64)
    return None
