"""Selection: the subset a search chose, and what is known about it."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from certselect.certificate import Certificate

COMPLETE = "complete"
PROVEN_OPTIMAL = "proven optimal"
INTERRUPTED = "interrupted"


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
        Value along the way: after each choice of a sequential search, at each
        improvement of the others.
    upper_bound, gap : float
        No subset of this size is worth more than `upper_bound`; NaN while unknown.
        `gap` is (upper_bound - objective) / |objective|.
    status : str
        "complete", "proven optimal" or "interrupted" (the best found before Ctrl-C).
    certificate : Certificate or None
        The proof behind `upper_bound`: multipliers from which it can be checked again.
    seconds : dict
        Time spent, by stage.
    drawn_size : float
        For "cobra" and "soss": mean size of the random subsets before it was
        brought to k, so how much work the repair had; NaN for the others.
    dropped : tuple of str
        Constant features, left out before the search.
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
    seconds: dict[str, float] = field(default_factory=dict)
    dropped: tuple[str, ...] = ()
    certificate: Certificate | None = None
    drawn_size: float = float("nan")
