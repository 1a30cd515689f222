"""How much of a subset COBRA keeps at the next size: the paper's similarity ratios, with mRMR."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from joblib import delayed

from certselect import selection_path, similarity_ratios
from certselect.threads import one_blas_thread
from experiments.grids import Grid
from experiments.preparation import CRITERION, RECIPES, load, measure
from experiments.store import Result
from experiments.workers import processes, say

MEASURE = "mRMR"
SEED = 0
BATCH = 6  # sizes searched before the file is written


def run(grid: Grid, sets: Sequence[str], jobs: int) -> None:
    """The sets named, of those the grid has, side by side."""
    names = [name for name in sets if name in grid.similarity_sets]
    with processes(jobs) as pool:
        for name, ratio in zip(names, pool(delayed(measure_similarity)(grid, name) for name in names), strict=True):
            say(f"similarity {name}: {ratio:.4f}")


def measure_similarity(grid: Grid, name: str) -> float:
    """The mean ratio of one set, which it also writes down; goes on where an earlier run was stopped."""
    question = {"experiment": "similarity", "set": name}
    result = Result(grid.name, question, {"recipe": vars(RECIPES[name]), "seed": SEED, "batch": BATCH})
    subsets = result.content.setdefault("subsets", {})
    sizes = list(grid.similarity_sizes)
    batches = [sizes[start : start + BATCH] for start in range(0, len(sizes), BATCH)]
    missing = [batch for batch in batches if any(str(k) not in subsets for k in batch)]
    if missing:
        dataset = load(name)
        measured = measure(dataset.X, dataset.y, RECIPES[name])
        for batch in missing:
            # Draws are fresh for every size, as the paper's are: one seed for all would make subsets more alike.
            rng = np.random.default_rng([SEED, batch[0]])
            with one_blas_thread(True):
                path = selection_path(
                    measured.terms, batch, CRITERION[MEASURE], "cobra", random_state=rng, copies="all"
                )
            if any(selection.status == "interrupted" for selection in path):
                raise KeyboardInterrupt
            subsets.update({str(found.k): sorted(measured.columns[found.indices].tolist()) for found in path})
            result.content["finished"] = False
            result.save()
    ratios = similarity_ratios([subsets[str(k)] for k in sizes])
    result.content.update(ratio=float(ratios.mean()), lowest=float(ratios.min()), finished=True)
    result.finish()
    return float(ratios.mean())
