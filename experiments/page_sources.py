"""What the page is made of: the numbers we measured and the numbers the paper printed, read from files alone.

Only finished results count. Where several grids were run, an experiment is told from the one with most
finished answers, of equals the finest, so that all of its numbers are of one kind.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from experiments.grids import GRIDS, SETS
from experiments.kept_rows import read_rows

PRINTED = Path(__file__).parent / "printed"
MEASURES = ("mRMR", "JMI")
SEARCHES = ("COBRA", "FS", "BE")
CLASSIFIERS = ("SVM", "LDA", "CART", "RF", "NN")
AVERAGE = "Average"


@dataclass(frozen=True)
class Best:
    """A classifier's best accuracy over the sizes of subsets, in percent, and the smallest size that gives it."""

    percent: float
    size: int | None


# By set, measure and search; then by classifier, and "Average" for the mean of the five.
Accuracies = dict[tuple[str, str, str], dict[str, Best]]


def printed_rows(folder: Path, table: str) -> list[dict[str, str]]:
    with (folder / f"{table}.csv").open(newline="") as file:
        return list(csv.DictReader(file))


def printed_accuracies(folder: Path) -> Accuracies:
    found: Accuracies = {}
    for row in printed_rows(folder, "accuracy"):
        size = int(row["n_features"]) if row["n_features"] else None
        best = Best(float(row["accuracy_percent"]), size)
        found.setdefault((row["dataset"], row["measure"], row["search"]), {})[row["classifier"]] = best
    return found


def finished(results: Path, experiment: str) -> tuple[str | None, list[dict[str, Any]]]:
    """The grid an experiment is told from (None if there is none), and its finished results in the order of sets."""
    by_grid = {
        grid: [content for content in read_each_set(results / grid, experiment) if content.get("finished", True)]
        for grid in reversed(GRIDS)
    }
    grid = max(by_grid, key=lambda name: len(by_grid[name]))  # the first of equals
    if not by_grid[grid]:
        return None, []
    return grid, by_grid[grid]


def our_accuracies(contents: Iterable[dict[str, Any]], protocol: str) -> Accuracies:
    """Best sizes of all five classifiers, from the results of `accuracy`."""
    found: Accuracies = {}
    for content in contents:
        if content["protocol"] != protocol or not set(CLASSIFIERS) <= set(content["scores"]):
            continue
        best = {name: _best_size(content["scores"][name]) for name in CLASSIFIERS}
        best[AVERAGE] = Best(sum(each.percent for each in best.values()) / len(best), None)
        found[content["set"], content["measure"], content["search"]] = best
    return found


def score(contents: Iterable[dict[str, Any]], key: tuple[str, ...], classifier: str, size: int) -> float | None:
    """Percent at one size; `key` is set, measure, search and protocol. None if it was not measured."""
    for content in contents:
        if tuple(content[part] for part in ("set", "measure", "search", "protocol")) == key:
            held = content["scores"].get(classifier, {}).get(str(size))
            return None if held is None else 100.0 * held["mean"]
    return None


def read_each_set(folder: Path, experiment: str) -> list[dict[str, Any]]:
    """All answers of an experiment in a folder, in the order of sets."""
    return sorted(read_rows(folder / f"{experiment}.json"), key=lambda content: SETS.index(content["set"]))


def _best_size(scores: dict[str, dict[str, Any]]) -> Best:
    percents = {int(size): 100.0 * held["mean"] for size, held in scores.items()}
    size = min(percents, key=lambda size: (-percents[size], size))
    return Best(percents[size], size)
