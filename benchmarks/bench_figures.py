"""The pictures of docs/benchmarks.md, made from the results kept and nothing else."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from io import StringIO
from pathlib import Path

import matplotlib
from matplotlib.figure import Figure

from certselect.plots.axes import DARK, LIGHT, without_frame
from contestants.cases import AXES
from contestants.match import OURS
from contestants.results import Row, of_job, ratios, seconds

FIGURES = Path(__file__).parent.parent / "docs" / "figures"
SAME = {"NumPy greedy": (LIGHT, "s"), "praznik": ("#009E73", "^"), "fast-select": ("#CC79A7", "D")}


def forward_figure(rows: Iterable[Row]) -> Figure:
    """How many times as long as ours the others took, one line for each table, criterion and k."""
    forward = [row for row in of_job(rows, "forward") if any(name in SAME for name in ratios(row))]
    figure = Figure(figsize=(7.0, 1.2 + 0.2 * len(forward)), layout="constrained")
    ax = figure.subplots()
    for name, (colour, mark) in SAME.items():
        found = [(ratios(row)[name], place) for place, row in enumerate(forward) if name in ratios(row)]
        if found:
            ax.plot(*zip(*found, strict=True), mark, color=colour, label=name, markersize=5, linestyle="none")
    ax.axvline(1.0, color=DARK)
    ax.set_xscale("log")
    ax.set_yticks(range(len(forward)), [row["label"] for row in forward], fontsize="small")
    ax.set_ylim(len(forward) - 0.5, -0.5)
    ax.set_xlabel("times as long as certselect (left of the line they are faster)")
    ax.grid(axis="x", color="0.9")
    without_frame(ax)
    figure.legend(loc="outside upper center", ncols=len(SAME), frameon=False)
    return figure


def growth_figure(rows: Sequence[Row]) -> Figure:
    """Seconds over each size as it doubles, mRMR."""
    figure = Figure(figsize=(9.0, 2.6), layout="constrained")
    panels = figure.subplots(1, len(AXES), sharey=True)
    for ax, axis in zip(panels, AXES, strict=True):
        grown = [row for row in of_job(rows, f"growth in {axis}") if row["criterion"] == "mrmr"]
        for name, (colour, mark) in {OURS: (DARK, "o"), **SAME}.items():
            points = [(row["size"], spent) for row in grown if (spent := seconds(row, name)) is not None]
            if points:
                ax.plot(*zip(*points, strict=True), mark + "-", color=colour, label=name, markersize=4, linewidth=1)
        ax.set_xscale("log", base=2)
        ax.set_yscale("log")
        ax.set_xlabel(axis)
        sizes = sorted({row["size"] for row in grown})
        ax.set_xticks(sizes, [str(size) for size in sizes], fontsize="x-small")
        without_frame(ax)
    panels[0].set_ylabel("seconds")
    handles, names = panels[0].get_legend_handles_labels()
    figure.legend(handles, names, loc="outside upper center", ncols=1 + len(SAME), frameon=False)
    return figure


PICTURES = {"bench-forward": forward_figure, "bench-growth": growth_figure}


def as_svg(figure: Figure) -> str:
    """Letters stay letters, so that the file is small and the same each time."""
    text = StringIO()
    with matplotlib.rc_context({"svg.hashsalt": "certselect", "svg.fonttype": "none"}):
        figure.savefig(text, format="svg", metadata={"Date": None, "Creator": None})
    return text.getvalue()
