"""Entropy, mutual information and interaction information of the variables of a joint table, in nats."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import combinations
from typing import Any

from certselect.errors import InvalidInput
from certselect.theory.joint_table import JointDistribution


def entropy(table: Any, axes: int | Iterable[int] | None = None) -> float:
    """How uncertain are some variables together, in nats?

    H(Y) = - sum over y of Pr(y) ln Pr(y).

    Parameters
    ----------
    table : array of probabilities or counts
        One axis per variable.
    axes : int or ints, optional
        The variables asked about; all of them if not given.

    Examples
    --------
    >>> from math import log
    >>> import numpy as np
    >>> from certselect.theory import entropy
    >>> two_coins = np.full((2, 2), 1 / 4)
    >>> round(entropy(two_coins) / log(2), 6), round(entropy(two_coins, axes=0) / log(2), 6)  # in bits
    (2.0, 1.0)
    """
    joint = JointDistribution(table)
    return joint.entropy(range(joint.n_variables) if axes is None else joint.axes(axes))


def mutual_information(
    table: Any, first: int | Iterable[int], second: int | Iterable[int], given: int | Iterable[int] = ()
) -> float:
    """How much information do some variables carry about others, perhaps when further ones are known, in nats?

    I(A;B|Z) = H(A,Z) + H(B,Z) - H(A,B,Z) - H(Z), the paper's `eq_1` where nothing is given.

    Parameters
    ----------
    table : array of probabilities or counts
        One axis per variable.
    first, second : int or ints
        The axes of A and of B.
    given : int or ints
        The axes of Z.

    Examples
    --------
    >>> import numpy as np
    >>> from certselect.theory import mutual_information
    >>> xor = np.zeros((2, 2, 2))  # two fair coins, and whether they differ
    >>> xor[0, 0, 0] = xor[1, 1, 0] = xor[0, 1, 1] = xor[1, 0, 1] = 1 / 4
    >>> mutual_information(xor, 0, 2)  # one coin carries no information
    0.0
    >>> round(mutual_information(xor, [0, 1], 2), 6), round(mutual_information(xor, 0, 2, given=1), 6)
    (0.693147, 0.693147)
    """
    joint = JointDistribution(table)
    a, b, z = joint.axes(first), joint.axes(second), joint.axes(given)
    joint.axes([*a, *b, *z])  # no variable in two places
    return max(0.0, joint.information(a, b, z))  # less than 0 is rounding


def interaction_information(table: Any, axes: Iterable[int] | None = None, given: int | Iterable[int] = ()) -> float:
    """How much do three or more variables share that is in every one of them, in nats?

    The paper's `eq_7`, McGill's information with this sign:

        I(Y1;...;YN) = I(Y1;...;YN-1) - I(Y1;...;YN-1|YN),

    which is mutual information for two variables and entropy for one. Unlike those
    it may be negative: two features that carry more information about the class together than
    apart (synergy) have I(Xi;Xj;C) < 0, redundant ones I(Xi;Xj;C) > 0.

    Parameters
    ----------
    table : array of probabilities or counts
        One axis per variable.
    axes : ints, optional
        The variables asked about, in any order; all of them if not given.
    given : int or ints
        Variables that are known: the terms above are then conditional ones.

    Notes
    -----
    Resolving the recursion leaves entropies of all subsets of the variables, those of an
    odd number with a plus: 2^N of them, so this is for small sets.

    Examples
    --------
    >>> from math import log
    >>> import numpy as np
    >>> from certselect.theory import interaction_information
    >>> xor = np.zeros((2, 2, 2))
    >>> xor[0, 0, 0] = xor[1, 1, 0] = xor[0, 1, 1] = xor[1, 0, 1] = 1 / 4
    >>> round(interaction_information(xor) / log(2), 6)  # pure synergy: minus one bit
    -1.0
    """
    joint = JointDistribution(table)
    known = joint.axes(given)
    wanted = [i for i in range(joint.n_variables) if i not in known] if axes is None else joint.axes(axes)
    joint.axes([*wanted, *known])  # no variable in two places
    if not wanted:
        raise InvalidInput("no variable", "one axis or more", "Name the variables in axes.")
    return shared_by_all(joint, wanted, known)


def shared_by_all(joint: JointDistribution, axes: Iterable[int], given: Iterable[int] = ()) -> float:
    """Interaction information of checked axes."""
    variables, known = list(axes), list(given)
    total, sign = 0.0, 1.0
    for size in range(1, len(variables) + 1):
        total += sign * sum(
            joint.entropy([*some, *known]) - joint.entropy(known) for some in combinations(variables, size)
        )
        sign = -sign
    return total
