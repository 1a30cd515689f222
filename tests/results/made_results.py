"""Results of every kind that there are, each with the data it was made from."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pytest
from sklearn.neighbors import KNeighborsClassifier

from certselect import Result, SubsetSelector, SubsetSelectorCV, choose_subset
from certselect.progress import listening
from certselect.search import list_strategies
from certselect.selectors import MissingScoreWarning


class Made(NamedTuple):
    """A result, and what to verify it with."""

    result: Result
    data: tuple[Any, ...]
    sample_weight: Any = None


def table(m: int = 120) -> pd.DataFrame:
    """Numbers, whole numbers, categories with gaps and a constant; targets of both kinds and weights."""
    rng = np.random.default_rng(3)
    label = rng.integers(0, 2, m)
    number = label + rng.normal(size=m)
    frame = pd.DataFrame({f"n{i}": rng.normal(size=m) + label * i / 3 for i in range(5)})
    frame["count"] = rng.integers(0, 4, m) + label
    frame["city"] = pd.Series(np.where(label & (rng.random(m) < 0.7), "Oslo", rng.choice(["Rome", "Lima"], m)))
    frame.loc[rng.random(m) < 0.1, "city"] = None
    frame["same"] = 1
    frame["weights"] = rng.integers(1, 4, m)
    return frame.assign(label=np.array(["no", "yes"])[label], number=number)


def numbers() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(4)
    y = rng.integers(0, 2, 120)
    return rng.normal(size=(120, 7)) + y[:, None] * np.linspace(0, 1.2, 7), y


def _of_frame(target: Any, k: Any = 3, drop: tuple[str, ...] = (), **settings: Any) -> Callable[[], Made]:
    def make() -> Made:
        frame = table().drop(columns=list(drop))
        return Made(choose_subset(frame, target, k, **settings), (frame,))

    return make


def _of_numbers(k: Any = 3, **settings: Any) -> Callable[[], Made]:
    def make() -> Made:
        X, y = numbers()
        return Made(choose_subset(X, y, k, **settings), (X, y))

    return make


def _weighted() -> Made:
    X, y = numbers()
    weights = np.linspace(0.5, 2.0, len(y))
    return Made(
        SubsetSelector(3, criterion="jmi", measure="plugin", correction="none")
        .fit(X, y, sample_weight=weights)
        .result_,
        (X, y),
        weights,
    )


def _cross_validated() -> Made:
    X, y = numbers()
    return Made(
        SubsetSelectorCV(
            KNeighborsClassifier(3), 4, cv=3, random_state=1, criterion="jmi", measure="plugin", correction="none"
        )
        .fit(X, y)
        .result_,
        (X, y),
    )


def _without_scores() -> Made:
    """Of a scorer that has none for the smallest size."""
    X, y = numbers()
    scorer = lambda estimator, X, y: np.nan if X.shape[1] == 1 else 1.0  # noqa: E731
    with pytest.warns(MissingScoreWarning):
        return Made(
            SubsetSelectorCV(
                KNeighborsClassifier(3), 3, cv=2, scoring=scorer, criterion="jmi", measure="plugin", correction="none"
            )
            .fit(X, y)
            .result_,
            (X, y),
        )


def _combined() -> Made:
    """Of two criteria and two codings, tried in the same splits."""
    X, y = numbers()
    several = {"criterion": ["jmi", "mrmr"], "bins": [3, "sturges"]}
    selector = SubsetSelectorCV(KNeighborsClassifier(3), 3, cv=3, random_state=1, **several)
    return Made(selector.fit(X, y).result_, (X, y))


def _interrupted() -> Made:
    X, y = numbers()
    seen: list[str] = []

    def press(stage: str, done: int, total: int) -> None:
        seen.append(stage)
        if stage == "forward" and seen.count("forward") == 2:  # once: later stages are not interrupted
            raise KeyboardInterrupt

    with listening(press):
        result = choose_subset(X, y, 4, strategy="forward", criterion="jmi", measure="plugin", correction="none")
    return Made(result, (X, y))


def told_apart() -> tuple[np.ndarray, np.ndarray]:
    """Three columns that predict the class and four that do not, with no doubt about any of them."""
    rng = np.random.default_rng(5)
    y = rng.integers(0, 2, 150)
    return rng.normal(size=(150, 7)) + y[:, None] * [2.0, 0, 1.8, 0, 0, 1.6, 0], y


def _by_chance() -> Made:
    X, y = told_apart()
    return Made(
        choose_subset(X, y, "auto", strategy="forward", criterion="jmi", measure="plugin", correction="none"), (X, y)
    )


def _no_information() -> Made:
    X, y = np.array([[0, 0, 0], [0, 1, 0], [1, 0, 0], [1, 1, 1]]), np.array([0, 1, 1, 0])
    return Made(choose_subset(X, y, 2, strategy="cobra", criterion="mrmr", measure="plugin", correction="none"), (X, y))


def _many_columns() -> Made:
    rng = np.random.default_rng(1)
    y = rng.integers(0, 2, 200)
    X = rng.normal(size=(200, 30)) + y[:, None] * np.linspace(0, 1, 30)
    return Made(choose_subset(X, y, 6, strategy="exact", criterion="mrmr", measure="plugin", correction="none"), (X, y))


def _strange_names() -> Made:
    X, y = numbers()
    names = ["\x00", "\n", "\ud800", '"', "\\", "\u202e\U0001f600", " "]
    return Made(
        choose_subset(X, y, 3, feature_names=names, criterion="jmi", measure="plugin", correction="none"), (X, y)
    )


CONSTRAINTS = {
    "include": ["x2"],
    "exclude": [0],
    "feature_groups": {"all_or_none": [[3, 4]], "at_most_one": [["x5", "x6"]]},
    "costs": {"x5": 2.0, 6: 1.0},
    "budget": 2.5,
}
NUMERIC = ("city", "number", "weights")
KINDS: dict[str, Callable[[], Made]] = {
    **{f"strategy {name}": _of_numbers(strategy=name, random_state=2) for name in ("auto", *list_strategies())},
    **{
        f"measure {name}": _of_frame("label", drop=NUMERIC, measure=name, random_state=2)
        for name in ("plugin", "gaussian_copula", "neighbors", "auto")
    },
    "auto with a correction": _of_frame("label", drop=NUMERIC, measure="auto", correction="miller_madow"),
    "mixed columns with gaps": _of_frame("label", drop=("number", "weights")),
    "pairwise": _of_frame("label", drop=("number", "weights"), missing="pairwise"),
    "regression": _of_frame("number", drop=("label", "weights"), target_bins=4),
    "two targets": _of_frame(["label", "number"], drop=("weights",)),
    "weights in a column": _of_frame("label", drop=("number",), weight="weights"),
    "weights beside": _weighted,
    "less chance": _of_numbers(discretize="quantile", correction="chance", strategy="exact"),
    "coded otherwise": _of_numbers(discretize="quantile", bins=4, correction="shrinkage", criterion="mrmr"),
    "bins by a rule": _of_numbers(bins="sturges", integers="numbers", criterion="max_relevance"),
    "negative value": _of_numbers(criterion="mifs", beta=9.0, strategy="forward", certify=True, polish=True),
    "certified": _of_numbers(strategy="forward", certify=True),
    "tight": _of_numbers(strategy="forward", certify="tight"),
    "ties": _of_numbers(strategy="exact", strategy_options={"ties": True}),
    "options": _of_numbers(strategy="cobra", strategy_options={"draws": 20}, max_seconds=50.0, random_state=2**70),
    "decided features": _many_columns,
    "constraints": _of_numbers(4, strategy="forward", certify=True, **CONSTRAINTS),
    "tight constraints": _of_numbers(4, strategy="exact", **CONSTRAINTS),
    "a price for each column": _of_numbers(3, strategy="cobra", costs=list(range(7)), budget=9),
    "any size": _of_numbers(None, strategy="exhaustive", costs=[1] * 7, budget=3),
    "any size by a search": _of_numbers(None, strategy="forward", certify=True, costs={0: 1}, budget=3),
    "one feature": _of_numbers(1),
    "a share": _of_numbers(0.5),
    "by chance": _by_chance,
    "by chance beside others": _of_frame("label", "auto", drop=("number", "weights"), include=["n0"], exclude=["n4"]),
    "all features": _of_numbers(7),
    "no information": _no_information,
    "interrupted": _interrupted,
    "cross-validated": _cross_validated,
    "cross-validated without all scores": _without_scores,
    "combined": _combined,
    "strange names": _strange_names,
}


@cache
def made(kind: str) -> Made:
    """The result of a kind, made once for all tests; those who change a part of it copy it first."""
    return KINDS[kind]()
