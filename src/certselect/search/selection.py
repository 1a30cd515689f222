"""Selection: the subset a search chose, and what is known about it."""

from __future__ import annotations

import math
import os
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from certselect.certificate import Certificate
from certselect.criteria.known import AnyCriterion, list_criteria
from certselect.criteria.problem import SubsetProblem
from certselect.criteria.stepwise import NO_SUM_OVER_PAIRS, StepwiseCriterion
from certselect.shown_numbers import rounded_up

COMPLETE = "complete"
PROVEN_OPTIMAL = "proven optimal"
INTERRUPTED = "interrupted"
# Beside the stages in `Selection.seconds`: the time limit that ended some of them early.
LIMIT = "limit"

# Gaps up to this are what rounding the best subset's value and its bound once each leaves of none at all.
_ROUNDING = 2.0**-51
# Up to this they are worth no percentage.
_SMALL = 1e-9
# No smaller percentage is named: 0.0001 % reads better than 7.6e-07 %, and is true as well.
_LEAST_NAMED = 1e-6


@dataclass(frozen=True, eq=False)
class Selection:
    """The chosen features, what they are worth and how the search ended.

    Attributes
    ----------
    indices : ndarray of int (k,)
        Columns of the table, in order of choice where the search has one, else ascending.
    names : tuple of str
        Their names, in the same order.
    objective : float
        Value of the subset under the criterion at size k (nats).
    scores : tuple of float
        Value along the way: after each choice of a sequential search (of a feature or
        of a group), at each improvement of the others.
    k : int
        How many features were chosen.
    upper_bound, gap : float
        No subset of this size that respects the constraints is worth more than
        `upper_bound`; NaN while unknown. `gap` is (upper_bound - objective) / |objective|.
    status : str
        "complete", "proven optimal" or "interrupted" (the best found before Ctrl-C).
    tolerance : float
        If the status is "proven optimal": `upper_bound` is at most this much above `objective`.
        1e-12 of the sum of the absolute terms of the subset itself; NaN otherwise.
    certificate : Certificate or None
        What shows `upper_bound` and can be checked again: multipliers, or a proof.
    seconds : dict
        Time spent, by stage; and as "limit" the time limit, if it ended any of them early.
    drawn_size : float
        For "cobra" and "soss": mean size of the random subsets before they were
        repaired to k features; NaN for the others.
    dropped : tuple of str
        Features left out before the search: constant ones, and those that only tell one row from another.
    proven_in, proven_out : tuple of str
        Features proven to be in every allowed subset that is worth at least as much as this one, and in none.
    ties : tuple of tuples of int
        Subsets that equal the best, the answer first among them, if they were looked for.
    constrained, any_size : bool
        Whether only some subsets were allowed, and whether they could be of any size:
        the bound is on those.
    computed_on : str
        Which device its relaxations were computed on, or why not on a GPU, in a sentence; empty where no GPU was in
        question.
    without_copies : bool
        Whether features were left out because they say the same as another one: the bound is
        then on subsets without two such.
    problem : SubsetProblem or None
        The problem it answers; None if it was read from a file, which knows no table.
    """

    indices: np.ndarray
    names: tuple[str, ...]
    objective: float
    scores: tuple[float, ...]
    strategy: str
    criterion: str
    k: int
    status: str = COMPLETE
    upper_bound: float = float("nan")
    gap: float = float("nan")
    tolerance: float = float("nan")
    seconds: dict[str, float] = field(default_factory=dict)
    dropped: tuple[str, ...] = ()
    certificate: Certificate | None = None
    drawn_size: float = float("nan")
    proven_in: tuple[str, ...] = ()
    proven_out: tuple[str, ...] = ()
    ties: tuple[tuple[int, ...], ...] = ()
    constrained: bool = False
    any_size: bool = False
    without_copies: bool = False
    computed_on: str = ""
    problem: SubsetProblem | None = field(default=None, repr=False)

    @property
    def unit(self) -> str:
        """What the value is in: "nats", or nothing, for parts and for a matrix of which nobody knows."""
        return "nats" if self._known_criterion is None else self._known_criterion.unit

    @property
    def _known_criterion(self) -> AnyCriterion | None:
        """The criterion, if it is known here: a file has its name alone."""
        return list_criteria().get(self.criterion) if self.problem is None else self.problem.criterion

    @property
    def out_of_time(self) -> bool:
        """Whether the time limit ended the search, its polish or its bound before they were finished."""
        return LIMIT in self.seconds

    @property
    def statement(self) -> str:
        """What is proven, in words: "No 12 features score more than 0.024 % above these."; empty if nothing is.

        Examples
        --------
        >>> import numpy as np
        >>> from certselect import SubsetProblem, select
        >>> problem = SubsetProblem.from_matrix(np.diag([3.0, 2.0, 1.0]), k=2, exclude=[0])
        >>> select(problem, "exhaustive").statement
        'Proven: no 2 features that respect the constraints score more than these.'
        """
        if math.isnan(self.gap):
            return ""
        if self.gap <= (_ROUNDING if self.status == PROVEN_OPTIMAL else 0.0):
            return f"Proven: no {self._all_others} more than {self._this}."
        if math.isinf(self.gap):
            return f"No {self._all_others} more than {rounded_up(self.upper_bound, 6)}."
        if self.gap <= _SMALL:
            return f"Proven to {rounded_up(self.gap, 2)} of the value: no {self._all_others} more than {self._this}."
        named = rounded_up(max(self.gap, _LEAST_NAMED), 2, 100)
        return f"No {self._all_others} more than {named} % above {self._this}."

    def about_bound(self, certify: str = "certify=True") -> str:
        """The statement; where there is none, that no bound was computed and what computes one."""
        if isinstance(self._known_criterion, StepwiseCriterion):
            return f"No bound exists for {self.criterion}: {NO_SUM_OVER_PAIRS}."
        if self.statement or self.any_size:
            return self.statement or "No bound was computed."
        columns = 0 if self.problem is None else len(self.problem.candidates)
        pairs = f", from all {columns * (columns - 1) // 2:,} pairs of {columns} columns" if columns else ""
        return f"No bound was computed: {certify} computes one{pairs}."

    def to_html(self, path: str | os.PathLike[str]) -> None:
        """Write a report that people can read: one HTML file that needs no network.

        It shows the chosen features and what is proven. `choose_subset` returns a `Result`, whose report
        knows the table as well.
        """
        from certselect.report import write_report

        write_report(self._facts(), path)

    def _repr_html_(self) -> str:
        """What notebooks show."""
        from certselect.report import report_card

        return report_card(self._facts())

    def _facts(self) -> dict[str, Any]:
        from certselect.search.facts import selection_facts

        asked = "Which features score" if self.any_size else f"Which {self.k} features score"
        return selection_facts(self) | {"title": "Feature selection report", "question": f"{asked} highest together?"}

    @property
    def _all_others(self) -> str:
        """The subsets the bound is on, and a verb: "12 features that respect the constraints score"."""
        one = self.k == 1 and not self.any_size
        features = "feature" if one else "features"
        if not one:
            different = "different " if self.without_copies else ""
            features = f"{different}features" if self.any_size else f"{self.k} {different}features"
        respect = f" that {'respects' if one else 'respect'} the constraints" if self.constrained else ""
        return f"{features}{respect} {'scores' if one else 'score'}"

    @property
    def _this(self) -> str:
        return "this one" if self.k == 1 else "these"
