"""What a result tells of its search: checked as far as the subset that was found allows.

Scores and the size of random draws are a diary. Of searches that rank the features they
follow from the order of choice; of the others it is checked that they lead to the value of
the answer, and the rest would take the search to be run again.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from certselect.criteria import SubsetProblem
from certselect.errors import InvalidInput
from certselect.names import shown
from certselect.results.reasons import why
from certselect.results.result import Result
from certselect.search.completion import values_along
from certselect.search.registry import AUTO_CHOICES, is_auto, known_strategy
from certselect.search.selection import INTERRUPTED, Selection

_SAME = 1e-9
# Values on the way may come from a matrix in single precision.
_SINGLE = 1e-5


def about_the_search(result: Result, problem: SubsetProblem) -> Iterator[str]:
    """What is said of the search twice and not the same, and scores that do not lead to the answer."""
    searching, selection = result.settings.searching, result.selection
    asked = searching.to_dict()["strategy"].casefold()
    if selection.strategy not in (AUTO_CHOICES if is_auto(asked) else (asked,)):
        yield f"the strategy is {shown(selection.strategy)}, but {shown(asked)} was asked for"
        return
    strategy = known_strategy(selection.strategy)
    if strategy is not None:
        try:
            strategy.check_options(searching.all_options)
        except InvalidInput as error:
            yield f"the strategy has no such options: {why(error)}"
    if not math.isnan(selection.drawn_size):
        if strategy is None or not strategy.draws:
            yield f"{shown(selection.strategy)} draws no subsets, but a size of draws is given"
        elif not 0.0 <= selection.drawn_size <= problem.n_features:
            yield f"the subsets drawn cannot have had {selection.drawn_size:.6g} features on average"
    polished = searching.polish or (is_auto(asked) and problem.steps is None)
    kind = "" if strategy is None else strategy.scores
    if kind and not _leads_to_the_answer(kind, selection, problem, polished=polished):
        yield "the scores are not those that lead to these features"


def _leads_to_the_answer(kind: str, selection: Selection, problem: SubsetProblem, *, polished: bool) -> bool:
    """Whether scores of this kind (`Strategy.scores`) can be those of the search that gave the answer."""
    scores = selection.scores
    if not all(map(math.isfinite, scores)):
        return False
    interrupted = selection.status == INTERRUPTED
    slack = _SAME * _sum_of_terms(problem, selection)
    if kind == "ranking" and not polished:
        along = list(values_along(problem.units, _ranked_units(problem, selection)))
        # What an interrupted search was filled up with has no scores.
        whole = len(scores) == len(along) or (interrupted and len(scores) < len(along))
        return whole and all(abs(here - there) <= slack for here, there in zip(along, scores, strict=False))
    if interrupted:
        return True
    if not scores:
        return kind == "removals"  # nothing had to be removed
    value = selection.objective
    if kind == "steps":
        return any(abs(score - value) <= slack for score in scores)
    most = value + _SINGLE / _SAME * slack
    return abs(scores[-1] - value) <= slack and (kind != "improving" or max(scores) <= most)


def _ranked_units(problem: SubsetProblem, selection: Selection) -> list[int]:
    """The units of the chosen columns, in the order of choice."""
    units = problem.units
    unit_of = {column: unit for unit in units.units_of(selection.indices) for column in units.columns([unit])}
    return list(dict.fromkeys(unit_of[int(column)] for column in selection.indices))


def _sum_of_terms(problem: SubsetProblem, selection: Selection) -> float:
    """The terms of the answer's value without their signs: what rounding is relative to."""
    if problem.steps is not None:
        return problem.magnitude(selection.indices)
    chosen = selection.indices
    shared = sum(float(np.abs(problem.pair_row(int(i))[chosen]).sum()) for i in chosen)
    weights = max(abs(problem.weight(size)) for size in (1, 2, max(2, len(chosen))))
    return float(np.abs(problem.linear[chosen]).sum()) + weights * shared
