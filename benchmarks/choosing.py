"""What choosing among 40 sizes by cross-validation costs beside the parts that cannot be saved.

Made data of Madelon's shape: 2000 rows, 500 whole-number columns of which 20 say something, two classes. Prints a
Markdown table: SubsetSelectorCV in 5 splits with forward selection, one selection path over all rows, and the 200
classifier fits alone.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.model_selection import StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC

from certselect import information_terms, selection_path
from certselect.selectors import SubsetSelectorCV
from judge import best_seconds

ROWS, COLUMNS, SIZES, BAR = 2000, 500, range(1, 41), 3.0
CODING: dict[str, Any] = {"integers": "numbers", "discretize": "mean_std"}
STRATEGY = "forward"


def madelon_like() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, ROWS)
    X = rng.normal(480.0, 30.0, (ROWS, COLUMNS))
    X[:, :20] += 12.0 * y[:, None] * rng.random(20)
    return X.round().astype(np.int16), y


def choose_size(classifier: Any, X: np.ndarray, y: np.ndarray) -> SubsetSelectorCV:
    return SubsetSelectorCV(classifier, SIZES, strategy=STRATEGY, **CODING).fit(X, y)


def fits_alone(classifier: Any, X: np.ndarray, y: np.ndarray) -> Callable[[], None]:
    """The classifiers' part: the same fits and scores on the same columns, chosen beforehand."""
    results = choose_size(classifier, X, y).cv_results_

    def run() -> None:
        for split, (train, test) in enumerate(StratifiedKFold(5).split(X, y)):
            for support in results[f"split{split}_support"]:
                columns = X[:, support]
                classifier.fit(columns[train], y[train]).score(columns[test], y[test])

    return run


def main() -> None:
    X, y = madelon_like()
    print(f"\n### Choosing among {len(SIZES)} sizes, {ROWS} x {COLUMNS}, 5 splits\n")
    print(
        "| classifier | SubsetSelectorCV (s) | one path (s) | fits alone (s) | ratio to (path + fits) | "
        "beyond the fits, in paths | asked: ratio below |"
    )
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: |")
    for classifier in (LinearDiscriminantAnalysis(), KNeighborsClassifier(), SVC()):
        seconds = best_seconds(
            {
                "whole": lambda classifier=classifier: choose_size(classifier, X, y),
                "path": lambda: selection_path(information_terms(X, y, **CODING), SIZES, strategy=STRATEGY),
                "fits": fits_alone(classifier, X, y),
            },
            turns=3,
        )
        whole, path, fits = seconds["whole"], seconds["path"], seconds["fits"]
        print(
            f"| {type(classifier).__name__} | {whole:.2f} | {path:.3f} | {fits:.2f} | {whole / (path + fits):.2f} | "
            f"{(whole - fits) / path:.1f} | {BAR} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
