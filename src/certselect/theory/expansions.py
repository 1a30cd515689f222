"""The paper's two expansions of I(X;C) in features taken few at a time, and what is left when they are cut."""

from __future__ import annotations

import math
from itertools import combinations
from typing import Any

from certselect.errors import InvalidInput
from certselect.theory.interaction import shared_by_all
from certselect.theory.joint_table import JointDistribution, features_and_class


def first_expansion(table: Any, order: int) -> float:
    """Approximate the information of all features about the class by interactions of at most `order` of them, in nats.

    The paper's `eq_8`, the addition law of sets, cut after the terms of `order` features:

        I(X;C) = sum I(Xi;C) - sum I(Xi;Xj;C) + ... + (-1)^(N-1) I(X1;...;XN;C).

    Cuts may lie above or below I(X;C), and below 0; all N orders give it exactly.

    Parameters
    ----------
    table : array of probabilities or counts
        One axis per feature, the class last.
    order : int
        1 to the number of features.

    Examples
    --------
    >>> from math import log
    >>> import numpy as np
    >>> from certselect.theory import first_expansion
    >>> copies = np.zeros((2, 2, 2, 2))  # three copies of the class, a fair coin
    >>> copies[0, 0, 0, 0] = copies[1, 1, 1, 1] = 1 / 2
    >>> [round(first_expansion(copies, order) / log(2), 6) for order in (1, 2, 3)]  # bits: 3, 3 - 3, 3 - 3 + 1
    [3.0, 0.0, 1.0]
    """
    joint, features, target = features_and_class(table)
    return _first_cut(joint, features, target, _check_order(order, features))


def second_expansion(table: Any, order: int) -> float:
    """Approximate the information of all features about the class by the mean over `order` of them, in nats.

    The paper's `eq_11`, the chain rule summed over all orders of the features, cut after
    the terms with `order` features, and divided by the N/2 on its left side:

        I(X;C) = 2/N (1/2 sum I(Xi;C) + 1/(2(N-1)) sum I(Xi;C|Xj) + ... + 1/2 sum I(Xi;C|all others)).

    Every term is nonnegative, so cuts grow with the order, from the mean relevance of a
    feature to I(X;C) itself, and never exceed it.

    Parameters
    ----------
    table : array of probabilities or counts
        One axis per feature, the class last.
    order : int
        1 to the number of features.

    Notes
    -----
    By the chain rule, I(Xi;C|XA) = I(XA,Xi;C) - I(XA;C). Summed over i and A with the
    weights of `eq_11`, everything but the last order cancels: the cut is the mean of
    I(XA;C) over the sets A of `order` features.

    Examples
    --------
    >>> from math import log
    >>> import numpy as np
    >>> from certselect.theory import second_expansion
    >>> xor = np.zeros((2, 2, 2))
    >>> xor[0, 0, 0] = xor[1, 1, 0] = xor[0, 1, 1] = xor[1, 0, 1] = 1 / 4
    >>> [round(second_expansion(xor, order) / log(2), 6) for order in (1, 2)]
    [0.0, 1.0]
    """
    joint, features, target = features_and_class(table)
    sets = list(combinations(features, _check_order(order, features)))
    return math.fsum(joint.information(some, [target]) for some in sets) / len(sets)


def d1(table: Any) -> float:
    """Value a set of features by D1, the second-order cut of the first expansion, in nats.

    The paper's `eq_12`: D1 = sum I(Xi;C) - sum over pairs of I(Xi;Xj;C). It is
    what criterion "d1" ("cife") gives the whole set.

    Parameters
    ----------
    table : array of probabilities or counts
        One axis per feature, the class last.

    Examples
    --------
    >>> import numpy as np
    >>> from certselect.theory import d1
    >>> copies = np.zeros((2, 2, 2, 2))  # three copies of the class: 3 bits less 3 pairs of 1 bit
    >>> copies[0, 0, 0, 0] = copies[1, 1, 1, 1] = 1 / 2
    >>> d1(copies)
    0.0
    """
    joint, features, target = features_and_class(table)
    return _first_cut(joint, features, target, min(2, len(features)))


def d2(table: Any) -> float:
    """Value a set of features by D2, the second-order cut of the second expansion, in nats.

    The paper's `eq_12`: D2 = sum I(Xi;C) - 1/(N-1) sum over pairs of I(Xi;Xj;C). It is
    what criterion "jmi" ("d2") gives the whole set, and N/2 times `second_expansion`
    at order 2, because `eq_12` leaves the factor N/2 of `eq_11` out. A single feature
    has no pairs: there D2 = I(X1;C).

    Parameters
    ----------
    table : array of probabilities or counts
        One axis per feature, the class last.

    Examples
    --------
    >>> from math import log
    >>> import numpy as np
    >>> from certselect.theory import d2
    >>> copies = np.zeros((2, 2, 2, 2))  # three copies of the class: 3 bits less 3 pairs of 1/2 bit
    >>> copies[0, 0, 0, 0] = copies[1, 1, 1, 1] = 1 / 2
    >>> round(d2(copies) / log(2), 6)
    1.5
    """
    joint, features, target = features_and_class(table)
    relevance = _first_cut(joint, features, target, 1)
    if len(features) == 1:
        return relevance
    pairs = math.fsum(shared_by_all(joint, [*pair, target]) for pair in combinations(features, 2))
    return relevance - pairs / (len(features) - 1)


def _first_cut(joint: JointDistribution, features: list[int], target: int, order: int) -> float:
    return math.fsum(
        (-1) ** (size - 1) * shared_by_all(joint, [*some, target])
        for size in range(1, order + 1)
        for some in combinations(features, size)
    )


def _check_order(order: int, features: list[int]) -> int:
    if not 1 <= order <= len(features):
        raise InvalidInput(
            f"order={order!r}", f"1 to {len(features)}, the number of features", "The last axis is the class."
        )
    return order
