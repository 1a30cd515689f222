"""What a strategy has found so far."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from certselect.certificate.lift import Lift
from certselect.relaxation.result import Relaxation
from certselect.search.proved import Proved
from certselect.search.selection import COMPLETE
from certselect.search.time_limit import NO_LIMIT, TimeLimit


@dataclass
class Found:
    """What a strategy has found so far; still readable after Ctrl-C.

    A strategy keeps `indices`, which are units, up to date while it runs: less than a whole
    subset while a growing search is on its way, more while a shrinking one is, an allowed
    subset once there is one. A growing or shrinking search can always still get to one. A
    shrinking search lists in `removed` what it took out, in order. A search that relaxes the
    problem keeps the latest `multipliers` and their `lift`, from which a bound can be proved
    whatever happens next, and the `relaxation` once it is solved. `any_size` says
    that the subset is meant to have its own size instead of k; `drawn_size` is how
    large random subsets were on average before their size was repaired. `proved` is
    what a search for a proof found out.

    `limit` is how long the search may take: it asks `out_of_time` between two steps, and returns
    where the answer is yes, with what `indices` has by then; `cut_short` remembers it, and `ties_cut`
    that subsets as good as a proven best one may be missing from its list. `computed_on`
    says where relaxations were computed, if that is in question. `nothing_left` says that a growing search ended
    because no feature adds anything: the subset is then meant to have its own size.
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
    limit: TimeLimit = NO_LIMIT
    computed_on: str = ""
    cut_short: bool = False
    ties_cut: bool = False
    nothing_left: bool = False

    def out_of_time(self) -> bool:
        """Whether the search has to end, finished or not."""
        self.cut_short = self.cut_short or self.limit.over
        return self.cut_short
