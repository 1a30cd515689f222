"""What a search has found so far, and what shows a bound."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace

import numpy as np

from certselect.certificate.lift import Lift
from certselect.certificate.proof import Decision, Proof
from certselect.clock import NO_LIMIT, TimeLimit
from certselect.relaxation import Iterate, Relaxation


@dataclass(frozen=True, eq=False)
class Proved:
    """The outcome of a search for a proof.

    Attributes
    ----------
    value : float
        Of the best subset it found.
    known : float
        What is worth no more than this counts as no better, and was not looked at.
    bound : float
        No allowed subset is worth more; inf if nothing was proved.
    proof : Proof or None
        Shows `bound`, with subsets up to `known` taken for granted; None if there is none.
    too_large : bool
        Whether there is none because it grew too large to keep.
    decisions : list of Decision
        What was decided about all subsets, before cases were distinguished.
    equals : list of list of int
        Subsets (units) worth as much as the best, where they were looked for.
    """

    value: float
    known: float
    bound: float
    proof: Proof | None
    too_large: bool = False
    decisions: list[Decision] = field(default_factory=list)
    equals: list[list[int]] = field(default_factory=list)


@dataclass(frozen=True, eq=False)
class Evidence:
    """What shows a bound: multipliers of a relaxation, or a proof.

    Replaced as a whole, so that Ctrl-C never separates what belongs together.

    Attributes
    ----------
    multipliers : ndarray or None
        The latest of a relaxation. They show a bound, whatever happens next.
    lift : Lift or None
        The lift they belong to.
    relaxation : Relaxation or None
        The relaxation, once it is solved.
    proved : Proved or None
        The outcome of a search for a proof. Believed of the strategies of this package alone.
    computed_on : str
        Where relaxations were computed, if that is in question.
    """

    multipliers: np.ndarray | None = None
    lift: Lift | None = None
    relaxation: Relaxation | None = None
    proved: Proved | None = None
    computed_on: str = ""

    @property
    def shows_bound(self) -> bool:
        return self.multipliers is not None or (self.proved is not None and self.proved.bound < math.inf)

    def at(self, iterate: Iterate) -> Evidence:
        """With the multipliers that a relaxation has reached."""
        return replace(self, multipliers=iterate.multipliers, lift=iterate.lift)

    def of(self, relaxation: Relaxation) -> Evidence:
        """With a relaxation that is solved."""
        return replace(
            self,
            multipliers=relaxation.multipliers,
            lift=relaxation.lift,
            relaxation=relaxation,
            computed_on=relaxation.computed_on,
        )


NO_EVIDENCE = Evidence()


@dataclass
class Found:
    """What a search has found so far: the one object that it writes while it runs, still readable after Ctrl-C.

    Attributes
    ----------
    indices : list of int
        Units; a strategy keeps them up to date. Less than a whole subset while a growing search is on its way,
        more while a shrinking one is, an allowed subset once there is one. A growing or shrinking search can
        always still get to one.
    scores : list of float
        Values along the way, as the strategy's record says (`Strategy.scores`).
    removed : list of int
        What a shrinking search took out, in order.
    evidence : Evidence
        What shows a bound so far.
    any_size : bool
        Whether the subset is meant to have its own size instead of k.
    drawn_size : float
        How large random subsets were on average before their size was repaired.
    limit : TimeLimit
        How long the search may take: it asks `out_of_time` between two steps, and returns where the answer is
        yes, with what `indices` has by then.
    cut_short : bool
        Whether the limit ended the search.
    ties_cut : bool
        Whether subsets as good as a proven best one may be missing from its list.
    nothing_left : bool
        Whether a growing search ended because no feature adds anything: the subset then keeps its own size.
    """

    indices: list[int] = field(default_factory=list)
    scores: list[float] = field(default_factory=list)
    removed: list[int] = field(default_factory=list)
    evidence: Evidence = NO_EVIDENCE
    any_size: bool = False
    drawn_size: float = math.nan
    limit: TimeLimit = NO_LIMIT
    cut_short: bool = False
    ties_cut: bool = False
    nothing_left: bool = False

    def out_of_time(self) -> bool:
        """Whether the search has to end, finished or not."""
        if self.limit is not NO_LIMIT and self.limit.over:
            self.cut_short = True
        return self.cut_short

    def stop_at(self, limit: TimeLimit) -> None:
        """Note that this limit ended something."""
        self.cut_short, self.limit = True, limit
