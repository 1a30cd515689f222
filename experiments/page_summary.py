"""The page in a few lines, made from the same numbers as the rest of it."""

from __future__ import annotations

from pathlib import Path

from experiments.kept_rows import read_rows
from experiments.optimum import gap_to_bound
from experiments.page_accuracy import honest_drops
from experiments.page_certified import CRITERIA, NEAR, PAPERS_CODING, TITLES
from experiments.page_comparisons import speed_ratios
from experiments.page_sources import AVERAGE, MEASURES, finished, our_accuracies, printed_accuracies
from experiments.page_tables import listed
from experiments.rank_tests import comparison


def summary(results: Path, printed: Path) -> str:
    """One line for each question that the results answer."""
    said = [
        *_searches(results),
        *_accuracies(results, printed),
        *_madelon(results, printed),
        *_honesty(results),
        *_speed(results, printed),
    ]
    return "\n".join(f"* {line}" for line in said) if said else "No results are kept yet."


def _searches(results: Path) -> list[str]:
    rows = read_rows(results / "optimum.json")
    if not rows:
        return []
    best = [
        f"{TITLES[search]} in {sum(gap_to_bound(row, search) == 0.0 for row in rows)}"
        for search in ("cobra", "forward", "backward", "soss", "qpfs")
    ]
    near = sum(min(gap_to_bound(row, "forward"), gap_to_bound(row, "backward")) <= NEAR for row in rows)
    return [
        f"Of {len(rows)} problems the subset found is proven to be the best: {listed(best)}. The better greedy search "
        f"is within {100 * NEAR:g} % of the best value in {near}."
    ]


def _accuracies(results: Path, printed: Path) -> list[str]:
    theirs = printed_accuracies(printed)
    ours = our_accuracies(finished(results, "accuracy")[1], "paper")
    tests = [
        (measure, comparison(theirs, measure, AVERAGE), comparison(ours, measure, AVERAGE)) for measure in MEASURES
    ]
    told = [
        f"{measure} {mine.friedman_pvalue:.3f} (printed accuracies {said.friedman_pvalue:.3f})"
        for measure, said, mine in tests
        if said is not None and mine is not None
    ]
    if not told:
        return []
    return [f"Whether COBRA, FS and BE differ in accuracy over the data sets, Friedman's p: {listed(told)}."]


def _madelon(results: Path, printed: Path) -> list[str]:
    said = printed_accuracies(printed)["MAD", "mRMR", "COBRA"]["SVM"]
    for row in read_rows(results / "madelon.json"):
        if (row["coding"], row["criterion"], row["k"]) == (PAPERS_CODING, "mrmr", said.size) and row["proven"]:
            return [
                f"Madelon's {said.percent:.1f} % for {CRITERIA['mrmr']} with {said.size} features: the {row['k']} that "
                f"are proven to be the best give {row['best_accuracy']:.1f} %."
            ]
    return []


def _honesty(results: Path) -> list[str]:
    drops = honest_drops(results)
    if not drops:
        return []
    mean = sum(drops.values()) / len(drops)
    return [f"Choosing features on all rows, as the paper did, adds {mean:.1f} points of accuracy on average."]


def _speed(results: Path, printed: Path) -> list[str]:
    ratios = speed_ratios(results, printed)
    if not ratios:
        return []
    cells = listed([f"{name} {ratio:.0f}" for name, ratio in ratios.items()])
    return [f"Matrix and COBRA together take fewer seconds than printed by these factors, on one thread: {cells}."]
