"""Whether the guaranteed ratios count for a problem: they assume weights that are 0 or more."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from certselect.criteria import SubsetProblem
from certselect.errors import InvalidInput

# Entries this many roundings below 0, measured by the largest one, count as 0.
ROUNDINGS = 64


@dataclass(frozen=True, eq=False)
class Nonnegativity:
    """Which weights of a problem are negative, and so which guaranteed ratios count.

    Attributes
    ----------
    negative_entries : ndarray of int (m, 2)
        Columns i <= j of the table with Q_ij < 0. With none, `rounding_ratio` and COBRA's ratio count.
    negative_pairs : ndarray of int (m, 2)
        Columns i < j whose weight as a pair is negative. With none, the problem is a
        k-heaviest subgraph problem as the theorems have it, and `backward_ratio` counts.
    """

    negative_entries: np.ndarray
    negative_pairs: np.ndarray

    @property
    def entries_hold(self) -> bool:
        """Whether no entry of Q is negative."""
        return len(self.negative_entries) == 0

    @property
    def pairs_hold(self) -> bool:
        """Whether no pair has a negative weight; always so where no entry of Q is negative."""
        return len(self.negative_pairs) == 0


def check_nonnegative(problem: SubsetProblem) -> Nonnegativity:
    """Do the guaranteed ratios of Table 1 count for this problem, and if not, because of which features?

    The theorems are about sums of weights that are 0 or more. A value can be such a sum in
    two ways: over the entries of Q (`eq_16`), or, as all subsets have k features, over pairs
    alone, with

        weight of a pair = 2 Q_ij + (Q_ii + Q_jj) / (k - 1).

    The second asks for less. For "jmi" the weight is I(Xi,Xj;C) / (k - 1), never
    negative, while Q_ij is negative for every redundant pair. For "mrmr" it is
    (I(Xi;C) + I(Xj;C) - I(Xi;Xj)) / (k - 1), negative for strongly redundant pairs.

    Parameters
    ----------
    problem : SubsetProblem
        With k of 2 or more, and no constraints but excluded features.

    Returns
    -------
    Nonnegativity

    Notes
    -----
    The certselect search "cobra" repairs sizes by x'Qx with the weight of the final k,
    so the promise of `rounding_ratio` for it needs `entries_hold`.

    Examples
    --------
    >>> import numpy as np
    >>> from certselect import SubsetProblem
    >>> from certselect.theory import check_nonnegative
    >>> Q = np.array([[1.0, -0.5, 0.0], [-0.5, 1.0, -3.0], [0.0, -3.0, 1.0]])
    >>> found = check_nonnegative(SubsetProblem.from_matrix(Q, k=2))
    >>> found.negative_entries.tolist()
    [[0, 1], [1, 2]]
    >>> found.negative_pairs.tolist()  # of 0 and 1: 2 - 1 = 1; of 1 and 2: 2 - 6 = -4
    [[1, 2]]
    """
    if problem.k < 2:
        raise InvalidInput("k=1", "2 or more", "A single feature has no pairs: the most relevant one is the best.")
    if problem.constraints is not None and problem.constraints.beyond_exclusion:
        raise InvalidInput(
            "a problem with constraints",
            "one in which all sets of k candidates are allowed",
            "The theorems do not cover constraints; a certificate does.",
        )
    Q = problem.candidate_matrix
    own = Q.diagonal().astype(np.float64) / (problem.k - 1)
    pairs = 2.0 * Q.astype(np.float64) + own[:, None] + own[None, :]
    # A pair's weight is what is left of its parts, so rounding is measured by the largest of these.
    zero = -ROUNDINGS * float(np.finfo(Q.dtype).eps) * float(np.abs(Q).max())
    return Nonnegativity(
        negative_entries=_columns(problem, np.triu(np.less(Q, zero))),
        negative_pairs=_columns(problem, np.triu(np.less(pairs, 2.0 * zero), k=1)),
    )


def _columns(problem: SubsetProblem, marked: np.ndarray) -> np.ndarray:
    return problem.candidates[np.argwhere(marked)]
