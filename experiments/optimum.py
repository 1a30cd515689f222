"""How far is each search from the best there is, on the very problems the accuracies come from?

A low accuracy can be the criterion's fault (its best subset classifies badly) or the search's (it
missed the best subset). With a certified bound the second is measured: no subset is worth more
than the bound, so a search whose value is within x % of it is within x % of the best.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from pathlib import Path

from benchmarks.proven import SAME, searched

from certselect import InformationTerms, subset_problem
from experiments.grids import SETS, Grid
from experiments.kept_rows import RESULTS, Row, question, read_rows, write_rows
from experiments.preparation import RECIPES, load, measure
from experiments.workers import say

CRITERIA = ("mrmr", "jmi")
SIZES = (5, 10, 12, 20, 50)
SEARCHES = ("forward", "backward", "qpfs", "soss", "cobra")  # "exact" comes on top
SECONDS = 300.0  # limit of each proof
KEYS = ("set", "criterion", "k")


def measured(name: str, terms: InformationTerms, criterion: str, k: int, *, seconds: float) -> Row:
    """Values of all searches in nats, and what no subset of this size can exceed."""
    problem = subset_problem(terms, k, criterion, copies="all")
    found = {search: searched(problem, search) for search in SEARCHES}
    began = time.perf_counter()
    exact = searched(problem, "exact", max_seconds=seconds)
    took = time.perf_counter() - began
    values = {search: selection.objective for search, selection in {**found, "exact": exact}.items()}
    bound = min(exact.upper_bound, found["cobra"].upper_bound)
    best = max(values.values())
    if best - bound > SAME * abs(best):
        raise AssertionError(f"{name}, {criterion}, k = {k}: {best} was found where {bound} is said to be the most")
    return {
        "set": name,
        "criterion": criterion,
        "k": k,
        "n": len(problem.candidates),
        "values": values,
        "bound": bound,
        "proven": exact.status == "proven optimal",
        "seconds": round(took, 1),
    }


def best_known(row: Row) -> float:
    return max(row["values"].values())


def gap_to_bound(row: Row, search: str) -> float:
    """How far the search can be below the best at most, as a fraction of the best known value; 0 if it is the best."""
    gap = (row["bound"] - row["values"][search]) / abs(best_known(row))
    return gap if gap > SAME else 0.0


def run(
    grid: Grid | None = None,
    sets: Sequence[str] = SETS,
    jobs: int | None = None,
    *,
    sizes: Sequence[int] = SIZES,
    seconds: float = SECONDS,
    results: Path = RESULTS,
) -> None:
    """Answer what is not answered yet; each row is kept as soon as it is there. The grid does not matter here."""
    path = results / "optimum.json"
    rows = {question(row, KEYS): row for row in read_rows(path)}
    for name in sets:
        asked = [(name, criterion, k) for criterion in CRITERIA for k in sizes]
        missing = [each for each in asked if each not in rows]
        if not missing:
            continue
        data = load(name)
        terms = measure(data.X, data.y, RECIPES[name], n_jobs=jobs).terms
        for _, criterion, k in missing:
            row = measured(name, terms, criterion, k, seconds=seconds)
            rows[question(row, KEYS)] = row
            write_rows(path, in_order(rows.values()))
            left = gap_to_bound(row, "exact")
            say(f"{name}, {criterion}, k = {k}: {'proven' if row['proven'] else f'gap {left:.2%}'}, {row['seconds']} s")


def in_order(rows: Iterable[Row]) -> list[Row]:
    return sorted(rows, key=lambda row: (SETS.index(row["set"]), CRITERIA.index(row["criterion"]), row["k"]))
