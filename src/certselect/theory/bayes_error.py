"""Bounds by mutual information on the error that no classifier can avoid.

Information and entropies are in nats, as everywhere; the paper states these bounds in bits.
"""

from __future__ import annotations

import math
from typing import Any

from scipy.special import entr

from certselect.errors import InvalidInput
from certselect.theory.joint_table import features_and_class

# What rounding may make of an entropy, relative to it.
ROUNDING = 1e-9
# As many as change a float between 0 and 1.
HALVINGS = 60


def bayes_error(table: Any) -> float:
    """How often does the best possible classifier err, given these features?

    Pe = 1 - sum over x of max over c of Pr(x, c).

    Parameters
    ----------
    table : array of probabilities or counts
        One axis per feature, the class last.

    Examples
    --------
    The paper's Example 1: X1 carries more information about the class than X2, and yet has the larger error.

    >>> from certselect.theory import bayes_error, mutual_information
    >>> x1, x2 = [[0.25, 0.0], [0.25, 0.5]], [[0.35, 0.05], [0.15, 0.45]]  # rows: X = -1, 1; columns: C = -1, 1
    >>> round(bayes_error(x1), 6), round(bayes_error(x2), 6)
    (0.25, 0.2)
    >>> mutual_information(x1, 0, 1) > mutual_information(x2, 0, 1)
    True
    """
    joint, _, target = features_and_class(table)
    return max(0.0, 1.0 - float(joint.probabilities.max(axis=target).sum()))


def fano_lower_bound(mutual_information: float, target_entropy: float, n_classes: int) -> float:
    """How small can the error of any classifier be, at best, for that much information?

    Fano's inequality. With h the entropy of a yes-or-no question, in nats,

        h(Pe) + Pe ln(n_classes - 1) >= H(C) - I(X;C);

    the least Pe that satisfies it is returned. The paper's `eq_3` is this with h replaced
    by its maximum, one bit: `fano_weak_lower_bound`.

    Parameters
    ----------
    mutual_information, target_entropy : float
        I(X;C) and H(C), nats.
    n_classes : int

    Examples
    --------
    >>> from math import log
    >>> from certselect.theory import fano_lower_bound
    >>> round(fano_lower_bound(0.0, log(2), 2), 6)  # nothing is known of a fair coin
    0.5
    >>> fano_lower_bound(log(2), log(2), 2)  # everything is
    0.0
    """
    uncertainty = _uncertainty(mutual_information, target_entropy, n_classes)
    if uncertainty == 0.0 or n_classes == 1:
        return 0.0

    def explained(error: float) -> float:
        return float(entr(error) + entr(1.0 - error)) + error * math.log(n_classes - 1)

    # `explained` rises up to guessing blindly, where it is ln(n_classes).
    blind = 1.0 - 1.0 / n_classes
    if uncertainty >= explained(blind):
        return blind
    low, high = 0.0, blind
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if explained(middle) < uncertainty else (low, middle)
    return low


def fano_weak_lower_bound(mutual_information: float, target_entropy: float, n_classes: int) -> float:
    """How small can the error of any classifier be, by the paper's simpler form of Fano's bound?

    The paper's `eq_3`, where entropies are in bits:

        1 + Pe log2(n_classes - 1) >= H(C) - I(X;C).

    It is empty for two classes (0), and never larger than `fano_lower_bound`.

    Parameters
    ----------
    mutual_information, target_entropy : float
        I(X;C) and H(C), nats.
    n_classes : int

    Examples
    --------
    >>> from math import log
    >>> from certselect.theory import fano_weak_lower_bound
    >>> round(fano_weak_lower_bound(0.0, log(5), 5), 6)  # (log2(5) - 1) / log2(4)
    0.660964
    """
    uncertainty = _uncertainty(mutual_information, target_entropy, n_classes)
    if n_classes <= 2:
        return 0.0
    return max(0.0, (uncertainty - math.log(2)) / math.log(n_classes - 1))


def hellman_raviv_upper_bound(mutual_information: float, target_entropy: float) -> float:
    """How large can the error of the best classifier be, at worst, for that much information?

    Hellman and Raviv's bound, the paper's `eq_4`, where entropies are in bits:

        Pe <= (H(C) - I(X;C)) / 2.

    Parameters
    ----------
    mutual_information, target_entropy : float
        I(X;C) and H(C), nats.

    Examples
    --------
    >>> from math import log
    >>> from certselect.theory import hellman_raviv_upper_bound
    >>> hellman_raviv_upper_bound(0.0, log(2))  # nothing is known of a fair coin
    0.5
    """
    return _uncertainty(mutual_information, target_entropy, None) / (2 * math.log(2))


def _uncertainty(mutual_information: float, target_entropy: float, n_classes: int | None) -> float:
    """H(C|X) in nats, of arguments that can belong together."""
    slack = ROUNDING * max(1.0, abs(target_entropy))
    if not (-slack <= mutual_information <= target_entropy + slack < math.inf):
        raise InvalidInput(
            f"mutual_information={mutual_information!r} with target_entropy={target_entropy!r}",
            "0 <= I(X;C) <= H(C)",
            "Both are in nats.",
        )
    if n_classes is not None and not (n_classes >= 1 and target_entropy <= math.log(n_classes) + slack):
        raise InvalidInput(
            f"target_entropy={target_entropy!r} with n_classes={n_classes!r}",
            "H(C) of at most ln(n_classes)",
            "Give entropies in nats: bits times ln 2.",
        )
    return max(0.0, min(target_entropy, target_entropy - mutual_information))
