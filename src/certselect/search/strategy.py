"""What a search strategy is: a function from a problem to the subset it found."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from certselect.certificate.lift import Lift
from certselect.criteria.problem import SubsetProblem
from certselect.relaxation.result import Relaxation
from certselect.search.proved import Proved
from certselect.search.selection import COMPLETE


@dataclass
class Found:
    """What a strategy has found so far; still readable after Ctrl-C.

    A strategy keeps `indices` up to date while it runs: less than k while a
    growing search is on its way, more while a shrinking one is, k once there is a
    whole subset. Under rules they are units, a whole subset is an allowed one, and
    a growing or shrinking search can always still get to one. A shrinking search
    lists in `removed` what it took out, in order. A search that relaxes the problem
    keeps the latest `multipliers` and their `lift`, from which a bound can be proved
    whatever happens next, and the `relaxation` once it is solved. `any_size` says
    that the subset is meant to have its own size instead of k; `drawn_size` is how
    large random subsets were on average before their size was repaired. `proved` is
    what a search that goes for the proof came to know.
    """

    indices: list[int] = field(default_factory=list)
    scores: list[float] = field(default_factory=list)
    status: str = COMPLETE
    removed: list[int] = field(default_factory=list)
    relaxation: Relaxation | None = None
    multipliers: np.ndarray | None = None
    lift: Lift | None = None
    any_size: bool = False
    drawn_size: float = float("nan")
    proved: Proved | None = None


class Strategy(Protocol):
    """Fill `found` with k of the problem's candidates; ties go to the lowest index.

    The problem is in unit form: where it has `rules`, the subset must be one they allow.
    Options of a strategy are keyword-only parameters with defaults.
    """

    def __call__(self, problem: SubsetProblem, found: Found, rng: np.random.Generator, /) -> None: ...
