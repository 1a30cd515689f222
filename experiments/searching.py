"""The subsets of every size that a search finds on some rows of a data set, and what they cost."""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np

from certselect import selection_path
from certselect.threads import one_blas_thread
from experiments.preparation import CRITERION, PAIR_TERM, RECIPES, measure

SEED = 0
STRATEGY = {"COBRA": "cobra", "FS": "forward", "BE": "backward", "QPFS": "qpfs", "SOSS": "soss"}


@dataclass(frozen=True, eq=False)
class Question:
    """What shall be searched: on which rows, by which measure, and by each search for which sizes."""

    name: str
    X: np.ndarray
    y: np.ndarray
    rows: np.ndarray
    measure: str
    sizes: dict[str, list[int]]
    kept: int | None = None


@dataclass(frozen=True)
class Path:
    """The subsets of one search by size, as columns of the data set, and seconds on one thread."""

    subsets: dict[int, list[int]]
    terms_seconds: float
    search_seconds: float


def find_paths(question: Question) -> dict[str, Path]:
    """Answer a question: code the rows, count all pairs once, search by every search asked for.

    A size above the number of features these rows leave takes them all. The searches are the
    paper's, without polish.
    """
    with one_blas_thread(True):
        X, y = question.X[question.rows], question.y[question.rows]
        measured = measure(X, y, RECIPES[question.name], kept=question.kept)
        began = time.perf_counter()
        measured.terms.pair_matrix(PAIR_TERM[question.measure])
        terms_seconds = measured.seconds + time.perf_counter() - began
        found = {}
        for search, sizes in question.sizes.items():
            began = time.perf_counter()
            possible = [min(k, len(measured.columns)) for k in sizes]
            selections = selection_path(
                measured.terms,
                possible,
                CRITERION[question.measure],
                STRATEGY[search],
                random_state=SEED,
                copies="all",
            )
            seconds = time.perf_counter() - began
            if any(selection.status == "interrupted" for selection in selections):
                raise KeyboardInterrupt  # what a search has when Ctrl-C comes is no result
            subsets = {
                k: sorted(measured.columns[selection.indices].tolist())
                for k, selection in zip(sizes, selections, strict=True)
            }
            found[search] = Path(subsets, terms_seconds, seconds)
    return found
