"""The paper's tests of COBRA, FS and BE over the data sets: Friedman's, Nemenyi's for pairs, and their box plots.

Run on the printed accuracies and on ours, on the averages over classifiers and for each classifier.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from certselect.evaluation import AlgorithmComparison, compare_algorithms
from experiments.grids import SETS, Grid
from experiments.kept_rows import RESULTS
from experiments.page_sources import (
    AVERAGE,
    CLASSIFIERS,
    MEASURES,
    PRINTED,
    SEARCHES,
    Accuracies,
    finished,
    our_accuracies,
    printed_accuracies,
)
from experiments.workers import say

PAIRS = (("FS", "COBRA"), ("COBRA", "BE"), ("FS", "BE"))
DIGITS = 2  # of an average as printed: what differs by less ties
FEWEST_SETS = 3  # ranks of fewer data sets say nothing


def sets_in_full(accuracies: Accuracies, measure: str) -> list[str]:
    """The data sets on which all three searches were judged."""
    return [name for name in SETS if all((name, measure, search) in accuracies for search in SEARCHES)]


def comparison(accuracies: Accuracies, measure: str, column: str) -> AlgorithmComparison | None:
    """COBRA, FS and BE compared by one column (a classifier or the average); None if there are too few data sets."""
    names = sets_in_full(accuracies, measure)
    if len(names) < FEWEST_SETS:
        return None
    scores = [
        [round(accuracies[name, measure, search][column].percent, DIGITS) for search in SEARCHES] for name in names
    ]
    return compare_algorithms(scores, names=SEARCHES)


def run(
    grid: Grid | None = None,
    sets: Sequence[str] = (),
    jobs: int = 1,
    *,
    results: Path = RESULTS,
    printed: Path = PRINTED,
) -> None:
    """Say the p-values of what is kept; the page shows them with the box plots."""
    contents = finished(results, "accuracy")[1]
    ours = {f"ours, {protocol}": our_accuracies(contents, protocol) for protocol in ("paper", "honest")}
    for source, accuracies in {"printed": printed_accuracies(printed), **ours}.items():
        for measure in MEASURES:
            for column in (AVERAGE, *CLASSIFIERS):
                found = comparison(accuracies, measure, column)
                if found is None:
                    say(f"{source}, {measure}, {column}: too few data sets")
                    continue
                pairs = ", ".join(f"{one}-{other} {found.pairwise[one, other]:.3f}" for one, other in PAIRS)
                say(f"{source}, {measure}, {column}: Friedman {found.friedman_pvalue:.3f}, {pairs}")
