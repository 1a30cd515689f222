"""Is it scaling that sets our neural network apart from the paper's? It again, on columns as they were published.

The paper says nothing of scaling. Ours scales, because a network's first steps depend on units; on the same
subsets with JMI this run leaves that out and nothing else.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from joblib import delayed

from experiments.accuracy import Answer, Evaluation, evaluate
from experiments.classifiers import fold_accuracy
from experiments.grids import Grid
from experiments.store import Result
from experiments.workers import processes, say

SETS = ("MAD", "CNA", "IAD", "DEX")
MEASURE, SEARCHES, PROTOCOL = "JMI", ("FS", "COBRA"), "paper"
CLASSIFIER = "NN"


def run(grid: Grid, sets: Sequence[str], jobs: int) -> None:
    """The sets named, of the four whose averages are checked; uses and fills the results of `accuracy`."""
    with processes(jobs) as pool:
        for name in [name for name in sets if name in SETS]:
            evaluate(grid, name, (MEASURE,), SEARCHES, (PROTOCOL,), pool)
            evaluation = Evaluation(grid, name, PROTOCOL, pool)
            result = Result(grid.name, {"experiment": "unscaled_network", "set": name}, evaluation.settings)
            accuracies: dict[str, dict[str, float]] = result.content.setdefault("accuracies", {})
            for search in SEARCHES:
                known = accuracies.setdefault(search, {})
                for k, columns in Answer(evaluation, MEASURE, search).content["subsets"].items():
                    if k not in known:
                        known[k] = _accuracy(evaluation, columns)
                        result.save()
            result.content["finished"] = True
            result.finish()
            best = {search: max(known.values()) for search, known in accuracies.items()}
            say(f"unscaled_network {name}: {', '.join(f'{search} {most:.3f}' for search, most in best.items())}")


def _accuracy(evaluation: Evaluation, columns: list[int]) -> float:
    X, y = evaluation.dataset.X[:, columns], evaluation.dataset.y
    tasks: Any = (
        delayed(fold_accuracy)(CLASSIFIER, X, y, train, test, scaled=False) for train, test in evaluation.splits.rows
    )
    return float(np.mean(list(evaluation.pool(tasks))))
