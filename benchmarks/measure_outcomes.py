"""Do the features predict? One command makes the second table of docs/data.md.

    python benchmarks/measure_outcomes.py           # measure everything and write the page, 10 minutes on two cores
    python benchmarks/measure_outcomes.py --page    # the page again, from the results kept

Features are chosen within each training fold, by every measure alike (JMI, forward), and judged by
five nearest neighbours on rows not seen. The Arrhythmia table is one of the paper's and read from
the folder that CERTSELECT_DATA names; without it, its results are kept as they were.
"""

from __future__ import annotations

import argparse
import json
import os
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import (
    load_breast_cancer,
    load_diabetes,
    load_digits,
    load_wine,
    make_classification,
    make_friedman1,
)
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from certselect import information_terms, select, subset_problem
from certselect.datasets import load_dataset
from certselect.settings import Measuring
from page_section import replace_section, table, wrapped

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "data.md"
RESULTS = Path(__file__).parent / "results" / "measure_outcomes.json"
BEGIN = "<!-- From here to the end of it: made by `python benchmarks/measure_outcomes.py`. Do not edit. -->"
END = "<!-- The end of what benchmarks/measure_outcomes.py made. -->"

_COUNTED = {"measure": "plugin", "correction": "none"}
MEASURES: dict[str, dict[str, Any]] = {
    "uniform": _COUNTED | {"discretize": "uniform", "bins": 5, "target_bins": 5},
    "quantile": _COUNTED | {"discretize": "quantile", "bins": 5, "target_bins": 5},
    "copula": {"measure": "gaussian_copula"},
    "neighbors": {"measure": "neighbors", "n_neighbors": Measuring.n_neighbors},
    "auto": {"measure": "auto"},
}
COUNTING = "uniform"
FOLDS, DRAWS = 5, 4
FAR = 0.05  # of accuracy or R2

Drawn = tuple[np.ndarray, np.ndarray]


@dataclass(frozen=True)
class Task:
    """A table to predict from, drawn or read, and how many features to choose."""

    name: str
    features: int
    draw: Callable[[np.random.Generator], Drawn]


def normals(rng: np.random.Generator, rows: int, columns: int) -> np.ndarray:
    return rng.normal(size=(rows, columns))


def linear(rows: int, columns: int, bend: Callable[[np.ndarray], np.ndarray] = np.array) -> Callable[..., Drawn]:
    """A number that is the sum of five columns and noise; the columns are shown bent."""

    def draw(rng: np.random.Generator) -> Drawn:
        X = normals(rng, rows, columns)
        return bend(X), X[:, :5] @ [1, 0.8, 0.6, 0.4, 0.3] + 0.5 * rng.normal(size=rows)

    return draw


def side_of_a_plane(rng: np.random.Generator) -> Drawn:
    X = normals(rng, 300, 30)
    return X, (X[:, :5].sum(axis=1) + rng.normal(size=300) > 0).astype(int)


def products(rng: np.random.Generator) -> Drawn:
    X = normals(rng, 500, 15)
    return X, X[:, 0] * X[:, 1] + abs(X[:, 2]) + 0.1 * rng.normal(size=500)


def mostly_zero(share: float) -> Callable[..., Drawn]:
    """Four classes that shift ten of thirty columns, of which only the largest values are left."""

    def draw(rng: np.random.Generator) -> Drawn:
        labels = rng.integers(0, 4, 1000)
        shift = np.zeros((4, 30))
        shift[:, :10] = rng.normal(size=(4, 10))
        X = normals(rng, 1000, 30) + shift[labels]
        cut = np.quantile(X, share, axis=0)
        return np.where(cut < X, X - cut, 0), labels

    return draw


def friedman(rng: np.random.Generator) -> Drawn:
    return make_friedman1(500, 15, noise=1.0, random_state=int(rng.integers(2**31)))


def clusters(rng: np.random.Generator) -> Drawn:
    seed = int(rng.integers(2**31))
    X, y, *_ = make_classification(400, 40, n_informative=8, n_redundant=8, n_classes=3, random_state=seed)
    return np.asarray(X), np.asarray(y)


def given(load: Callable[..., Any]) -> Callable[..., Drawn]:
    return lambda rng: load(return_X_y=True)


def arrhythmia(rng: np.random.Generator) -> Drawn:
    found = load_dataset("ARR", download=False)
    return np.asarray(found.X, dtype=float), np.unique(found.y, return_inverse=True)[1]


TASKS = [
    Task("handwritten digits", 10, given(load_digits)),
    Task("Arrhythmia", 10, arrhythmia),
    *(Task(f"{share:.0%} zeros, 4 classes", 10, mostly_zero(share)) for share in (0.5, 0.8, 0.95, 0.99)),
    Task("breast cancer", 5, given(load_breast_cancer)),
    Task("wine", 4, given(load_wine)),
    Task("diabetes", 4, given(load_diabetes)),
    Task("Friedman's function", 5, friedman),
    Task("products and absolute values", 3, products),
    Task("sum of 5 of 30, 300 rows", 5, linear(300, 30)),
    Task("the same of exp(2 x)", 5, linear(300, 30, lambda X: np.exp(2 * X))),
    Task("the same, 45 rows", 5, linear(45, 30)),
    Task("side of a plane", 5, side_of_a_plane),
    Task("clusters", 6, clusters),
]


def outcome(X: np.ndarray, y: np.ndarray, features: int, settings: Mapping[str, Any], seed: int) -> float:
    """Mean accuracy or R2 on the rows left out."""
    classes = y.dtype.kind in "iu"
    folds = (StratifiedKFold if classes else KFold)(FOLDS, shuffle=True, random_state=seed)
    scores = []
    for seen, unseen in folds.split(X, y):
        terms = information_terms(
            X[seen], y[seen], task="classification" if classes else "regression", n_jobs=1, **settings
        )
        chosen = list(select(subset_problem(terms, k=features, criterion="jmi"), "forward").indices)
        judge = make_pipeline(StandardScaler(), KNeighborsClassifier() if classes else KNeighborsRegressor())
        scores.append(judge.fit(X[seen][:, chosen], y[seen]).score(X[unseen][:, chosen], y[unseen]))
    return float(np.mean(scores))


def task_outcomes(task: Task, draws: int) -> dict[str, float]:
    """Of every measure, averaged over tables drawn anew, or over folds drawn anew."""
    tables = [task.draw(np.random.default_rng(seed)) for seed in range(draws)]
    return {
        measure: round(
            float(np.mean([outcome(X, y, task.features, how, seed) for seed, (X, y) in enumerate(tables)])), 4
        )
        for measure, how in MEASURES.items()
    }


def measure_all(kept: Mapping[str, dict[str, float]]) -> dict[str, dict[str, float]]:
    found: dict[str, dict[str, float]] = {}
    for task in TASKS:
        if task.draw is arrhythmia and "CERTSELECT_DATA" not in os.environ:
            print(f"{task.name}: kept as it was; CERTSELECT_DATA names no folder")
            found |= {task.name: kept[task.name]} if task.name in kept else {}
            continue
        found[task.name] = task_outcomes(task, DRAWS)
        print(task.name, found[task.name], flush=True)
    return found


def section(results: Mapping[str, Mapping[str, float]]) -> str:
    """The part of the page that the results make."""
    rows = []
    for name, scores in results.items():
        shown = [f"{scores[measure]:.2f}" for measure in MEASURES]
        far = [scores[measure] < scores[COUNTING] - FAR for measure in MEASURES]
        rows.append([name, *(f"**{text}**" if below else text for text, below in zip(shown, far, strict=True))])
    below = {
        measure: [name for name, scores in results.items() if scores[measure] < scores[COUNTING] - FAR]
        for measure in MEASURES
        if measure != COUNTING
    }
    said = [f"`{measure}`: {', '.join(names) if names else 'none'}" for measure, names in below.items()]
    return "\n\n".join(
        [
            BEGIN,
            "### Features that predict",
            wrapped(
                "Accuracy, or R2 where a number is predicted, of five nearest neighbours on rows not seen; features "
                f"chosen within each of {FOLDS} folds by JMI and forward selection, {DRAWS} times. Columns: counting "
                "in five bins of equal width (the default) and of equal counts, and the other measures with their "
                f"defaults. In bold: more than {FAR} below counting in bins of equal width."
            ),
            table(["table", *MEASURES], rows, 1),
            wrapped("Further than that below the default: " + "; ".join(said) + "."),
            END,
        ]
    )


def main(given: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="Measure how well the features that each measure chooses predict.")
    parser.add_argument("--page", action="store_true", help="only write the page again, from the results kept")
    arguments = parser.parse_args(given)
    kept = json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.exists() else {}
    if not arguments.page:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            kept = measure_all(kept)
        RESULTS.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")
    replace_section(PAGE, section(kept), BEGIN, END)


if __name__ == "__main__":
    main()
