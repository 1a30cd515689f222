"""Mutual information of normal variables from sums of their scores, minus what chance alone adds."""

from __future__ import annotations

import numpy as np
from scipy.special import digamma

from certselect.information.score_moments import Elimination, PairSums, Side, Sums, left_over, squared_correlation

_FEWEST = 3  # rows, beside one for each known column, that can show a dependence


class ClassMean:
    """Averages over classes that do not depend on their order: terms are added on a grid of whole numbers."""

    def __init__(self, n_samples: float) -> None:
        # Weighted terms stay below 32 n_samples: no information of so few rows is as large as 32 nats.
        self._grid = 2.0 ** (47 - int(np.ceil(np.log2(n_samples + 1))))

    def weigh(self, sizes: Sums, terms: Sums) -> Sums:
        """Terms of a class times its size, to be added up."""
        return np.rint(sizes * terms * self._grid)

    def mean(self, added: Sums, n_samples: Sums) -> Sums:
        """The average, from what was added up; 0 where there are no rows."""
        return added / self._grid / np.maximum(n_samples, 1e-300)


def pair_information(sums: PairSums, n_known: int, per_sample: float) -> np.ndarray:
    """I(Xi;Xj | known columns), of the first `n_known` of which the first is no more than a constant.

    As estimated: for independent columns as often below 0 as above, and infinite for copies.
    """
    squared, rank = squared_correlation(sums, n_known)
    n_samples = sums.known[0][0] / per_sample
    with np.errstate(divide="ignore"):
        logs = np.log1p(np.negative(squared, out=squared), out=squared)
    return _corrected(logs, n_samples, n_samples - rank, 1, rank)


def known_information(side: Side, known: list[list[Sums]], per_sample: float) -> np.ndarray:
    """I(X; known columns) of some columns: below 0 where it is less than by chance, at most what rows can distinguish."""
    elimination = Elimination.of(known)
    loadings = elimination.loadings(side)
    spread, rest = left_over(side.square, loadings[:1]), left_over(side.square, loadings)
    n_samples = known[0][0] / per_sample
    with np.errstate(divide="ignore"):
        logs = np.log(np.divide(rest, spread, out=np.ones_like(side.square), where=spread > 0))
    information = _corrected(logs, n_samples, n_samples - 1, elimination.rank - 1, elimination.rank)
    return np.minimum(information, np.log(np.maximum(n_samples, 1)))


def known_chance(known: list[list[Sums]], per_sample: float) -> tuple[Sums, Sums]:
    """The mean of I(X; known columns) of an independent column, and how many known columns count."""
    freedom, n_samples = Elimination.of(known).rank - 1, known[0][0] / per_sample
    return -_corrected(np.zeros(np.shape(n_samples)), n_samples, n_samples - 1, freedom, freedom + 1), freedom


def shown(information: np.ndarray, n_samples: Sums) -> np.ndarray:
    """An estimate as a term: not below 0, and no more than so many rows can distinguish."""
    return np.clip(information, 0, np.log(np.maximum(n_samples, 1)))


def shared_information(
    alone: np.ndarray, given: np.ndarray, left: np.ndarray, right: np.ndarray, n_samples: Sums
) -> np.ndarray:
    """I(Xi;Xj;Z) = I(Xi;Xj) - I(Xi;Xj|Z), from both of these as they are estimated, and I(Xi;Z) and I(Xj;Z).

    Both grow without end as one column becomes a copy of the other, but their difference does not: so it
    is taken before either is limited. A copy has all that Z shares with the original, and no pair
    tells more about Z than so many rows can distinguish.
    """
    with np.errstate(invalid="ignore"):
        shared = alone - given
    shared[np.isposinf(alone)] = np.inf
    np.maximum(shared, left + right - np.log(np.maximum(n_samples, 1)), out=shared)
    return np.minimum(shared, np.minimum(left, right), out=shared)


def entropy_or_nothing(side: Side, known: list[list[Sums]], per_sample: float) -> np.ndarray:
    """The term of a column with itself: ln N, or 0 if it is constant or has too few rows."""
    n_samples = known[0][0] / per_sample
    spread = left_over(side.square, Elimination.of(known[:1]).loadings(side))
    return np.where((spread > 0) & (n_samples >= _FEWEST), np.log(np.maximum(n_samples, 1)), 0.0)


def label_information(sizes: np.ndarray, sums: np.ndarray, squares: np.ndarray, mean: ClassMean) -> np.ndarray:
    """I(X;C) of columns whose sums over the rows of each class are given, (p, classes) each.

    1/2 (ln v - sum of p_c ln v_c) for the variances of all rows and of each class's, written as
    the average of what each class contributes: how far the normal distribution of its rows is from that of
    all, which is no more than -ln p_c for any distributions. A class of too few rows contributes nothing. Below 0
    where it is less than by chance.
    """
    total = sizes.sum(axis=1, keepdims=True)
    some = np.maximum(sizes, 1e-300)
    centre, centres = sums.sum(axis=1, keepdims=True) / np.maximum(total, 1e-300), sums / some
    spread = _variance(squares.sum(axis=1, keepdims=True), sums.sum(axis=1, keepdims=True), total)
    spreads = _variance(squares, sums, some)
    most = np.log(np.maximum(total, 1e-300) / some)
    with np.errstate(divide="ignore", invalid="ignore"):
        said = np.log(spread / spreads) + (spreads + (centres - centre) ** 2) / spread - 1
    said = (said - _log_variance_bias(total) + _log_variance_bias(some)) / 2
    said = np.where((sizes >= _FEWEST) & (spread > 0), np.fmin(said, most), 0.0)
    return mean.mean(mean.weigh(sizes, said).sum(axis=1), total[:, 0])


def _corrected(logs: np.ndarray, n_samples: Sums, free: Sums, spent: Sums, rank: Sums) -> np.ndarray:
    """-1/2 ln of the unexplained share of a variance, minus its average for independent columns.

    By chance alone, `spent` of `free` degrees of freedom explain a share that follows a beta distribution.
    """
    enough = n_samples - (rank - 1) >= _FEWEST
    free = np.where(enough, free, spent + 1)
    logs *= -0.5
    logs -= (digamma(free / 2) - digamma((free - spent) / 2)) / 2
    return np.where(enough, logs, 0)


def _variance(squares: np.ndarray, sums: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    sizes = np.maximum(sizes, 1e-300)
    return left_over(squares, [sums / np.sqrt(sizes)]) / sizes


def _log_variance_bias(sizes: np.ndarray) -> np.ndarray:
    """By how much the logarithm of the variance of a normal sample is off on average."""
    usable = np.maximum(sizes, _FEWEST)
    return digamma((usable - 1) / 2) + np.log(2 / usable)
