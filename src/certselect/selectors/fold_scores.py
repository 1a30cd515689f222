"""Score a classifier on subsets of every size, in every split: choose on the training rows, test on the others."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from joblib import effective_n_jobs
from sklearn.base import clone
from sklearn.utils.parallel import Parallel, delayed

from certselect.criteria import SubsetProblem, for_part_of_rows, unsized_problem
from certselect.errors import InvalidInput
from certselect.information import InformationTerms, measure_table
from certselect.progress import report
from certselect.search.path import select_sizes
from certselect.search.selection import INTERRUPTED
from certselect.selectors.checkpoint import Checkpoint
from certselect.selectors.fold_tables import rows_of
from certselect.selectors.size_scores import SizeScores, StoppedEarly
from certselect.settings import Constraints, Settings
from certselect.table import Table
from certselect.table.weights import weigh


class Split(NamedTuple):
    """Rows a classifier learns from and rows it is tested on, with what it and the scorer take besides."""

    train: np.ndarray
    test: np.ndarray
    fit_params: dict[str, Any]
    score_params: dict[str, Any]


@dataclass(frozen=True, eq=False)
class SubsetSearch:
    """How subsets are chosen: everything but the rows and the sizes; `sample_weight` is that of all rows."""

    settings: Settings
    sample_weight: np.ndarray | None
    n_jobs: int | None

    def measure(self, table: Table, rows: np.ndarray | None = None) -> InformationTerms:
        """The information terms of these rows of a table, or of all, as their weights have it."""
        weights = self.sample_weight
        if rows is not None:
            table, weights = rows_of(table, rows), None if weights is None else weights[rows]
        table = table if weights is None else weigh(table, weights)
        return measure_table(table, self.settings.measuring, n_jobs=self.n_jobs)

    def problem(self, terms: InformationTerms, constraints: Constraints | None = None) -> SubsetProblem:
        """What is asked of these terms, but for the size."""
        searching = self.settings.searching
        stated = self.settings.constraints if constraints is None else constraints
        return unsized_problem(terms, searching.criterion, beta=searching.beta, constraints=stated)

    def choose(self, terms: InformationTerms, sizes: Sequence[int]) -> list[list[int]]:
        """The columns of every size, by one run over the path.

        A column that is constant in these rows cannot be chosen, not even if it is to be
        included; a size that the rows do not allow is replaced by the next smaller one.
        """
        constraints = for_part_of_rows(self.settings.constraints, terms.feature_names, terms.constant)
        problem = self.problem(terms, constraints)
        nearest = [problem.nearest_size(size) for size in sizes]
        # The bound is wanted of the final subset only.
        searching = replace(self.settings.searching, certify=False)
        path = select_sizes(terms, nearest, constraints, searching)
        if any(selection.status == INTERRUPTED for selection in path):
            raise KeyboardInterrupt
        return [selection.indices.tolist() for selection in path]

    def choose_in(self, table: Table, rows: np.ndarray, sizes: Sequence[int]) -> list[list[int]]:
        """The columns of every size, by these rows alone."""
        try:
            return self.choose(self.measure(table, rows), sizes)
        except InvalidInput as error:
            raise InvalidInput(
                f"a split with {len(rows)} training rows, and in them {error.got}", error.expected, error.remedy
            ) from error


def score_sizes(
    sizes: Sequence[int],
    splits: Sequence[Split],
    searches: Sequence[Callable[[Sequence[int]], list[list[int]]]],
    score: Callable[[Split, list[int]], float],
    *,
    checkpoint: Checkpoint,
    n_jobs: int | None,
) -> SizeScores:
    """Score every size in every split, but for what the checkpoint has already.

    `searches` has one search for each split, or a single one for all. Sizes come in
    ascending order and each in all splits, so that a run stopped early has whole sizes.
    """
    pieces = [(split, size) for size in sizes for split in range(len(splits))]
    try:
        _report("choosing subsets", checkpoint.subsets, searches)
        open_searches = [search for search in range(len(searches)) if search not in checkpoint.subsets]
        for search, subsets in _run_all([(search, searches[search], (sizes,)) for search in open_searches], n_jobs):
            checkpoint.save_subsets(search, subsets)
            _report("choosing subsets", checkpoint.subsets, searches)
        _report("classifiers", checkpoint.scores, pieces)
        tasks = [
            ((split, size), score, (splits[split], checkpoint.subsets[split % len(searches)][place]))
            for place, size in enumerate(sizes)
            for split in range(len(splits))
            if (split, size) not in checkpoint.scores
        ]
        for (split, size), value in _run_all(tasks, n_jobs):
            checkpoint.save_score(split, size, value)
            _report("classifiers", checkpoint.scores, pieces)
    except KeyboardInterrupt:
        raise StoppedEarly(_gathered(sizes, len(splits), len(searches), checkpoint)) from None
    return _gathered(sizes, len(splits), len(searches), checkpoint)


def fit_and_score(
    estimator: Any, X: np.ndarray, y: np.ndarray, scorer: Callable[..., float], split: Split, columns: list[int]
) -> float:
    """Score on the test rows of a classifier that saw the training rows' chosen columns, in the table's order."""
    X = X[:, np.sort(columns)]
    fitted: Any = clone(estimator)
    fitted.fit(X[split.train], y[split.train], **split.fit_params)
    return float(scorer(fitted, X[split.test], y[split.test], **split.score_params))


def _run_all(
    tasks: Sequence[tuple[Any, Callable[..., Any], tuple[Any, ...]]], n_jobs: int | None
) -> Iterator[tuple[Any, Any]]:
    """The name and the result of every task, as they are finished."""
    if effective_n_jobs(n_jobs) == 1 or len(tasks) == 1:  # pyright: ignore[reportArgumentType]
        for task in tasks:
            yield _named_result(*task)
    else:
        parallel: Any = Parallel(n_jobs=n_jobs, return_as="generator_unordered")
        yield from parallel(delayed(_named_result)(*task) for task in tasks)


def _named_result(name: Any, function: Callable[..., Any], arguments: tuple[Any, ...]) -> tuple[Any, Any]:
    return name, function(*arguments)


def _report(stage: str, done: Any, all_of: Any) -> None:
    report(stage, len(done), len(all_of))


def _gathered(sizes: Sequence[int], n_splits: int, n_searches: int, checkpoint: Checkpoint) -> SizeScores:
    scores = [[checkpoint.scores.get((split, size), np.nan) for size in sizes] for split in range(n_splits)]
    subsets = [checkpoint.subsets.get(split % n_searches, [[] for _ in sizes]) for split in range(n_splits)]
    return SizeScores(np.array(sizes), np.array(scores), subsets)
