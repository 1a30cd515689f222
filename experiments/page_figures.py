"""The page's pictures, as SVG files that are the same byte for byte each time they are drawn."""

from __future__ import annotations

from pathlib import Path

import matplotlib
from matplotlib.figure import Figure

from certselect.plots import difference_box_plots
from experiments.kept_rows import Row
from experiments.page_sources import AVERAGE, CLASSIFIERS, Accuracies
from experiments.rank_tests import comparison
from experiments.synergy import ellipse_and_line

ALPHA = 0.1  # the paper draws p = 0.078 green
SHOWN_POINTS = 60  # of each class: the numbers come from more


def save(figure: Figure, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    # Letters as letters, names of parts from a fixed salt, and neither date nor version: nothing differs but the data.
    with matplotlib.rc_context({"svg.hashsalt": "certselect", "svg.fonttype": "none"}):
        figure.savefig(path, format="svg", metadata={"Date": None, "Creator": None})


def draw_synergy(path: Path) -> None:
    points, classes = ellipse_and_line(SHOWN_POINTS)
    figure = Figure(figsize=(5.0, 3.2), layout="constrained")
    ax = figure.subplots()
    for label, name, marker in ((0, "ellipse", "o"), (1, "line", "*")):
        ax.scatter(*points[classes == label].T, marker=marker, label=name)
    ax.set(xlabel="x", ylabel="y")
    ax.legend(loc="lower right")
    save(figure, path)


def draw_rank_tests(path: Path, measure: str, printed: Accuracies, ours: Accuracies) -> None:
    """Box plots of the differences: averages first, then each classifier; the printed numbers left, ours right."""
    sides = {"printed": printed, "ours": ours}
    drawn = {side: accuracies for side, accuracies in sides.items() if comparison(accuracies, measure, AVERAGE)}
    columns = (AVERAGE, *CLASSIFIERS)
    figure = Figure(figsize=(5.5 * len(drawn), 3.2 * len(columns)), layout="constrained")
    axes = figure.subplots(len(columns), len(drawn), squeeze=False, sharey="row")
    for row, column in enumerate(columns):
        for place, (side, accuracies) in enumerate(drawn.items()):
            compared = comparison(accuracies, measure, column)
            assert compared is not None, "sets with an average have all its classifiers"
            ax = difference_box_plots(compared, alpha=ALPHA, ax=axes[row, place])
            ax.set(title=f"{column}, {side}", ylabel="points")
    save(figure, path)


def draw_madelon(path: Path, rows: list[Row]) -> None:
    """Accuracy of the best 12 features against the price of redundancy, one line for each coding."""
    figure = Figure(figsize=(6.5, 4.0), layout="constrained")
    ax = figure.subplots()
    for coding in dict.fromkeys(row["coding"] for row in rows):
        priced = {
            row["beta"]: row["best_accuracy"] for row in rows if row["coding"] == coding and row["criterion"] == "mifs"
        }
        prices = sorted(priced)
        ax.plot(range(len(prices)), [priced[price] for price in prices], marker="o", label=coding)
        ax.set_xticks(range(len(prices)), [f"{price:g}" for price in prices])
    ax.set(xlabel="price of redundancy, beta", ylabel="percent told right by the SVM")
    ax.legend()
    save(figure, path)
