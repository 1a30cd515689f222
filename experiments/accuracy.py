"""How well classifiers do on the features each search chose: the paper's table of COBRA against FS and BE.

Two protocols. "paper": features are chosen once, from all samples, and the classifiers alone are cross-validated.
"honest": features are chosen again in each training fold, so that no test sample takes part in the choice.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import asdict
from functools import cached_property
from typing import Any

import numpy as np
from joblib import delayed

from experiments import classifiers, searching
from experiments.classifiers import fold_accuracy
from experiments.grids import Grid
from experiments.preparation import RECIPES, Samples, load, measure
from experiments.searching import Question, find_paths
from experiments.splits import Splits, split_rows
from experiments.store import Result, UnfinishedFile
from experiments.workers import Pool, processes, say

MEASURES = ("mRMR", "JMI")
SEARCHES = ("COBRA", "FS", "BE")
PROTOCOLS = ("paper", "honest")
SPLIT_SEED = 0


def run(grid: Grid, sets: Sequence[str], jobs: int) -> None:
    """Every measure, search, protocol, classifier and size on the named sets; what is there already stays."""
    with processes(jobs) as pool:
        for name in sets:
            evaluate(grid, name, MEASURES, SEARCHES, PROTOCOLS, pool)


def evaluate(
    grid: Grid,
    name: str,
    measures: Sequence[str],
    searches: Sequence[str],
    protocols: Sequence[str],
    pool: Pool,
) -> None:
    """Answer the questions about one data set."""
    for protocol in protocols:
        evaluation = Evaluation(grid, name, protocol, pool)
        answers = [Answer(evaluation, measure_name, search) for measure_name in measures for search in searches]
        open_answers = [answer for answer in answers if not answer.finished]
        if open_answers:
            evaluation.find_subsets(open_answers)
        for answer in open_answers:
            answer.score()


class Evaluation:
    """One data set under one protocol: its splits, and accuracies that several searches share.

    Searches often find the same subset. A classifier is trained once for each fold and set of columns.
    """

    def __init__(self, grid: Grid, name: str, protocol: str, pool: Pool) -> None:
        self.grid, self.name, self.protocol, self.pool = grid, name, protocol, pool
        self.recipe = RECIPES[name]
        self._known: dict[tuple[str, int, tuple[int, ...]], float] = {}

    @cached_property
    def dataset(self) -> Samples:
        return load(self.name)

    @cached_property
    def splits(self) -> Splits:
        return split_rows(self.dataset.y, leave_one_out=self.recipe.leave_one_out, seed=SPLIT_SEED)

    @cached_property
    def facts(self) -> dict[str, int]:
        rows, columns = self.dataset.X.shape
        usable = len(measure(self.dataset.X, self.dataset.y, self.recipe).columns)
        return {"rows": rows, "columns": columns, "usable": usable, "classes": len(np.unique(self.dataset.y))}

    @property
    def kept(self) -> int | None:
        return self.grid.kept_in_folds if self.protocol == "honest" and self.recipe.kept else None

    @property
    def settings(self) -> dict[str, Any]:
        """All that the numbers depend on; a change of any of it starts anew."""
        return {
            "classifiers": classifiers.SETTINGS,
            "scaled": classifiers.SCALED,
            "recipe": asdict(self.recipe),
            "kept in folds": self.kept,
            "seeds": [SPLIT_SEED, searching.SEED],
        }

    def searched_rows(self) -> list[np.ndarray]:
        """The rows each search sees: all, or those of each training fold."""
        if self.protocol == "paper":
            return [np.arange(len(self.dataset.y))]
        return [train for train, _ in self.splits.rows]

    def find_subsets(self, answers: Sequence[Answer]) -> None:
        """Search for the subsets not known yet, on each fold for all searches of a measure together."""
        questions, asked = [], []
        for number, rows in enumerate(self.searched_rows()):
            for name in dict.fromkeys(answer.measure for answer in answers):
                missing = {
                    answer: sizes
                    for answer in answers
                    if answer.measure == name and (sizes := answer.sizes_without_subset(number))
                }
                if missing:
                    sizes = {answer.search: sizes for answer, sizes in missing.items()}
                    questions.append(Question(self.name, self.dataset.X, self.dataset.y, rows, name, sizes, self.kept))
                    asked.append((number, list(missing)))
        began = time.perf_counter()
        found = self.pool(delayed(find_paths)(question) for question in questions)
        for (number, those), paths in zip(asked, found, strict=True):
            for answer in those:
                answer.keep_path(number, paths[answer.search])
        if questions:
            say(f"{self.name} {self.protocol}: {len(questions)} searches, {time.perf_counter() - began:.0f} s")

    def accuracies(self, classifier: str, subsets: Sequence[list[int]]) -> np.ndarray:
        """Of one classifier on every fold, with that fold's columns."""
        keys = [(classifier, fold, tuple(columns)) for fold, columns in enumerate(subsets)]
        unknown = [key for key in keys if key not in self._known]
        X, y = self.dataset.X, self.dataset.y
        tasks = (
            delayed(fold_accuracy)(classifier, X[:, columns], y, *self.splits.rows[fold])
            for _, fold, columns in unknown
        )
        for key, accuracy in zip(unknown, self.pool(tasks), strict=True):
            self._known[key] = accuracy
        return np.array([self._known[key] for key in keys])


class Answer:
    """One measure and search: its subsets and accuracies so far, in memory and in files."""

    def __init__(self, evaluation: Evaluation, measure_name: str, search: str) -> None:
        self.evaluation, self.measure, self.search = evaluation, measure_name, search
        question = {
            "experiment": "accuracy",
            "set": evaluation.name,
            "measure": measure_name,
            "search": search,
            "protocol": evaluation.protocol,
        }
        folder, settings = evaluation.grid.name, evaluation.settings
        self.result = Result(folder, question, settings)
        # Of no use once the question is answered.
        self.paths = UnfinishedFile(folder, {**question, "part": "subsets"}, settings)
        self.content = self.result.content

    @property
    def asked(self) -> list[int]:
        return self.evaluation.grid.sizes_of(self.evaluation.name)

    @property
    def finished(self) -> bool:
        """Whether all is there that a grid of these sizes asks for; needs no data."""
        if not self.content.get("finished"):
            return False
        sizes = [k for k in self.asked if k <= self.content["usable"]]
        return all(str(k) in self.content["scores"][name] for name in classifiers.SETTINGS for k in sizes)

    @property
    def sizes(self) -> list[int]:
        return [k for k in self.asked if k <= self.evaluation.facts["usable"]]

    def sizes_without_subset(self, number: int) -> list[int]:
        known = self._subsets(number)
        return [k for k in self.sizes if str(k) not in known]

    def keep_path(self, number: int, path: searching.Path) -> None:
        subsets = self.paths.content.setdefault("subsets", {}).setdefault(str(number), {})
        subsets.update({str(k): columns for k, columns in path.subsets.items()})
        seconds = self.paths.content.setdefault("seconds", {}).setdefault(str(number), {"terms": 0.0, "search": 0.0})
        seconds["terms"] = path.terms_seconds
        seconds["search"] += path.search_seconds
        self.paths.save()

    def score(self) -> None:
        """Train and test on the subsets found; what is known is written after every classifier and size."""
        self.content.update(self.evaluation.facts, sizes=self.sizes, seconds=self._mean_seconds(), finished=False)
        paper = self.evaluation.protocol == "paper"
        self.content["subsets"] = {str(k): self._subsets(0)[str(k)] for k in self.sizes} if paper else {}
        scores = self.content.setdefault("scores", {})
        folds = range(len(self.evaluation.splits.rows))
        for classifier in classifiers.SETTINGS:
            began = time.perf_counter()
            of_classifier = scores.setdefault(classifier, {})
            missing = [k for k in self.sizes if str(k) not in of_classifier]
            for k in missing:
                subsets = [self._subsets(0 if paper else fold)[str(k)] for fold in folds]
                of_classifier[str(k)] = self._summary(self.evaluation.accuracies(classifier, subsets))
                scores[classifier] = dict(sorted(of_classifier.items(), key=lambda item: int(item[0])))
                of_classifier = scores[classifier]
                self.result.save()
            if missing:
                k = best_size(of_classifier)
                say(
                    f"{self.evaluation.name} {self.measure}+{self.search} {self.evaluation.protocol} {classifier}: "
                    f"{of_classifier[str(k)]['mean']:.3f} with {k}, {time.perf_counter() - began:.1f} s"
                )
        self.content["finished"] = True
        self.result.finish()
        self.paths.discard()

    def _subsets(self, number: int) -> dict[str, list[int]]:
        kept = self.content.get("subsets", {}) if self.evaluation.protocol == "paper" else {}
        return {**kept, **self.paths.content.get("subsets", {}).get(str(number), {})}

    def _mean_seconds(self) -> dict[str, float]:
        """Over the folds searched in this run or in one that it goes on from; else what was measured before."""
        measured = list(self.paths.content.get("seconds", {}).values())
        if not measured:
            return self.content["seconds"]
        return {stage: float(np.mean([one[stage] for one in measured])) for stage in ("terms", "search")}

    def _summary(self, accuracies: np.ndarray) -> dict[str, Any]:
        folds = self.evaluation.splits.group_means(accuracies)
        return {"mean": float(accuracies.mean()), "std": float(folds.std(ddof=1)), "folds": folds.tolist()}


def best_size(scores: dict[str, dict[str, Any]]) -> int:
    """The size with the best mean accuracy, the smallest of equals."""
    return min(map(int, scores), key=lambda k: (-scores[str(k)]["mean"], k))
