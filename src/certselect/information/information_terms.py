"""From a table to its information terms, in one call."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from certselect.coding import code_table
from certselect.errors import InvalidInput
from certselect.information.choice import pick_correction, pick_estimator
from certselect.information.gaussian_copula import copula_terms
from certselect.information.neighbors import neighbor_terms
from certselect.information.plugin import plugin_terms
from certselect.information.terms import InformationTerms
from certselect.table import Table, read_table

if TYPE_CHECKING:
    from numpy.typing import DTypeLike

ESTIMATORS = ("plugin", "gaussian_copula", "neighbors")
AUTO = "auto"


def information_terms(
    X: Any,
    y: Any = None,
    *,
    estimator: str = "plugin",
    correction: str = "none",
    n_neighbors: int = 3,
    discretize: str = "uniform",
    bins: int | str = 5,
    integers: str = "levels",
    target_bins: int = 5,
    task: str = "auto",
    missing: str = "auto",
    sample_weight: Any = None,
    feature_names: Sequence[str] | None = None,
    dtype: DTypeLike = np.float64,
    n_jobs: int | None = None,
) -> InformationTerms:
    """Measure what each feature says of the target, and what pairs of features share.

    Computes I(Xi;C) now and I(Xi;Xj), I(Xi;Xj|C) when asked for, in nats. One
    result serves every criterion, every k and every search.

    Parameters
    ----------
    X : array, sparse matrix, data frame or Table
        One row per sample. A `Table` brings its target, weights and task along.
    y : array, series or frame
        The class of each sample (any hashable labels) or a number to be predicted, or
        several columns of either.
    estimator : {"plugin", "gaussian_copula", "neighbors", "auto"}
        "plugin" : codes columns into levels and counts exactly. For categories, whole
        numbers and mixed tables, and for numbers after discretising; sparse input.
        "gaussian_copula" : from ranks, in closed form, all pairs by one matrix product.
        For numbers whose dependence is monotone; any number of columns.
        "neighbors" : Kraskov, Stoegbauer and Grassberger's and its kin for mixed columns.
        For dependence of any shape in some hundreds of columns.
        "auto" : one of these by the columns' types and the number of rows; `picked` of the
        result says which, and why.
    correction : {"none", "miller_madow", "grassberger", "shrinkage"}
        Against the bias of "plugin" where cells hold few samples. "auto" chooses one
        where none is named.
    n_neighbors : int
        Of "neighbors": more of them mean less variance and more bias.
    discretize : {"uniform", "quantile", "mean_std", "mdlp"}
        How numbers become levels for "plugin": equal widths, equal counts, three states at
        mean +- standard deviation, or cuts chosen by the classes (Fayyad and Irani).
    bins : int or {"sturges", "freedman_diaconis", "sqrt"}
        Number of levels for "uniform" and "quantile".
    integers : {"levels", "numbers"}
        Whether "plugin" takes integer columns as levels, or as numbers to be discretised.
        The other estimators take them as numbers.
    target_bins : int
        Bins of equal counts that "plugin" cuts a target of numbers into.
    task : {"auto", "classification", "regression"}
        "auto": a target of numbers that are not all whole is regression, as scikit-learn
        has it.
    missing : {"auto", "error", "level", "pairwise"}
        What becomes of NaN, None and null: refused; a level of their own ("plugin" only);
        or each term is estimated from the rows that have what it is about. "auto" is
        "error" for arrays; for data frames "level" with "plugin", "pairwise" with the others.
    sample_weight : array, optional
        How much each row counts. Whole numbers stand for repeated rows, others are scaled
        to add up to the number of rows; "neighbors" takes whole ones only.
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
    if estimator not in (*ESTIMATORS, AUTO):
        raise InvalidInput(
            f"estimator={estimator!r}", f"one of {', '.join((*ESTIMATORS, AUTO))}", "Check the spelling."
        )
    started = time.perf_counter()
    if isinstance(X, Table):
        if y is not None or sample_weight is not None:
            raise InvalidInput(
                "a Table and a target or weights beside it",
                "one of them: a Table brings its own",
                "Leave y and sample_weight out, or pass them to read_table.",
            )
        table = X
    else:
        table = read_table(X, y, feature_names=feature_names, sample_weight=sample_weight, task=task, missing=missing)
    read = time.perf_counter() - started
    chosen, why = pick_estimator(table) if estimator == AUTO else (estimator, "")
    if chosen == "gaussian_copula":
        terms = copula_terms(table, dtype=floating, n_jobs=n_jobs)
        settings: dict[str, Any] = {}
    elif chosen == "neighbors":
        terms = neighbor_terms(table, n_neighbors=n_neighbors, dtype=floating, n_jobs=n_jobs)
        settings = {"n_neighbors": int(n_neighbors)}
    else:
        coded = code_table(
            table, discretize=discretize, bins=bins, integers=integers, target_bins=target_bins, n_jobs=n_jobs
        )
        read = time.perf_counter() - started
        if estimator == AUTO and correction == "none":
            correction, cells = pick_correction(coded)
            why += f"; {correction.replace('none', 'no')} correction for {cells}"
        terms = plugin_terms(coded, correction=correction, dtype=floating, n_jobs=n_jobs)
        coding = {name: value for name, value in coded.coding.describe().items() if value is not None}
        settings = {"correction": correction, **coding}
    return replace(
        terms,
        settings={"estimator": chosen, **settings},
        picked=f"{chosen}: {why}" if estimator == AUTO else "",
        seconds={"coding": read, **terms.seconds},
    )
