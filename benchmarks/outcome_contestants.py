"""Who chooses features: every setting of ours that makes a difference, and the packages that users pick today.

A contestant takes a sample, the training rows of a split, and the sizes asked for, and gives the columns of each
size. To add one of ours, add a line to `OURS`; its name and settings say when kept results are of another one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np
import pandas as pd
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.feature_selection import RFE, f_classif, f_regression, mutual_info_classif, mutual_info_regression
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LassoCV, LogisticRegression, Ridge
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from certselect import SubsetSelector, information_terms, selection_path
from certselect.settings import all_settings
from outcome_tables import Table

SEED = 0
FOURTH_ROOT = "fourth root of rows"  # a number of bins from 3 to 5

Subsets = dict[int, list[int]]


@dataclass(frozen=True, eq=False)
class Sample:
    """Rows of a table to learn from."""

    table: Table
    rows: np.ndarray

    @property
    def classes(self) -> bool:
        return self.table.classes

    @property
    def y(self) -> np.ndarray:
        return self.table.y[self.rows]

    @cached_property
    def varying(self) -> np.ndarray:
        """Columns that other packages can be given: two different values or more in these rows."""
        X = self.table.X[self.rows]
        return np.flatnonzero([len(np.unique(column[~np.isnan(column)])) > 1 for column in X.T])

    @cached_property
    def filled(self) -> np.ndarray:
        """The varying columns for packages that take no missing values and need equal units."""
        X = SimpleImputer(strategy="median").fit_transform(self.table.X[self.rows][:, self.varying])
        return StandardScaler().fit_transform(X)


@dataclass(frozen=True)
class Contestant:
    name: str
    choose: Callable[[Sample, Sequence[int]], Subsets]
    settings: Mapping[str, Any] = field(default_factory=dict)
    package: str | None = None  # to import, where it is not scikit-learn or ours

    @property
    def is_here(self) -> bool:
        return self.package is None or find_spec(self.package) is not None


# Ours


def told(criterion: str, measuring: Mapping[str, Any], search: Mapping[str, Any]) -> Callable[..., Subsets]:
    """A search that is told the task and which whole numbers are numbers."""

    def choose(sample: Sample, sizes: Sequence[int]) -> Subsets:
        how = dict(measuring)
        if how.get("bins") == FOURTH_ROOT:
            how["bins"] = int(np.clip(round(len(sample.rows) ** 0.25), 3, 5))
        frame = sample.table.frame if "integers" in measuring else sample.table.told_frame
        task = "classification" if sample.classes else "regression"
        terms = information_terms(frame.iloc[sample.rows], sample.y, task=task, n_jobs=1, **how)
        usable = int(np.sum(~terms.constant))
        path = selection_path(terms, [min(k, usable) for k in sizes], criterion, random_state=SEED, **search)
        return {k: selection.indices.tolist() for k, selection in zip(sizes, path, strict=True)}

    return choose


def setting(name: str, criterion: str, **measuring: Any) -> Contestant:
    """By forward selection, where all sizes lie on one path."""
    search = {"strategy": "forward"}
    return Contestant(name, told(criterion, measuring, search), {"criterion": criterion, **measuring})


def searched(name: str, criterion: str, search: Mapping[str, Any], **measuring: Any) -> Contestant:
    settings = {"criterion": criterion, **search, **measuring}
    return Contestant(name, told(criterion, measuring, search), settings)


def as_it_comes(name: str, **settings: Any) -> Contestant:
    """`SubsetSelector(k)` on the frame, told nothing but these settings: neither the task nor any kind of column."""

    def choose(sample: Sample, sizes: Sequence[int]) -> Subsets:
        X, y = sample.table.frame.iloc[sample.rows], sample.y
        selectors = {k: SubsetSelector(k, random_state=SEED, n_jobs=1, **settings).fit(X, y) for k in sizes}
        return {k: selector.indices_.tolist() for k, selector in selectors.items()}

    # New defaults are another contestant, whose results are not those kept.
    defaults = {name: about.default for name, about in all_settings().items() if name not in settings}
    return Contestant(name, choose, {**settings, "defaults": repr(sorted(defaults.items()))})


CODINGS: dict[str, dict[str, Any]] = {
    "uniform 5": {"discretize": "uniform", "bins": 5},
    "quantile 5": {"discretize": "quantile", "bins": 5},
    "quantile 3-5": {"discretize": "quantile", "bins": FOURTH_ROOT},
    "mdlp": {"discretize": "mdlp"},
    "mean_std": {"discretize": "mean_std"},
}
FEW_CODINGS = ("uniform 5", "quantile 5")
COBRA = {"strategy": "cobra", "polish": True}  # what the strategy auto does with tables of this size
POLISH = {"strategy": "forward", "polish": True}
DEFAULT = as_it_comes("default")
AUTO = as_it_comes("default, measure auto", measure="auto")
OURS = [
    DEFAULT,
    AUTO,
    *(setting(f"{one}, {name}", one, **coding) for one in ("jmi", "mrmr") for name, coding in CODINGS.items()),
    *(
        setting(f"{one}, {name}", one, **CODINGS[name])
        for one in ("mifs", "d1", "max_relevance")
        for name in FEW_CODINGS
    ),
    *(
        setting(f"{one}, quantile 5, {correction}", one, **CODINGS["quantile 5"], correction=correction)
        for one in ("jmi", "mrmr")
        for correction in ("miller_madow", "shrinkage")
    ),
    *(
        setting(f"{one}, {measure}", one, measure=measure)
        for one in ("jmi", "mrmr")
        for measure in ("gaussian_copula", "neighbors", "auto")
    ),
    *(searched(f"jmi, {name}, cobra", "jmi", COBRA, **CODINGS[name]) for name in CODINGS),
    searched("jmi, quantile 5, miller_madow, cobra", "jmi", COBRA, **CODINGS["quantile 5"], correction="miller_madow"),
    searched("jmi, gaussian_copula, cobra", "jmi", COBRA, measure="gaussian_copula"),
    searched("jmi, auto, cobra", "jmi", COBRA, measure="auto"),
    searched("mrmr, quantile 5, cobra", "mrmr", COBRA, **CODINGS["quantile 5"]),
    searched("mrmr, mdlp, cobra", "mrmr", COBRA, **CODINGS["mdlp"]),
    searched("jmi, quantile 5, polish", "jmi", POLISH, **CODINGS["quantile 5"]),
    setting("jmi, uniform 5, integers as levels", "jmi", **CODINGS["uniform 5"], integers="levels"),
    setting("jmi, quantile 5, integers as levels", "jmi", **CODINGS["quantile 5"], integers="levels"),
]


# Others. Each gives the varying columns a rank or a path, from which all sizes are taken.


def best_first(
    name: str, order: Callable[[Sample, int], np.ndarray], package: str | None = None, **settings: Any
) -> Contestant:
    """A contestant that puts columns in an order, best first; one that ends early chooses fewer."""

    def choose(sample: Sample, sizes: Sequence[int]) -> Subsets:
        most = min(max(sizes), len(sample.varying))
        columns = sample.varying[np.asarray(order(sample, most), dtype=int)].tolist()
        return {k: columns[:k] for k in sizes}

    return Contestant(name, choose, settings, package)


def by_score(scores: Any) -> np.ndarray:
    return np.argsort(-np.nan_to_num(np.asarray(scores), nan=-np.inf), kind="stable")


def f_test(sample: Sample, most: int) -> np.ndarray:
    return by_score((f_classif if sample.classes else f_regression)(sample.filled, sample.y)[0])


def nearest_neighbours(sample: Sample, most: int) -> np.ndarray:
    measure = mutual_info_classif if sample.classes else mutual_info_regression
    return by_score(measure(sample.filled, sample.y, random_state=SEED))


def l1(sample: Sample, most: int) -> np.ndarray:
    """Columns with a coefficient that is not 0, which may be fewer than asked for, as of SelectFromModel."""
    of_classes: dict[str, Any] = {"penalty": "l1", "dual": False, "C": 0.1}
    model = LinearSVC(**of_classes, random_state=SEED) if sample.classes else LassoCV(cv=3, random_state=SEED)
    weights = np.abs(np.atleast_2d(model.fit(sample.filled, sample.y).coef_)).max(axis=0)
    return by_score(weights)[: max(1, np.count_nonzero(weights > 1e-5))]


def forest(sample: Sample, trees: int, **settings: Any) -> RandomForestClassifier | RandomForestRegressor:
    kind = RandomForestClassifier if sample.classes else RandomForestRegressor
    return kind(trees, random_state=SEED, n_jobs=1, **settings)


def forest_importances(sample: Sample, most: int) -> np.ndarray:
    return by_score(forest(sample, 200).fit(sample.filled, sample.y).feature_importances_)


def rfe(sample: Sample, sizes: Sequence[int]) -> Subsets:
    """Recursive elimination from one size to the next, a tenth of the columns at a time."""
    model = LogisticRegression(max_iter=300) if sample.classes else Ridge()
    at_a_time: dict[str, Any] = {"step": 0.1}
    left, chosen = np.arange(len(sample.varying)), {}
    for k in sorted(sizes, reverse=True):
        if k < len(left):
            search = RFE(model, n_features_to_select=k, **at_a_time)
            left = left[search.fit(sample.filled[:, left], sample.y).support_]
        chosen[k] = sample.varying[left].tolist()
    return chosen


def mrmr_selection(sample: Sample, most: int) -> np.ndarray:
    package = import_module("mrmr")
    X, y = pd.DataFrame(sample.filled), pd.Series(sample.y)
    search = package.mrmr_classif if sample.classes else package.mrmr_regression
    return search(X, y, K=most, n_jobs=1, show_progress=False)


def fastcan(sample: Sample, most: int) -> np.ndarray:
    # Its correlation is with all columns of the target: one for each class.
    y = np.eye(sample.y.max() + 1)[sample.y] if sample.classes else sample.y
    search = import_module("fastcan").FastCan(min(most, len(sample.rows) - 2), verbose=0)
    return search.fit(sample.filled, y).indices_


def boruta(sample: Sample, most: int) -> np.ndarray:
    """By its ranking; those it puts on a level, such as all that it confirms, by their mean importance."""
    model = forest(sample, 100, max_depth=5)
    found = import_module("boruta").BorutaPy(model, n_estimators=100, max_iter=20, random_state=SEED)
    found.fit(sample.filled, sample.y)
    importance = np.nanmean(found.importance_history_[1:], axis=0)
    return np.lexsort((-np.nan_to_num(importance, nan=-np.inf), found.ranking_))


def rebate(kind: str, **options: Any) -> Callable[[Sample, int], np.ndarray]:
    def order(sample: Sample, most: int) -> np.ndarray:
        label = "continuous" if not sample.classes else "binary" if sample.y.max() == 1 else "multiclass"
        search = getattr(import_module("skrebate"), kind)(label_type=label, n_jobs=1, **options)
        return by_score(search.fit(sample.filled, sample.y).feature_importances_)

    return order


PEERS = [
    best_first("SelectKBest, F", f_test),
    best_first("SelectKBest, MI", nearest_neighbours),
    best_first("SelectFromModel, L1", l1, C=0.1),
    best_first("SelectFromModel, forest", forest_importances, trees=200),
    Contestant("RFE", rfe, {"step": 0.1}),
    best_first("mrmr-selection", mrmr_selection, "mrmr"),
    best_first("fastcan", fastcan, "fastcan"),
    best_first("Boruta", boruta, "boruta", trees=100, max_iter=20),
    best_first("ReliefF", rebate("ReliefF", n_neighbors=10), "skrebate", n_neighbors=10),
    best_first("MultiSURF", rebate("MultiSURF"), "skrebate"),
]
CONTESTANTS = {contestant.name: contestant for contestant in (*OURS, *PEERS)}
