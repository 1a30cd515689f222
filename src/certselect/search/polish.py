"""Improve a subset by exchanging one feature at a time, until no exchange helps."""

from __future__ import annotations

import numpy as np

from certselect.criteria.problem import SubsetProblem
from certselect.search.strategy import Found
from certselect.search.ties import best_and_ties, tie_width, value_scale


def polish(problem: SubsetProblem, found: Found) -> None:
    """Swap a chosen feature for one left out, always the best such swap, while the value at size k rises.

    The newcomer takes the place of the one it replaces. Of equally good swaps
    the lowest feature comes in, and for it the highest goes out. Only the pair
    rows of features that are or were chosen are asked for.
    """
    scale = value_scale(problem)
    weight = problem.weight(problem.k)
    outside = np.zeros(problem.n_features, dtype=bool)
    outside[problem.candidates] = True
    outside[found.indices] = False
    rows = np.array([_pairs_with_others(problem, member) for member in found.indices])
    while outside.any():
        members = np.array(found.indices)
        shared = rows.sum(axis=0)
        contribution = problem.linear - weight * shared
        value = float(problem.linear[members].sum() - weight * shared[members].sum() / 2)
        # By how much the value changes when the member of a row leaves and the feature of a column comes.
        # The newcomer no longer shares anything with the one that left, hence the last term.
        newcomers = np.flatnonzero(outside)
        change = contribution[newcomers] - contribution[members][:, None] + weight * rows[:, newcomers]
        best = float(change.max())
        if best <= tie_width(value, scale):
            return
        good = best_and_ties(change, scale)
        column = int(good.any(axis=0).argmax())
        tied = np.flatnonzero(good[:, column])
        place = int(tied[members[tied].argmax()])
        newcomer = int(newcomers[column])
        row = _pairs_with_others(problem, newcomer)
        outside[members[place]], outside[newcomer] = True, False
        rows[place] = row
        found.indices[place] = newcomer
        found.scores.append(value + float(change[place, column]))


def _pairs_with_others(problem: SubsetProblem, feature: int) -> np.ndarray:
    """The feature's pair row, 0 instead of the arbitrary entry for itself."""
    row = np.array(problem.pair_row(feature), dtype=float)
    row[feature] = 0.0
    return row
