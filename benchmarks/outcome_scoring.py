"""What a contestant's features are worth: accuracy or R2 of four models on rows that took no part in the choice."""

from __future__ import annotations

import ast
import hashlib
import json
import signal
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.compose import TransformedTargetRegressor
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import KFold, StratifiedKFold, train_test_split
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR

from certselect.errors import InvalidInput
from certselect.threads import one_blas_thread
from certselect.writing import write_whole
from outcome_contestants import Contestant, Sample, frequent_levels, one_hot
from outcome_tables import Table

SIZES = (5, 10, 20, 50)
FOLDS, REPEATS = 3, 2
MOST_TRAINING_ROWS = 600
TREES = 25
LIMIT = 30  # seconds of processor time for all sizes of one split
DIGITS = 4
PROTOCOL = [SIZES, FOLDS, REPEATS, MOST_TRAINING_ROWS, TREES]  # what scores depend on

MODELS: dict[str, tuple[Callable[[], Any], Callable[[], Any]]] = {  # for classes, for a number
    "linear": (lambda: LogisticRegression(max_iter=300), lambda: Ridge()),
    "neighbours": (lambda: KNeighborsClassifier(), lambda: KNeighborsRegressor()),
    "SVM": (lambda: SVC(), lambda: TransformedTargetRegressor(SVR(), transformer=StandardScaler())),
    "forest": (
        lambda: RandomForestClassifier(TREES, random_state=0),
        lambda: RandomForestRegressor(TREES, max_features=1 / 3, random_state=0),
    ),
}

Row = dict[str, Any]
Split = tuple[np.ndarray, np.ndarray]


class OverLimit(Exception):
    """A selection took longer than it may."""


def splits(table: Table) -> list[Split]:
    """Training and test rows: each repeat has folds of its own; too many training rows are thinned out by class."""
    found = []
    for repeat in range(REPEATS):
        folds = (StratifiedKFold if table.classes else KFold)(FOLDS, shuffle=True, random_state=repeat)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a class of fewer rows than folds is not in all of them
            pairs = list(folds.split(table.X, table.y))
        for train, test in pairs:
            if len(train) > MOST_TRAINING_ROWS:
                by_class = table.y[train] if table.classes else None
                train, _ = train_test_split(
                    train, train_size=MOST_TRAINING_ROWS, stratify=by_class, random_state=repeat
                )
            found.append((np.sort(train), test))
    return found


def model_scores(table: Table, split: Split, columns: Sequence[int]) -> list[float]:
    """Of each model, trained on some columns of the training rows: accuracy, or R2, on the test rows."""
    train, test = split
    seen, unseen = design(table, split, columns)
    made = [(of_classes if table.classes else of_numbers)() for of_classes, of_numbers in MODELS.values()]
    return [float(model.fit(seen, table.y[train]).score(unseen, table.y[test])) for model in made]


def design(table: Table, split: Split, columns: Sequence[int]) -> tuple[np.ndarray, np.ndarray]:
    """What models are given: numbers, filled and scaled, and the frequent levels of categories as zeros and ones."""
    train, test = split
    numbers = [column for column in columns if column not in table.categories]
    seen, unseen = [np.empty((len(train), 0))], [np.empty((len(test), 0))]
    if numbers:
        prepare = make_pipeline(SimpleImputer(strategy="median", keep_empty_features=True), StandardScaler())
        seen.append(prepare.fit_transform(table.X[train][:, numbers]))
        unseen.append(prepare.transform(table.X[test][:, numbers]))
    for column in columns:
        if column in table.categories:
            levels = frequent_levels(table.X[train, column])
            seen.append(one_hot(table.X[train, column], levels))
            unseen.append(one_hot(table.X[test, column], levels))
    return np.column_stack(seen), np.column_stack(unseen)


@contextmanager
def processor_limit(seconds: float) -> Iterator[None]:
    """Raise OverLimit after so many seconds of this process's own time, however busy the machine is."""

    def stop(*_: object) -> None:
        raise OverLimit

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


class Judge:
    """All contestants on one table.

    Many choose the same subsets: what the models score with one is had once, and kept in a file of the folder, if
    one is given, for runs to come.
    """

    def __init__(self, table: Table, folder: Path | None = None) -> None:
        self.table = table
        self.splits = splits(table)
        self.samples = [Sample(table, train) for train, _ in self.splits]
        self._file = folder / f"{digest_of([table.digest, PROTOCOL])}.json" if folder else None
        self._known: dict[str, list[float]] = {}
        if self._file and self._file.exists():
            self._known = json.loads(self._file.read_text())

    def row(self, contestant: Contestant) -> Row:
        """Scores by size, split and model, or the reason why there are none."""
        question = {"table": self.table.name, "contestant": contestant.name, "key": row_key(self.table, contestant)}
        question["code"] = code_digest()
        with one_blas_thread(True), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about single classes of few rows, constant columns, steps of solvers
            began = time.process_time()
            try:
                chosen = [self._chosen(contestant, sample) for sample in self.samples]
            except OverLimit:
                return {**question, "reason": f"more than {LIMIT} s"}
            except InvalidInput as refusal:
                return {**question, "reason": f"refused: {str(refusal).splitlines()[0]}"}
            seconds = (time.process_time() - began) / len(chosen)
            scores = np.array([[self._scores(place, of[k]) for k in SIZES] for place, of in enumerate(chosen)])
        if self._file:
            self._file.parent.mkdir(parents=True, exist_ok=True)
            write_whole(self._file, lambda file: file.write(json.dumps(self._known).encode()))
        counts = {str(k): round(float(np.mean([len(of[k]) for of in chosen])), 1) for k in SIZES}
        by_split = scores.mean(axis=2)  # of the models
        by_model = scores.mean(axis=0)  # of the splits
        return {
            **question,
            "seconds": round(seconds, 3),
            "chosen": counts,
            "splits": {str(k): by_split[:, place].round(DIGITS).tolist() for place, k in enumerate(SIZES)},
            "models": {str(k): by_model[place].round(DIGITS).tolist() for place, k in enumerate(SIZES)},
        }

    def _chosen(self, contestant: Contestant, sample: Sample) -> dict[int, list[int]]:
        with processor_limit(LIMIT):
            return contestant.choose(sample, SIZES)

    def _scores(self, place: int, columns: Sequence[int]) -> list[float]:
        in_order = sorted(columns)
        subset = f"{place}: {in_order}"
        if subset not in self._known:
            self._known[subset] = model_scores(self.table, self.splits[place], in_order)
        return self._known[subset]


def row_key(table: Table, contestant: Contestant) -> str:
    """Another one where table, contestant or protocol are others, so that kept results are known to be of these."""
    return digest_of([table.digest, contestant.name, dict(contestant.settings), PROTOCOL])


CODE = Path(__file__).parent.parent / "src" / "certselect"
ROOMS = ("coding", "criteria", "information", "search")  # what our choice of features depends on


@cache
def code_digest() -> str:
    """Of the code of our rooms: other formatting, comments and docstrings make no difference."""
    content = hashlib.sha256()
    for path in sorted(path for room in ROOMS for path in (CODE / room).rglob("*.py")):
        content.update(f"{path.relative_to(CODE)}{_plain(ast.parse(path.read_bytes()))}".encode())
    return content.hexdigest()[:12]


def _plain(node: Any) -> Any:
    """A syntax tree without docstrings, in a form that is the same in all versions of Python."""
    if isinstance(node, list):
        return [_plain(one) for one in node if not _is_docstring(one)]
    if not isinstance(node, ast.AST):
        return repr(node)
    parts = [(name, _plain(value)) for name, value in ast.iter_fields(node) if value not in (None, [], "")]
    return [type(node).__name__, *parts]


def _is_docstring(node: Any) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def digest_of(content: Any) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:16]
