"""Would another sample of the same data give the same features?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from certselect.criteria.problem import SubsetProblem, unsized_problem
from certselect.criteria.statements import for_part_of_rows
from certselect.errors import IdleSettingWarning, InvalidInput, keyword, warn_user
from certselect.evaluation.stability_index import StabilityIndex, stability_index, unknown_stability
from certselect.information import measure_table
from certselect.names import find_name
from certselect.progress import report
from certselect.search.options import check_count, make_generator
from certselect.search.select import select_by, settle
from certselect.search.selection import COMPLETE, INTERRUPTED
from certselect.settings import Constraints, Measuring, Searching, Settings
from certselect.settings.checks import check_probability
from certselect.table import Table, read_source
from certselect.table.weights import weigh
from certselect.threads import on_jobs

HALF, BOOTSTRAP = "half", "bootstrap"


@dataclass(frozen=True, eq=False)
class SelectionStability:
    """Which features were chosen on each resample, and how far the choices agree.

    Attributes
    ----------
    chosen : ndarray of bool (resamples, features)
        One row for each resample that was finished.
    feature_names : tuple of str
    stability : StabilityIndex
        Of Nogueira, Sechidis and Brown, with its confidence interval.
    status : str
        "complete", or "interrupted" if Ctrl-C ended it, as a rule with fewer resamples than asked for.
    """

    chosen: np.ndarray
    feature_names: tuple[str, ...]
    stability: StabilityIndex
    status: str = COMPLETE

    @property
    def n_resamples(self) -> int:
        """How many resamples were finished."""
        return len(self.chosen)

    @property
    def frequencies(self) -> np.ndarray:
        """Share of the resamples each feature was chosen on (features,); NaN if none was finished."""
        if self.n_resamples == 0:
            return np.full(len(self.feature_names), np.nan)
        return self.chosen.mean(axis=0)

    def most_frequent(self, threshold: float = 0.5) -> dict[str, float]:
        """Features chosen on at least that share of the resamples, the most frequent first.

        Examples
        --------
        >>> import numpy as np
        >>> from certselect.evaluation import stability_index
        >>> chosen = np.array([[1, 1, 0], [1, 0, 1], [1, 1, 0], [1, 1, 0]], dtype=bool)
        >>> found = SelectionStability(chosen, ("age", "weight", "height"), stability_index(chosen))
        >>> found.most_frequent()
        {'age': 1.0, 'weight': 0.75}
        """
        frequencies = self.frequencies
        order = np.argsort(-frequencies, kind="stable")
        return {self.feature_names[i]: float(frequencies[i]) for i in order if frequencies[i] >= threshold}


def selection_stability(
    X: Any,
    y: Any = None,
    n_features_to_select: int | None = 10,
    *,
    n_resamples: int = 100,
    resample: str = HALF,
    confidence: float = 0.95,
    feature_names: Sequence[str] | None = None,
    sample_weight: Any = None,
    n_jobs: int | None = None,
    **settings: Any,
) -> SelectionStability:
    """Find out which features would be selected again from another sample of the same data.

    Selects again and again on part of the rows, discretisation included, and counts how often
    each feature is chosen. A feature whose frequency is near 1 is chosen because of the data;
    one near (number selected) / (number of features) is chosen at random.

    Ctrl-C ends it early with the resamples finished so far, status "interrupted".

    Parameters
    ----------
    X : array, sparse matrix, data frame or Table
        One row per sample. A `Table` brings its target and weights along.
    y : array, series or frame
        The class labels or numbers to predict.
    n_features_to_select : int or None
        How many features to select on each resample; None, with a budget, for any number it
        admits. Where a resample does not allow the number, because columns take one value
        only in its rows, the next smaller one that it allows is taken.
    n_resamples : int
        How often to select, 2 or more. The confidence interval narrows with its square root.
    resample : {"half", "bootstrap"}
        "half" : half of the rows of each class, rounded up, without replacement; half of all
        rows where the target is numbers. Choose it unless there are very few rows.
        "bootstrap" : as many rows of each class as there are (of all rows, for numbers), with
        replacement. Rows that occur twice make features look more informative than they are.
    confidence : float
        Level of the index's confidence interval, which says how precisely this number of
        resamples determines the index.
    feature_names, sample_weight, n_jobs
        As for `information_terms`; rows keep their weights in the resamples.
    **settings
        As for the selectors: how the table is read (`task`, `missing`) and measured
        (`measure`, `correction`, `discretize`, ...), what a subset is worth (`criterion`,
        `beta`, `gamma`), which subsets are allowed (`include`, `exclude`, `feature_groups`, `costs`,
        `budget`) and how one is searched for (`strategy`, `strategy_options`, `polish`,
        `max_seconds` per resample). What "auto" stands for, as measure and as strategy, is
        settled once, by the whole table. `random_state` is the seed of the resamples and of
        random strategies: the same int gives the same answer, and a smaller `n_resamples` the
        first rows of a larger one's. `certify` has no effect: no bounds are kept.

    Returns
    -------
    SelectionStability

    References
    ----------
    S. Nogueira, K. Sechidis and G. Brown (2018), On the stability of feature selection algorithms, JMLR 18(174).
    N. Meinshausen and P. Buehlmann (2010), Stability selection, J. R. Stat. Soc. B 72: half samples.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from certselect.evaluation import selection_stability
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> found = selection_stability(X, y, 2, criterion="jmi", n_resamples=20, random_state=0)
    >>> found.most_frequent(0.4)  # the first feature is stable, the second less so
    {'petal length (cm)': 1.0, 'petal width (cm)': 0.9}
    >>> round(found.stability.index, 2)
    0.81
    """
    stated = Settings.from_keywords(settings)
    n_resamples = check_count("n_resamples", n_resamples, 2, keyword)
    confidence = check_probability("confidence", confidence, 0.95)
    resample = find_name("resample", resample, (HALF, BOOTSTRAP))
    rng = make_generator(stated.searching.random_state)
    table = read_source(
        X,
        y,
        stated.reading,
        feature_names=feature_names,
        sample_weight=sample_weight,
        constraints=stated.constraints,
    )[0]
    selecting = _settle(table, n_features_to_select, stated, n_jobs)
    # A power of two, so that fewer seeds are the first of more.
    seeds = rng.integers(2**63, size=n_resamples)
    chosen = np.zeros((n_resamples, table.n_features), dtype=bool)
    done, status = 0, COMPLETE
    try:
        for seed in seeds:
            rng = np.random.default_rng(seed)
            chosen[done, selecting.choose(_drawn(table, resample, rng), rng)] = True
            done += 1
            report("resamples", done, n_resamples)
    except KeyboardInterrupt:
        status = INTERRUPTED  # what is finished is the answer
    chosen = chosen[:done]
    stability = stability_index(chosen, confidence=confidence) if done >= 2 else unknown_stability(confidence)
    return SelectionStability(chosen, table.feature_names, stability, status)


@dataclass(frozen=True, eq=False)
class _Selecting:
    """How features are selected on a resample: everything but its rows."""

    size: int | None
    measuring: Measuring
    constraints: Constraints
    searching: Searching
    n_jobs: int | None

    def choose(self, table: Table, rng: np.random.Generator) -> np.ndarray:
        """The columns chosen by these rows alone; none where nothing in them varies."""
        if len(table.classes) == 1 and (table.target_numbers == table.target_numbers[:1]).all():
            return np.empty(0, dtype=np.intp)  # rare values of the target may all be lost
        try:
            problem = self._problem(table)
        except InvalidInput as error:
            raise error.changed(before=f"a resample of {table.n_samples} rows, and in them ") from error
        if problem is None:
            return np.empty(0, dtype=np.intp)
        with on_jobs(self.n_jobs):
            selection = select_by(problem, replace(self.searching, random_state=rng))
        if selection.status == INTERRUPTED:
            raise KeyboardInterrupt
        return selection.indices

    def _problem(self, table: Table) -> SubsetProblem | None:
        """The problem of the nearest size that these rows allow; None if they allow no subset.

        A column that is constant in these rows cannot be chosen, not even if it is to be included.
        """
        terms = measure_table(table, self.measuring, n_jobs=self.n_jobs)
        constraints = for_part_of_rows(self.constraints, terms.feature_names, terms.constant)
        options = self.searching.problem_options
        problem = unsized_problem(terms, self.searching.criterion, constraints=constraints, **options)
        if not problem.allowed_sizes:
            return None
        return problem.of_size(None if self.size is None else problem.nearest_size(self.size))


def _settle(table: Table, size: int | None, stated: Settings, n_jobs: int | None) -> _Selecting:
    """What "auto" stands for, by the whole table; refuses what no resample could do either."""
    searching = stated.searching
    if searching.certify:
        warn_user(f"{keyword('certify', searching.certify)} has no effect: no bounds are kept.", IdleSettingWarning)
    terms = measure_table(table, stated.measuring, n_jobs=n_jobs)
    whole = unsized_problem(terms, searching.criterion, constraints=stated.constraints, **searching.problem_options)
    asked = whole.of_size(size)
    problems = [whole.of_size(allowed) for allowed in whole.allowed_sizes] if asked.any_size else [asked]
    strategy, polish, _ = settle(searching.strategy, problems, searching.polish, searching.all_options)
    return _Selecting(
        size=size,
        measuring=Measuring(**terms.settings),
        constraints=stated.constraints,
        searching=replace(searching, strategy=strategy.name, polish=polish, certify=False),
        n_jobs=n_jobs,
    )


def _drawn(table: Table, resample: str, rng: np.random.Generator) -> Table:
    rows = _draw_rows(table.target, resample, rng)
    part = table.rows(rows)
    return part if part.weights is None else weigh(part, part.weights)  # which scales weights that are no counts


def _draw_rows(target: np.ndarray, resample: str, rng: np.random.Generator) -> np.ndarray:
    """Rows of a resample, ascending. Drawn within each class, so that no class gets lost; numbers are one class."""
    drawn = []
    for label in range(int(target.max()) + 1):
        rows = np.flatnonzero(target == label)
        size = (len(rows) + 1) // 2 if resample == HALF else len(rows)
        drawn.append(rng.choice(rows, size, replace=resample == BOOTSTRAP))
    return np.sort(np.concatenate(drawn))
