"""Does another implementation choose the same features by the same criteria? praznik 13 (R and C) on six of the sets.

experiments/printed/praznik20.json has the first 20 features in its order of choice, with scores. Its choices are
followed step by step: at each, the package's score of the feature it took must be its score, and the package's best
feature must score no more. Where several features have the best score, each of them is right; the other programme takes
one and the package another, so that the two orders may differ from there on.

Codes are those that the reference was made with: three states (mad, arr), levels as they are (nci, dbw), counts up to 2
(cna), and for iad ones above 0.5, a gap being 0, with its first three columns in three states.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from certselect import SubsetProblem, information_terms, select, subset_problem
from certselect.errors import FewerFeaturesWarning
from experiments.grids import Grid
from experiments.kept_rows import RESULTS, Row, question, read_rows, write_rows
from experiments.page_sources import PRINTED
from experiments.preparation import load
from experiments.workers import say

CRITERION = {
    "MIM": "max_relevance",
    "MRMR": "mrmr",
    "JMI": "jmi",
    "CMIM": "cmim",
    "DISR": "disr",
    "JMIM": "jmim",
    "NJMIM": "njmim",
    "JIM": "jim",
    "CMI": "cmi",
}
# Scores this close are equal: the reference is given with 12 digits.
EQUAL = 1e-9
KEYS = ("set", "criterion")


def three_states(X: np.ndarray) -> np.ndarray:
    mean, deviation = X.mean(axis=0), X.std(axis=0)
    return (mean - deviation < X).astype(int) + (mean + deviation < X)


def _advertisements(X: np.ndarray) -> np.ndarray:
    X = np.nan_to_num(X, nan=0.0)
    return np.concatenate([three_states(X[:, :3]), X[:, 3:] > 0.5], axis=1)


CODES: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "ARR": three_states,
    "NCI": lambda X: X // 2 + 1,
    "DBW": lambda X: X,
    "CNA": lambda X: np.minimum(X, 2),
    "IAD": _advertisements,
    "MAD": three_states,
}


def reference(printed: Path) -> dict[tuple[str, str], Row]:
    """What the other implementation chose, by our name of the set and its name of the criterion."""
    rows = json.loads((printed / "praznik20.json").read_text())
    return {(row["dataset"].partition("_")[0].upper(), row["criterion"]): row for row in rows}


def scores_beside(problem: SubsetProblem, chosen: Sequence[int]) -> np.ndarray:
    """What each feature adds to the chosen ones, in the words of the reference."""
    if problem.steps is not None:
        scores = problem.steps.begin()
        for feature in chosen:
            scores.add(feature)
        return scores.next()
    size = len(chosen)
    shared = sum((problem.pair_row(feature) for feature in chosen), np.zeros(problem.n_features))
    gains = problem.singles(size + 1) - problem.weight(size + 1) * shared
    # There JMI is a sum of I(X,W;C), not the mean of what is left of I(X;C).
    return size * gains + problem.linear[list(chosen)].sum() if size and problem.criterion.name == "jmi" else gains


def compared(name: str, criterion: str, problem: SubsetProblem, theirs: Row) -> Row:
    """How far scores are apart along the reference's choices, and where the package's own choices differ."""
    order, usable = theirs["order"], np.zeros(problem.n_features, dtype=bool)
    usable[problem.candidates] = True
    apart = missed = 0.0
    ties = 0
    for step, (feature, score) in enumerate(zip(order, theirs["scores"], strict=True)):
        scores = scores_beside(problem, order[:step])
        usable[order[:step]] = False
        best = float(scores[usable].max())
        apart = max(apart, abs(float(scores[feature]) - score))
        missed = max(missed, best - float(scores[feature]))
        ties += int((scores[usable] >= best - EQUAL).sum() > 1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FewerFeaturesWarning)
        ours = select(problem, "forward").indices.tolist()
    differs = next((step for step, pair in enumerate(zip(ours, order, strict=False), 1) if pair[0] != pair[1]), None)
    return {
        "set": name,
        "criterion": criterion,
        "features": len(order),
        "ours": len(ours),
        "apart": apart,
        "missed": missed,
        "ties": ties,
        "differs_at": differs,
    }


def run(
    grid: Grid | None = None,
    sets: Sequence[str] = tuple(CODES),
    jobs: int | None = None,
    *,
    printed: Path = PRINTED,
    results: Path = RESULTS,
) -> None:
    """Compare what is not compared yet. The grid does not matter here."""
    path = results / "agreement.json"
    rows = {question(row, KEYS): row for row in read_rows(path)}
    known = reference(printed)
    for name in (each for each in sets if each in CODES):
        missing = [criterion for criterion in CRITERION if (name, criterion) not in rows]
        if not missing:
            continue
        data = load(name)
        codes = CODES[name](data.X).astype(np.int64)
        terms = information_terms(
            codes, data.y, integers="levels", task="classification", n_jobs=jobs, measure="plugin", correction="none"
        )
        for criterion in missing:
            theirs = known[name, criterion]
            # The reference asked for 20 features of all, copies among them.
            problem = subset_problem(terms, 20, CRITERION[criterion], copies="all")
            row = compared(name, criterion, problem, theirs)
            rows[name, criterion] = row
            write_rows(path, sorted(rows.values(), key=lambda each: question(each, KEYS)))
            say(f"{name}, {criterion}: scores {row['apart']:.1e} apart, {row['missed']:.1e} missed")
