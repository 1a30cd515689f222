"""From a data set to what the searches count and what the classifiers see.

The paper does not say how columns were coded. Assumed here, after Peng, Long and Ding (2005), whose
criterion mRMR is and whose NCI file the paper uses:

* numbers and counts (ARR, IAD, MAD, CNA, DEX): three states, below, within and above mean +- standard
  deviation. A column of 0 and 1 keeps its two states by that rule, unless it is half 0 and half 1.
* NCI (-2, 0, 2), DBW (0, 1) and LNG (nominal, 0 to 3): levels as they are.
* missing values (IAD, LNG): a level of their own.

Columns that are constant after that leave. NCI, DBW and DEX are cut to the most relevant features, 2000 in the
paper. Classifiers see the values as published, see `classifiers`.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from certselect import InformationTerms, information_terms
from certselect.coding import CodedTable, code_table
from certselect.datasets import load_dataset
from certselect.table import read_table

NO_VALUE = -1  # among the levels of NCI, DBW and LNG, none of which is odd and negative
# What the criteria ask of pairs, so that its cost can be told apart from the search's.
PAIR_TERM = {"mRMR": "redundancy", "JMI": "interaction"}
CRITERION = {"mRMR": "mrmr", "JMI": "jmi"}


@dataclass(frozen=True)
class Recipe:
    """How one data set is coded, cut and validated."""

    levels: bool = False  # cells are levels as they are; else numbers, cut into three states
    kept: int | None = None  # most relevant features
    leave_one_out: bool = False  # else 10 folds


RECIPES = {
    "ARR": Recipe(),
    "NCI": Recipe(levels=True, kept=2000, leave_one_out=True),
    "DBW": Recipe(levels=True, kept=2000, leave_one_out=True),
    "CNA": Recipe(),
    "IAD": Recipe(),
    "MAD": Recipe(),
    "LNG": Recipe(levels=True, leave_one_out=True),
    "DEX": Recipe(kept=2000),
}


@dataclass(frozen=True, eq=False)
class Measured:
    """The features a search chooses from, with the information they share.

    Attributes
    ----------
    codes : ndarray (n, m)
        One row per feature, none constant.
    columns : ndarray of int (n,)
        Where each feature is in the data set, ascending.
    terms : InformationTerms
        Of the codes; feature i of the terms is column columns[i].
    seconds : float
        For coding and relevance; pair terms are counted when asked for.
    """

    codes: np.ndarray
    columns: np.ndarray
    terms: InformationTerms
    seconds: float


class Samples(NamedTuple):
    """A data set's rows as classifiers take them, and their classes."""

    X: np.ndarray
    y: np.ndarray


def load(name: str) -> Samples:
    """A data set with dense columns: 300 x 20000 at most, which is no burden."""
    dataset = load_dataset(name)
    X = dataset.X if isinstance(dataset.X, np.ndarray) else dataset.X.toarray()
    return Samples(np.asarray(X, dtype=np.float64), dataset.y)


def measure(
    X: np.ndarray, y: np.ndarray, recipe: Recipe, *, kept: int | None = None, n_jobs: int | None = 1
) -> Measured:
    """Code these rows by what they themselves show, and cut the features to the most relevant.

    `kept` replaces the recipe's number where that cuts at all.
    """
    began = time.perf_counter()
    coded = coded_rows(X, y, recipe, n_jobs)
    columns = np.flatnonzero(~coded.constant)
    terms = information_terms(
        coded.codes[columns].T,
        y,
        integers="levels",
        task="classification",
        n_jobs=n_jobs,
        measure="plugin",
        correction="none",
    )
    limit = None if recipe.kept is None else kept or recipe.kept
    if limit is not None and limit < len(columns):
        most_relevant = np.argsort(-terms.relevance, kind="stable")[:limit]
        columns = columns[np.sort(most_relevant)]
        terms = information_terms(
            coded.codes[columns].T,
            y,
            integers="levels",
            task="classification",
            n_jobs=n_jobs,
            measure="plugin",
            correction="none",
        )
    return Measured(coded.codes[columns], columns, terms, time.perf_counter() - began)


def coded_rows(X: np.ndarray, y: np.ndarray, recipe: Recipe, n_jobs: int | None) -> CodedTable:
    if recipe.levels:
        table = read_table(np.where(np.isnan(X), NO_VALUE, X).astype(np.int64), y)
    else:
        # Whole numbers with gaps are cut into three states too, instead of taken as levels.
        gaps = np.flatnonzero(np.isnan(X).any(axis=0)).tolist()
        table = read_table(X, y, missing="level", kinds=dict.fromkeys(gaps, "number"))
    coded = code_table(table, discretize="mean_std", integers="levels", n_jobs=n_jobs)
    assert isinstance(coded, CodedTable)
    return coded
