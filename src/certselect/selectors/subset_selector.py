"""SubsetSelector: the whole flow behind scikit-learn's interface."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted, validate_data

from certselect.criteria import find_features, subset_problem
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
        problem = subset_problem(
            self.terms_,
            self._usable_size(),
            self.criterion,
            beta=self.beta,
            include=self.include,
            exclude=self.exclude,
            groups=self.groups,
            costs=self.costs,
            budget=self.budget,
        )
        limit = {} if self.max_seconds is None else {"max_seconds": self.max_seconds}
        self.selection_ = select(
            problem, self.strategy, random_state=self.random_state, polish=self.polish, certify=self.certify, **limit
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

    def _get_support_mask(self) -> Any:
        check_is_fitted(self)
        return self.support_

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags
