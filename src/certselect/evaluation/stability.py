"""Would other samples of the same data give the same features?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from certselect.criteria import Criterion, subset_problem
from certselect.errors import InvalidInput
from certselect.evaluation.stability_index import (
    StabilityIndex,
    check_confidence,
    stability_index,
    unknown_stability,
)
from certselect.information import information_terms
from certselect.progress import report
from certselect.search import select
from certselect.search.options import Seed, check_count, make_generator
from certselect.search.selection import COMPLETE, INTERRUPTED
from certselect.table import Table, read_table

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
        "complete", or "interrupted" if Ctrl-C ended it with fewer resamples than asked for.
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
    k: int = 10,
    *,
    criterion: str | Criterion = "jmi",
    strategy: str = "forward",
    beta: float | None = None,
    polish: bool = False,
    n_resamples: int = 100,
    resample: str = HALF,
    confidence: float = 0.95,
    discretize: str = "uniform",
    bins: int | str = 5,
    integers: str = "levels",
    feature_names: Sequence[str] | None = None,
    random_state: Seed = None,
    n_jobs: int | None = None,
    **options: Any,
) -> SelectionStability:
    """Tell which of the chosen features another sample of the same data would have given as well.

    Selects again and again on part of the samples, coding included, and counts how often each
    feature is chosen. Features with a frequency near 1 are there for the data, those near k / n are
    chosen at random.

    Ctrl-C ends it early with the resamples finished so far, status "interrupted".

    Parameters
    ----------
    X : array, data frame or Table
        One row per sample, as for `information_terms`.
    y : array or series
        The class of each sample. Left out if X is a `Table`, which brings its target.
    k : int
        How many features to select on each resample. Where fewer take more than one value on a
        resample, all of these are.
    criterion, beta
        As for `subset_problem`.
    strategy, polish, **options
        As for `select`.
    n_resamples : int
        How often to select, 2 or more. The interval narrows with its square root.
    resample : {"half", "bootstrap"}
        "half" : half of the samples of each class, rounded up, without replacement. Choose it unless
        there are very few samples.
        "bootstrap" : as many samples of each class as there are, with replacement. Samples that
        occur twice make features look more informative than they are.
    confidence : float
        Level of the index's confidence interval. It is about the number of resamples; that there
        are no more samples is in the index itself.
    discretize, bins, integers, feature_names
        As for `information_terms`.
    random_state : None, int, Generator or RandomState
        Seed of resamples and random strategies. The same int gives the same answer, and a smaller
        `n_resamples` the first rows of a larger one's.
    n_jobs : int, optional
        Threads; all cores if None. The answer does not depend on it.

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
    >>> found = selection_stability(X, y, k=2, n_resamples=20, random_state=0)
    >>> found.most_frequent(0.4)  # one feature is sure, which one to put beside it is not
    {'petal width (cm)': 0.95, 'sepal width (cm)': 0.45}
    >>> round(found.stability.index, 2)
    0.25
    """
    table = X if isinstance(X, Table) else read_table(X, y, feature_names=feature_names)
    n_resamples = check_count("n_resamples", n_resamples, 2)
    check_confidence(confidence)
    if resample not in (HALF, BOOTSTRAP):
        raise InvalidInput(f"resample={resample!r}", f"{HALF!r} or {BOOTSTRAP!r}", "Check the spelling.")
    coding: dict[str, Any] = {"discretize": discretize, "bins": bins, "integers": integers, "n_jobs": n_jobs}
    # Refuses what no resample could do either.
    rule = subset_problem(information_terms(table, **coding), k, criterion, beta=beta).criterion
    # A power of two, so that fewer seeds are the first of more.
    seeds = make_generator(random_state).integers(2**63, size=n_resamples)
    chosen = np.zeros((n_resamples, table.n_features), dtype=bool)
    done = 0
    try:
        for seed in seeds:
            rng = np.random.default_rng(seed)
            terms = information_terms(table.rows(_draw_rows(table.target, resample, rng)), **coding)
            size = min(k, int(np.count_nonzero(~terms.constant)))
            if size > 0:  # rare values may all be lost
                selection = select(
                    subset_problem(terms, size, rule), strategy, random_state=rng, polish=polish, **options
                )
                if selection.status == INTERRUPTED:
                    break
                chosen[done, selection.indices] = True
            done += 1
            report("resamples", done, n_resamples)
    except KeyboardInterrupt:
        pass  # what is finished is the answer
    chosen = chosen[:done]
    stability = stability_index(chosen, confidence=confidence) if done >= 2 else unknown_stability(confidence)
    return SelectionStability(chosen, table.feature_names, stability, COMPLETE if done == n_resamples else INTERRUPTED)


def _draw_rows(target: np.ndarray, resample: str, rng: np.random.Generator) -> np.ndarray:
    """Rows of a resample, ascending. Drawn within each class, so that no class gets lost."""
    drawn = []
    for label in range(int(target.max()) + 1):
        rows = np.flatnonzero(target == label)
        size = (len(rows) + 1) // 2 if resample == HALF else len(rows)
        drawn.append(rng.choice(rows, size, replace=resample == BOOTSTRAP))
    return np.sort(np.concatenate(drawn))
