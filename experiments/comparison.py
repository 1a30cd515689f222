"""COBRA against two other convex programmes, QPFS and SOSS, with mRMR: accuracy, its spread, and seconds."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from certselect import select, subset_problem
from certselect.threads import thread_count
from experiments.accuracy import Answer, Evaluation, best_size, evaluate
from experiments.grids import Grid
from experiments.preparation import CRITERION, PAIR_TERM, RECIPES, Measured, load, measure
from experiments.searching import SEED, STRATEGY
from experiments.store import Result
from experiments.workers import processes, say

SETS = ("MAD", "NCI", "IAD", "ARR", "CNA")
MEASURE = "mRMR"
METHODS = ("COBRA", "QPFS", "SOSS")
# The paper times "a given size" and does not say which.
TIMED_SIZE = 20


def run(grid: Grid, sets: Sequence[str], jobs: int) -> None:
    """The sets named, of the five the paper has; uses and fills the results of `accuracy`."""
    with processes(jobs) as pool:
        for name in [name for name in sets if name in SETS]:
            evaluate(grid, name, (MEASURE,), METHODS, ("paper",), pool)
            evaluation = Evaluation(grid, name, "paper", pool)
            answers = {method: Answer(evaluation, MEASURE, method) for method in METHODS}
            question = {"experiment": "comparison", "set": name}
            result = Result(grid.name, question, [evaluation.settings, TIMED_SIZE])
            result.content["methods"] = {method: _average(answer.content) for method, answer in answers.items()}
            if "seconds" not in result.content:
                result.content["seconds"] = {"one_thread": time_methods(name, 1), "all_cores": time_methods(name, None)}
                result.content.update(cores=thread_count(None), timed_size=TIMED_SIZE)
            result.content["finished"] = True
            result.finish()
            say(f"comparison {name}: {_in_words(result.content)}")


def _average(content: dict[str, Any]) -> dict[str, Any]:
    """Over the classifiers, each at its best size, and how that average varies from fold to fold."""
    sizes = {classifier: best_size(scores) for classifier, scores in content["scores"].items()}
    best = [content["scores"][classifier][str(k)] for classifier, k in sizes.items()]
    folds = np.mean([one["folds"] for one in best], axis=0)
    return {"accuracy": float(np.mean([one["mean"] for one in best])), "std": float(folds.std(ddof=1)), "sizes": sizes}


def time_methods(name: str, threads: int | None) -> dict[str, float]:
    """Seconds for coding and all pairs ("matrix"), and for each method's optimisation at one size.

    The first round loads machine code and is not counted; nor is reading the data set.
    """
    dataset = load(name)
    seconds: dict[str, float] = {}
    with threadpool_limits(limits=thread_count(threads)):

        def count() -> Measured:
            measured = measure(dataset.X, dataset.y, RECIPES[name], n_jobs=threads)
            measured.terms.pair_matrix(PAIR_TERM[MEASURE])
            return measured

        count()
        began = time.perf_counter()
        measured = count()
        seconds["matrix"] = time.perf_counter() - began
        problem = subset_problem(
            measured.terms, min(TIMED_SIZE, len(measured.columns)), CRITERION[MEASURE], copies="all"
        )
        small = subset_problem(
            measured.terms, 2, CRITERION[MEASURE], exclude=range(20, len(measured.columns)), copies="all"
        )
        for method in METHODS:
            for one in (small, problem):
                began = time.perf_counter()
                found = select(one, STRATEGY[method], random_state=SEED)
                seconds[method] = time.perf_counter() - began
                if found.status == "interrupted":
                    raise KeyboardInterrupt
    return seconds


def _in_words(content: dict[str, Any]) -> str:
    return ", ".join(
        f"{method} {one['accuracy']:.3f} +- {one['std']:.3f} in {content['seconds']['all_cores'][method]:.2f} s"
        for method, one in content["methods"].items()
    )
