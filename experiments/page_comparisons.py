"""The page's smaller tables: QPFS and SOSS, other classifiers, similarity, rank tests, guarantees, Figure 1."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from benchmarks.proven import percent

from experiments.kept_rows import read_rows
from experiments.optimum import gap_to_bound
from experiments.page_sources import (
    AVERAGE,
    CLASSIFIERS,
    MEASURES,
    SEARCHES,
    Accuracies,
    finished,
    our_accuracies,
    printed_accuracies,
    printed_rows,
)
from experiments.page_tables import MISSING, difference, listed, not_yet, number, table
from experiments.rank_tests import PAIRS, comparison, sets_in_full

TIMES_FASTER = 100.0
TIMED_SETS = ("MAD", "IAD", "ARR", "CNA")


def other_programmes(results: Path, printed: Path) -> str:
    """COBRA, QPFS and SOSS with mRMR: accuracy, spread and seconds."""
    grid, contents = finished(results, "comparison")
    measured = {content["set"]: content for content in contents}
    lines = []
    for row in printed_rows(printed, "qpfs_soss"):
        content = measured.get(row["dataset"])
        held = content["methods"][row["method"]] if content else None
        percent = 100 * held["accuracy"] if held else None
        ours = f"{percent:.2f} +- {100 * held['std']:.2f}" if held else MISSING
        said = float(row["accuracy_percent"])
        printed_cell = f"{said:.2f} +- {float(row['std']):.2f}"
        seconds = [_seconds(content, row["method"]), _printed_seconds(row)]
        lines.append([row["dataset"], row["method"], ours, printed_cell, difference(percent, said, 2), *seconds])
    head = ["", "search", "ours", "printed", "difference", "our seconds", "printed seconds"]
    made = table(head, lines, left=2)
    if grid is None:
        return f"{not_yet('comparison')}\n\n{made}"
    size = contents[0]["timed_size"]
    said = (
        f"Accuracies from the grid `{grid}`. Seconds are for the matrix of all pairs + the optimisation, on one "
        f"thread, with {size} features chosen; the paper does not say for how many it was timed."
    )
    return "\n\n".join([said, made, _speed(results, printed), *_worse_in_value(results, measured)])


def _worse_in_value(results: Path, measured: dict[str, Any]) -> list[str]:
    """Where QPFS is ahead of COBRA in accuracy although the criterion itself rates its subsets lower."""
    told = []
    for name, content in measured.items():
        ahead = 100.0 * (content["methods"]["QPFS"]["accuracy"] - content["methods"]["COBRA"]["accuracy"])
        rows = [row for row in read_rows(results / "optimum.json") if (row["set"], row["criterion"]) == (name, "mrmr")]
        below = min((gap_to_bound(row, "qpfs") for row in rows), default=0.0)
        if ahead > 0.0 and below > 0.0:
            told.append(f"{name} ({ahead:.1f} points ahead; value at least {percent(below, up=True)} % below the best)")
    if not told:
        return []
    return [
        "QPFS is ahead of COBRA in accuracy although mRMR rates its subsets lower at every size measured: "
        f"{listed(told)}. What the criterion likes better need not be better for a classifier."
    ]


def _seconds(content: dict[str, Any] | None, method: str) -> str:
    if content is None:
        return MISSING
    held = content["seconds"]["one_thread"]
    return f"{held['matrix']:.3f} + {held[method]:.3f}"


def _printed_seconds(row: dict[str, str]) -> str:
    return f"{row['seconds_mi_matrix'] or MISSING} + {row['seconds_optimisation']}"


def speed_ratios(results: Path, printed: Path) -> dict[str, float]:
    """How many times fewer seconds COBRA takes than printed, matrix and optimisation together, by set."""
    measured = {content["set"]: content for content in finished(results, "comparison")[1]}
    ratios = {}
    for row in printed_rows(printed, "qpfs_soss"):
        if row["method"] == "COBRA" and row["dataset"] in measured and row["dataset"] in TIMED_SETS:
            held = measured[row["dataset"]]["seconds"]["one_thread"]
            said = float(row["seconds_mi_matrix"]) + float(row["seconds_optimisation"])
            ratios[row["dataset"]] = said / (held["matrix"] + held["COBRA"])
    return ratios


def _speed(results: Path, printed: Path) -> str:
    ratios = speed_ratios(results, printed)
    if not ratios:
        return f"Seconds on {listed(TIMED_SETS)} are not measured yet."
    enough = [name for name, ratio in ratios.items() if ratio >= TIMES_FASTER]
    cells = listed([f"{name} {ratio:.0f}" for name, ratio in ratios.items()])
    return (
        f"COBRA with its matrix takes at least {TIMES_FASTER:.0f} times fewer seconds than printed on {len(enough)} of "
        f"{len(ratios)} sets (times fewer: {cells}). The paper's times are of a PC with an Intel Core i7."
    )


def other_classifiers(results: Path, printed: Path) -> str:
    """Accuracies on the features COBRA with mRMR gave LDA, and on each classifier's own."""
    grid, contents = finished(results, "cross_classifier")
    measured = {content["set"]: content for content in contents}
    names = [name for name in CLASSIFIERS if name != "LDA"]
    lines = []
    for row in printed_rows(printed, "cross_classifier"):
        content = measured.get(row["dataset"])
        held = content["on_lda_features" if row["features_from"] == "LDA" else "own"] if content else {}
        cells = [f"{number(100 * held[name] if name in held else None)} / {row[name]}" for name in names]
        lines.append([row["dataset"], row["features_from"], *cells])
    said = not_yet("cross_classifier") if grid is None else f"From the grid `{grid}`: ours / printed, percent."
    return f"{said}\n\n{table(['', 'features of', *names], lines, left=2)}"


def similarity(results: Path, printed: Path) -> str:
    """Mean similarity ratios of COBRA with mRMR."""
    grid, contents = finished(results, "similarity")
    measured = {content["set"]: content for content in contents}
    lines = []
    for row in printed_rows(printed, "similarity_ratio"):
        content, said = measured.get(row["dataset"]), float(row["ratio"])
        ratio, lowest = (content["ratio"], content["lowest"]) if content else (None, None)
        lines.append([row["dataset"], number(ratio, 4), f"{said:.4f}", difference(ratio, said, 4), number(lowest, 4)])
    said = not_yet("similarity") if grid is None else f"From the grid `{grid}`."
    return f"{said}\n\n{table(['', 'ours', 'printed', 'difference', 'our lowest'], lines)}"


def rank_tests(results: Path, printed: Path) -> str:
    """p-values of Friedman's and Nemenyi's tests, from the printed accuracies and from ours."""
    contents = finished(results, "accuracy")[1]
    theirs, ours = printed_accuracies(printed), our_accuracies(contents, "paper")
    lines = [
        [measure, column, *_pvalues(theirs, measure, column), *_pvalues(ours, measure, column)]
        for measure in MEASURES
        for column in (AVERAGE, *CLASSIFIERS)
    ]
    pairs = [f"{one}-{other}" for one, other in PAIRS]
    head = ["measure", "of", *(f"printed: {name}" for name in ("Friedman", *pairs))]
    head += [f"ours: {name}" for name in ("Friedman", *pairs)]
    sentences = [_agreement_with_print(theirs, printed), *(_our_verdict(ours, measure) for measure in MEASURES)]
    return "\n\n".join(["\n".join(f"* {said}" for said in sentences), table(head, lines, left=2)])


def _pvalues(accuracies: Accuracies, measure: str, column: str) -> list[str]:
    found = comparison(accuracies, measure, column)
    if found is None:
        return [MISSING] * (1 + len(PAIRS))
    return [f"{found.friedman_pvalue:.3f}", *(f"{found.pairwise[pair]:.3f}" for pair in PAIRS)]


def _agreement_with_print(theirs: Accuracies, printed: Path) -> str:
    found = comparison(theirs, "mRMR", AVERAGE)
    said = [(row["pair"].split("-"), float(row["p_value"])) for row in printed_rows(printed, "posthoc_mrmr")]
    same = sum(round(found.pairwise[one, other], 3) == value for (one, other), value in said) if found else 0
    return (
        f"From the averages printed for mRMR our tests give {same} of the {len(said)} printed p-values to three digits."
    )


def _our_verdict(ours: Accuracies, measure: str) -> str:
    found, names = comparison(ours, measure, AVERAGE), sets_in_full(ours, measure)
    if found is None:
        return f"{measure}, ours: too few data sets are measured for ranks ({len(names)})."
    best = min(SEARCHES, key=lambda search: found.mean_ranks[search])
    differing = [f"{one} and {other}" for one, other in PAIRS if found.pairwise[one, other] <= 0.05]
    ranks = ", ".join(f"{search} {found.mean_ranks[search]:.2f}" for search in SEARCHES)
    return (
        f"{measure}, our averages on {len(names)} data sets: mean ranks {ranks} (1 is the best: {best}), Friedman "
        f"p = {found.friedman_pvalue:.3f}; at 0.05 {listed(differing) if differing else 'no pair'} can be told apart."
    )


def guarantees(results: Path, printed: Path) -> str:
    """Table 1: ratios promised by theorems."""
    rows = read_rows(results / "guarantees.json")
    if not rows:
        return not_yet("guarantees")
    printed_ratio = {row["p_as_fraction_of_n"]: row for row in printed_rows(printed, "approximation_ratio")}
    lines, higher = [], 0
    for row in rows:
        said = printed_ratio[row["part"]]
        higher += row["COBRA"] >= float(said["COBRA"])
        lines.append([row["part"], f"{row['BE']:.4f}", said["BE"], f"{row['COBRA']:.4f}", said["COBRA"]])
    return "\n\n".join(
        [
            f"BE by the formula of Asahiro and others, COBRA by a proof of ours for {rows[0]['n']} features; the "
            f"paper gives no formula for it. Ours is no smaller than the printed one in {higher} of {len(rows)} rows.",
            table(["k/n", "BE, ours", "BE, printed", "COBRA, ours", "COBRA, printed"], lines),
        ]
    )


def synergy(results: Path) -> str:
    """Figure 1's numbers."""
    rows = read_rows(results / "synergy.json")
    if not rows:
        return not_yet("synergy")
    (row,) = rows
    share = row["I(x,y;C)"] / row["H(C)"]
    return (
        f"{row['points']} points, half on an ellipse and half on a line through it, counted in {row['bins']} x "
        f"{row['bins']} squares: I(x;C) = {row['I(x;C)']:.3f}, I(y;C) = {row['I(y;C)']:.3f}, but I(x,y;C) = "
        f"{row['I(x,y;C)']:.3f} nats, {100 * share:.0f} % of H(C) = {row['H(C)']:.3f}.\n\n"
        "![points of an ellipse and of a line through it](figures/synergy.svg)"
    )
