"""Who chooses features: every setting of ours that makes a difference, and the packages that users pick today.

A contestant takes a sample, the training rows of a split, and the sizes asked for, and gives the columns of each
size. To add one of ours, add a line to `OURS`; its name and settings say when kept results are of another one. Other
packages are called by the adapters of `contestants/selectors.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from sklearn.impute import SimpleImputer
from sklearn.preprocessing import StandardScaler

from certselect import SubsetSelector, information_terms, selection_path
from certselect.errors import InvalidInput
from certselect.settings import all_settings
from contestants.selectors import ADAPTERS, SEED, Question
from outcome_tables import MOST_LEVELS, Table

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
        """The varying columns for packages that take no missing values and need equal units.

        A category is one column of zeros and ones for each of its frequent levels; `owners` names its place.
        """
        return StandardScaler().fit_transform(np.column_stack([part for _, part in self._parts]))

    @cached_property
    def owners(self) -> np.ndarray:
        """For each column of `filled`, the column of the table that it is made of."""
        return np.concatenate([np.full(part.shape[1], place) for place, part in self._parts])

    @cached_property
    def _parts(self) -> list[tuple[int, np.ndarray]]:
        X = self.table.X[self.rows]
        numbers = [place for place in self.varying if place not in self.table.categories]
        filled = SimpleImputer(strategy="median").fit_transform(X[:, numbers]) if numbers else X[:, :0]
        parts = dict(zip(numbers, filled.T[:, :, None], strict=True))
        return [(place, parts[place] if place in parts else one_hot(X[:, place])) for place in self.varying]


def frequent_levels(codes: np.ndarray) -> np.ndarray:
    """The most frequent levels; of two that are all there are, one shows the other."""
    levels, counts = np.unique(codes[~np.isnan(codes)], return_counts=True)
    by_count = levels[np.argsort(-counts, kind="stable")][:MOST_LEVELS]
    return by_count[:1] if len(levels) == 2 and not np.isnan(codes).any() else by_count


def one_hot(codes: np.ndarray, levels: np.ndarray | None = None) -> np.ndarray:
    return (codes[:, None] == (frequent_levels(codes) if levels is None else levels)).astype(np.float64)


@dataclass(frozen=True)
class Contestant:
    name: str
    choose: Callable[[Sample, Sequence[int]], Subsets]
    settings: Mapping[str, Any] = field(default_factory=dict)
    installed: Callable[[], bool] = lambda: True

    @property
    def is_here(self) -> bool:
        return self.installed()


# Ours


def told(criterion: str, measuring: Mapping[str, Any], search: Mapping[str, Any]) -> Callable[..., Subsets]:
    """A search that is told the task and which whole numbers are numbers."""

    def choose(sample: Sample, sizes: Sequence[int]) -> Subsets:
        how = {"measure": "plugin", "correction": "none", **measuring}
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


def as_it_comes(name: str, *, with_task: bool = False, **settings: Any) -> Contestant:
    """`SubsetSelector(k)` on the frame, told nothing but these settings, and the task only where that is said."""

    def choose(sample: Sample, sizes: Sequence[int]) -> Subsets:
        X, y = sample.table.frame.iloc[sample.rows], sample.y
        task = {"task": "classification" if sample.classes else "regression"} if with_task else {}
        how = {"random_state": SEED, "n_jobs": 1, **task, **settings}
        selectors = {k: SubsetSelector(k, **how).fit(X, y) for k in sizes}
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
OTHER_CRITERIA = ("disr", "icap", "condred", "jim", "nmrmr", "cmim", "jmim", "njmim", "cmi", "miq")
OURS = [
    DEFAULT,
    AUTO,
    *(setting(f"{one}, {name}", one, **coding) for one in ("jmi", "mrmr") for name, coding in CODINGS.items()),
    *(
        setting(f"{one}, {name}", one, **CODINGS[name])
        for one in ("mifs", "d1", "max_relevance")
        for name in FEW_CODINGS
    ),
    *(setting(f"{one}, quantile 5", one, **CODINGS["quantile 5"]) for one in OTHER_CRITERIA),
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


# The two that are judged, with every setting stated that differs: results are of these, whatever the defaults are.
JUDGED_DEFAULT = as_it_comes(
    "default", with_task=True, criterion="distinct", correction="chance", measure="auto", max_shared=0.9
)
EARLIER_DEFAULT = as_it_comes(
    "earlier default", with_task=True, criterion="jmi", correction="none", measure="plugin", max_shared=None
)


# Others. Each gives the varying columns a rank or a path, from which all sizes are taken.


def best_first(name: str) -> Contestant:
    """A contestant that puts columns in an order, best first; one that ends early chooses fewer.

    A category comes where the first of its levels comes, so enough levels are asked for.
    """
    adapter = ADAPTERS[name]

    def choose(sample: Sample, sizes: Sequence[int]) -> Subsets:
        wide, columns = sample.filled.shape[1], len(sample.varying)
        asked = tuple(sizes)
        if wide > columns:
            asked = (*(min(wide, -(-k * wide // columns)) for k in sizes), min(wide, max(sizes) + wide - columns))
        order = adapter(Question(sample.filled, sample.y, asked, sample.classes))
        chosen = list(dict.fromkeys(sample.owners[np.asarray(order, dtype=int)].tolist()))
        return {k: chosen[:k] for k in sizes}

    return Contestant(name, choose, adapter.settings, lambda: adapter.why_missing() is None)


def sequentially(name: str) -> Contestant:
    """Forward selection by the cross-validated score of a model, for tables of few columns: it takes long."""
    adapter = ADAPTERS[name]

    def choose(sample: Sample, sizes: Sequence[int]) -> Subsets:
        if sample.table.categories or sample.table.X.shape[1] > FEW_COLUMNS:
            raise InvalidInput("a table of many columns or of categories", "few columns of numbers", "Leave it out.")
        found = {k: adapter(Question(sample.filled, sample.y, (k,), sample.classes)) for k in sizes}
        return {k: sample.varying[np.asarray(order, dtype=int)].tolist() for k, order in found.items()}

    return Contestant(name, choose, {**adapter.settings, "few": FEW_COLUMNS})


FEW_COLUMNS = 20  # a sequential search with a model fits that many models for each feature it adds


PEERS = [
    best_first(name)
    for name in (
        *("SelectKBest, F", "SelectKBest, MI", "SelectFromModel, L1", "SelectFromModel, forest", "RFE"),
        *("mrmr-selection", "fastcan", "Boruta"),
    )
]
CONTESTANTS = {contestant.name: contestant for contestant in (*OURS, *PEERS)}
JUDGED = [
    JUDGED_DEFAULT,
    EARLIER_DEFAULT,
    *PEERS,
    best_first("SHAP, forest"),
    sequentially("SequentialFeatureSelector"),
]
