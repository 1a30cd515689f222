"""How one run of a strategy holds its answers for several sizes."""

from __future__ import annotations

from certselect.criteria.units import UnitProblem
from certselect.search.found import Found
from certselect.search.strategy import Nested


def _first_choices(problem: UnitProblem, whole: Found) -> Found:
    return Found(whole.indices[: problem.k], whole.scores[: problem.k])


def _before_later_removals(problem: UnitProblem, whole: Found) -> Found:
    removed = whole.removed[: len(problem.candidates) - problem.k]
    return Found(without(problem, removed), whole.scores[: len(removed)], removed=removed)


def without(problem: UnitProblem, removed: list[int]) -> list[int]:
    """The candidates that have not been removed, ascending."""
    gone = set(removed)
    return [unit for unit in problem.candidates.tolist() if unit not in gone]


# The largest size's run passes all others; a smaller subset is the first of its choices.
FIRST_CHOICES = Nested(max, _first_choices)
# The smallest size's run passes all others; a larger subset is what it had before its last removals.
LAST_REMOVALS = Nested(min, _before_later_removals)
