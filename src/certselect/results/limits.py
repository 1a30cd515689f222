"""What a file can make `verify` do, limited: work grows with the table and the file, not with numbers in it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from certselect.criteria import SubsetProblem
from certselect.criteria.rules import Rules

# Subsets, of all sizes together, that are valued again where a bound has no certificate.
MOST_SUBSETS = 10_000_000
# Pair terms, of all ties together, that are summed again; each tie counts as some more.
MOST_TIED_TERMS = 20_000_000
_TERMS_PER_TIE = 100


def can_value_all(problem: SubsetProblem) -> bool:
    """Whether the subsets, of every size that competes, are few enough to be valued one by one."""
    count = 0.0
    problem = replace(problem, pairs=None)  # counting needs no values, and a result that was pickled has few
    for size in problem.allowed_sizes if problem.any_size else [problem.k]:
        count += _count(problem.of_size(size).units.rules)
        if count > MOST_SUBSETS:
            return False
    return True


def can_value_ties(ties: tuple[tuple[int, ...], ...]) -> bool:
    """Whether the ties are few and small enough to be valued again."""
    return sum(len(tie) ** 2 + _TERMS_PER_TIE for tie in ties) <= MOST_TIED_TERMS


def _count(rules: Rules) -> float:
    """How many sets of units have the right size, allowed or not, as far as `MOST_SUBSETS`."""
    left = rules.k - rules.size(rules.required)
    ways = np.zeros(left + 1)
    ways[0] = 1.0
    for size in rules.sizes[np.setdiff1d(rules.candidates, rules.required)].tolist():
        if size <= left:
            ways[size:] += ways[: left + 1 - size]
        if ways[left] > MOST_SUBSETS:
            break
        np.minimum(ways, 1e300, out=ways)
    return float(ways[left])
