"""SubsetSelector: the whole flow behind scikit-learn's interface."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import Tags
from sklearn.utils.validation import validate_data

from certselect.criteria import find_features, subset_problem
from certselect.errors import FewerFeaturesWarning
from certselect.information import information_terms
from certselect.search import select
from certselect.selectors.explaining import FrameSelector
from certselect.table import read_table
from certselect.table.output import frame_library
from certselect.table.reading import keeps_missing

# Settings of a selector that are arguments of `subset_problem` and of `information_terms`.
PROBLEM = ("criterion", "beta", "include", "exclude", "groups", "costs", "budget")
MEASURE = ("estimator", "correction", "n_neighbors", "target_bins", "discretize", "bins", "integers")


class SubsetSelector(FrameSelector, BaseEstimator):
    """Keep the k features that together say most about the target.

    Measures mutual information, by default from exact counts of the coded columns,
    and searches for the subset of `n_features_to_select` features with the largest
    value of the criterion. Columns may be numbers, categories, strings and bools, with
    missing values or sparse; the target classes, numbers, or several columns of either.

    Parameters
    ----------
    n_features_to_select : int or None, default=10
        How many features to keep. A table with fewer usable features keeps them
        all, with a warning. None, with a budget, for any number it pays for.
    criterion : {"jmi", "mrmr", "mifs", "d1", "cife", "max_relevance"}, default="jmi"
        What a subset is worth.
    strategy : {"auto", "cobra", "forward", "relevance", "backward", "floating", "exhaustive", "annealing", \
"genetic", "qpfs", "soss", "exact"}, \
default="auto"
        How the subset is searched for. "auto" is "cobra" with polish for up to
        1000 usable features, else "forward" with polish and a warning.
    estimator : {"plugin", "gaussian_copula", "neighbors", "auto"}, default="plugin"
        How information is measured: by counting levels, from ranks, by distances to nearest
        neighbours, or what suits the table, said in `terms_.picked`. See `information_terms`.
    correction : {"none", "miller_madow", "grassberger", "shrinkage"}, default="none"
        Against the bias of counting few samples.
    n_neighbors : int, default=3
        Of the estimator "neighbors".
    task : {"auto", "classification", "regression"}, default="auto"
        "auto": a target of numbers that are not all whole is regression.
    target_bins : int, default=5
        Bins of equal counts into which counting cuts a target of numbers.
    missing : {"auto", "error", "level", "pairwise"}, default="auto"
        What becomes of missing values: refused, a level of their own, or each term is
        estimated from the rows that have what it is about. "auto" is "error" for arrays;
        for data frames "level" where levels are counted, "pairwise" for the other estimators.
    discretize : {"uniform", "quantile", "mean_std", "mdlp"}, default="uniform"
        How numbers become levels.
    bins : int or {"sturges", "freedman_diaconis", "sqrt"}, default=5
        Number of levels for "uniform" and "quantile".
    integers : {"levels", "numbers"}, default="levels"
        Whether integer columns are levels already, or numbers to be discretised.
    beta : float, optional
        Weight of the redundancy in "mifs".
    polish : bool, default=False
        Try to improve the answer by exchanging one feature at a time.
    certify : bool or "tight", default=False
        Prove how far the answer can be from the best: fills `upper_bound_` and
        `gap_`. "cobra" always does. "tight" takes up to a minute and proves as much as it
        can, often that nothing is better.
    max_seconds : float, optional
        Time limit of the strategies "exact" and "cobra", which then answer with the
        best they have and its gap.
    include, exclude : list of str or int, optional
        Features to keep in any case, and in no case: names of the data frame's
        columns ("x0", "x1", ... for an array) or column indices.
    groups : list of lists, or mapping, optional
        Groups of features that are kept whole or not at all. A mapping may have two
        keys, "all_or_none" for such groups and "at_most_one" for groups of which one
        member at most is kept.
    costs : mapping from features to numbers, or one number per column, optional
        What each feature costs; 0 for those not in the mapping.
    budget : float, optional
        What the kept features may cost in all.
    random_state : int, Generator or None
        Seed of the random strategies.
    n_jobs : int, optional
        Threads; all cores if None. The answer does not depend on it.

    Attributes
    ----------
    support_ : ndarray of bool (n_features_in_,)
    indices_ : ndarray of int
        Kept columns, in order of choice where the strategy has one.
    objective_ : float
        Value of the subset (nats).
    upper_bound_, gap_ : float
        No allowed subset of that size is worth more than the bound, and so none is
        more than `gap_` (a fraction) above this one; NaN if not asked for.
    selection_ : Selection
    terms_ : InformationTerms
    n_features_in_, feature_names_in_

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from certselect import SubsetSelector
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> selector = SubsetSelector(n_features_to_select=2).fit(X, y)
    >>> list(selector.get_feature_names_out())
    ['petal length (cm)', 'petal width (cm)']
    """

    def __init__(
        self,
        n_features_to_select: int | None = 10,
        *,
        criterion: str = "jmi",
        strategy: str = "auto",
        estimator: str = "plugin",
        correction: str = "none",
        n_neighbors: int = 3,
        task: str = "auto",
        target_bins: int = 5,
        missing: str = "auto",
        discretize: str = "uniform",
        bins: int | str = 5,
        integers: str = "levels",
        beta: float | None = None,
        polish: bool = False,
        certify: bool | str = False,
        max_seconds: float | None = None,
        include: Any = None,
        exclude: Any = None,
        groups: Any = None,
        costs: Any = None,
        budget: float | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.criterion = criterion
        self.strategy = strategy
        self.estimator = estimator
        self.correction = correction
        self.n_neighbors = n_neighbors
        self.task = task
        self.target_bins = target_bins
        self.missing = missing
        self.discretize = discretize
        self.bins = bins
        self.integers = integers
        self.beta = beta
        self.polish = polish
        self.certify = certify
        self.max_seconds = max_seconds
        self.include = include
        self.exclude = exclude
        self.groups = groups
        self.costs = costs
        self.budget = budget
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> SubsetSelector:
        """Choose the features.

        Parameters
        ----------
        X : array, sparse matrix or data frame (n_samples, n_features)
        y : array-like (n_samples,) or (n_samples, n_targets)
            The class of each sample, or a number, or several of either.
        sample_weight : array-like (n_samples,), optional
            How much each row counts: whole numbers stand for repeated rows.
        """
        table = read_table(X, y, sample_weight=sample_weight, task=self.task, missing=self.missing)
        # Names and number of columns as scikit-learn records them.
        validate_data(self, X=X, y=y, skip_check_array=True)
        self._library = frame_library(X)
        # Then they pass through `transform` as well.
        self._keeps_missing = keeps_missing(self.missing, X)
        self.terms_ = information_terms(table, **{name: getattr(self, name) for name in MEASURE}, n_jobs=self.n_jobs)
        # Kept for `report_frame`, whatever becomes of the parameters.
        self._stated: dict[str, Any] = {"k": self._usable_size()} | {name: getattr(self, name) for name in PROBLEM}
        problem = subset_problem(self.terms_, **self._stated)
        limit = {} if self.max_seconds is None else {"max_seconds": self.max_seconds}
        self.selection_ = select(
            problem,
            self.strategy,
            random_state=self.random_state,
            polish=self.polish,
            certify=self.certify,
            **limit,
        )
        self.indices_ = self.selection_.indices
        self.support_ = np.zeros(self.terms_.n_features, dtype=bool)
        self.support_[self.indices_] = True
        self.objective_ = self.selection_.objective
        self.upper_bound_ = self.selection_.upper_bound
        self.gap_ = self.selection_.gap
        return self

    def _usable_size(self) -> int | None:
        wanted = self.n_features_to_select
        choosable = ~self.terms_.constant
        constant = int(self.terms_.constant.sum())
        choosable[list(find_features(self.terms_.feature_names, "exclude", self.exclude))] = False
        usable = int(choosable.sum())
        if not isinstance(wanted, int | np.integer) or isinstance(wanted, bool) or usable == 0 or wanted <= usable:
            return wanted  # what is wrong with it, subset_problem says
        excluded = self.terms_.n_features - usable - constant
        left_out = [
            f"{count} more are {how}" for count, how in ((constant, "constant"), (excluded, "excluded")) if count
        ]
        warnings.warn(
            f"Asked for {wanted} features, but the table has {usable} that can be chosen"
            + (f" ({', '.join(left_out)})" if left_out else "")
            + ": all of them are kept. Lower n_features_to_select to choose among them.",
            FewerFeaturesWarning,
            stacklevel=3,
        )
        return usable

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        counts = self.estimator in ("plugin", "auto")  # the others have no use for zeros left out
        tags.target_tags.required = True
        tags.target_tags.multi_output = True
        tags.input_tags.categorical = self.estimator != "gaussian_copula"
        tags.input_tags.string = self.estimator != "gaussian_copula"
        tags.input_tags.sparse = counts and self.correction != "shrinkage"
        declared = self.missing == "pairwise" or (counts and self.missing == "level")
        tags.input_tags.allow_nan = getattr(self, "_keeps_missing", declared)
        return tags
