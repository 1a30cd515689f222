"""An adapter of a few lines for each package that chooses features: numbers or codes in, columns out, best first.

Columns have no missing values and two values or more each. Adapters import their package when they are called.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np

from .one_hot import numpy_greedy
from .praznik import praznik_order, why_no_praznik

SEED = 0


@dataclass(frozen=True, eq=False)
class Question:
    """A table, a target and the numbers of columns wanted, the largest of which has to be put in order."""

    X: np.ndarray
    y: np.ndarray
    sizes: tuple[int, ...]
    classes: bool = True  # or a number to predict
    codes: bool = False  # whole numbers without an order
    criterion: str = "mrmr"  # for those who have both
    jobs: int = 1

    @property
    def most(self) -> int:
        return min(max(self.sizes), self.X.shape[1])


def _why_not(module: str, name: str) -> str | None:
    return None if find_spec(module) is not None else f"not installed (pip install {name})"


@dataclass(frozen=True)
class Adapter:
    """Somebody who chooses features; `criteria` are those of ours that it measures as well, by counting codes."""

    name: str
    order: Callable[..., Any]
    by: str
    criteria: tuple[str, ...] = ()
    settings: Mapping[str, Any] = field(default_factory=dict)
    why_missing: Callable[[], str | None] = lambda: None
    in_order: bool = True  # or by place in the table, where the order of choice is not told
    # Up to so many columns it takes some seconds at most; wider tables are left to the long set.
    quick_columns: float = np.inf

    def __call__(self, question: Question) -> Any:
        return self.order(question, **self.settings)


def of_package(name: str, order: Callable[..., Any], by: str, module: str, **about: Any) -> Adapter:
    return Adapter(name, order, by, why_missing=partial(_why_not, module, name), **about)


def by_score(scores: Any) -> np.ndarray:
    """Columns by falling score; one that has none comes last."""
    return np.argsort(-np.nan_to_num(np.asarray(scores), nan=-np.inf), kind="stable")


# Careful NumPy, and R


def greedy_in_numpy(question: Question) -> Sequence[int]:
    X, y = question.X, question.y
    return numpy_greedy(X, y, int(X.max()) + 1, question.most, question.criterion)


def greedy_in_r(question: Question) -> Any:
    return praznik_order(question.X, question.y, question.most, question.criterion, question.jobs)


# scikit-learn's


def f_test(question: Question) -> np.ndarray:
    from sklearn.feature_selection import f_classif, f_regression

    return by_score((f_classif if question.classes else f_regression)(question.X, question.y)[0])


def relevance_alone(question: Question) -> np.ndarray:
    from sklearn.feature_selection import mutual_info_classif, mutual_info_regression

    measure = mutual_info_classif if question.classes else mutual_info_regression
    options: dict[str, Any] = {"discrete_features": question.codes, "n_jobs": question.jobs}
    return by_score(measure(question.X, question.y, random_state=SEED, **options))


def l1(question: Question, C: float) -> np.ndarray:
    """Columns with a coefficient that is not 0, which may be fewer than asked for, as of SelectFromModel."""
    from sklearn.linear_model import LassoCV
    from sklearn.svm import LinearSVC

    of_classes: dict[str, Any] = {"penalty": "l1", "dual": False, "C": C}
    model = LinearSVC(**of_classes, random_state=SEED) if question.classes else LassoCV(cv=3, random_state=SEED)
    weights = np.abs(np.atleast_2d(model.fit(question.X, question.y).coef_)).max(axis=0)
    return by_score(weights)[: max(1, np.count_nonzero(weights > 1e-5))]


def _forest(question: Question, trees: int, **settings: Any) -> Any:
    from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

    kind = RandomForestClassifier if question.classes else RandomForestRegressor
    return kind(trees, random_state=SEED, n_jobs=question.jobs, **settings)


def forest_importances(question: Question, trees: int) -> np.ndarray:
    return by_score(_forest(question, trees).fit(question.X, question.y).feature_importances_)


def _linear_model(question: Question) -> Any:
    from sklearn.linear_model import LogisticRegression, Ridge

    return LogisticRegression(max_iter=300) if question.classes else Ridge()


def rfe(question: Question, step: float) -> np.ndarray:
    """Recursive elimination from one size to the next; what a smaller size keeps comes first."""
    from sklearn.feature_selection import RFE

    options: dict[str, Any] = {"step": step}
    left, dropped = np.arange(question.X.shape[1]), []
    for k in sorted(question.sizes, reverse=True):
        if k < len(left):
            search = RFE(_linear_model(question), n_features_to_select=k, **options)
            kept = search.fit(question.X[:, left], question.y).support_
            dropped, left = [left[~kept], *dropped], left[kept]
    return np.concatenate([left, *dropped])


def sequential(question: Question, folds: int) -> np.ndarray:
    from sklearn.feature_selection import SequentialFeatureSelector

    most = min(question.most, question.X.shape[1] - 1)  # it takes no more
    options: dict[str, Any] = {"n_features_to_select": most, "cv": folds, "n_jobs": question.jobs}
    search: Any = SequentialFeatureSelector(_linear_model(question), **options)
    return np.flatnonzero(search.fit(question.X, question.y).get_support())


# Other packages


def mlxtend_sequential(question: Question, folds: int) -> list[int]:
    package = import_module("mlxtend.feature_selection")
    search = package.SequentialFeatureSelector(
        _linear_model(question), k_features=question.most, cv=folds, n_jobs=question.jobs
    ).fit(question.X, question.y)
    steps = [set(search.subsets_[size]["feature_idx"]) for size in range(1, question.most + 1)]
    return [int(*(after - before)) for before, after in zip([set(), *steps], steps, strict=False)]


def mrmr_selection(question: Question) -> list[int]:
    import pandas as pd

    package = import_module("mrmr")
    search = package.mrmr_classif if question.classes else package.mrmr_regression
    X, y = pd.DataFrame(question.X), pd.Series(question.y)
    return search(X, y, K=question.most, n_jobs=question.jobs, show_progress=False)


def mrmrs(question: Question) -> list[int]:
    import polars

    X = polars.DataFrame(question.X.astype(np.float64), schema=[str(place) for place in range(question.X.shape[1])])
    task = "classification" if question.classes else "regression"
    y = polars.Series("y", question.y, dtype=polars.Int64 if question.classes else polars.Float64)
    return [int(one.name) for one in import_module("mrmrs").mrmr(X, y, question.most, task)]


def fast_select(question: Question) -> np.ndarray:
    return import_module("fast_select").mRMR(question.most, backend="cpu").fit(question.X, question.y).top_features_


def feature_engine(question: Question) -> np.ndarray:
    """Its own order is not told; the relevance and the difference are those of mRMR."""
    import pandas as pd

    frame = pd.DataFrame(question.X, columns=[f"x{place}" for place in range(question.X.shape[1])])
    search = import_module("feature_engine.selection").MRMR(
        method="MID",
        max_features=question.most,
        discrete_features=question.codes,
        regression=not question.classes,
        random_state=SEED,
        n_jobs=question.jobs,
    )
    dropped = set(search.fit(frame, pd.Series(question.y)).features_to_drop_)
    return np.array([place for place, name in enumerate(frame.columns) if name not in dropped])


def fastcan(question: Question) -> np.ndarray:
    # Its correlation is with all columns of the target: one for each class.
    y = np.eye(question.y.max() + 1)[question.y] if question.classes else question.y
    package, most = import_module("fastcan"), min(question.most, len(question.X) - 2)
    try:
        return package.FastCan(most, verbose=0).fit(question.X, y).indices_
    except (
        RuntimeError
    ) as ended:  # no column is independent of those selected, or improves them: it says after how many
        found = re.search(r"with the (\d+) selected", str(ended))
        last = re.search(r"selecting the (\d+)\w* feature", str(ended))
        if found is None and last is None:
            raise
        most = int(found[1]) if found else int(last[1]) - 1  # type: ignore[index] (one of the two was found)
        return package.FastCan(most, verbose=0).fit(question.X, y).indices_


def itmo_fs(question: Question) -> np.ndarray:
    search = import_module("ITMO_FS.filters.multivariate").MultivariateFilter(question.criterion.upper(), question.most)
    search.fit(question.X, question.y)
    return search.selected_features


def boruta(question: Question, trees: int, max_iter: int) -> np.ndarray:
    """By its ranking; those it puts on a level, such as all that it confirms, by their mean importance."""
    model = _forest(question, trees, max_depth=5)
    found = import_module("boruta").BorutaPy(model, n_estimators=trees, max_iter=max_iter, random_state=SEED)
    found.fit(question.X, question.y)
    importance = np.nanmean(found.importance_history_[1:], axis=0)
    return np.lexsort((-np.nan_to_num(importance, nan=-np.inf), found.ranking_))


def forest_shap(question: Question, trees: int, max_depth: int) -> np.ndarray:
    """By the mean absolute SHAP value, over rows and classes."""
    model = _forest(question, trees, max_depth=max_depth).fit(question.X, question.y)
    values = np.abs(np.asarray(import_module("shap").TreeExplainer(model).shap_values(question.X)))
    return by_score(values.mean(axis=tuple(axis for axis in range(values.ndim) if axis != 1)))


def rebate(kind: str, question: Question, **options: Any) -> np.ndarray:
    label = "continuous" if not question.classes else "binary" if question.y.max() == 1 else "multiclass"
    search = getattr(import_module("skrebate"), kind)(label_type=label, n_jobs=question.jobs, **options)
    return by_score(search.fit(question.X, question.y).feature_importances_)


MODEL = "the score of a logistic regression in 3 folds"
CORRELATION = "F statistic and correlation"
BOTH = ("mrmr", "jmi")
ADAPTERS = {
    adapter.name: adapter
    for adapter in (
        Adapter("NumPy greedy", greedy_in_numpy, "the same criterion", BOTH),
        Adapter("praznik", greedy_in_r, "the same criterion, in R", BOTH, why_missing=why_no_praznik),
        of_package("fast-select", fast_select, "mRMR", "fast_select", criteria=("mrmr",), quick_columns=1000),
        of_package("ITMO_FS", itmo_fs, "the same criterion", "ITMO_FS", criteria=BOTH, quick_columns=30),
        of_package(
            "feature-engine",
            feature_engine,
            "mRMR, redundancy by neighbours",
            "feature_engine",
            in_order=False,
            quick_columns=30,
        ),
        of_package("mrmr-selection", mrmr_selection, CORRELATION, "mrmr", quick_columns=500),
        of_package("mrmrs", mrmrs, CORRELATION, "mrmrs", quick_columns=2000),
        of_package("fastcan", fastcan, "canonical correlation", "fastcan"),
        Adapter("SelectKBest, MI", relevance_alone, "relevance alone", quick_columns=500),
        Adapter("SelectKBest, F", f_test, "F statistic alone"),
        Adapter("SequentialFeatureSelector", sequential, MODEL, settings={"folds": 3}, in_order=False, quick_columns=4),
        of_package("mlxtend", mlxtend_sequential, MODEL, "mlxtend", settings={"folds": 3}, quick_columns=4),
        Adapter("SelectFromModel, L1", l1, "coefficients of a linear SVM or Lasso", settings={"C": 0.1}),
        Adapter("SelectFromModel, forest", forest_importances, "importances of a forest", settings={"trees": 200}),
        Adapter("RFE", rfe, "coefficients of a linear model", settings={"step": 0.1}),
        of_package("Boruta", boruta, "a forest", "boruta", settings={"trees": 100, "max_iter": 20}),
        of_package("SHAP, forest", forest_shap, "a forest", "shap", settings={"trees": 50, "max_depth": 6}),
        of_package("ReliefF", partial(rebate, "ReliefF"), "near rows", "skrebate", settings={"n_neighbors": 10}),
        of_package("MultiSURF", partial(rebate, "MultiSURF"), "near rows", "skrebate"),
    )
}
