"""SubsetSelectorCV: how many features a classifier or a regressor needs, by cross-validation."""

from __future__ import annotations

import os
from copy import deepcopy
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone, is_classifier, is_regressor
from sklearn.model_selection import check_cv
from sklearn.utils import Tags, get_tags
from sklearn.utils.validation import column_or_1d

from certselect.criteria import find_criterion
from certselect.errors import warn_user
from certselect.names import find_name
from certselect.results.choosing import check_search, make_result
from certselect.results.size_choice import HONEST, PAPER, SizeChoice
from certselect.search.options import make_generator
from certselect.search.registry import find_strategy, is_auto
from certselect.search.select import select_by
from certselect.search.selection import INTERRUPTED
from certselect.selectors.checkpoint import Checkpoint, Pieces
from certselect.selectors.delegation import Delegation, Routed
from certselect.selectors.fingerprint import fingerprint
from certselect.selectors.fold_scores import Split, SubsetSearch, fit_and_score, score_sizes
from certselect.selectors.fold_tables import sizes_to_try, values_and_labels
from certselect.selectors.frame_selector import FrameSelector
from certselect.selectors.size_scores import SizeScores, StoppedEarly, score_range
from certselect.settings import Reading, Settings
from certselect.settings.checks import flag
from certselect.table import Table
from certselect.table.series import names_of
from certselect.threads import thread_count


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
    sizes : int, iterable of int, or None
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
    criterion, beta, strategy_options, measure, correction, n_neighbors, task, target_bins, missing, discretize, \
bins, integers, polish, include, exclude, feature_groups, costs, budget
        As for `SubsetSelector`, but that `task="auto"` is regression if the estimator is a
        regressor. A size the training rows of a split do not allow, for columns that are
        constant in them, is replaced there by the next smaller one.
    strategy : str, default="auto"
        As for `SubsetSelector`. "forward", "relevance", "backward" and "qpfs" give all
        sizes by one run; the others search size by size, "cobra" from the last size's
        relaxation. "auto" is "cobra" with polish where the relaxations of all sizes take
        seconds together (270 columns for 50 sizes), else "forward" with polish.
    certify : bool or "tight", default=False
        Prove how far the final subset can be from the optimal one of its size.
    max_seconds : float, optional
        Time limit of the strategies "exact" and "cobra", for each size.
    checkpoint : path, optional
        File that keeps every finished score. A run that was stopped or killed goes on
        from it and comes to the same answer; one with other data or settings refuses it.
    random_state : int, Generator or None
        Seed of the random strategies.
    n_jobs : int, optional
        How many cores to use; all if None. A number above 1, or -1, shares splits and sizes
        among as many processes; None leaves the cores to the threads that measure
        information. The answer does not depend on it.

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
    result_ : Result
        What was asked, found and proven, the scores included: to be saved, loaded, verified
        and explained.
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
    >>> selector = SubsetSelectorCV(KNeighborsClassifier(), sizes=4).fit(X, y)
    >>> selector.cv_results_["mean_test_score"].round(2)
    array([0.76, 0.9 , 0.73, 0.73])
    >>> list(selector.get_feature_names_out())
    ['flavanoids', 'color_intensity']
    """

    def __init__(
        self,
        estimator: Any,
        sizes: Any = None,
        cv: Any = None,
        scoring: Any = None,
        protocol: str = HONEST,
        *,
        one_standard_error: bool = False,
        criterion: Any = "jmi",
        strategy: str = "auto",
        strategy_options: dict[str, Any] | None = None,
        measure: str = "plugin",
        correction: str = "none",
        n_neighbors: int = 5,
        task: str = "auto",
        target_bins: int | str = "auto",
        missing: str = "auto",
        kinds: Any = None,
        discretize: str = "quantile",
        bins: int | str = "auto",
        integers: str = "auto",
        beta: float | None = None,
        polish: bool = False,
        certify: bool | str = False,
        max_seconds: float | None = None,
        include: Any = None,
        exclude: Any = None,
        feature_groups: Any = None,
        costs: Any = None,
        budget: float | None = None,
        copies: str = "first",
        checkpoint: str | os.PathLike[str] | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.estimator = estimator
        self.sizes = sizes
        self.cv = cv
        self.scoring = scoring
        self.protocol = protocol
        self.one_standard_error = one_standard_error
        self.criterion = criterion
        self.strategy = strategy
        self.strategy_options = strategy_options
        self.measure = measure
        self.correction = correction
        self.n_neighbors = n_neighbors
        self.task = task
        self.target_bins = target_bins
        self.missing = missing
        self.kinds = kinds
        self.discretize = discretize
        self.bins = bins
        self.integers = integers
        self.beta = beta
        self.polish = polish
        self.certify = certify
        self.max_seconds = max_seconds
        self.include = include
        self.exclude = exclude
        self.feature_groups = feature_groups
        self.costs = costs
        self.budget = budget
        self.copies = copies
        self.checkpoint = checkpoint
        self.random_state = random_state
        self.n_jobs = n_jobs

    # Rows are weighed where subsets are chosen, so it is metadata of this selector's own.
    __metadata_request__fit = {"sample_weight": None}  # noqa: RUF012

    def fit(self, X: Any, y: Any, **params: Any) -> SubsetSelectorCV:
        """Choose the size and the features, and fit the estimator on them.

        Ctrl-C, while sizes are scored or afterwards, raises a `KeyboardInterrupt` that has
        the scores so far (`so_far`); with a `checkpoint` the next call goes on from there.

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
        settings = self._resolved_settings()
        table = self._read(X, y, settings)
        library = self._take_frame(X, y)
        labels = column_or_1d(y, warn=True)
        return self._fit(table, self._values(X), labels, routed, sample_weight, settings, library, names_of(y))

    def fit_table(self, table: Table, target: tuple[str, ...] = (), reading: Reading | None = None) -> SubsetSelectorCV:
        """Choose and fit on a table with its target, as `read_file` gives it.

        `target` names its columns to predict and `reading` says how it was read, so that the result can be verified.
        """
        self.n_features_in_ = table.n_features
        self.feature_names_in_ = np.array(table.feature_names, dtype=object)
        self._keeps_missing = table.missing != "error"
        params = {} if table.weights is None else {"sample_weight": table.weights}
        values, labels = values_and_labels(table)
        routed, settings = self._routed("fit", params), self._resolved_settings()
        if reading is not None:
            settings = replace(settings, reading=reading)
        self._fit(replace(table, weights=None), values, labels, routed, table.weights, settings, None, target)
        return self

    def _resolved_settings(self) -> Settings:
        """The settings, with a seed and with the task that the estimator is for."""
        settings = self._settings()
        check_search(settings.searching)
        reading, searching = settings.reading, settings.searching
        if reading.task == "auto" and is_regressor(self.estimator):
            reading = replace(reading, task="regression")
        if not isinstance(searching.random_state, int):
            # One seed for all: a generator would be in another state in every split and process.
            seed = int(make_generator(searching.random_state).integers(2**31))
            searching = replace(searching, random_state=seed)
        return replace(settings, reading=reading, searching=searching)

    def _fit(
        self,
        table: Table,
        values: Any,
        labels: np.ndarray,
        routed: Routed,
        sample_weight: np.ndarray | None,
        settings: Settings,
        library: str | None,
        target: tuple[str, ...] = (),
    ) -> SubsetSelectorCV:
        protocol = find_name("protocol", self.protocol, [HONEST, PAPER])
        flag("one_standard_error", self.one_standard_error)
        thread_count(self.n_jobs)  # refuses what is no number of cores
        # Processes share the cores among their threads by themselves.
        search = SubsetSearch(_for_workers(settings), sample_weight, n_jobs=1 if self.n_jobs == 1 else None)
        terms = search.measure(table)
        whole = search.problem(terms)
        sizes = sizes_to_try(whole, self.sizes)

        cv: Any = check_cv(self.cv, labels, classifier=is_classifier(self.estimator))
        splits = [
            Split(train, test, routed.fit_params(values, train), routed.score_params(values, test))
            for train, test in _in_indices(cv.split(values, labels, **routed.split_params), len(labels))
        ]
        if protocol == PAPER:
            warn_user(
                "protocol='paper' chooses the features with the test rows in sight: its scores are optimistic, on "
                "noise as well. Use the default protocol='honest' for scores that hold on new rows.",
                OptimisticScoreWarning,
            )
            searches = [partial(search.choose, terms)]
        else:
            searches = [partial(search.choose_in, table, split.train) for split in splits]
        about = {} if self.checkpoint is None else fingerprint(self, table, values, splits, sizes, sample_weight)
        pieces = Pieces(len(searches), len(splits), sizes, terms.n_features, score_range(self._scoring))
        scores = score_sizes(
            sizes,
            splits,
            searches,
            partial(fit_and_score, self.estimator, values, labels, self._scorer()),
            checkpoint=Checkpoint(self.checkpoint, about, pieces),
            n_jobs=self.n_jobs,
        )
        self.size_scores_ = scores
        self.cv_results_ = scores.as_cv_results(terms.n_features)
        self.n_features_ = int(scores.sizes[scores.best(one_standard_error=self.one_standard_error)])
        try:
            selection = select_by(whole.of_size(self.n_features_), settings.searching)
            choice = self._choice(scores, protocol)
            self._keep(make_result(settings, selection, terms, target=target, library=library, choice=choice))
            if selection.status != INTERRUPTED:
                fitted: Any = clone(self.estimator)
                fitted.fit(values[:, self.support_], labels, **routed.whole_fit_params)
                self.estimator_ = fitted
                return self
        except KeyboardInterrupt:
            pass
        raise StoppedEarly(scores)

    def _choice(self, scores: SizeScores, protocol: str) -> SizeChoice:
        """How the size was chosen, for the result."""
        return SizeChoice(
            estimator=str(self.estimator),
            scoring=str(self._scoring),
            protocol=protocol,
            one_standard_error=bool(self.one_standard_error),
            sizes=scores.sizes,
            split_scores=scores.scores,
            mean_scores=scores.mean,
            standard_errors=scores.standard_error,
        )

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        self._add_input_tags(tags)
        inner = get_tags(self.estimator)
        tags.estimator_type = inner.estimator_type
        tags.classifier_tags = deepcopy(inner.classifier_tags)
        tags.regressor_tags = deepcopy(inner.regressor_tags)
        if tags.classifier_tags is not None:
            tags.classifier_tags.multi_label = False
        tags.input_tags.categorical = inner.input_tags.categorical
        tags.input_tags.string = inner.input_tags.string
        tags.input_tags.sparse = inner.input_tags.sparse and tags.input_tags.sparse
        tags.input_tags.allow_nan = inner.input_tags.allow_nan and tags.input_tags.allow_nan
        return tags


def _for_workers(settings: Settings) -> Settings:
    """The settings with the criterion and the strategy themselves: other processes may not know their names."""
    searching = settings.searching
    strategy = searching.strategy if is_auto(searching.strategy) else find_strategy(searching.strategy)
    return replace(
        settings, searching=replace(searching, criterion=find_criterion(searching.criterion), strategy=strategy)
    )


def _in_indices(splits: Any, n_samples: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """The splits, also where they come as masks."""
    rows = np.arange(n_samples)
    return [(rows[train], rows[test]) for train, test in splits]
