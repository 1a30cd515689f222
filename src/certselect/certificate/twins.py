"""Units that can be exchanged for each other without any change at all.

Two entries i and j of a symmetric Q are copies if exchanging them leaves Q as it is,
exactly: Q_ii = Q_jj, and Q_ih = Q_jh for every other h. That is an equivalence, so copies come in
classes. Twins are copies of the same size and cost, in the same rival group or in none, whose terms
are the same too: entries of an open problem may have been raised to a floor or rounded, terms were not.
"""

from __future__ import annotations

import numpy as np

from certselect.certificate.open_problem import OpenProblem


def first_copies(Q: np.ndarray) -> np.ndarray:
    """For each entry of a symmetric Q, the first one that it is a copy of: itself where there is none before it."""
    leader = np.arange(len(Q))
    if len(Q) < 2:
        return leader
    # Copies have the same values in their rows, in another order; sorting all rows would cost more than a look at
    # their ends, and what these do not tell apart is compared in full.
    signature = np.stack([Q.diagonal(), Q.min(axis=1), Q.max(axis=1)])
    order = np.lexsort(signature)
    alike = (signature[:, order[1:]] == signature[:, order[:-1]]).all(axis=0)
    if not alike.any():
        return leader
    for bucket in np.split(order, np.flatnonzero(~alike) + 1):
        while len(bucket) > 1:
            same = _exchangeable(Q, bucket[0], bucket)
            leader[bucket[same]] = bucket[0]
            bucket = bucket[~same]
    return leader


def _exchangeable(Q: np.ndarray, one: int, others: np.ndarray) -> np.ndarray:
    """Which of the others can change places with one of them."""
    differs = Q[others] != Q[one]
    # The pair's own entries sit in other places: Q_ii where the other has Q_ij.
    differs[:, one] = False
    differs[np.arange(len(others)), others] = False
    return ~differs.any(axis=1) & (Q[others, others] == Q[one, one])


def interchangeable(problem: OpenProblem, i: int, j: int) -> bool:
    """Whether exchanging two units for each other changes nothing at all."""
    alike = bool(_exchangeable(problem.matrix, i, np.array([j]))[0]) and _same_rules(problem, i, j)
    return alike and problem.same_terms(i, j)


def _same_rules(problem: OpenProblem, i: int, j: int) -> bool:
    same = problem.sizes[i] == problem.sizes[j] and problem.rival[i] == problem.rival[j]
    return bool(same and (problem.costs is None or problem.costs[i] == problem.costs[j]))


def twins_of(problem: OpenProblem) -> list[tuple[int, int]]:
    """(kept, dropped) pairs of interchangeable units: the first of each kind with each other one of it."""
    leader = first_copies(problem.matrix)
    kept: dict[int, list[int]] = {}  # of each class of copies, the first of each size, cost and group
    pairs = []
    for unit in np.flatnonzero(np.bincount(leader, minlength=len(leader))[leader] > 1).tolist():
        firsts = kept.setdefault(int(leader[unit]), [])
        alike = (first for first in firsts if _same_rules(problem, first, unit) and problem.same_terms(first, unit))
        first = next(alike, None)
        if first is None:
            firsts.append(unit)
        else:
            pairs.append((first, unit))
    return pairs
