"""Makes the pictures of the page "What a certificate is"; run it to have them again.

They are drawn from the wine data, every subset valued; letters stay letters, so that the files are small and the same
each time.
"""

from __future__ import annotations

from io import StringIO
from itertools import combinations
from pathlib import Path

import matplotlib
import numpy as np
from matplotlib.figure import Figure
from sklearn.datasets import load_wine

from certselect import information_terms, select, subset_problem
from certselect.plots import plot_certificate
from certselect.plots.axes import DARK, INK, PALE, without_frame

FIGURES = Path(__file__).parent / "figures"
SIZE = 3


def all_subsets() -> Figure:
    """Every subset of three measurements as a dot, one of them found, and the bound above all of them."""
    problem = _problem()
    values = np.array([problem.value(subset) for subset in combinations(range(problem.n_features), SIZE)])
    places = np.random.default_rng(0).permutation(len(values))
    found = select(problem, "relevance", certify=True)
    figure = Figure(figsize=(6.4, 3.4), layout="constrained")
    ax = figure.subplots()
    ax.plot(places, values, ".", color="0.55", markersize=3)
    at = places[np.argmin(np.abs(values - found.objective))]
    ax.plot([at], [found.objective], "o", color=DARK, markersize=7)
    ax.annotate("found", (at, found.objective), (10, 8), textcoords="offset points", color=DARK)
    ax.axhline(found.upper_bound, color=INK, linestyle="--")
    ax.text(0, found.upper_bound, "bound: no subset lies above this line", va="bottom")
    ax.set(xlabel=f"the {len(values)} subsets of {SIZE} of {problem.n_features} measurements", ylabel="value (nats)")
    ax.set_xticks([])
    ax.set_ylim(top=1.08 * found.upper_bound)
    without_frame(ax)
    return figure


def easier_problem() -> Figure:
    """Whole numbers allowed, and everything between them allowed as well: the top of the second is no lower."""
    figure = Figure(figsize=(6.4, 3.0), layout="constrained")
    ax = figure.subplots()
    between = np.linspace(1.5, 5.4, 300)
    whole = np.arange(2, 6)
    ax.plot(between, _hill(between), color="0.55", label="easier problem: anything between is allowed too")
    ax.plot(whole, _hill(whole), "o", color=DARK, label="the problem: whole numbers only")
    ax.axhline(_hill(between).max(), color=INK, linestyle="--", linewidth=1)
    ax.text(1.5, _hill(between).max(), "top of the easier problem: a bound", va="bottom")
    ax.fill_between([1.5, 5.4], _hill(whole).max(), _hill(between).max(), color=PALE, linewidth=0)
    ax.set(xticks=whole, ylabel="value", ylim=(0.0, 5.0))
    ax.legend(frameon=False, loc="lower center")
    without_frame(ax)
    return figure


def bar() -> Figure:
    """What `plot_certificate` makes of the subset found in the first picture."""
    figure = Figure(figsize=(7.0, 1.9), layout="constrained")
    plot_certificate(select(_problem(), "relevance", certify=True), ax=figure.subplots())
    return figure


PICTURES = {"certificate-subsets": all_subsets, "certificate-easier": easier_problem, "certificate-bar": bar}


def as_svg(figure: Figure) -> str:
    text = StringIO()
    with matplotlib.rc_context({"svg.hashsalt": "certselect", "svg.fonttype": "none"}):
        figure.savefig(text, format="svg", metadata={"Date": None, "Creator": None})
    return text.getvalue()


def _problem():
    data = load_wine()
    terms = information_terms(
        data.data, data.target, feature_names=data.feature_names, measure="plugin", correction="none"
    )
    return subset_problem(terms, k=SIZE, criterion="mrmr")


def _hill(x: np.ndarray) -> np.ndarray:
    return 4.2 - 1.3 * (x - 3.45) ** 2


if __name__ == "__main__":
    for name, draw in PICTURES.items():
        (FIGURES / f"{name}.svg").write_text(as_svg(draw()))
