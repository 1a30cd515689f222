"""SubsetSelector: the whole flow behind scikit-learn's interface."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted, validate_data

from certselect.criteria import subset_problem
from certselect.errors import FewerFeaturesWarning
from certselect.information import information_terms
from certselect.search import select
from certselect.table import read_table


class SubsetSelector(SelectorMixin, BaseEstimator):
    """Keep the k features that together say most about the class.

    Codes the columns, measures mutual information from exact counts, and
    searches for the subset of `n_features_to_select` features with the largest
    value of the criterion.

    Parameters
    ----------
    n_features_to_select : int, default=10
        How many features to keep. A table with fewer usable features keeps them
        all, with a warning.
    criterion : {"jmi", "mrmr", "mifs", "d1", "cife", "max_relevance"}, default="jmi"
        What a subset is worth.
    strategy : {"auto", "cobra", "forward", "relevance", "backward", "floating", "exhaustive", "annealing", \
"genetic", "qpfs", "soss"}, \
default="auto"
        How the subset is searched for. "auto" is "cobra" with polish for up to
        1000 usable features, else "forward" with polish and a warning.
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
    certify : bool, default=False
        Prove how far the answer can be from the best: fills `upper_bound_` and
        `gap_`. "cobra" always does.
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
        No subset of that size is worth more than the bound, and so none is more
        than `gap_` (a fraction) above this one; NaN if not asked for.
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
        n_features_to_select: int = 10,
        *,
        criterion: str = "jmi",
        strategy: str = "auto",
        discretize: str = "uniform",
        bins: int | str = 5,
        integers: str = "levels",
        beta: float | None = None,
        polish: bool = False,
        certify: bool = False,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.criterion = criterion
        self.strategy = strategy
        self.discretize = discretize
        self.bins = bins
        self.integers = integers
        self.beta = beta
        self.polish = polish
        self.certify = certify
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any) -> SubsetSelector:
        """Choose the features.

        Parameters
        ----------
        X : array or data frame (n_samples, n_features)
        y : array-like (n_samples,)
            The class of each sample.
        """
        # Names and number of columns as scikit-learn records them; the table room reads the values.
        validate_data(self, X=X, y=y, skip_check_array=True)
        table = read_table(X, y)
        self.terms_ = information_terms(
            table, discretize=self.discretize, bins=self.bins, integers=self.integers, n_jobs=self.n_jobs
        )
        problem = subset_problem(self.terms_, self._usable_size(), self.criterion, beta=self.beta)
        self.selection_ = select(
            problem, self.strategy, random_state=self.random_state, polish=self.polish, certify=self.certify
        )
        self.indices_ = self.selection_.indices
        self.support_ = np.zeros(self.terms_.n_features, dtype=bool)
        self.support_[self.indices_] = True
        self.objective_ = self.selection_.objective
        self.upper_bound_ = self.selection_.upper_bound
        self.gap_ = self.selection_.gap
        return self

    def _usable_size(self) -> int:
        wanted = self.n_features_to_select
        usable = int((~self.terms_.constant).sum())
        if not isinstance(wanted, int | np.integer) or isinstance(wanted, bool) or usable == 0 or wanted <= usable:
            return wanted  # what is wrong with it, subset_problem says
        constant = self.terms_.n_features - usable
        warnings.warn(
            f"Asked for {wanted} features, but the table has {usable} that can be chosen"
            + (f" ({constant} more are constant)" if constant else "")
            + ": all of them are kept. Lower n_features_to_select to choose among them.",
            FewerFeaturesWarning,
            stacklevel=3,
        )
        return usable

    def _get_support_mask(self) -> Any:
        check_is_fitted(self)
        return self.support_

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags
