"""How many features, with no classifier: a test that stops where the next one adds no more than chance."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from certselect.coding import CodedTable, SparseCodedTable, code_table
from certselect.criteria import Criterion, find_criterion, subset_problem
from certselect.errors import InvalidInput
from certselect.information import InformationTerms
from certselect.information.plugin import plugin_terms
from certselect.progress import report
from certselect.search import select
from certselect.search.options import Seed, check_count, make_generator
from certselect.search.selection import INTERRUPTED
from certselect.table import Table, read_table

DEFAULT_LARGEST = 20
# Gains equal but for rounding: what chance reaches that closely counts as reached.
_ROUNDING = 1e-12


@dataclass(frozen=True, eq=False)
class ChanceTest:
    """How many features of the forward path add more than chance, step by step.

    Attributes
    ----------
    k : int
        How many: all steps before the first whose p-value is above the significance.
        Possibly 0.
    indices : ndarray of int
        The forward path, k features that pass and those tested beyond.
    names : tuple of str
    gains : ndarray
        What each feature of the path adds by the criterion's rule: its relevance less
        the weighted pair terms with those before it (nats).
    p_values : ndarray
        How often the best of the shuffled columns adds as much; one for each step,
        each as if the steps before had passed.
    significance : float
    n_permutations : int
    """

    k: int
    indices: np.ndarray
    names: tuple[str, ...]
    gains: np.ndarray
    p_values: np.ndarray
    significance: float
    n_permutations: int

    @property
    def statement(self) -> str:
        how = f"at significance {self.significance:g} with {self.n_permutations} permutations"
        if self.k == len(self.p_values):
            return f"All {self.k} features tried add more than chance ({how}); there may be more."
        return (
            f"{self.k} features add more than chance, the next one does not (p = {self.p_values[self.k]:.3g}, {how})."
        )


def stop_at_chance(
    X: Any,
    y: Any = None,
    max_k: int | None = None,
    criterion: str | Criterion = "jmi",
    *,
    significance: float = 0.05,
    n_permutations: int = 199,
    beta: float | None = None,
    discretize: str = "uniform",
    bins: int | str = 5,
    integers: str = "levels",
    random_state: Seed = 0,
    n_jobs: int | None = None,
) -> ChanceTest:
    """Stop the forward path where the next feature adds no more than chance.

    At each step the best of the columns not chosen yet is compared with the best of
    the same columns after shuffling their rows, all by the same permutation. The null
    hypothesis: these columns, as they hang together among themselves, have nothing to
    do with the target nor with the columns chosen. Because best stands against best,
    choosing among many columns is allowed for: on pure noise a first feature passes
    with probability `significance` at most. The p-value is (1 + times chance did as
    well) / (1 + permutations).

    What counts is the criterion's own gain: for "mrmr" a column that shares more with
    the chosen ones than it says of the target does not pass, for "jmi" one that says
    much may pass though it repeats a chosen one.

    Parameters
    ----------
    X, y
        As for `information_terms`: a table of data, or a `Table` alone.
    max_k : int, optional
        How far to follow the path; 20 if not given, or all usable columns.
    criterion, beta
        As for `subset_problem`.
    significance : float
        Between 0 and 1; `n_permutations` must be able to reach it.
    n_permutations : int
        Time grows with it: each one costs about as much as the path.
    discretize, bins, integers, n_jobs
        As for `information_terms`.
    random_state : int, Generator, RandomState or None
        Seed of the permutations.

    Examples
    --------
    >>> import numpy as np
    >>> from certselect import stop_at_chance
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(0, 2, 300)
    >>> X = np.column_stack([y ^ (rng.random(300) < 0.2), rng.integers(0, 2, (300, 9))])
    >>> stop_at_chance(X, y, max_k=3).k  # one column is a noisy copy of the class, nine are coins
    1
    """
    rule = find_criterion(criterion, beta)
    _check_levels(significance, check_count("n_permutations", n_permutations, 1))
    table = X if isinstance(X, Table) else read_table(X, y)
    coded = code_table(table, discretize=discretize, bins=bins, integers=integers, n_jobs=n_jobs)
    if isinstance(coded, SparseCodedTable) or coded.weights is not None:
        raise InvalidInput(
            "a table with weights" if coded.weights is not None else "a sparse table",
            "dense rows that all count once, so that any may be exchanged for any",
            "Use an elbow of the value or SubsetSelectorCV instead, or pass X.toarray().",
        )
    terms = plugin_terms(coded, dtype=np.dtype(np.float64), n_jobs=n_jobs)
    usable = int((~terms.constant).sum())
    problem = subset_problem(terms, min(DEFAULT_LARGEST, max(usable, 1)) if max_k is None else max_k, rule)
    path = select(problem, "forward")
    if path.status == INTERRUPTED:
        raise KeyboardInterrupt
    steps = path.indices
    rows = np.array([problem.pair_row(int(i)) for i in steps[:-1]]).reshape(-1, terms.n_features)
    gains = _best_gains(rule, terms.constant, steps, terms.relevance, rows)
    rng = make_generator(random_state)
    reached = np.ones(len(steps))
    for done in range(1, n_permutations + 1):
        shuffled = _with_shuffled_path(coded, steps, rng.permutation(terms.n_samples))
        chance = plugin_terms(shuffled, dtype=np.dtype(np.float64), n_jobs=n_jobs)
        reached += _chance_gains(rule, terms, steps, chance) >= gains - _ROUNDING
        report("permutations", done, n_permutations)
    p_values = reached / (1 + n_permutations)
    failing = np.flatnonzero(p_values > significance)
    return ChanceTest(
        k=int(failing[0]) if len(failing) else len(steps),
        indices=steps,
        names=path.names,
        gains=gains,
        p_values=p_values,
        significance=float(significance),
        n_permutations=n_permutations,
    )


def _with_shuffled_path(coded: CodedTable, steps: np.ndarray, order: np.ndarray) -> CodedTable:
    """The table, its target shuffled, and beside it the path's columns shuffled alike.

    Against these the columns as they stand are what shuffled columns are against the
    real ones, and only one pair row for each step has to be counted.
    """
    return replace(
        coded,
        codes=np.concatenate([coded.codes, coded.codes[np.ix_(steps, order)]]),
        levels=np.concatenate([coded.levels, coded.levels[steps]]),
        constant=np.concatenate([coded.constant, coded.constant[steps]]),
        absent=None if coded.absent is None else np.concatenate([coded.absent, coded.absent[steps]]),
        target=coded.target[order],
        feature_names=(*coded.feature_names, *(f"{coded.feature_names[i]} shuffled" for i in steps)),
    )


def _chance_gains(rule: Criterion, terms: InformationTerms, steps: np.ndarray, chance: InformationTerms) -> np.ndarray:
    n = terms.n_features
    if rule.pair is None or len(steps) == 1:
        rows = np.zeros((len(steps) - 1, n))
    else:
        rows = chance.pairs.rows(rule.pair, np.arange(n, n + len(steps) - 1))[:, :n]
    return _best_gains(rule, terms.constant, steps, chance.relevance[:n], rows)


def _best_gains(
    rule: Criterion, constant: np.ndarray, steps: np.ndarray, relevance: np.ndarray, rows: np.ndarray
) -> np.ndarray:
    """At each step of the path, the most that a column not chosen yet adds; `rows` are the chosen ones' pair terms."""
    open_relevance = np.where(constant, -np.inf, relevance)
    shared = np.zeros(len(relevance))
    gains = np.empty(len(steps))
    for step, chosen in enumerate(steps):
        gains[step] = (open_relevance - rule.weight(step + 1) * shared).max()
        open_relevance[chosen] = -np.inf
        if step < len(rows):
            shared = shared + rows[step]
            shared[steps[: step + 1]] = 0.0  # a column's pair term with itself is arbitrary
    return gains


def _check_levels(significance: float, n_permutations: int) -> None:
    if not 0.0 < significance < 1.0:
        raise InvalidInput(f"significance={significance!r}", "a number between 0 and 1", "The usual one is 0.05.")
    if 1.0 / (1 + n_permutations) > significance:
        raise InvalidInput(
            f"n_permutations={n_permutations} for significance={significance:g}",
            f"{int(np.ceil(1.0 / significance)) - 1} or more: the smallest p-value is 1 / (1 + n_permutations)",
            "Raise n_permutations.",
        )
