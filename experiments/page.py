"""docs/reproduction.md and its figures, from the results kept and the numbers printed alone.

    python -m experiments page

Needs no data and runs nothing again. Every sentence with a number in it is made from the numbers, so
the page cannot say what the results do not.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from experiments.grids import Grid
from experiments.kept_rows import RESULTS, read_rows
from experiments.page_accuracy import accuracy_tables, data_sets, reference_greedy
from experiments.page_agreement import agreement
from experiments.page_certified import madelon, optimum
from experiments.page_comparisons import (
    guarantees,
    other_classifiers,
    other_programmes,
    rank_tests,
    similarity,
    synergy,
)
from experiments.page_figures import draw_madelon, draw_rank_tests, draw_synergy
from experiments.page_sources import MEASURES, PRINTED, finished, our_accuracies, printed_accuracies
from experiments.page_summary import summary
from experiments.page_verdict import verdict

DOCS = Path(__file__).parent.parent / "docs"
PAGE = "reproduction.md"


def page_text(results: Path, printed: Path) -> str:
    sections = {
        "In short": summary(results, printed),
        "Madelon: the criterion or the search?": madelon(results, printed),
        "How far every search is from the best": optimum(results),
        "The search or the criterion, set by set": verdict(results, printed),
        "Data sets": f"{data_sets(results, printed)}\n\n{PREPARATION}",
        "COBRA against FS and BE": f"{reference_greedy(results)}\n\n{accuracy_tables(results, printed)}",
        "Are the differences more than chance?": f"{rank_tests(results, printed)}\n\n{RANK_FIGURES}",
        "COBRA against QPFS and SOSS, with mRMR": other_programmes(results, printed),
        "Other classifiers on LDA's features": other_classifiers(results, printed),
        "Similarity ratios of COBRA with mRMR": similarity(results, printed),
        "What is guaranteed beforehand": guarantees(results, printed),
        "Figure 1: nothing apart, much together": synergy(results),
        "The criteria against another implementation": agreement(results),
    }
    return HEAD + "".join(f"\n## {title}\n\n{text}\n" for title, text in sections.items())


def draw_figures(results: Path, printed: Path, folder: Path) -> None:
    """All figures the page shows."""
    draw_synergy(folder / "synergy.svg")
    if rows := read_rows(results / "madelon.json"):
        draw_madelon(folder / "madelon.svg", rows)
    theirs, ours = printed_accuracies(printed), our_accuracies(finished(results, "accuracy")[1], "paper")
    for measure in MEASURES:
        draw_rank_tests(folder / f"rank_tests_{measure.lower()}.svg", measure, theirs, ours)


def run(
    grid: Grid | None = None,
    sets: Sequence[str] = (),
    jobs: int = 1,
    *,
    results: Path = RESULTS,
    printed: Path = PRINTED,
    docs: Path = DOCS,
) -> None:
    """Write the page and its figures. It tells of every grid and set there are results of."""
    docs.mkdir(parents=True, exist_ok=True)
    (docs / PAGE).write_text(page_text(results, printed))
    draw_figures(results, printed, docs / "figures")


HEAD = """\
<!-- Made by `python -m experiments page` from experiments/results and experiments/printed. Do not edit. -->

# The paper, reproduced and judged

The evaluation of "A Semidefinite Programming Based Search Strategy for Feature Selection with Mutual Information
Measure", the paper this package implements, run again. Our numbers stand beside the printed ones; a dash is a number
that is not there. `make paper` runs everything, `python -m experiments NAME` one part; this page is made from what they
kept in experiments/results. What is kept there is not measured again: take a file away to have it measured.
"""

PREPARATION = """\
The paper's 370 rows of Arrhythmia cannot be derived from the published file; ours are "normal" against the rest,
without attribute 14 and without the rows that still miss a value. The file of NCI has more columns than the paper says.
The paper does not say how columns were coded; ours are in three states (below, within and above mean +- standard
deviation), but for NCI, DBWorld and Lung Cancer, whose cells are levels already. A missing value is a level of its own.
The classifiers are scikit-learn's with the settings in experiments/classifiers.py, none of them tuned."""

RANK_FIGURES = """\
![differences of accuracies, mRMR](figures/rank_tests_mrmr.svg)

![differences of accuracies, JMI](figures/rank_tests_jmi.svg)

Each box holds the differences over the data sets; green pairs differ at p = 0.1, the level of the paper's picture."""
