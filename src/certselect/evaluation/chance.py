"""How many features, with no classifier: a test that stops where the next one adds no more than chance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from certselect.criteria.definitions import CRITERIA
from certselect.criteria.problem import SubsetProblem, unsized_problem
from certselect.errors import InvalidInput, keyword
from certselect.evaluation.shuffled import shuffled_terms
from certselect.information import InformationTerms, measure_table
from certselect.information.registry import find_measure
from certselect.progress import report
from certselect.search import select
from certselect.search.options import check_count, make_generator
from certselect.search.selection import INTERRUPTED
from certselect.settings import Constraints, Measuring, Searching, Settings
from certselect.settings.checks import check_probability
from certselect.table import read_source
from certselect.table.output import ReportTable, make_frame

DEFAULT_TESTED = 20
# Gains equal but for rounding: what chance reaches that closely counts as reached.
_ROUNDING = 1e-12


@dataclass(frozen=True, eq=False)
class ChanceTest:
    """How many features of the forward path add more than chance, step by step.

    Attributes
    ----------
    k : int
        How many features: those always included, and all steps before the first whose p-value
        is above the significance. Possibly 0.
    indices : ndarray of int
        The forward path: included features first, then the k - n_included that pass, then those
        tested beyond.
    names : tuple of str
    gains : ndarray
        What each feature of the path adds by the criterion: its relevance minus the weighted
        pair terms with those before it, in nats. NaN for included features.
    p_values : ndarray
        How often the best of the shuffled columns adds as much; one for each step, each as if
        the steps before had passed, so that those behind the first failure do not count. NaN for
        included features, which are not tested.
    significance : float
    n_permutations : int
    n_included : int
        How many features were included whatever they add.
    """

    k: int
    indices: np.ndarray
    names: tuple[str, ...]
    gains: np.ndarray
    p_values: np.ndarray
    significance: float
    n_permutations: int
    n_included: int = 0

    @property
    def columns(self) -> dict[str, list[Any]]:
        """The test as a table, one row for each step: `step`, `feature`, `adds` (nats), `p_value` and `outcome`.

        The outcome is "included", "above chance", "stops here" for the first step that fails, and "not
        counted" for all behind it.
        """
        outcomes = ["included"] * self.n_included + ["above chance"] * (self.k - self.n_included)
        outcomes += ["stops here", *["not counted"] * len(self.names)]
        return {
            "step": list(range(1, len(self.names) + 1)),
            "feature": list(self.names),
            "adds": self.gains.tolist(),
            "p_value": self.p_values.tolist(),
            "outcome": outcomes[: len(self.names)],
        }

    def to_frame(self, library: str | None = None) -> Any:
        """`columns` as a data frame of that library ("pandas", "polars" or "pyarrow"), or of one that is installed."""
        return make_frame(self.columns, library)

    def __repr__(self) -> str:
        return f"{self.statement}\n{ReportTable(self.columns)}"

    @property
    def statement(self) -> str:
        """The result in words."""
        how = f"at significance {self.significance:g} with {self.n_permutations} permutations"
        passed = self.k - self.n_included
        beside = f" beside the {self.n_included} included" if self.n_included else ""
        if self.k == len(self.p_values):
            all_tried = "The only feature tried adds" if passed == 1 else f"All {passed} features tried add"
            return f"{all_tried} more than chance{beside} ({how}); there may be more."
        p_value = f"p = {self.p_values[self.k]:.3g}"
        if passed == 0:
            said = f"No feature adds more than chance{beside}, not even the first one tried ({p_value}, {how})."
        else:
            features = "1 feature adds" if passed == 1 else f"{passed} features add"
            said = f"{features} more than chance{beside}, the next one does not ({p_value}, {how})."
        if (self.p_values[self.k + 1 :] <= self.significance).any():
            # What is tested behind the first failure stands on it, and there are many such tests.
            said += (
                f" Small p-values behind step {self.k + 1} do not count: each takes the features before it for "
                "granted, of which one is no better than chance, and whoever goes on looking finds one by luck."
            )
        return said


def stop_at_chance(
    X: Any,
    y: Any = None,
    max_features: int | None = None,
    *,
    significance: float = 0.05,
    n_permutations: int = 199,
    feature_names: Sequence[str] | None = None,
    sample_weight: Any = None,
    n_jobs: int | None = None,
    **settings: Any,
) -> ChanceTest:
    """Choose the number of features where the next one adds no more information than chance would.

    At each step of forward selection, the best of the columns not chosen yet is compared
    with the best of the same columns after their rows were shuffled, all by the same
    permutation. The null hypothesis is that these columns, however they depend on each
    other, are independent of the target, the weights and the columns chosen so far.
    Because best is compared with best, the choice among many columns is accounted for: on
    pure noise a first feature passes with probability `significance` at most. The p-value
    is (1 + number of permutations that did as well) / (1 + number of permutations).

    What is tested is the criterion's own gain. With "mrmr" a column that shares more with
    the chosen ones than with the target does not pass; with "jmi" a column that carries
    much information may pass although it repeats a chosen one.

    Parameters
    ----------
    X : array, sparse matrix, data frame or Table
        One row per sample. A `Table` brings its target and weights along.
    y : array, series or frame
        The class labels or numbers to predict.
    max_features : int, optional
        How far to follow the path, included features counted; if not given, up to 20
        features are tested.
    significance : float
        Between 0 and 1; `n_permutations` must be able to reach it.
    n_permutations : int
        Time grows with it: each one costs about as much as the path.
    feature_names, sample_weight, n_jobs
        As for `information_terms`.
    **settings
        As for the selectors: how the table is read (`task`, `missing`) and measured
        (`measure`, `correction`, `discretize`, ...), what a subset is worth (`criterion`,
        "distinct" by default, `beta` and `gamma`), `include` and `exclude`. `random_state` is the seed of
        the permutations; the default of 0 gives the same answer every time. Included
        features begin the path and are not tested. Other constraints and other searches
        than "forward" are refused: one column is tested at a time, in the order in which
        forward selection adds it.

    Returns
    -------
    ChanceTest

    Notes
    -----
    Target, weights and copies of the chosen columns are shuffled together against all other
    columns. Columns of numbers are discretised anew in every permutation where their cuts
    depend on the classes ("mdlp") or on the weights.

    Examples
    --------
    >>> import numpy as np
    >>> from certselect import stop_at_chance
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(0, 2, 300)
    >>> X = np.column_stack([y ^ (rng.random(300) < 0.2), rng.integers(0, 2, (300, 9))])
    >>> stop_at_chance(X, y, max_features=3).k  # one column is a noisy copy of the class, nine are coin tosses
    1
    """
    stated = Settings.from_keywords({"random_state": 0, **settings})
    _check_searching(stated.searching)
    _check_constraints(stated.constraints)
    significance = check_probability("significance", significance, 0.05)
    _check_reach(significance, check_count("n_permutations", n_permutations, 1, keyword))
    rng = make_generator(stated.searching.random_state)
    table = read_source(
        X,
        y,
        stated.reading,
        feature_names=feature_names,
        sample_weight=sample_weight,
        constraints=stated.constraints,
    )[0]
    measure = find_measure(stated.measuring.measure)
    if measure.prepared is not None:
        measure.check(table, stated.measuring)
        table = measure.prepared(table)  # before rows are shuffled, and no longer equal
    terms = measure_table(table, stated.measuring, n_jobs=n_jobs)
    problem = _problem(terms, stated, max_features)
    found = select(problem, "forward")
    if found.status == INTERRUPTED:
        raise KeyboardInterrupt
    path = found.indices
    n_included = 0 if problem.constraints is None else len(problem.constraints.include)
    rows = np.array([problem.pair_row(int(i)) for i in path[:-1]]).reshape(-1, terms.n_features)
    gains = _best_gains(problem, path, terms.constant, problem.linear, rows)
    gains[:n_included] = np.nan
    # The settings of the terms, which say what "auto" chose.
    measure_shuffled = shuffled_terms(table, Measuring(**terms.settings), path[:-1], n_jobs)
    reached = np.ones(len(path))
    for done in range(1, n_permutations + 1):
        chance = measure_shuffled(rng.permutation(terms.n_samples))
        reached += _chance_gains(problem, path, chance) >= gains - _ROUNDING
        report("permutations", done, n_permutations)
    p_values = reached / (1 + n_permutations)
    p_values[:n_included] = np.nan
    failing = np.flatnonzero(p_values > significance)
    return ChanceTest(
        k=int(failing[0]) if len(failing) else len(path),
        indices=path,
        names=found.names,
        gains=gains,
        p_values=p_values,
        significance=significance,
        n_permutations=int(n_permutations),
        n_included=n_included,
    )


def _problem(terms: InformationTerms, stated: Settings, max_features: int | None) -> SubsetProblem:
    """The problem whose forward path is tested."""
    if terms.constant.all() and terms.settings.get("discretize") == "mdlp":
        raise InvalidInput(
            f"a table none of whose {terms.n_features} features {keyword('discretize', 'mdlp')} cuts: no cut tells "
            "the classes apart",
            "at least one feature of two levels to test",
            f"Nothing is above chance by mdlp; use {keyword('discretize', 'quantile')} to test the columns in bins "
            "of equal counts.",
        )
    searching = stated.searching
    problem = unsized_problem(terms, searching.criterion, constraints=stated.constraints, **searching.problem_options)
    if problem.steps is not None:
        raise InvalidInput(
            f"a test against chance with {keyword('criterion', problem.criterion.name)}",
            "a criterion that is a sum over pairs: the test compares these with what shuffled pairs share",
            f"Choose one of {', '.join(CRITERIA)}, or name the number of features.",
        )
    if problem.given_relevance:
        raise InvalidInput(
            "a test against chance with given relevance",
            "measured relevance, which can be compared with that of shuffled rows",
            f"Leave {keyword('relevance')} out, or name the number of features.",
        )
    n_included = 0 if problem.constraints is None else len(problem.constraints.include)
    if n_included and n_included == len(problem.candidates):
        raise InvalidInput(
            f"every usable feature in {keyword('include')}",
            "at least one that is left to test",
            "Include fewer features.",
        )
    if max_features is None:
        return problem.of_size(max(1, min(n_included + DEFAULT_TESTED, len(problem.candidates))))
    largest = check_count("max_features", max_features, 1, keyword)
    if largest <= n_included:
        raise InvalidInput(
            f"max_features={largest} with {n_included} features to include",
            f"{n_included + 1} or more: included features are not tested",
            "Raise max_features, or include fewer features.",
        )
    if 0 < len(problem.candidates) < largest:
        raise InvalidInput(
            f"max_features={largest}",
            f"{n_included + 1} to {len(problem.candidates)}, the number of usable features",
            "Leave max_features out to test up to 20 features.",
        )
    return problem.of_size(largest)


def _chance_gains(problem: SubsetProblem, path: np.ndarray, chance: InformationTerms) -> np.ndarray:
    n, kind, before = problem.n_features, problem.criterion.pair, len(path) - 1
    if kind is None or before == 0:
        rows = np.zeros((before, n))
    else:
        rows = np.array([chance.pair_row(kind, i)[:n] for i in range(n, n + before)])
    return _best_gains(problem, path, chance.constant[:n], chance.single(problem.criterion.single)[:n], rows)


def _best_gains(
    problem: SubsetProblem, path: np.ndarray, constant: np.ndarray, singles: np.ndarray, rows: np.ndarray
) -> np.ndarray:
    """At each step of the path, the most that a column not chosen yet adds; `rows` are the chosen ones' pair terms."""
    closed = constant.copy()
    closed[[*problem.excluded, *problem.copies]] = True
    shared = np.zeros(len(singles))
    gains = np.empty(len(path))
    for step, chosen in enumerate(path):
        gain = problem.criterion.alone(step + 1) * singles - problem.weight(step + 1) * shared
        gains[step] = gain[~closed].max(initial=-np.inf)
        closed[chosen] = True
        if step < len(rows):
            shared = shared + rows[step]
            shared[path[: step + 1]] = 0.0  # a column's pair term with itself is arbitrary
    return gains


def _check_searching(searching: Searching) -> None:
    if searching.to_dict()["strategy"].casefold() not in ("auto", "forward"):
        raise InvalidInput(
            keyword("strategy", searching.strategy),
            "'forward' or 'auto': the test asks what the next feature of forward selection adds",
            f"Leave {keyword('strategy')} out; use value_curve to compare sizes by another search.",
        )
    for name in ("strategy_options", "polish", "certify", "max_seconds"):
        value = getattr(searching, name)
        if value:
            raise InvalidInput(
                keyword(name, value),
                f"no {name}: the test follows plain forward selection",
                f"Leave {keyword(name)} out.",
            )


def _check_constraints(constraints: Constraints) -> None:
    for name, reason in (
        ("feature_groups", "one column is tested at a time"),
        ("costs", "what a column costs has nothing to do with chance"),
    ):
        if getattr(constraints, name) is not None:
            raise InvalidInput(
                keyword(name, getattr(constraints, name)),
                f"no constraints but include and exclude: {reason}",
                f"Leave {keyword(name)} out here, and pass it to the selector with the number of features found.",
            )


def _check_reach(significance: float, n_permutations: int) -> None:
    if 1.0 / (1 + n_permutations) > significance:
        raise InvalidInput(
            f"n_permutations={n_permutations} for significance={significance:g}",
            f"{int(np.ceil(1.0 / significance)) - 1} or more: the smallest p-value is 1 / (1 + n_permutations)",
            "Raise n_permutations.",
        )
