"""SubsetSelectorCV: how many features a classifier or a regressor needs, and by which criterion, by splits."""

from __future__ import annotations

import os
import warnings
from copy import deepcopy
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone, is_classifier, is_regressor
from sklearn.model_selection import check_cv
from sklearn.utils import Tags, get_tags
from sklearn.utils.validation import column_or_1d

from certselect.criteria import find_criterion
from certselect.errors import CertselectWarning, IdleSettingWarning, InvalidInput, keyword, warn_user
from certselect.information import InformationTerms
from certselect.information.registry import find_measure, is_built_in
from certselect.names import find_name
from certselect.results.choosing import check_search, make_result
from certselect.results.size_choice import HONEST, PAPER, SizeChoice
from certselect.search.options import make_generator
from certselect.search.registry import find_strategy, is_auto
from certselect.search.select import select_by
from certselect.search.selection import INTERRUPTED
from certselect.selectors.checkpoint import Checkpoint
from certselect.selectors.delegation import Delegation, Routed
from certselect.selectors.fingerprint import fingerprint
from certselect.selectors.fold_scores import (
    SharedSearch,
    Split,
    SubsetSearch,
    Trials,
    fit_and_score,
    unsized_problem_by,
)
from certselect.selectors.fold_tables import (
    asked_sizes,
    check_split,
    sizes_to_try,
    values_and_labels,
    warn_of_larger_sizes,
)
from certselect.selectors.frame_selector import FrameSelector
from certselect.selectors.size_scores import StoppedEarly, best_of, check_scores, score_range
from certselect.settings import Reading, Settings
from certselect.settings.checks import flag
from certselect.settings.combinations import Combination, combine
from certselect.table import Table
from certselect.table.frames import take_cells
from certselect.table.series import names_of
from certselect.table.weights import weigh
from certselect.threads import on_jobs, thread_count


class OptimisticScoreWarning(CertselectWarning):
    """Scores come from features that were chosen with the test rows in sight."""


class SubsetSelectorCV(Delegation, FrameSelector, MetaEstimatorMixin, BaseEstimator):
    """Find how many features a classifier or a regressor needs, and keep the best subset of that size.

    In every split the columns are coded, measured and searched on the training rows
    alone; a clone of `estimator` learns from the chosen columns of these rows and is
    scored on the rows left out. The size with the best mean score wins (of equals the
    smallest), the subset of that size is chosen anew from all rows, and `estimator` is
    fitted on it. What is measured is measured once per split and serves every size.

    Lists of criteria, of codings and of other settings are tried in all combinations, in
    the same splits; combinations that measure alike share what is measured.

    Parameters
    ----------
    estimator : estimator
        The classifier or regressor to choose the size for. It sees the raw columns: of a
        data frame a frame of the same library, with its names and types.
    sizes : int, iterable of int, or None
        The sizes to try, or the largest one; None for 1 to 50.
    cv : int, splitter, iterable of splits, or None
        As everywhere in scikit-learn; None for 5 folds, stratified for a classifier.
        Grouped and time-series splitters work (pass `groups` to `fit`).
    scoring : str, callable or None
        None for accuracy (R^2 if `estimator` is a regressor). Splits in which it gives no
        number at all are left out, with a warning; so are sizes that lack a score in others.
    protocol : {"honest", "paper"}, default="honest"
        "paper" chooses the subsets once, from all rows, before it splits them, as the
        paper that COBRA comes from did. Its scores are too good: the test rows took
        part in the choice. For comparison only, with a warning.
    one_standard_error : bool, default=False
        Take the smallest size whose mean score is within one standard error (sample
        deviation over the splits / square root of their number) of the best mean of all;
        of several combinations that reach it at this size, the one with the higher mean
        there, of equals the first.
    criterion, measure, correction, discretize, bins : value, or list of values to try
        As for `SubsetSelector`; `strategy` too may be a list. The last setting's values change
        first; those that have no effect in a combination make no other one.
    beta, gamma, order, strategy_options, n_neighbors, task, target_bins, missing, integers, polish, include, exclude, \
feature_groups, costs, budget, max_shared
        As for `SubsetSelector`, but that `task="auto"` is regression if the estimator is a
        regressor. A size the training rows of a split do not allow, for columns that are
        constant in them, is replaced there by the next smaller one.
    strategy : str or list of str, default="auto"
        As for `SubsetSelector`. "forward", "relevance", "backward" and "qpfs" give all
        sizes by one run; the others search size by size, "cobra" from the last size's
        relaxation. "auto" is "cobra" with polish where the relaxations of all sizes take
        seconds together (270 columns for 50 sizes), else "forward" with polish.
    certify : bool or "tight", default=False
        Prove how far the final subset can be from the optimal one of its size.
    max_seconds : float, optional
        Time limit of each search: that for all sizes together in a split, with one combination of
        settings, and that for the final subset, where the bound shares it.
    device : {"auto", "cpu", "cuda"}, default="auto"
        Where relaxations are computed: "auto" takes a GPU where there is one (with CuPy) and the problem
        is large enough to gain.
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
    support_ : ndarray of bool (n_features,)
    indices_ : ndarray of int
        Kept columns, in order of choice where the strategy has one.
    cv_results_ : dict of arrays
        As of scikit-learn's RFECV, one entry for each size: "n_features",
        "mean_test_score", "std_test_score", and for each split "split0_test_score" and
        "split0_support", the columns chosen in it.
        Those of the combination of settings that was chosen.
    size_scores_ : SizeScores
        The same scores with their standard errors, and the subsets in order of choice.
    combination_scores_ : tuple of SizeScores
        The scores of every combination tried, each with its `settings`; NaN for sizes it
        does not allow. `result_.settings` has the settings chosen.
    estimator_ : estimator
        Fitted on the chosen columns of all rows.
    result_ : Result
        What was asked, found and proven, the scores included: to be saved, loaded, verified
        and explained.
    selection_ : Selection
    terms_ : InformationTerms
        Of all rows.
    n_features_in_ : int
    feature_names_in_ : ndarray of str
        Of a data frame only.
    classes_ : ndarray
        Of a classifier only.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> from certselect import SubsetSelectorCV
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> selector = SubsetSelectorCV(KNeighborsClassifier(), sizes=4, criterion="jmi").fit(X, y)
    >>> selector.cv_results_["mean_test_score"].round(2)
    array([0.76, 0.88, 0.69, 0.69])
    >>> list(selector.get_feature_names_out())
    ['flavanoids', 'color_intensity']
    >>> selector = selector.set_params(bins=[3, 5]).fit(X, y)
    >>> {scores.words: scores.mean.max().round(2).item() for scores in selector.combination_scores_}
    {'bins=3': 0.88, 'bins=5': 0.92}
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
        criterion: Any = "distinct",
        strategy: Any = "auto",
        strategy_options: dict[str, Any] | None = None,
        measure: Any = "auto",
        correction: Any = "chance",
        n_neighbors: int = 5,
        task: str = "auto",
        target_bins: int | str = "auto",
        missing: str = "auto",
        kinds: Any = None,
        discretize: Any = "quantile",
        bins: Any = "auto",
        integers: str = "auto",
        beta: float | None = None,
        gamma: float | None = None,
        relevance: Any = None,
        order: int = 2,
        polish: bool = False,
        certify: bool | str = False,
        max_seconds: float | None = None,
        device: str = "auto",
        include: Any = None,
        exclude: Any = None,
        feature_groups: Any = None,
        costs: Any = None,
        budget: float | None = None,
        max_shared: float | None = None,
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
        self.gamma = gamma
        self.relevance = relevance
        self.order = order
        self.polish = polish
        self.certify = certify
        self.max_seconds = max_seconds
        self.device = device
        self.include = include
        self.exclude = exclude
        self.feature_groups = feature_groups
        self.costs = costs
        self.budget = budget
        self.max_shared = max_shared
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
            where subsets are chosen; the estimator learns with it too if it takes weights.
            With scikit-learn's metadata routing enabled, the estimator, the scorer and the
            splitter get what they request, and subsets are chosen without weights after
            `set_fit_request(sample_weight=False)`.
        """
        params = {name: value for name, value in params.items() if value is not None}
        if "sample_weight" in params:
            params["sample_weight"] = np.asarray(params["sample_weight"])
        routed = self._routed("fit", params)
        combinations = self._combinations()
        X = self._in_memory(X)
        table = self._read(X, y, combinations[0].settings)
        library = self._take_frame(X, y)
        labels = column_or_1d(y, warn=True)
        return self._fit(table, Seen(self._values(X), labels, routed, library, names_of(y)), combinations)

    def fit_table(self, table: Table, target: tuple[str, ...] = (), reading: Reading | None = None) -> SubsetSelectorCV:
        """Choose and fit on a table with its target, as `read_file` gives it.

        `target` names its columns to predict and `reading` says how it was read, so that the result can be verified.
        """
        self.n_features_in_ = table.n_features
        self.feature_names_in_ = np.array(table.feature_names, dtype=object)
        self._keeps_missing = table.missing != "error"
        params = {} if table.weights is None else {"sample_weight": table.weights}
        values, labels = values_and_labels(table)
        routed, combinations = self._routed("fit", params), self._combinations()
        if reading is not None:
            combinations = [replace(each, settings=replace(each.settings, reading=reading)) for each in combinations]
        return self._fit(replace(table, weights=None), Seen(values, labels, routed, None, target), combinations)

    def _combinations(self) -> list[Combination]:
        """The settings to try, with a seed and with the task that the estimator is for."""
        combinations = combine(self._keywords())
        for each in combinations:
            check_search(each.settings.searching)
        first = combinations[0].settings
        seed, reading = first.searching.random_state, first.reading
        if reading.task == "auto" and is_regressor(self.estimator):
            reading = replace(reading, task="regression")
        if not isinstance(seed, int):
            # One seed for all: a generator would be in another state in every split and process.
            seed = int(make_generator(seed).integers(2**31))
        return [replace(each, settings=_settled(each.settings, reading, seed)) for each in combinations]

    def _fit(self, table: Table, seen: Seen, combinations: list[Combination]) -> SubsetSelectorCV:
        protocol = find_name("protocol", self.protocol, [HONEST, PAPER])
        flag("one_standard_error", self.one_standard_error)
        thread_count(self.n_jobs)  # refuses what is no number of cores
        asked = asked_sizes(self.sizes)
        groups = self._measured_alike(table, seen, combinations)
        terms = {number: group.terms for group in groups for number in group.combinations}
        problems = [unsized_problem_by(terms[i], each.settings) for i, each in enumerate(combinations)]
        allowed = [sizes_to_try(problem, asked) for problem in problems]
        sizes = sorted(set().union(*allowed))
        warn_of_larger_sizes(asked, max(problem.allowed_sizes[-1] for problem in problems))
        for problem, its_sizes in zip(problems, allowed, strict=True):
            for size in its_sizes:
                problem.of_size(size)  # says what is wrong with the settings, if anything is

        splits = self._splits(seen)
        if protocol == PAPER:
            warn_user(
                f"{keyword('protocol', 'paper')} chooses the features with the test rows in sight: its scores are "
                f"optimistic, on noise as well. Use the default {keyword('protocol', 'honest')} for scores that hold "
                "on new rows.",
                OptimisticScoreWarning,
            )
        trials = Trials(
            named=[each.named for each in combinations],
            sizes=sizes,
            tried=np.array([np.isin(sizes, its_sizes) for its_sizes in allowed]),
            splits=splits,
            searches=[group.searches(table, splits, protocol) for group in groups],
        )
        about = {} if self.checkpoint is None else fingerprint(self, table, seen.values, splits, sizes, seen.weights)
        pieces = trials.pieces(table.n_features, score_range(self._scoring))
        scores = trials.score(
            partial(fit_and_score, self.estimator, seen.values, seen.labels, self._scorer()),
            checkpoint=Checkpoint(self.checkpoint, about, pieces),
            n_jobs=self.n_jobs,
        )
        check_scores(scores, self._scoring, [split.test for split in splits], seen.labels)
        number, place = best_of(scores, one_standard_error=bool(self.one_standard_error))
        self.combination_scores_ = scores
        self.size_scores_ = scores[number]
        self.cv_results_ = scores[number].as_cv_results(table.n_features)
        self.n_features_ = int(sizes[place])
        settings = combinations[number].settings
        try:
            with on_jobs(self.n_jobs):
                problem = replace(problems[number], exactly=True).of_size(self.n_features_)
                selection = select_by(problem, settings.searching)
            origin = {"target": seen.target, "library": seen.library, "choice": self._choice(number, protocol)}
            rows = table if seen.weights is None else weigh(table, seen.weights)
            self._keep(make_result(settings, selection, terms[number], rows, **origin))
            if selection.status != INTERRUPTED:
                fitted: Any = clone(self.estimator)
                chosen = take_cells(seen.values, None, np.flatnonzero(self.support_))
                fitted.fit(chosen, seen.labels, **seen.routed.whole_fit_params)
                self.estimator_ = fitted
                return self
        except KeyboardInterrupt:
            pass
        raise StoppedEarly(scores)

    def _measured_alike(self, table: Table, seen: Seen, combinations: list[Combination]) -> list[_Group]:
        """The combinations by how they measure the table, each group with the terms of all rows."""
        numbers: list[list[int]] = []
        for number, each in enumerate(combinations):
            measuring = each.settings.measuring
            alike = [group for group in numbers if combinations[group[0]].settings.measuring == measuring]
            if alike:
                alike[0].append(number)
            else:
                numbers.append([number])
        groups = []
        for group in numbers:
            stated = tuple(_for_workers(combinations[number].settings) for number in group)
            # Processes share the cores among their threads by themselves.
            search = SubsetSearch(stated, seen.weights, n_jobs=1 if self.n_jobs == 1 else None)
            groups.append(_Group(group, search, search.measure(table)))
        return groups

    def _splits(self, seen: Seen) -> list[Split]:
        """The rows to learn from and to test on, also where they come as masks."""
        cv: Any = check_cv(self.cv, seen.labels, classifier=is_classifier(self.estimator))
        rows, routed = np.arange(len(seen.labels)), seen.routed
        splits = []
        for train, test in cv.split(seen.values, seen.labels, **routed.split_params):
            check_split(rows[train], rows[test])
            params = routed.fit_params(seen.values, rows[train]), routed.score_params(seen.values, rows[test])
            splits.append(Split(rows[train], rows[test], *params))
        if not splits:
            raise InvalidInput(
                f"{keyword('cv', self.cv)}, which gives no splits",
                "one split or more",
                "Pass a number such as 5, a splitter, or a list of (train, test); a generator gives its splits once.",
            )
        return splits

    def _choice(self, chosen: int, protocol: str) -> SizeChoice:
        """How the size and the settings were chosen, for the result."""
        return SizeChoice(
            estimator=str(self.estimator),
            scoring=str(self._scoring),
            protocol=protocol,
            one_standard_error=bool(self.one_standard_error),
            sizes=self.size_scores_.sizes,
            combinations=tuple(scores.as_tried() for scores in self.combination_scores_),
            chosen=chosen,
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


class Seen(NamedTuple):
    """What the estimator sees, and where it came from."""

    values: Any
    labels: np.ndarray
    routed: Routed
    library: str | None
    target: tuple[str, ...]

    @property
    def weights(self) -> np.ndarray | None:
        """How much each row counts where subsets are chosen."""
        return self.routed.own_weights


class _Group(NamedTuple):
    """Combinations, by their numbers, that measure a table alike, and the terms of all its rows."""

    combinations: list[int]
    search: SubsetSearch
    terms: InformationTerms

    def searches(self, table: Table, splits: list[Split], protocol: str) -> SharedSearch:
        if protocol == PAPER:
            return SharedSearch(self.combinations, [partial(self.search.choose, self.terms)])
        return SharedSearch(self.combinations, [partial(self.search.choose_in, table, split.train) for split in splits])


def _settled(settings: Settings, reading: Reading, seed: int) -> Settings:
    return replace(settings, reading=reading, searching=replace(settings.searching, random_state=seed))


def _for_workers(settings: Settings) -> Settings:
    """The settings with the records themselves in place of names, which other processes may not know."""
    searching = settings.searching
    strategy = searching.strategy if is_auto(searching.strategy) else find_strategy(searching.strategy)
    measuring, measure = settings.measuring, find_measure(settings.measuring.measure)
    if not is_built_in(measure):
        with warnings.catch_warnings():  # the user has been warned of idle settings
            warnings.simplefilter("ignore", IdleSettingWarning)
            measuring = replace(measuring, measure=measure)
    searching = replace(searching, criterion=find_criterion(searching.criterion), strategy=strategy)
    return replace(settings, measuring=measuring, searching=searching)
