"""The criteria: which pair term a subset pays for, and how much.

A pairwise criterion values a subset S as

    sum of I(Xi;C) over S  -  w(|S|) * sum of pair(i, j) over the pairs in S.

To add one, add an entry to `CRITERIA`; from outside the package, call `register_criterion`
or name a `Criterion` in the entry-point group "certselect.criteria".
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, get_args

from certselect.errors import InvalidInput
from certselect.registered import Registry

PairKind = Literal["redundancy", "conditional_redundancy", "interaction"]


@dataclass(frozen=True)
class Criterion:
    """One way to value a subset: a pair term, and its weight as a function of the subset's size.

    Attributes
    ----------
    name : str
        Lower case.
    pair : {"redundancy", "conditional_redundancy", "interaction"} or None
        The pair term that is subtracted; None if pairs do not matter.
    weight : callable
        From a subset's size to what a pair term costs in it. A function of a module or an
        object that pickles, so that problems can be sent to other processes.
    formula : str
        For people to read.
    """

    name: str
    pair: PairKind | None
    weight: Callable[[int], float]
    formula: str

    def __post_init__(self) -> None:
        kinds = get_args(PairKind)
        if self.pair is not None and self.pair not in kinds:
            got = f"a criterion with the pair term {self.pair!r}"
            raise InvalidInput(got, f"None or one of {', '.join(kinds)}", "Check the spelling.")
        if not callable(self.weight):
            raise InvalidInput(
                f"a criterion with the weight {self.weight!r}",
                "a function from a subset's size to a number",
                "Use SameWeight(0.5) for the same weight at every size.",
            )


@dataclass(frozen=True)
class SameWeight:
    """A pair costs the same in subsets of every size."""

    cost: float

    def __call__(self, size: int) -> float:
        return self.cost


def averaged(size: int) -> float:
    """A pair costs 1/(size - 1): each feature pays for its mean pair term with the others."""
    # Undefined for one feature, which has no pairs to pay for.
    return 1.0 / (size - 1) if size > 1 else 0.0


def mifs(beta: float = 1.0) -> Criterion:
    """Battiti's MIFS: each pair of chosen features costs beta times its redundancy."""
    if not isinstance(beta, int | float) or isinstance(beta, bool) or not 0.0 <= beta < float("inf"):
        raise InvalidInput(f"beta={beta!r}", "a finite number, 0 or more", "Use beta=1 for the paper's MIFS.")
    return Criterion("mifs", "redundancy", SameWeight(float(beta)), f"sum I(Xi;C) - {beta:g} sum I(Xi;Xj)")


CRITERIA: dict[str, Criterion] = {
    criterion.name: criterion
    for criterion in (
        Criterion("jmi", "interaction", averaged, "sum I(Xi;C) - 1/(k-1) sum I(Xi;Xj;C)"),
        Criterion("mrmr", "redundancy", averaged, "sum I(Xi;C) - 1/(k-1) sum I(Xi;Xj)"),
        mifs(),
        Criterion("d1", "interaction", SameWeight(1.0), "sum I(Xi;C) - sum I(Xi;Xj;C)"),
        Criterion("max_relevance", None, SameWeight(0.0), "sum I(Xi;C)"),
    )
}
ALIASES = {"cife": "d1", "d2": "jmi"}
_registry = Registry("criterion", "certselect.criteria", Criterion, CRITERIA.__getitem__, CRITERIA, ALIASES)


def register_criterion(criterion: Criterion) -> None:
    """Make a criterion of your own available by its name, in every selector, function and command.

    Examples
    --------
    >>> from certselect.criteria import Criterion, SameWeight, register_criterion
    >>> register_criterion(Criterion("half_mifs", "redundancy", SameWeight(0.5), "sum I(Xi;C) - 1/2 sum I(Xi;Xj)"))
    """
    _registry.register(criterion)


def criterion_names() -> list[str]:
    """The names of all criteria, other names last."""
    return [*_registry.names(), *ALIASES]


def list_criteria() -> dict[str, Criterion]:
    """All criteria by name: what a subset can be valued by."""
    return {name: _registry.find(name) for name in _registry.names()}


def find_criterion(criterion: str | Criterion, beta: float | None = None) -> Criterion:
    """The criterion of that name (`beta` is for `mifs` only)."""
    if isinstance(criterion, Criterion):
        found = criterion
    else:
        known_as = ALIASES.get(criterion.casefold()) if isinstance(criterion, str) else None
        found = _registry.find(known_as or criterion)
    if beta is None:
        return found
    if found is CRITERIA["mifs"]:
        return mifs(beta)
    raise InvalidInput(
        f"beta={beta!r} with criterion={found.name!r}",
        "beta with criterion='mifs' only",
        "Leave beta out, or choose criterion='mifs'.",
    )
