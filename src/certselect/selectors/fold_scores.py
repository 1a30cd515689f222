"""Score a classifier on subsets of every size, in every split: choose on the training rows, test on the others."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from joblib import effective_n_jobs
from sklearn.base import clone
from sklearn.utils.parallel import Parallel, delayed

from certselect.criteria import SubsetProblem, for_part_of_rows, unsized_problem
from certselect.errors import InvalidInput
from certselect.information import InformationTerms, measure_table
from certselect.names import shown
from certselect.progress import report
from certselect.search.select import select_sizes
from certselect.search.selection import INTERRUPTED
from certselect.selectors.checkpoint import Checkpoint, Pieces
from certselect.selectors.fold_tables import rows_of
from certselect.selectors.size_scores import SizeScores, StoppedEarly, counting
from certselect.settings import Constraints, Searching, Settings
from certselect.table import Table
from certselect.table.frames import frame_names, native_frame, take_cells
from certselect.table.weights import weigh
from certselect.threads import on_jobs


class Split(NamedTuple):
    """Rows a classifier learns from and rows it is tested on, with what it and the scorer take besides."""

    train: np.ndarray
    test: np.ndarray
    fit_params: dict[str, Any]
    score_params: dict[str, Any]


@dataclass(frozen=True, eq=False)
class SubsetSearch:
    """How subsets are chosen: everything but the rows and the sizes.

    Attributes
    ----------
    combinations : tuple of Settings
        What differs between them is how a subset is valued and searched for: they are measured
        alike, so that one measurement serves them all.
    sample_weight : ndarray or None
        That of all rows.
    """

    combinations: tuple[Settings, ...]
    sample_weight: np.ndarray | None
    n_jobs: int | None

    def measure(self, table: Table, rows: np.ndarray | None = None) -> InformationTerms:
        """The information terms of these rows of a table, or of all, as their weights have it."""
        weights = self.sample_weight
        if rows is not None:
            table, weights = rows_of(table, rows), None if weights is None else weights[rows]
        table = table if weights is None else weigh(table, weights)
        return measure_table(table, self.combinations[0].measuring, n_jobs=self.n_jobs)

    def choose(self, terms: InformationTerms, sizes: Sequence[int]) -> list[list[list[int]]]:
        """The columns of every size for each combination, by one run over the path.

        A column that is constant in these rows cannot be chosen, not even if it is to be
        included; a size that the rows do not allow is replaced by the next smaller one.
        """
        return self._searched(terms, self._asked(terms, sizes))

    def choose_in(self, table: Table, rows: np.ndarray, sizes: Sequence[int]) -> list[list[list[int]]]:
        """The same by these rows alone."""
        try:
            terms = self.measure(table, rows)
            every = self._asked(terms, sizes)
        except InvalidInput as error:
            # What is wrong comes first; with all rows it was not.
            got = f"{error.got} (in a split with {len(rows)} training rows)"
            raise InvalidInput(got, error.expected, error.remedy) from error
        return self._searched(terms, every)

    def _searched(self, terms: InformationTerms, every: list[_Asked]) -> list[list[list[int]]]:
        with on_jobs(self.n_jobs):
            return [_search(terms, asked) for asked in every]

    def _asked(self, terms: InformationTerms, sizes: Sequence[int]) -> list[_Asked]:
        """What the terms of these rows are asked, by each combination."""
        every = []
        for settings in self.combinations:
            constraints = for_part_of_rows(settings.constraints, terms.feature_names, terms.constant)
            problem = unsized_problem_by(terms, settings, constraints)
            nearest = [problem.nearest_size(size) for size in sizes]
            # The bound is wanted of the final subset only.
            every.append(_Asked(nearest, constraints, replace(settings.searching, certify=False)))
        return every


class _Asked(NamedTuple):
    sizes: list[int]
    constraints: Constraints
    searching: Searching


def _search(terms: InformationTerms, asked: _Asked) -> list[list[int]]:
    path = select_sizes(terms, *asked)
    if any(selection.status == INTERRUPTED for selection in path):
        raise KeyboardInterrupt
    return [selection.indices.tolist() for selection in path]


def unsized_problem_by(
    terms: InformationTerms, settings: Settings, constraints: Constraints | None = None
) -> SubsetProblem:
    """What the settings ask of these terms, but for the size."""
    searching = settings.searching
    stated = settings.constraints if constraints is None else constraints
    return unsized_problem(terms, searching.criterion, constraints=stated, **searching.problem_options)


class SharedSearch(NamedTuple):
    """Searches for the subsets of combinations, given by their numbers, that are measured alike.

    `runs` are from the sizes to the subsets of each combination: one for each split, in
    their order, or a single one for all splits.
    """

    combinations: Sequence[int]
    runs: Sequence[Callable[[Sequence[int]], list[list[list[int]]]]]


@dataclass(frozen=True, eq=False)
class Trials:
    """What is to be scored: every combination of settings at every size in every split.

    Attributes
    ----------
    named : list of mappings
        Of each combination, the settings that make it differ from others.
    sizes : list of int
        Ascending.
    tried : ndarray of bool (combinations, sizes)
        Which of them each combination allows.
    splits : list of Split
    searches : list of SharedSearch
        Every combination is in one of them.
    """

    named: Sequence[Mapping[str, Any]]
    sizes: Sequence[int]
    tried: np.ndarray
    splits: Sequence[Split]
    searches: Sequence[SharedSearch]

    @property
    def searches_each(self) -> int:
        """How many searches a combination has: one for each split, or one for all of them."""
        return len(self.searches[0].runs)

    def pieces(self, n_features: int, scores_between: tuple[float, float]) -> Pieces:
        """What a checkpoint may hold: searches and splits are numbered on from combination to combination."""
        n = len(self.named)
        return Pieces(n * self.searches_each, n * len(self.splits), self.sizes, n_features, scores_between)

    def score(
        self, score: Callable[[Split, list[int]], float], *, checkpoint: Checkpoint, n_jobs: int | None
    ) -> tuple[SizeScores, ...]:
        """Score all of it, but for what the checkpoint has already; of each combination, in order.

        Sizes come in ascending order and each in all combinations and splits, so that a run stopped
        early has whole sizes.
        """
        try:
            self._choose_subsets(checkpoint, n_jobs)
            self._fit_and_score(score, checkpoint, n_jobs)
        except KeyboardInterrupt:
            raise StoppedEarly(self._gathered(checkpoint)) from None
        return counting(self._gathered(checkpoint))

    def _choose_subsets(self, checkpoint: Checkpoint, n_jobs: int | None) -> None:
        total = len(self.named) * self.searches_each
        open_searches = []
        for shared in self.searches:
            for split, run in enumerate(shared.runs):
                numbers = [combination * self.searches_each + split for combination in shared.combinations]
                if not checkpoint.subsets.keys() >= set(numbers):
                    open_searches.append((numbers, run, (self.sizes,)))
        report("choosing subsets", len(checkpoint.subsets), total)
        for numbers, found in _run_all(open_searches, n_jobs):
            for number, subsets in zip(numbers, found, strict=True):
                if number not in checkpoint.subsets:
                    checkpoint.save_subsets(number, subsets)
            report("choosing subsets", len(checkpoint.subsets), total)

    def _fit_and_score(
        self, score: Callable[[Split, list[int]], float], checkpoint: Checkpoint, n_jobs: int | None
    ) -> None:
        total = int(self.tried.sum()) * len(self.splits)
        tasks = [
            ((trial, size), score, (self.splits[split], self._subsets(checkpoint, combination, split)[place]))
            for place, size in enumerate(self.sizes)
            for combination in np.flatnonzero(self.tried[:, place]).tolist()
            for split, trial in enumerate(self._of_splits(combination))
            if (trial, size) not in checkpoint.scores
        ]
        report("classifiers", len(checkpoint.scores), total)
        for (trial, size), value in _run_all(tasks, n_jobs):
            checkpoint.save_score(trial, size, value)
            report("classifiers", len(checkpoint.scores), total)

    def _of_splits(self, combination: int) -> range:
        """The numbers under which a checkpoint has a combination's splits."""
        return range(combination * len(self.splits), (combination + 1) * len(self.splits))

    def _subsets(self, checkpoint: Checkpoint, combination: int, split: int) -> list[list[int]]:
        search = combination * self.searches_each + split % self.searches_each
        return checkpoint.subsets.get(search, [[] for _ in self.sizes])

    def _gathered(self, checkpoint: Checkpoint) -> tuple[SizeScores, ...]:
        return tuple(
            SizeScores(
                np.array(self.sizes),
                np.array(
                    [
                        [checkpoint.scores.get((trial, size), np.nan) for size in self.sizes]
                        for trial in self._of_splits(combination)
                    ]
                ),
                [self._subsets(checkpoint, combination, split) for split in range(len(self.splits))],
                settings,
                self.tried[combination],
            )
            for combination, settings in enumerate(self.named)
        )


def fit_and_score(
    estimator: Any, X: Any, y: np.ndarray, scorer: Callable[..., float], split: Split, columns: list[int]
) -> float:
    """Score on the test rows of a classifier that saw the training rows' chosen columns, in the table's order."""
    chosen = np.sort(columns)
    fitted: Any = clone(estimator)
    learnt_from = take_cells(X, split.train, chosen)
    try:
        fitted.fit(learnt_from, y[split.train], **split.fit_params)
    except (ValueError, KeyError) as error:
        if native_frame(X) is not None:
            given = shown(list(frame_names(learnt_from)))
            error.add_note(
                f"The estimator was given the columns {given}: not every subset has every column. If it names columns, "
                "let a function name those that are there, or include them."
            )
        raise
    return float(scorer(fitted, take_cells(X, split.test, chosen), y[split.test], **split.score_params))


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
