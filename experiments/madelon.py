"""Madelon with mRMR: is a low accuracy the criterion's fault or the search's?

The paper prints 83.2 % for a support vector machine on the 12 features that mRMR + COBRA chose, 55.3 % for
mRMR with greedy searches, and blames the greedy searches. Here the best 12 features are found and
proven to be the best (or bounded), for several ways to measure information and several prices of
redundancy, and each subset is judged by the same classifier under the paper's protocol: features
chosen once from all samples, the classifier cross-validated on them.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.proven import searched

from certselect import InformationTerms, information_terms, subset_problem
from experiments.classifiers import fold_accuracy
from experiments.grids import Grid
from experiments.kept_rows import RESULTS, Row, question, read_rows, write_rows
from experiments.preparation import load
from experiments.searching import SEED
from experiments.splits import split_rows
from experiments.workers import say

_COUNTED = {"measure": "plugin", "correction": "none"}
CODINGS: dict[str, dict[str, Any]] = {
    "mean_std": _COUNTED | {"discretize": "mean_std"},
    "uniform 5": _COUNTED | {"discretize": "uniform", "bins": 5},
    "quantile 5": _COUNTED | {"discretize": "quantile", "bins": 5},
    "mdlp": _COUNTED | {"discretize": "mdlp"},
    "gaussian_copula": {"measure": "gaussian_copula"},
    "neighbors": {"measure": "neighbors"},
}
SEARCHES = ("forward", "backward", "cobra")  # "exact" comes on top
SECONDS = 60.0  # limit of each proof
KEYS = ("coding", "criterion", "beta", "k")


@dataclass(frozen=True)
class Ask:
    """A criterion and a size; `beta` is the fixed price of redundancy of "mifs"."""

    criterion: str
    k: int
    beta: float | None = None


# mRMR's own price is 1/(k-1), 0.09 for 12 features; 0 asks for the most relevant features, redundant or not.
ASKED = (
    Ask("mrmr", 12),
    *(Ask("mifs", 12, beta) for beta in (0.0, 0.02, 0.1, 0.3, 0.5, 1.0)),
    Ask("jmi", 12),
    Ask("jmi", 13),
)


def accuracy(X: np.ndarray, y: np.ndarray, subset: Sequence[int]) -> float:
    """Percent of samples a support vector machine tells right in 10-fold cross-validation on these columns."""
    folds = split_rows(y, leave_one_out=False, seed=SEED).rows
    return 100.0 * float(np.mean([fold_accuracy("SVM", X[:, subset], y, train, test) for train, test in folds]))


def measured(X: np.ndarray, y: np.ndarray, terms: InformationTerms, coding: str, ask: Ask, *, seconds: float) -> Row:
    """The best subset with what is proven of it, and what the searches of the paper make of the same question."""
    problem = subset_problem(terms, ask.k, ask.criterion, beta=ask.beta, copies="all")
    began = time.perf_counter()
    exact = searched(problem, "exact", max_seconds=seconds)
    took = time.perf_counter() - began
    found = {**{search: searched(problem, search) for search in SEARCHES}, "exact": exact}
    subsets = {search: sorted(selection.indices.tolist()) for search, selection in found.items()}
    # The exact method may be stopped before it has found what a random search stumbles on.
    best = max(found, key=lambda search: (found[search].objective, search == "exact"))
    return {
        "coding": coding,
        "criterion": ask.criterion,
        "beta": ask.beta,
        "k": ask.k,
        "n": len(problem.candidates),  # columns that are not constant once coded
        "values": {search: selection.objective for search, selection in found.items()},
        "bound": exact.upper_bound,
        "proven": exact.status == "proven optimal",
        "seconds": round(took, 1),
        "best": subsets[best],
        "accuracies": {search: round(accuracy(X, y, subset), 4) for search, subset in subsets.items()},
        "best_accuracy": round(accuracy(X, y, subsets[best]), 4),
    }


def with_rivals(rows: list[Row], X: np.ndarray, y: np.ndarray) -> list[Row]:
    """Add to mRMR's row of a coding what its criterion says of the subset that JMI likes best at the same size."""
    favourites = {(row["coding"], row["k"]): row["best"] for row in rows if row["criterion"] == "jmi"}
    for row in rows:
        rival = favourites.get((row["coding"], row["k"]))
        if row["criterion"] == "mrmr" and rival is not None and "value_of_jmi_subset" not in row:
            # Terms are about single columns and pairs, so those of the subset need no other column.
            terms = information_terms(X[:, rival], y, **CODINGS[row["coding"]])
            row["value_of_jmi_subset"] = float(
                subset_problem(terms, row["k"], "mrmr", copies="all").value(np.arange(row["k"]))
            )
    return rows


def run(
    grid: Grid | None = None,
    sets: Sequence[str] = (),
    jobs: int = 1,
    *,
    codings: Sequence[str] = tuple(CODINGS),
    seconds: float = SECONDS,
    results: Path = RESULTS,
) -> None:
    """Answer what is not answered yet; each row is kept as soon as it is there. Grid and sets do not matter here."""
    path = results / "madelon.json"
    rows = {question(row, KEYS): row for row in read_rows(path)}
    data = load("MAD")
    for coding in codings:
        missing = [ask for ask in ASKED if (coding, ask.criterion, ask.beta, ask.k) not in rows]
        if not missing:
            continue
        terms = information_terms(data.X, data.y, **CODINGS[coding])
        for ask in missing:
            row = measured(data.X, data.y, terms, coding, ask, seconds=seconds)
            rows[question(row, KEYS)] = row
            write_rows(path, with_rivals(in_order(rows.values()), data.X, data.y))
            say(f"{coding}, {ask.criterion}, beta {ask.beta}, k {ask.k}: {row['best_accuracy']:.1f} %")


def in_order(rows: Iterable[Row]) -> list[Row]:
    asked = [(ask.criterion, ask.beta, ask.k) for ask in ASKED]
    return sorted(rows, key=lambda row: (list(CODINGS).index(row["coding"]), asked.index(question(row, KEYS[1:]))))
