"""Do algorithms differ over several data sets, and which of them do?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from certselect.errors import InvalidInput
from certselect.settings.checks import check_probability


@dataclass(frozen=True, eq=False)
class AlgorithmComparison:
    """How algorithms that were run on the same data sets compare by their ranks.

    Attributes
    ----------
    names : tuple of str
        The algorithms.
    scores : ndarray (datasets, algorithms)
        As given.
    ranks : ndarray (datasets, algorithms)
        Within each data set; 1 is the best, and ties get the mean of their ranks.
    mean_ranks : dict
        Mean rank of each algorithm over the data sets, by name.
    friedman_statistic, friedman_pvalue : float
        Whether there is any difference at all.
    kendall_w : float
        How far the data sets agree on the ranking, from 0 (not at all) to 1 (completely): the
        effect size of the whole comparison.
    pairwise : mapping from pairs of names to float
        p-value of the difference between two algorithms, adjusted for all pairs.
    effect_sizes : mapping from pairs of names to float
        (wins - losses) / data sets of the first against the second name, Cliff's delta
        within pairs: 1 if the first is better everywhere, -1 if the second is.
    """

    names: tuple[str, ...]
    scores: np.ndarray
    ranks: np.ndarray
    mean_ranks: dict[str, float]
    friedman_statistic: float
    friedman_pvalue: float
    kendall_w: float
    pairwise: PairMapping
    effect_sizes: PairMapping

    def critical_difference(self, alpha: float = 0.05) -> float:
        """How far apart two mean ranks must be to differ at significance level `alpha`; ties make it smaller.

        Examples
        --------
        >>> comparison = compare_algorithms([[0.9, 0.8, 0.7]] * 8)
        >>> round(comparison.critical_difference(), 3)  # q sqrt(g (g + 1) / (6 N)) with q = 2.343
        1.172
        """
        from scipy.stats import studentized_range  # here: it takes longer to load than everything else together

        check_probability("alpha", alpha, 0.05)
        quantile = float(studentized_range.ppf(1.0 - alpha, len(self.names), np.inf))
        return quantile * float(np.sqrt(_rank_variance(self.ranks))) / len(self.scores)


def compare_algorithms(scores: Any, names: Sequence[str] | None = None) -> AlgorithmComparison:
    """Test whether algorithms differ over several data sets, and which pairs of them do.

    Friedman's test asks whether all algorithms perform equally well; Nemenyi's test asks it for
    each pair, with p-values adjusted for testing all pairs. Both use only the ranks within each
    data set, so scores need not be comparable between data sets, and both are corrected for
    ties. They use large-sample distributions: with fewer than about 8 data sets, treat the
    p-values as a rough guide.

    Parameters
    ----------
    scores : array (datasets, algorithms)
        One number for each data set and algorithm, higher is better (negate errors). Equal
        numbers tie, so round the scores to the digits that mean something.
    names : sequence of str, optional
        Names of the algorithms, by default A1, A2, ...

    Returns
    -------
    AlgorithmComparison

    Notes
    -----
    With N data sets, g algorithms, ranks r_ij within data set i (ties get the mean of their
    ranks), rank sums R_j and s_i^2 the variance of the ranks of data set i with denominator
    g - 1 (g (g + 1) / 12 where nothing ties):

    - Friedman: sum_j (R_j - N (g + 1) / 2)^2 / sum_i s_i^2, chi-squared with g - 1 degrees of
      freedom. Kendall's W is this statistic over N (g - 1).
    - Nemenyi (the Wilcoxon-Nemenyi test of Hollander and Wolfe): z_jl = |R_j - R_l| / sqrt(2 sum_i s_i^2),
      and p is the upper tail of the studentised range of g normal variates at z sqrt(2). Without ties
      this is the test of Demsar (2006). The correction matters: on the averages printed for mRMR in
      the paper this package follows, one tie in eight data sets, the tie-corrected test gives the printed
      p-values 0.042 (FS - COBRA), 0.078 (COBRA - BE) and 0.965 (FS - BE), the plain one 0.046, 0.085
      and 0.966.

    If all algorithms tie on every data set, nothing differs: statistic and W are 0, all p-values 1.

    References
    ----------
    M. Hollander and D. A. Wolfe (1999), Nonparametric Statistical Methods, sections 7.1 and 7.3.
    J. Demsar (2006), Statistical comparisons of classifiers over multiple data sets, JMLR 7.
    N. Cliff (1993), Dominance statistics, Psychological Bulletin 114.

    Examples
    --------
    >>> from certselect.evaluation import compare_algorithms
    >>> accuracy = [[0.91, 0.88, 0.80], [0.75, 0.74, 0.70], [0.66, 0.66, 0.61], [0.97, 0.95, 0.96]]
    >>> comparison = compare_algorithms(accuracy, names=["exact", "greedy", "random"])
    >>> comparison.mean_ranks
    {'exact': 1.125, 'greedy': 2.125, 'random': 2.75}
    >>> round(comparison.friedman_pvalue, 3), round(comparison.pairwise["random", "exact"], 3)
    (0.057, 0.046)
    >>> comparison.effect_sizes["exact", "greedy"]  # three wins and a tie in four
    0.75
    """
    from scipy.stats import chi2, rankdata, studentized_range  # not for those who compare nothing

    scores = _check_scores(scores)
    count, g = scores.shape
    names = _check_names(names, g)
    ranks = rankdata(-scores, axis=1)
    sums = ranks.sum(axis=0)
    variance = _rank_variance(ranks)
    if variance == 0.0:
        statistic, pvalues = 0.0, np.ones((g, g))
    else:
        statistic = float(((sums - count * (g + 1) / 2) ** 2).sum() / variance)
        distances = np.abs(sums[:, None] - sums[None, :]) / np.sqrt(variance)
        pvalues = np.ones((g, g))
        upper = np.triu_indices(g, 1)
        pvalues[upper] = np.clip(studentized_range.sf(distances[upper], g, np.inf), 0.0, 1.0)
        pvalues = np.minimum(pvalues, pvalues.T)
    return AlgorithmComparison(
        names=names,
        scores=scores,
        ranks=ranks,
        mean_ranks={name: float(mean) for name, mean in zip(names, sums / count, strict=True)},
        friedman_statistic=statistic,
        friedman_pvalue=float(chi2.sf(statistic, g - 1)),
        kendall_w=statistic / (count * (g - 1)),
        pairwise=PairMapping(names, pvalues),
        effect_sizes=PairMapping(names, np.sign(scores[:, :, None] - scores[:, None, :]).mean(axis=0)),
    )


def _rank_variance(ranks: np.ndarray) -> float:
    """Half the variance of the difference of two rank sums if nothing differs: sum of s_i^2."""
    return float(ranks.var(axis=1, ddof=1).sum())


def _check_scores(scores: Any) -> np.ndarray:
    try:
        array = np.array(scores, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InvalidInput(
            f"scores that are not a table of numbers ({error})",
            "one number for each data set and algorithm",
            "Pass an array with one row per data set and one column per algorithm.",
        ) from error
    if array.ndim != 2 or array.shape[0] < 2 or array.shape[1] < 2:
        raise InvalidInput(
            f"scores of shape {array.shape}",
            "at least two data sets (rows) and two algorithms (columns)",
            "Pass an array with one row per data set and one column per algorithm.",
        )
    unusable = ~np.isfinite(array).all(axis=1)
    if unusable.any():
        raise InvalidInput(
            f"missing or infinite scores in {np.count_nonzero(unusable)} of {len(array)} data sets",
            "a score for every algorithm on every data set",
            "Leave out the data sets that not every algorithm was run on.",
        )
    return array


def _check_names(names: Sequence[str] | None, count: int) -> tuple[str, ...]:
    if names is None:
        return tuple(f"A{place}" for place in range(1, count + 1))
    if isinstance(names, str) or len(names) != count or len(set(map(str, names))) < count:
        raise InvalidInput(
            f"names={names!r}", f"{count} different names, one per column of scores", "Name every algorithm once."
        )
    return tuple(map(str, names))


class PairMapping(Mapping[tuple[str, str], float]):
    """One number for every two names; each pair is listed once but found under both orders.

    Parameters
    ----------
    names : tuple of str
    matrix : ndarray (g, g)
        Entry (i, j) belongs to the pair of names i and j, in this order.

    Examples
    --------
    >>> import numpy as np
    >>> wins = PairMapping(("a", "b"), np.array([[0.0, 0.5], [-0.5, 0.0]]))
    >>> wins["a", "b"], wins["b", "a"], dict(wins)
    (0.5, -0.5, {('a', 'b'): 0.5})
    """

    def __init__(self, names: tuple[str, ...], matrix: np.ndarray) -> None:
        self._names = names
        self._matrix = matrix

    def __getitem__(self, pair: tuple[str, str]) -> float:
        if not isinstance(pair, tuple) or len(pair) != 2 or pair[0] == pair[1] or not set(pair) <= set(self._names):
            raise KeyError(pair)
        one, other = (self._names.index(name) for name in pair)
        return float(self._matrix[one, other])

    def __iter__(self) -> Iterator[tuple[str, str]]:
        return combinations(self._names, 2)

    def __len__(self) -> int:
        return len(self._names) * (len(self._names) - 1) // 2

    def __repr__(self) -> str:
        return f"PairMapping({dict(self)})"
