"""Do features chosen for one classifier serve another? Other classifiers on what COBRA with mRMR gave LDA."""

from __future__ import annotations

from collections.abc import Sequence

from experiments.accuracy import Answer, Evaluation, best_size, evaluate
from experiments.grids import Grid
from experiments.store import Result
from experiments.workers import processes, say

SETS = ("ARR", "CNA", "IAD")
MEASURE, SEARCH, PROTOCOL = "mRMR", "COBRA", "paper"
GIVER = "LDA"


def run(grid: Grid, sets: Sequence[str], jobs: int) -> None:
    """The sets named, of the three the paper has.

    The subset of a size is the same for every classifier, so all accuracies are among those of `accuracy`.
    """
    with processes(jobs) as pool:
        for name in [name for name in sets if name in SETS]:
            evaluate(grid, name, (MEASURE,), (SEARCH,), (PROTOCOL,), pool)
            evaluation = Evaluation(grid, name, PROTOCOL, pool)
            scores = Answer(evaluation, MEASURE, SEARCH).content["scores"]
            others = [classifier for classifier in scores if classifier != GIVER]
            size = best_size(scores[GIVER])
            own = {classifier: best_size(scores[classifier]) for classifier in others}
            question = {"experiment": "cross_classifier", "set": name}
            result = Result(grid.name, question, evaluation.settings)
            result.content.update(
                size_for_lda=size,
                on_lda_features={other: scores[other][str(size)]["mean"] for other in others},
                own={other: scores[other][str(k)]["mean"] for other, k in own.items()},
                own_sizes=own,
            )
            result.finish()
            say(f"cross_classifier {name}: {result.content['on_lda_features']} with LDA's {size} features")
