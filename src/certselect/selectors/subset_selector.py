"""SubsetSelector: the whole flow behind scikit-learn's interface."""

from __future__ import annotations

from typing import Any

from sklearn.base import BaseEstimator
from sklearn.utils import Tags

from certselect.clock import Stopwatch
from certselect.errors import InterruptedWarning, warn_user
from certselect.information.registry import all_support
from certselect.results.choosing import check_search, choose
from certselect.results.size_rule import asked_size
from certselect.search.selection import INTERRUPTED
from certselect.selectors.frame_selector import FrameSelector
from certselect.settings import Settings
from certselect.table.series import names_of


class SubsetSelector(FrameSelector, BaseEstimator):
    """Keep the k features that together carry most information about the target.

    Measures mutual information, by default from exact counts of the discretised columns,
    and searches for the subset of `n_features_to_select` features with the largest
    value of the criterion. Columns may be numbers, categories, strings and bools, with
    missing values or sparse; the target class labels, numbers, or several columns of either.

    Parameters
    ----------
    n_features_to_select : int, float, "auto" or None, default=10
        How many features to keep. A table with fewer usable features keeps them
        all, with a warning. A fraction between 0 and 1 keeps that share of the usable
        columns, one at least. "auto" keeps the fewest that carry nearly as much information as the
        best number along forward selection does, and at most half of more than 20 usable columns;
        `result_.size_rule.statement` shows how the number came about. None, with a budget,
        for any number it pays for.
    criterion : str or Criterion, default="distinct"
        What a subset is worth: "distinct", "jmi", "mrmr", "disr", "cmim", ...; `certselect.list_criteria()` lists them
        with their formulas. "cmim", "jmim", "njmim", "cmi" and "miq" are no sums over pairs and have no bounds.
    strategy : str or Strategy, default="auto"
        How the subset is searched for; `certselect.list_strategies()` lists them with what they do.
        "auto" is "cobra" with polish for up to 1000 usable features, else "forward" with
        polish and a warning; "forward" for criteria without bounds.
    strategy_options : dict, optional
        The strategy's own options, such as {"draws": 500} for "cobra".
    measure : {"auto", "plugin", "mixed", "gaussian_copula", "neighbors"}, default="auto"
        How mutual information is estimated: by counting levels (the plug-in estimate), from
        ranks, by distances to nearest neighbours, or what suits the table, which
        `terms_.picked` then names. See `information_terms`.
    correction : {"none", "miller_madow", "grassberger", "shrinkage", "chance"}, default="chance"
        Bias correction for counts of few samples; "chance" subtracts what shuffled columns would have.
    n_neighbors : int, default=5
        Number of neighbours for the measure "neighbors".
    task : {"auto", "classification", "regression"}, default="auto"
        "auto": a target of whole numbers is treated as classes, unless there are more than 20 of
        them in fewer than 5 rows each.
    target_bins : int or "auto", default="auto"
        Bins of equal counts into which counting cuts a target of numbers.
    missing : {"auto", "error", "level", "pairwise"}, default="auto"
        What becomes of missing values: refused, a level of their own, or each term is
        estimated from the rows that have its columns. "auto" is "error" for arrays;
        for data frames "level" where levels are counted, "pairwise" for the other measures.
    kinds : mapping from columns to {"number", "levels", "skip"}, optional
        What a column is, where it would be taken for something else: {"zip": "levels", "id": "skip"}.
        Columns whose values only tell one row from another are left out with a warning,
        unless they are named here or in `include`.
    discretize : {"quantile", "uniform", "mean_std", "mdlp"}, default="quantile"
        How numbers become levels: bins of equal counts, of equal width, three at mean +- standard
        deviation, or cuts chosen by the classes.
    bins : int or {"auto", "sturges", "freedman_diaconis", "sqrt"}, default="auto"
        Number of levels for "uniform" and "quantile". "auto" is 3 to 5, more for more rows.
    integers : {"auto", "levels", "numbers"}, default="auto"
        Whether integer columns are levels already, or numbers to be discretised. "auto": levels
        up to 10 different values.
    beta : float, optional
        Weight of the redundancy in "mifs" and "linear".
    gamma : float, optional
        Weight of the conditional redundancy in "linear".
    relevance : sequence or mapping of numbers, optional
        Relevance from elsewhere, such as importances of a forest: a score of 0 or more for each column, in their
        order or by name, in place of the measured relevance. Scaled to the same sum.
    order : {2, 3}, default=2
        Of the expansions "jmi" and "d1": pairs, or triples as well, which takes k(k-1)/2 counts of all
        columns in place of k; by "forward" or "floating", without bounds.
    polish : bool, default=False
        Try to improve the subset by exchanging one feature at a time.
    certify : bool or "tight", default=False
        Prove how far the subset can be from the optimal one: fills `upper_bound_` and
        `gap_`. "cobra" always does. "tight" takes up to a minute and proves as much as it
        can, often that the subset is optimal.
    max_seconds : float, optional
        Time limit of `fit`, whatever the strategy: the answer is then the best subset found so far,
        with the bound proven so far if there is to be one; `selection_.out_of_time` says so. Reading and
        measuring the table count, and are always finished.
    device : {"auto", "cpu", "cuda"}, default="auto"
        Where relaxations are computed: "auto" takes a GPU where there is one (with CuPy) and the problem
        is large enough to gain.
    include, exclude : list of str or int, optional
        Features that are always kept, and never: names of the data frame's
        columns ("x0", "x1", ... for an array) or column indices.
    feature_groups : list of lists, or mapping, optional
        Groups of features that are kept whole or not at all. A mapping may have two
        keys, "all_or_none" for such groups and "at_most_one" for groups of which at most one
        member is kept.
    costs : mapping from features to numbers, or one number per column, optional
        What each feature costs; 0 for those not in the mapping.
    budget : float, optional
        What the kept features may cost in total.
    max_shared : float, optional
        How much of its information a kept feature may share with another kept one, 0 to 1:
        I(Xi;Xj) / min(H(Xi), H(Xj)).
    copies : {"first", "all"}, default="first"
        Of columns that say the same, such as a weight in two units, whether one can be kept
        (the first, or the cheapest) or all of them.
    random_state : int, Generator or None
        Seed of the random strategies.
    n_jobs : int, optional
        How many cores to use, for linear algebra too; if None, those that other programs leave free.
        The answer does not depend on it.

    Attributes
    ----------
    support_ : ndarray of bool (n_features,)
    indices_ : ndarray of int
        Kept columns, in order of choice where the strategy has one.
    objective_ : float
        Value of the subset (nats).
    upper_bound_, gap_ : float
        No allowed subset of that size is worth more than the bound, and so none is
        more than `gap_` (a fraction) above this one; NaN if not asked for.
    result_ : Result
        What was asked, found and proven: to be saved, loaded, verified and explained.
    selection_ : Selection
    terms_ : InformationTerms
    n_features_in_ : int
    feature_names_in_ : ndarray of str
        Of a data frame only.

    Notes
    -----
    A pickled selector carries what `transform` and `result_` need and not the table: some
    100 kB after a fit on 2000 x 500.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from certselect import SubsetSelector
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> selector = SubsetSelector(n_features_to_select=2, criterion="jmi").fit(X, y)
    >>> list(selector.get_feature_names_out())
    ['petal length (cm)', 'petal width (cm)']
    """

    def __init__(
        self,
        n_features_to_select: int | float | str | None = 10,
        *,
        criterion: Any = "distinct",
        strategy: str = "auto",
        strategy_options: dict[str, Any] | None = None,
        measure: str = "auto",
        correction: str = "chance",
        n_neighbors: int = 5,
        task: str = "auto",
        target_bins: int | str = "auto",
        missing: str = "auto",
        kinds: Any = None,
        discretize: str = "quantile",
        bins: int | str = "auto",
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
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_features_to_select = n_features_to_select
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
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> SubsetSelector:
        """Choose the features.

        Ctrl-C ends the search early with the best subset found so far, `selection_.status`
        "interrupted" and a warning.

        Parameters
        ----------
        X : array, sparse matrix or data frame (n_samples, n_features)
        y : array-like (n_samples,) or (n_samples, n_targets)
            The class of each sample, or a number, or several of either.
        sample_weight : array-like (n_samples,), optional
            How much each row counts: whole numbers stand for repeated rows.
        """
        settings = Settings.from_keywords(self._keywords())
        check_search(settings.searching)
        size = asked_size(self.n_features_to_select)
        watch = Stopwatch()
        X = self._in_memory(X)
        table = self._read(X, y, settings, sample_weight)
        seconds = {"reading": watch.seconds}
        origin = {"target": names_of(y), "library": self._take_frame(X, y), "seconds": seconds}
        self._keep(choose(table, size, settings, n_jobs=self.n_jobs, **origin))
        found = self.selection_
        self.objective_, self.upper_bound_, self.gap_ = found.objective, found.upper_bound, found.gap
        if found.status == INTERRUPTED:
            warn_user(
                "Ctrl-C ended the search early: the selector keeps the best subset found until then, and whatever "
                "comes next goes on with it. Fit again for a complete search.",
                InterruptedWarning,
            )
        return self

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        self._add_input_tags(tags)
        tags.target_tags.multi_output = True
        tags.input_tags.categorical = tags.input_tags.string = all_support([self.measure], "words")
        return tags
