"""The paper's five classifiers, as scikit-learn has them, and how often one is right on rows it has not seen.

The paper names the classifiers and no settings. These are scikit-learn's own but for what `SETTINGS` says;
none was tuned, on any data set.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.impute import SimpleImputer
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from certselect.threads import one_blas_thread

SEED = 0
KINDS = {
    "SVM": SVC,
    "LDA": LinearDiscriminantAnalysis,
    "CART": DecisionTreeClassifier,
    "RF": RandomForestClassifier,
    "NN": MLPClassifier,
}
SETTINGS: dict[str, dict[str, Any]] = {
    "SVM": {"kernel": "rbf", "C": 1.0, "gamma": "scale"},
    "LDA": {"solver": "svd"},
    "CART": {"criterion": "gini", "random_state": SEED},
    "RF": {"n_estimators": 100, "random_state": SEED},
    # With few rows L-BFGS is quicker and steadier than stochastic steps; it stops after `max_iter` of its own.
    "NN": {"hidden_layer_sizes": (20,), "solver": "lbfgs", "alpha": 0.01, "max_iter": 200, "random_state": SEED},
}
# Distances and gradients depend on units; splits of a tree and discriminants do not.
SCALED = ("SVM", "NN")


def make_classifier(name: str, *, scaled: bool = True) -> Pipeline:
    """Median for missing values, scaling where it matters, the classifier: all learnt from the training rows.

    With `scaled` off no column is scaled.
    """
    steps: list[Any] = [SimpleImputer(strategy="median", keep_empty_features=True)]
    if scaled and name in SCALED:
        steps.append(StandardScaler())
    return make_pipeline(*steps, KINDS[name](**SETTINGS[name]))


def fold_accuracy(
    name: str, X: np.ndarray, y: np.ndarray, train: np.ndarray, test: np.ndarray, *, scaled: bool = True
) -> float:
    """The share of the test rows whose class the classifier tells after training on the others."""
    with one_blas_thread(True), warnings.catch_warnings():
        # A neural network that would go on after 200 steps is one with these settings, no accident.
        warnings.simplefilter("ignore", ConvergenceWarning)
        classifier = make_classifier(name, scaled=scaled).fit(X[train], y[train])
        return float(np.mean(classifier.predict(X[test]) == y[test]))
