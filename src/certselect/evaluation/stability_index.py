"""The stability index of Nogueira, Sechidis and Brown, with its confidence interval."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import ndtri

from certselect.errors import InvalidInput
from certselect.settings.checks import check_probability

UNKNOWN = float("nan")


@dataclass(frozen=True)
class StabilityIndex:
    """How stable a selection is, and how precisely that is known.

    Attributes
    ----------
    index : float
        1 if all subsets are the same, about 0 if they are drawn at random. NaN if it is not
        defined: fewer than two subsets, or all of them empty or of all features.
    standard_error : float
        Of the index, estimated from the subsets.
    lower, upper : float
        Confidence interval, by the normal approximation; it may extend beyond 1.
    confidence : float
        Level of the interval.
    """

    index: float
    standard_error: float
    lower: float
    upper: float
    confidence: float


def stability_index(chosen: Any, *, confidence: float = 0.95) -> StabilityIndex:
    """Measure how much a selection depends on which samples happened to be drawn.

    It takes the subsets that one procedure selected on several samples of the same data. The
    index is corrected for chance: random subsets score about 0, whatever their sizes.

    Parameters
    ----------
    chosen : array of 0 and 1, or bool (subsets, features)
        Which features each subset holds; two subsets or more.
    confidence : float
        Level of the confidence interval.

    Returns
    -------
    StabilityIndex

    Notes
    -----
    With M subsets of d features, p_f the frequency of feature f, k_i the size of subset i and k the
    mean size, the index is

        Phi = 1 - mean_f( M/(M-1) p_f (1 - p_f) ) / ( k/d (1 - k/d) ),

    at least -1/(M-1). Its variance is (4/M^2) sum_i (phi_i - mean phi)^2 with

        phi_i = [ 1/d sum_f z_if p_f - k_i k/d^2 + Phi/2 (2 k k_i/d^2 - k_i/d - k/d + 1) ] / ( k/d (1 - k/d) ),

    and Phi is asymptotically normal.

    References
    ----------
    S. Nogueira, K. Sechidis and G. Brown (2018), On the stability of feature selection algorithms,
    JMLR 18(174): Definition 4, Theorem 7 and Corollary 8.

    Examples
    --------
    >>> from certselect.evaluation import stability_index
    >>> found = stability_index([[1, 1, 0, 0], [1, 1, 0, 0], [1, 0, 1, 0]])
    >>> round(found.index, 6)  # 1 - (1/3 + 1/3) / 4 / (1/2 x 1/2)
    0.333333
    """
    check_probability("confidence", confidence, 0.95)
    chosen = _check_chosen(chosen)
    count, d = chosen.shape
    frequencies = chosen.mean(axis=0)
    share = float(frequencies.mean())
    by_chance = share * (1.0 - share)
    if by_chance == 0.0:
        return unknown_stability(confidence)
    index = 1.0 - count / (count - 1) * float((frequencies * (1.0 - frequencies)).mean()) / by_chance
    shares = chosen.mean(axis=1)
    agreement = chosen @ frequencies / d - shares * share
    slack = index / 2 * (2 * share * shares - shares - share + 1.0)
    contributions = (agreement + slack) / by_chance
    error = 2.0 / count * float(np.sqrt(((contributions - contributions.mean()) ** 2).sum()))
    reach = float(ndtri(0.5 + confidence / 2)) * error
    return StabilityIndex(index, error, index - reach, index + reach, float(confidence))


def unknown_stability(confidence: float) -> StabilityIndex:
    """The index where it is not defined: everything is NaN."""
    return StabilityIndex(UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN, float(confidence))


def _check_chosen(chosen: Any) -> np.ndarray:
    array = np.asarray(chosen)
    if array.ndim != 2 or array.shape[0] < 2 or array.shape[1] < 1:
        raise InvalidInput(
            f"subsets in an array of shape {array.shape}",
            "two or more rows, one per subset, and one column per feature",
            "Mark the chosen features of each subset by 1, all others by 0.",
        )
    if array.dtype.kind not in "biuf" or not np.isin(array, (0, 1)).all():
        raise InvalidInput(
            f"entries other than 0 and 1 (dtype {array.dtype})",
            "1 where the subset holds the feature, else 0",
            "Pass which features were chosen, not their weights or indices.",
        )
    return array.astype(np.float64)
