"""Which distribution a criterion takes for granted: Kirkwood's superposition, and Theorem 1."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from scipy.special import xlogy

from certselect.theory.joint_table import JointDistribution, features_and_class


def kirkwood_approximation(table: Any) -> np.ndarray:
    """Approximate a joint distribution by those of its pairs of variables.

    The second-order Kirkwood superposition, the paper's `kirk`:

        Pr^(X) = product over pairs of Pr(Xi,Xj)  /  (product of Pr(Xi)) ^ (N-2).

    Exact for two variables and for independent ones. In general it does not sum to 1: it
    is no distribution, and is returned as the formula gives it, 0 where some pair never
    occurs.

    Parameters
    ----------
    table : array of probabilities or counts
        One axis per variable, without the class.

    Returns
    -------
    ndarray
        Of the table's shape.

    Examples
    --------
    >>> import numpy as np
    >>> from certselect.theory import kirkwood_approximation
    >>> copies = np.zeros((2, 2, 2))
    >>> copies[0, 0, 0] = copies[1, 1, 1] = 1 / 2
    >>> float(kirkwood_approximation(copies)[0, 0, 0])  # (1/2)^3 / (1/2)^3, twice what it approximates
    1.0
    """
    return _superposition(JointDistribution(table))


def mifs_from_kirkwood(table: Any) -> float:
    """Derive MIFS: the information of the features about the class if two assumptions hold, in nats.

    The paper's `identity`. With Pr(X) replaced by its Kirkwood superposition Pr^ inside
    the logarithm, and features independent within each class,

        I(X;C) = H(X) - H(X|C)  becomes  - sum Pr(x) ln Pr^(x) - sum H(Xi|C)
                                      =  sum I(Xi;C) - sum over pairs of I(Xi;Xj),

    which is `eq_13.5`, criterion "mifs" with beta 1. It is computed by the first of these
    two lines, so that comparing it with the criterion checks the derivation.

    Parameters
    ----------
    table : array of probabilities or counts
        One axis per feature, the class last.

    Examples
    --------
    >>> from math import log
    >>> import numpy as np
    >>> from certselect.theory import mifs_from_kirkwood
    >>> copies = np.zeros((2, 2, 2))  # two copies of the class: 2 bits less 1 bit shared
    >>> copies[0, 0, 0] = copies[1, 1, 1] = 1 / 2
    >>> round(mifs_from_kirkwood(copies) / log(2), 6)
    1.0
    """
    joint, features, target = features_and_class(table)
    without_class = JointDistribution(joint.probabilities.sum(axis=target))
    # Where Pr(x) = 0 the superposition does not matter; elsewhere no pair is 0.
    approximate_entropy = -float(xlogy(without_class.probabilities, _superposition(without_class)).sum())
    within_class = math.fsum(joint.entropy([i, target]) - joint.entropy([target]) for i in features)
    return approximate_entropy - within_class


@dataclass(frozen=True, eq=False)
class CounterExample:
    """A distribution under which criteria are negative although no information is.

    Attributes
    ----------
    table : ndarray (2, 2, 2)
        Probabilities of X1, X2 and C.
    mutual_information : float
        I(X1,X2;C), nats.
    mrmr, mifs : float
        What the criteria give {X1, X2}, nats.
    """

    table: np.ndarray
    mutual_information: float
    mrmr: float
    mifs: float


def theorem_1_counter_example() -> CounterExample:
    """Show that mRMR and MIFS are the mutual information of no distribution (the paper's Theorem 1).

    If some consistent set of independence assumptions turned mutual information into
    mRMR (`eq_13`) or MIFS (`eq_13.5`), these would never be negative and never fall when a
    feature is added. Here two features are one fair coin, and the class is another:
    I(Xi;C) = 0 while I(X1;X2) = ln 2, so both give {X1} 0 and {X1, X2} -ln 2.

    Examples
    --------
    >>> from certselect.theory import theorem_1_counter_example
    >>> example = theorem_1_counter_example()
    >>> example.mutual_information
    0.0
    >>> round(example.mrmr, 6), round(example.mifs, 6)
    (-0.693147, -0.693147)
    """
    table = np.zeros((2, 2, 2))
    table[0, 0, :] = table[1, 1, :] = 1 / 4
    joint, features, target = features_and_class(table)
    relevance = sum(joint.information([i], [target]) for i in features)
    redundancy = sum(joint.information([i], [j]) for i, j in combinations(features, 2))
    return CounterExample(
        table,
        mutual_information=joint.information(features, [target]),
        mrmr=relevance - redundancy / (len(features) - 1),
        mifs=relevance - redundancy,
    )


def _superposition(joint: JointDistribution) -> np.ndarray:
    variables = range(joint.n_variables)
    product = np.ones_like(joint.probabilities)
    for pair in combinations(variables, 2):
        product = product * joint.margin(pair)
    singles = np.ones_like(joint.probabilities)
    for variable in variables:
        singles = singles * joint.margin([variable])
    # One variable has no pairs and the exponent -1: the formula leaves its own distribution.
    if len(variables) == 1:
        return singles
    return np.divide(product, singles ** (len(variables) - 2), out=np.zeros_like(product), where=singles > 0)
