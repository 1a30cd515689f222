"""Who chooses features from codes, and who counts all pairs of them, beside ours."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from .match import OURS, Match
from .one_hot import gemm_pairs
from .reference import Reference
from .selectors import ADAPTERS, Question
from .tables import Shape

JOBS = 2
# Below so many cells, starting worker processes takes other packages longer than their work on one core.
MANY_CELLS = 100_000
# Up to so many columns, the relaxation says how far any choice can be from the best.
MOST_BOUNDED = 600
# Rows x columns x chosen that the slow reference gets done in some seconds.
MOST_COMPARED = 4e8
# Who takes part: everybody who has the criterion, and what users take for it.
TAKE_PART = (
    *("NumPy greedy", "praznik", "fast-select", "ITMO_FS", "feature-engine", "mrmr-selection", "mrmrs"),
    *("fastcan", "SelectKBest, MI", "SequentialFeatureSelector", "mlxtend"),
)
TOO_MUCH = "left to `make bench-all`: takes too long on so many columns"


def others_jobs(X: np.ndarray) -> int:
    return JOBS if X.size >= MANY_CELLS else 1


def our_forward(X: np.ndarray, y: np.ndarray, k: int, criterion: str) -> list[int]:
    from certselect import SubsetSelector

    settings: dict[str, Any] = {"strategy": "forward", "copies": "all", "integers": "levels"}
    settings |= {"measure": "plugin", "correction": "none"}  # as the others count
    return SubsetSelector(k, criterion=criterion, n_jobs=JOBS, **settings).fit(X, y).indices_.tolist()


def forward(shape: Shape, k: int, criterion: str, *, only_same: bool = False, patient: bool = False) -> Match:
    """A whole `fit` on codes. Others of another criterion take part with mRMR, which most of them are called."""
    X, y, source = shape.codes()
    question = Question(X, y, (k,), codes=True, criterion=criterion, jobs=others_jobs(X))
    runs: dict[str, Callable[[], Any]] = {OURS: lambda: our_forward(X, y, k, criterion)}
    missing = {}
    for name in TAKE_PART:
        adapter = ADAPTERS[name]
        if criterion not in adapter.criteria and (only_same or criterion != "mrmr"):
            continue
        reason = adapter.why_missing()
        if reason is None and not patient and X.shape[1] > adapter.quick_columns:
            reason = TOO_MUCH
        if reason is None:
            runs[name] = lambda adapter=adapter: adapter(question)
        else:
            missing[name] = reason
    return Match(runs, missing, _facts_of_choices(X, y, k, criterion), source)


def _facts_of_choices(X: np.ndarray, y: np.ndarray, k: int, criterion: str) -> Callable[[str, Any], dict[str, Any]]:
    """What a choice is worth, how far from the best it can be, and whether it is the reference's."""

    @cache
    def reference() -> Reference:
        return Reference(X, y, criterion)

    @cache
    def bound() -> float:
        from certselect import information_terms, select, subset_problem

        problem = subset_problem(
            information_terms(X, y, integers="levels", measure="plugin", correction="none"), k, criterion, copies="all"
        )
        return select(problem, "cobra", random_state=0).upper_bound

    def facts(name: str, answer: Sequence[int]) -> dict[str, Any]:
        if X.size * k > MOST_COMPARED:
            return {}
        chosen = [int(place) for place in answer][:k]
        in_order = name == OURS or ADAPTERS[name].in_order
        agreement = reference().agreement(chosen, k, in_order=in_order)
        value = reference().value(chosen)
        found: dict[str, Any] = {"value": value, "right": agreement.right, "shared": agreement.shared, "asked": k}
        if X.shape[1] <= MOST_BOUNDED and len(chosen) == k:
            found["gap"] = max(0.0, (bound() - value) / abs(value))
        return found

    return facts


def pairs(shape: Shape) -> Match:
    """I(Xi;Xj) and I(Xi;Xj|Y) of all pairs, from the table to two matrices."""
    X, y, source = shape.codes()

    def ours() -> tuple[np.ndarray, np.ndarray]:
        from certselect import information_terms

        terms = information_terms(X, y, integers="levels", n_jobs=JOBS, measure="plugin", correction="none")
        return terms.redundancy, terms.conditional_redundancy

    def facts(name: str, answer: tuple[np.ndarray, np.ndarray]) -> dict[str, Any]:
        """The largest difference to the reference in a few rows, off the diagonal."""
        counted, joined = Reference(X, y, "mrmr"), Reference(X, y, "jmi")
        apart = 0.0
        for one in (0, X.shape[1] // 2):
            others = np.arange(X.shape[1]) != one
            redundancy = counted.penalties(one)
            for mine, right in zip(answer, (redundancy, redundancy - joined.penalties(one)), strict=True):
                apart = max(apart, float(np.abs(mine[one] - right)[others].max()))
        return {"apart": apart}

    levels = int(X.max()) + 1
    runs = {OURS: ours, "one-hot products in NumPy": lambda: gemm_pairs(X, y, levels)}
    return Match(runs, facts=facts, source=source)


def default_fit(shape: Shape, k: int) -> Match:
    """`SubsetSelector(k)` as it comes, relaxation and certificate included, beside what people try first."""
    X, y = _numbers(shape)
    gaps: dict[str, float] = {}

    def ours() -> list[int]:
        from certselect import SubsetSelector

        fitted = SubsetSelector(k, random_state=0, n_jobs=JOBS).fit(X, y)
        gaps[OURS] = float(fitted.gap_)
        return fitted.indices_.tolist()

    names = ("SelectKBest, MI", "fastcan")
    missing = {name: reason for name in names if (reason := ADAPTERS[name].why_missing()) is not None}
    question = Question(X, y, (k,), jobs=others_jobs(X))
    runs: dict[str, Callable[[], Any]] = {
        OURS: ours,
        **{name: lambda name=name: ADAPTERS[name](question) for name in names if name not in missing},
    }
    return Match(runs, missing, lambda name, answer: {"gap": gaps[name]} if name in gaps else {})


def _numbers(shape: Shape) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    y = rng.integers(0, shape.classes, shape.rows)
    return rng.normal(size=(shape.rows, shape.columns)) + 0.5 * y[:, None] * rng.random(shape.columns), y


SCRIPT = """\
import sys
import pandas as pd
from sklearn.feature_selection import SelectKBest, mutual_info_classif
table = pd.read_csv(sys.argv[1])
search = SelectKBest(mutual_info_classif, k=int(sys.argv[2])).fit(table.drop(columns="target"), table["target"])
print(list(search.get_feature_names_out()))
"""


def command_line(shape: Shape, k: int) -> Match:
    """A program that starts, reads a CSV file, chooses and ends."""
    X, y = _numbers(shape)
    folder = tempfile.TemporaryDirectory()
    file = Path(folder.name) / "table.csv"
    head = ",".join([*(f"x{place}" for place in range(shape.columns)), "target"])
    np.savetxt(file, np.column_stack([X, y]), "%.6g", ",", header=head, comments="")
    commands = {
        OURS: ["-m", "certselect", "select", str(file), "--target", "target", "-k", str(k)],
        "pandas and SelectKBest, MI": ["-c", SCRIPT, str(file), str(k)],
    }

    # Compiled once, as an installed package is: by the first call, which does not count.
    environment = {**os.environ, "PYTHONPYCACHEPREFIX": folder.name}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)

    def program(arguments: list[str]) -> str:
        # The folder lives as long as somebody may start the program.
        how: dict[str, Any] = {"check": True, "capture_output": True, "cwd": folder.name, "env": environment}
        return subprocess.run([sys.executable, *arguments], **how).args[0]

    return Match({name: lambda one=one: program(one) for name, one in commands.items()})
