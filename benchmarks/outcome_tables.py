"""The tables that features are chosen from: scikit-learn's own, the paper's eight and drawn ones of known truth.

A table has at least 50 columns, so that 50 can be chosen: columns of noise are added where it had fewer. One
with too many is cut to those whose values have most entropy, which does not look at the target.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import entropy
from sklearn.datasets import (
    load_breast_cancer,
    load_diabetes,
    load_digits,
    load_wine,
    make_friedman1,
    make_friedman2,
    make_friedman3,
)

from certselect.datasets import load_dataset
from measure_outcomes import mostly_zero, products

MOST_COLUMNS = 500
MOST_LEVELS = 20  # a column of whole numbers with more different values holds numbers
ROWS, COLUMNS = 600, 100  # of a drawn table

Arrays = tuple[np.ndarray, np.ndarray]


@dataclass(frozen=True, eq=False)
class Table:
    """Numbers with NaN for missing values, and a target: class numbers, or a number to predict."""

    name: str
    X: np.ndarray
    y: np.ndarray
    classes: bool
    categories: tuple[int, ...] = ()  # columns of X that hold codes of levels
    given: pd.DataFrame | None = None  # the frame that was read, where there is one

    @cached_property
    def digest(self) -> str:
        content = hashlib.sha256(f"{self.X.shape} {self.classes}{self.categories or ''}".encode())
        for array in (self.X, self.y):
            content.update(np.ascontiguousarray(array, dtype=np.float64).tobytes())
        return content.hexdigest()[:16]

    @cached_property
    def frame(self) -> pd.DataFrame:
        """The table as a file would give it: columns of whole numbers are integers."""
        if self.given is not None:
            return self.given
        return pd.DataFrame(
            {
                f"x{place}": column.astype(np.int64) if np.all(column == np.round(column)) else column
                for place, column in enumerate(self.X.T)
            }
        )

    @cached_property
    def told_frame(self) -> pd.DataFrame:
        """The same where columns of whole numbers with many values are said to be numbers."""
        many = [name for name, column in self.frame.items() if column.nunique() > MOST_LEVELS]
        return self.frame.astype(dict.fromkeys(many, np.float64))


@dataclass(frozen=True)
class Source:
    """Where a table comes from; `load` raises DataUnavailable where a folder of data is needed and absent."""

    group: str
    name: str
    load: Callable[[], Arrays]
    classes: bool = True

    def table(self) -> Table:
        X, y = self.load()
        if self.classes:
            y = np.unique(y, return_inverse=True)[1]
        return Table(self.name, with_most_entropy(np.asarray(X, dtype=np.float64)), y, self.classes)


def with_most_entropy(X: np.ndarray) -> np.ndarray:
    """The columns whose values have most entropy, in their order, where there are too many."""
    return X if X.shape[1] <= MOST_COLUMNS else X[:, most_entropy(X)]


def most_entropy(X: np.ndarray) -> np.ndarray:
    """Places of the columns with most entropy, in their order."""
    entropies = [entropy(np.unique(column, return_counts=True)[1]) for column in X.T]
    return np.sort(np.argsort(entropies, kind="stable")[-MOST_COLUMNS:])


def with_noise(columns: int, load: Callable[[], Arrays]) -> Callable[[], Arrays]:
    """The table with columns added up to a number: its own ones, in turn, each with its rows shuffled."""

    def loaded() -> Arrays:
        X, y = load()
        rng = np.random.default_rng(0)
        shuffled = [rng.permutation(X[:, place % X.shape[1]]) for place in range(columns - X.shape[1])]
        return np.column_stack([X, *shuffled]), y

    return loaded


def bundled(load: Callable[..., Any]) -> Callable[[], Arrays]:
    return lambda: load(return_X_y=True)


def diabetes_with_noise() -> Arrays:
    X, y = bundled(load_diabetes)()
    return np.column_stack([X, np.random.default_rng(0).normal(size=(len(X), 90))]), y


def of_paper(name: str) -> Callable[[], Arrays]:
    def load() -> Arrays:
        found = load_dataset(name, download=False)
        return found.X if isinstance(found.X, np.ndarray) else found.X.toarray(), found.y

    return load


def table_of_frame(name: str, frame: pd.DataFrame, target: str, *, classes: bool) -> Table:
    """A table of numbers and categories: text becomes codes of levels in the order of their names."""
    answers, frame = frame[target], frame.drop(columns=target)
    columns, categories = [], []
    for place, (_, column) in enumerate(frame.items()):
        if pd.api.types.is_numeric_dtype(column) or pd.api.types.is_bool_dtype(column):
            columns.append(column.to_numpy(dtype=np.float64))
        else:
            categories.append(place)
            codes = pd.factorize(column, sort=True)[0].astype(np.float64)
            columns.append(np.where(codes < 0, np.nan, codes))
    y = np.unique(answers.astype(str), return_inverse=True)[1] if classes else answers.to_numpy(dtype=np.float64)
    X = np.column_stack(columns)
    if X.shape[1] > MOST_COLUMNS:
        kept = most_entropy(X)
        categories = [int(place) for place in np.flatnonzero(np.isin(kept, categories))]
        X, frame = X[:, kept], frame.iloc[:, kept]
    return Table(name, X, y, classes, tuple(categories), frame)


# Drawn tables of which it is known what tells the class


def drawn(draw: Callable[[np.random.Generator], Arrays]) -> Callable[[], Arrays]:
    return lambda: draw(np.random.default_rng(0))


def shifted(rng: np.random.Generator, rows: int, classes: int, sizes: np.ndarray) -> Arrays:
    """Independent normal columns within each class; the classes' means lie apart by the size given for a column."""
    y = rng.integers(0, classes, rows)
    means = rng.normal(size=(classes, len(sizes))) * sizes
    return means[y] + rng.normal(size=(rows, len(sizes))), y


def fading(informative: int) -> np.ndarray:
    """Sizes of shifts: some columns tell less and less, the others nothing."""
    return np.r_[np.linspace(0.8, 0.2, informative), np.zeros(COLUMNS - informative)]


def independent(rng: np.random.Generator) -> Arrays:
    return shifted(rng, ROWS, 3, fading(20))


def redundant(rng: np.random.Generator) -> Arrays:
    """Six causes, each shown eight times with a little noise and in other units, and noise."""
    causes, y = shifted(rng, ROWS, 3, np.linspace(1.0, 0.5, 6))
    shown = np.repeat(causes, 8, axis=1) + 0.3 * rng.normal(size=(ROWS, 48))
    return np.column_stack([shown * rng.uniform(0.1, 10, 48), rng.normal(size=(ROWS, COLUMNS - 48))]), y


def exclusive_or(rng: np.random.Generator) -> Arrays:
    """The class is the sign of a product, and two more columns tell a little of it on their own."""
    X = rng.normal(size=(ROWS, 60))
    y = (X[:, 0] * X[:, 1] > 0).astype(int)
    X[:, 2:4] += 0.5 * y[:, None]
    return X, y


def skewed(rng: np.random.Generator) -> Arrays:
    X, y = shifted(rng, ROWS, 3, fading(20))
    return np.exp(2 * X), y


def few_rows(rng: np.random.Generator) -> Arrays:
    return shifted(rng, 60, 2, 1.5 * fading(20))


def mixed(rng: np.random.Generator) -> Arrays:
    """Ages, skewed counts, sums of money, yes or no, grades from 1 to 5 and measurements; a fifth of them tell."""
    z, y = shifted(rng, ROWS, 2, np.tile([0.7, 0, 0, 0, 0], 18))
    kinds = [
        lambda column: np.clip(np.round(45 + 15 * column), 18, 90),
        lambda column: np.floor(np.exp(1.2 * column + 1)),
        lambda column: np.round(np.exp(column + 7), 2),
        lambda column: (column > 0.5).astype(float),
        lambda column: np.clip(np.round(3 + column), 1, 5),
        np.array,
    ]
    return np.column_stack([kinds[place % len(kinds)](column) for place, column in enumerate(z.T)]), y


SOURCES = [
    Source("bundled", "wine + noise", with_noise(COLUMNS, bundled(load_wine))),
    Source("bundled", "breast cancer + noise", with_noise(COLUMNS, bundled(load_breast_cancer))),
    Source("bundled", "handwritten digits", bundled(load_digits)),
    Source("paper", "Arrhythmia", of_paper("ARR")),
    Source("paper", "NCI", of_paper("NCI")),
    Source("paper", "DBWorld", of_paper("DBW")),
    Source("paper", "CNAE-9", of_paper("CNA")),
    Source("paper", "Internet Ads", of_paper("IAD")),
    Source("paper", "Madelon", of_paper("MAD")),
    Source("paper", "Lung Cancer", of_paper("LNG")),
    Source("paper", "Dexter", of_paper("DEX")),
    Source("drawn", "independent", drawn(independent)),
    Source("drawn", "redundant", drawn(redundant)),
    Source("drawn", "exclusive or", drawn(exclusive_or)),
    Source("drawn", "skewed", drawn(skewed)),
    Source("drawn", "80 % zeros", with_noise(60, drawn(mostly_zero(0.8)))),
    Source("drawn", "few rows", drawn(few_rows)),
    Source("drawn", "mixed kinds", drawn(mixed)),
    Source("regression", "diabetes + noise", diabetes_with_noise, classes=False),
    Source("regression", "Friedman 1", lambda: make_friedman1(ROWS, COLUMNS, noise=1.0, random_state=0), classes=False),
    Source(
        "regression",
        "Friedman 2",
        with_noise(COLUMNS, lambda: make_friedman2(ROWS, noise=100.0, random_state=0)),
        classes=False,
    ),
    Source(
        "regression",
        "Friedman 3",
        with_noise(COLUMNS, lambda: make_friedman3(ROWS, noise=0.1, random_state=0)),
        classes=False,
    ),
    Source("regression", "products", with_noise(60, drawn(products)), classes=False),
]
