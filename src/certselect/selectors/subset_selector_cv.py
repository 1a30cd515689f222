"""SubsetSelectorCV: how many features a classifier needs, by cross-validation."""

from __future__ import annotations

import os
import warnings
from copy import deepcopy
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone, is_classifier, is_regressor
from sklearn.model_selection import check_cv
from sklearn.utils import Tags, get_tags
from sklearn.utils.validation import column_or_1d, validate_data

from certselect.criteria import subset_problem
from certselect.errors import InvalidInput
from certselect.search import select
from certselect.search.options import make_generator
from certselect.search.selection import INTERRUPTED
from certselect.selectors.checkpoint import Checkpoint
from certselect.selectors.delegation import Delegation, Routed
from certselect.selectors.explaining import FrameSelector
from certselect.selectors.fingerprint import fingerprint
from certselect.selectors.fold_scores import Split, SubsetSearch, fit_and_score, score_sizes
from certselect.selectors.fold_tables import candidate_sizes, values_and_labels
from certselect.selectors.size_scores import StoppedEarly
from certselect.table import Table, read_table
from certselect.table.output import frame_library
from certselect.table.reading import keeps_missing

HONEST, PAPER = "honest", "paper"
_MEASURE = ("correction", "n_neighbors", "target_bins", "discretize", "bins", "integers")
_CONSTRAINTS = ("include", "exclude", "groups", "costs", "budget")


class OptimisticScoreWarning(UserWarning):
    """Scores come from features that were chosen with the test rows in sight."""


class SubsetSelectorCV(Delegation, FrameSelector, MetaEstimatorMixin, BaseEstimator):
    """Find how many features a classifier or a regressor needs, and keep the best subset of that size.

    In every split the columns are coded, measured and searched on the training rows
    alone; a clone of `estimator` learns from the chosen columns of these rows and is
    scored on the rows left out. The size with the best mean score wins (of equals the
    smallest), the subset of that size is chosen anew from all rows, and `estimator` is
    fitted on it. What is measured is measured once per split and serves every size.

    Parameters
    ----------
    estimator : estimator
        The classifier or regressor to choose the size for. It sees the raw columns.
    candidates : int, iterable of int, or None
        The sizes to try, or the largest one; None for 1 to 50.
    cv : int, splitter, iterable of splits, or None
        As everywhere in scikit-learn; None for 5 folds, stratified for a classifier.
        Grouped and time-series splitters work (pass `groups` to `fit`).
    scoring : str, callable or None
        None for accuracy (R^2 if `estimator` is a regressor).
    protocol : {"honest", "paper"}, default="honest"
        "paper" chooses the subsets once, from all rows, before it splits them, as the
        paper that COBRA comes from did. Its scores are too good: the test rows took
        part in the choice. For comparison only, with a warning.
    one_standard_error : bool, default=False
        Take the smallest size whose mean score is within one standard error (sample
        deviation over the splits / square root of their number) of the best.
    information : {"plugin", "gaussian_copula", "neighbors", "auto"}, default="plugin"
        How information is measured: what `SubsetSelector` calls its estimator.
    criterion, correction, n_neighbors, task, target_bins, missing, discretize, bins, integers, beta, polish, \
include, exclude, groups, costs, budget
        As for `SubsetSelector`, but that `task="auto"` is regression if the estimator is a
        regressor; `groups` are groups of features. A size the training
        rows of a split do not allow, for columns that are constant in them, is
        replaced there by the next smaller one.
    strategy : str, default="forward"
        As for `SubsetSelector`. "forward", "relevance", "backward" and "qpfs" give all
        sizes by one run; the others search size by size, "cobra" from the last size's
        relaxation.
    certify : bool or "tight", default=False
        Prove how far the final subset can be from the best of its size.
    max_seconds : float, optional
        Time limit of the strategies "exact" and "cobra", for each size.
    checkpoint : path, optional
        File that keeps every finished score. A run that was stopped or killed goes on
        from it and comes to the same answer; one with other data or settings refuses it.
    random_state : int, Generator or None
        Seed of the random strategies.
    n_jobs : int, optional
        Processes to share splits and sizes among; one if None. The answer does not
        depend on it.

    Attributes
    ----------
    n_features_ : int
        The size chosen.
    support_ : ndarray of bool (n_features_in_,)
    indices_ : ndarray of int
        Kept columns, in order of choice where the strategy has one.
    cv_results_ : dict of arrays
        As of scikit-learn's RFECV, one entry for each size: "n_features",
        "mean_test_score", "std_test_score", and for each split "split0_test_score" and
        "split0_support", the columns chosen in it.
    size_scores_ : SizeScores
        The same scores with their standard errors, and the subsets in order of choice.
    estimator_ : estimator
        Fitted on the chosen columns of all rows.
    selection_ : Selection
    terms_ : InformationTerms
        Of all rows.
    n_features_in_, feature_names_in_, classes_

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> from certselect import SubsetSelectorCV
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> selector = SubsetSelectorCV(KNeighborsClassifier(), candidates=4).fit(X, y)
    >>> selector.cv_results_["mean_test_score"].round(2)
    array([0.76, 0.9 , 0.73, 0.73])
    >>> list(selector.get_feature_names_out())
    ['flavanoids', 'color_intensity']
    """

    def __init__(
        self,
        estimator: Any,
        candidates: Any = None,
        cv: Any = None,
        scoring: Any = None,
        protocol: str = HONEST,
        *,
        one_standard_error: bool = False,
        criterion: str = "jmi",
        strategy: str = "forward",
        information: str = "plugin",
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
        checkpoint: str | os.PathLike[str] | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.estimator = estimator
        self.candidates = candidates
        self.cv = cv
        self.scoring = scoring
        self.protocol = protocol
        self.one_standard_error = one_standard_error
        self.criterion = criterion
        self.strategy = strategy
        self.information = information
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
        self.checkpoint = checkpoint
        self.random_state = random_state
        self.n_jobs = n_jobs

    # Rows are weighed where subsets are chosen, so it is metadata of this selector's own.
    __metadata_request__fit = {"sample_weight": None}  # noqa: RUF012

    def fit(self, X: Any, y: Any, **params: Any) -> SubsetSelectorCV:
        """Choose the size and the features, and fit the estimator on them.

        Ctrl-C raises a `KeyboardInterrupt` that has the scores so far (`so_far`); with a
        `checkpoint` the next call goes on from there.

        Parameters
        ----------
        X : array, sparse matrix or data frame (n_samples, n_features)
        y : array-like (n_samples,)
            The class of each sample, or a number.
        **params
            `groups` of samples, for the splitter. `sample_weight`, how much each row counts
            where subsets are chosen; the estimator learns with it too if it takes weights,
            or, with scikit-learn's metadata routing enabled, if it requests them. With
            routing, also whatever else the estimator, the scorer and the splitter request.
        """
        params = {name: value for name, value in params.items() if value is not None}
        sample_weight = params.get("sample_weight")
        if sample_weight is not None:
            params["sample_weight"] = sample_weight = np.asarray(sample_weight)
        routed = self._routed("fit", params)
        task = "regression" if self.task == "auto" and is_regressor(self.estimator) else self.task
        table = read_table(X, y, task=task, missing=self.missing)
        validate_data(self, X=X, y=y, skip_check_array=True)
        self._library = frame_library(X)
        self._keeps_missing = keeps_missing(self.missing, X)
        return self._fit(table, self._values(X), column_or_1d(y, warn=True), routed, sample_weight)

    def fit_table(self, table: Table) -> SubsetSelectorCV:
        """Choose and fit on a table with its target, as `read_file` gives it."""
        self.n_features_in_ = table.n_features
        self.feature_names_in_ = np.array(table.feature_names, dtype=object)
        self._library = None
        self._keeps_missing = table.missing != "error"
        params = {} if table.weights is None else {"sample_weight": table.weights}
        unweighted = replace(table, weights=None)
        return self._fit(unweighted, *values_and_labels(table), self._routed("fit", params), table.weights)

    def _fit(
        self, table: Table, values: Any, labels: np.ndarray, routed: Routed, sample_weight: np.ndarray | None
    ) -> SubsetSelectorCV:
        if self.protocol not in (HONEST, PAPER):
            raise InvalidInput(f"protocol={self.protocol!r}", f"{HONEST!r} or {PAPER!r}", f"Use {HONEST!r}.")
        search, seed = self._search(sample_weight)
        self.terms_ = search.measure(table)
        sizes = candidate_sizes(self.terms_, self.candidates, search.constraints)

        cv: Any = check_cv(self.cv, labels, classifier=is_classifier(self.estimator))
        splits = [
            Split(train, test, routed.fit_params(values, train), routed.score_params(values, test))
            for train, test in _in_indices(cv.split(values, labels, **routed.split_params), len(labels))
        ]
        if self.protocol == PAPER:
            warnings.warn(
                "protocol='paper' chooses the features with the test rows in sight: its scores are optimistic, on "
                "noise as well. Use the default protocol='honest' for scores that hold on new rows.",
                OptimisticScoreWarning,
                stacklevel=3,
            )
            searches = [partial(search.choose, self.terms_)]
        else:
            searches = [partial(search.choose_in, table, split.train) for split in splits]
        about = {} if self.checkpoint is None else fingerprint(self, table, values, splits, sizes, sample_weight)
        scores = score_sizes(
            sizes,
            splits,
            searches,
            partial(fit_and_score, self.estimator, values, labels, self._scorer()),
            checkpoint=Checkpoint(self.checkpoint, about),
            n_jobs=self.n_jobs,
        )
        self.size_scores_ = scores
        self.cv_results_ = scores.as_cv_results(self.terms_.n_features)
        self.n_features_ = int(scores.sizes[scores.best(one_standard_error=self.one_standard_error)])
        self._keep_best_of_size(search, seed)
        if self.selection_.status == INTERRUPTED:
            raise StoppedEarly(scores)
        self.estimator_ = clone(self.estimator)
        self.estimator_.fit(values[:, self.support_], labels, **routed.whole_fit_params)
        return self

    def _search(self, sample_weight: np.ndarray | None) -> tuple[SubsetSearch, int]:
        # One seed for all: a generator would be in another state in every split and process.
        seed = self.random_state
        if not isinstance(seed, int | np.integer):
            seed = int(make_generator(seed).integers(2**31))
        options = {name: getattr(self, name) for name in ("criterion", "strategy", "beta", "polish")}
        limit = {} if self.max_seconds is None else {"max_seconds": self.max_seconds}
        measure = {"estimator": self.information} | {name: getattr(self, name) for name in _MEASURE}
        return SubsetSearch(
            # Processes share the cores among their threads by themselves.
            measuring=measure | {"n_jobs": 1 if self.n_jobs == 1 else None},
            sample_weight=sample_weight,
            constraints={name: getattr(self, name) for name in _CONSTRAINTS},
            options=options | limit | {"random_state": seed},
        ), int(seed)

    def _keep_best_of_size(self, search: SubsetSearch, seed: int) -> None:
        self._stated: dict[str, Any] = {"k": self.n_features_, "criterion": self.criterion, "beta": self.beta}
        self._stated.update(search.constraints)
        problem = subset_problem(self.terms_, **self._stated)
        limit = {} if self.max_seconds is None else {"max_seconds": self.max_seconds}
        self.selection_ = select(
            problem, self.strategy, random_state=seed, polish=self.polish, certify=self.certify, **limit
        )
        self.indices_ = self.selection_.indices
        self.support_ = np.zeros(self.terms_.n_features, dtype=bool)
        self.support_[self.indices_] = True

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        inner = get_tags(self.estimator)
        tags.estimator_type = inner.estimator_type
        tags.classifier_tags = deepcopy(inner.classifier_tags)
        tags.regressor_tags = deepcopy(inner.regressor_tags)
        if tags.classifier_tags is not None:
            tags.classifier_tags.multi_label = False
        tags.target_tags.required = True
        tags.input_tags.categorical = inner.input_tags.categorical
        tags.input_tags.string = inner.input_tags.string
        counts = self.information in ("plugin", "auto")
        tags.input_tags.sparse = inner.input_tags.sparse and counts and self.correction != "shrinkage"
        declared = self.missing == "pairwise" or (counts and self.missing == "level")
        tags.input_tags.allow_nan = inner.input_tags.allow_nan and getattr(self, "_keeps_missing", declared)
        return tags


def _in_indices(splits: Any, n_samples: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """The splits, also where they come as masks."""
    rows = np.arange(n_samples)
    return [(rows[train], rows[test]) for train, test in splits]
