"""The criteria: which pair term a subset pays for, and how much.

A pairwise criterion values a subset S as

    sum of I(Xi;C) over S  -  w(|S|) * sum of pair(i, j) over the pairs in S.

To add one, add a line to `CRITERIA`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from certselect.errors import InvalidInput

PairKind = Literal["redundancy", "conditional_redundancy", "interaction"]


@dataclass(frozen=True)
class Criterion:
    """One way to value a subset: a pair term and its weight as a function of the subset's size."""

    name: str
    pair: PairKind | None
    weight: Callable[[int], float]
    formula: str


def _averaged(size: int) -> float:
    # 1/(k-1) is undefined for one feature, which has no pairs to pay for.
    return 1.0 / (size - 1) if size > 1 else 0.0


def mifs(beta: float = 1.0) -> Criterion:
    """Battiti's MIFS: each pair of chosen features costs beta times its redundancy."""
    if not 0.0 <= beta < float("inf"):
        raise InvalidInput(f"beta={beta!r}", "a finite number, 0 or more", "Use beta=1 for the paper's MIFS.")
    return Criterion("mifs", "redundancy", lambda size: beta, f"sum I(Xi;C) - {beta:g} sum I(Xi;Xj)")


CRITERIA: dict[str, Criterion] = {
    criterion.name: criterion
    for criterion in (
        Criterion("max_relevance", None, lambda size: 0.0, "sum I(Xi;C)"),
        mifs(),
        Criterion("mrmr", "redundancy", _averaged, "sum I(Xi;C) - 1/(k-1) sum I(Xi;Xj)"),
        Criterion("d1", "interaction", lambda size: 1.0, "sum I(Xi;C) - sum I(Xi;Xj;C)"),
        Criterion("jmi", "interaction", _averaged, "sum I(Xi;C) - 1/(k-1) sum I(Xi;Xj;C)"),
    )
}
ALIASES = {"cife": "d1", "d2": "jmi"}


def find_criterion(criterion: str | Criterion, beta: float | None = None) -> Criterion:
    """The criterion of that name (`beta` is for `mifs` only)."""
    if isinstance(criterion, str):
        name = ALIASES.get(criterion, criterion)
        if name == "mifs" and beta is not None:
            return mifs(beta)
        if name not in CRITERIA:
            known = ", ".join([*CRITERIA, *ALIASES])
            raise InvalidInput(f"criterion={criterion!r}", f"one of {known}", "Check the spelling.")
        criterion = CRITERIA[name]
    if beta is not None:
        raise InvalidInput(
            f"beta={beta!r} with criterion={criterion.name!r}",
            "beta with criterion='mifs' only",
            "Leave beta out, or choose criterion='mifs'.",
        )
    return criterion
