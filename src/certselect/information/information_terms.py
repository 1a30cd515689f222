"""From a table to its information terms, in one call."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from certselect.coding import code_table
from certselect.errors import InvalidInput
from certselect.information.plugin import plugin_terms
from certselect.information.terms import InformationTerms
from certselect.table import Table, read_table

if TYPE_CHECKING:
    from numpy.typing import DTypeLike


def information_terms(
    X: Any,
    y: Any = None,
    *,
    discretize: str = "uniform",
    bins: int | str = 5,
    integers: str = "levels",
    feature_names: Sequence[str] | None = None,
    dtype: DTypeLike = np.float64,
    n_jobs: int | None = None,
) -> InformationTerms:
    """Measure what each feature says of the target, and what pairs of features share.

    Computes I(Xi;C) now and I(Xi;Xj), I(Xi;Xj|C) when asked for, in nats, from
    exact counts of the coded columns. One result serves every criterion, every
    k and every search.

    Parameters
    ----------
    X : array, data frame or Table
        One row per sample. Integers, booleans and categories are taken as they
        are, each value a level; other numbers are discretised.
    y : array or series
        The class of each sample: any hashable labels. Left out if X is a `Table`,
        which brings its target.
    discretize : {"uniform", "quantile", "mean_std", "mdlp"}
        How numbers become levels: equal widths, equal counts, three states at
        mean +- standard deviation, or cuts chosen by the classes (Fayyad and Irani).
    bins : int or {"sturges", "freedman_diaconis", "sqrt"}
        Number of levels for "uniform" and "quantile".
    integers : {"levels", "numbers"}
        Whether integer columns are levels already, or numbers to be discretised.
    feature_names : sequence of str, optional
        Names of the columns of an array.
    dtype : {float64, float32}
        Of the pair terms: float32 halves the memory of the whole matrices.
    n_jobs : int, optional
        Threads; all cores if None. The result does not depend on it.

    Returns
    -------
    InformationTerms

    Examples
    --------
    >>> import numpy as np
    >>> from certselect import information_terms
    >>> X = np.array([[0, 1], [0, 0], [1, 1], [1, 0]])
    >>> terms = information_terms(X, y=["no", "no", "yes", "yes"])
    >>> terms.relevance.round(6)  # the first column is the class, ln 2; the second says nothing
    array([0.693147, 0.      ])
    """
    floating = np.dtype(dtype)
    if floating not in (np.float32, np.float64):
        raise InvalidInput(f"dtype={floating}", "float32 or float64", "Use float32 to halve the memory.")
    started = time.perf_counter()
    table = X if isinstance(X, Table) else read_table(X, y, feature_names=feature_names)
    coded = code_table(table, discretize=discretize, bins=bins, integers=integers, n_jobs=n_jobs)
    seconds = {"coding": time.perf_counter() - started}
    terms = plugin_terms(coded, dtype=floating, n_jobs=n_jobs)
    terms.seconds.update(seconds)
    return terms
