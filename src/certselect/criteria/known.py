"""The criteria by name: those of the package, those that users register, those of other packages."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from certselect.criteria.definitions import CRITERIA, Criterion, linear, mifs
from certselect.criteria.stepwise import STEPWISE, StepwiseCriterion
from certselect.errors import InvalidInput, keyword
from certselect.registered import Registry

ALIASES = {"cife": "d1", "d2": "jmi", "mim": "max_relevance"}
AnyCriterion = Criterion | StepwiseCriterion
OWN: dict[str, AnyCriterion] = {**CRITERIA, **STEPWISE}


def _jmi(order: int) -> AnyCriterion:
    return _of_order(order, {2: "jmi", 3: "jmi3"})


def _d1(order: int) -> AnyCriterion:
    return _of_order(order, {2: "d1", 3: "cife3"})


def _of_order(order: int, names: dict[int, str]) -> AnyCriterion:
    if order not in names:
        raise InvalidInput(
            keyword("order", order), "2 for pairs or 3 for triples", f"Leave {keyword('order')} out for pairs."
        )
    return OWN[names[order]]


# Criteria with options, each with the function that makes one of them.
_WITH_OPTIONS: dict[str, Callable[..., AnyCriterion]] = {"mifs": mifs, "linear": linear, "jmi": _jmi, "d1": _d1}
_registry: Registry[AnyCriterion] = Registry(
    "criterion", "certselect.criteria", Criterion, OWN.__getitem__, OWN, ALIASES
)


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


def list_criteria() -> dict[str, AnyCriterion]:
    """All criteria by name: what a subset can be valued by. Those of type `Criterion` have bounds and proofs."""
    return {name: _registry.find(name) for name in _registry.names()}


def find_criterion(criterion: str | AnyCriterion, **options: Any) -> AnyCriterion:
    """The criterion of that name, with its options (`beta`, `gamma`, `order`) where they are not None."""
    if isinstance(criterion, AnyCriterion):
        found = criterion
    else:
        known_as = ALIASES.get(criterion.casefold()) if isinstance(criterion, str) else None
        found = _registry.find(known_as or criterion)
    given = {}
    for name, value in options.items():
        if value is not None:
            given[name] = value
    if not given:
        return found
    make = _WITH_OPTIONS.get(found.name) if found == OWN.get(found.name) else None
    for name, value in given.items():
        if make is None or name not in inspect.signature(make).parameters:
            takes = [own for own, maker in _WITH_OPTIONS.items() if name in inspect.signature(maker).parameters]
            which = " or ".join(keyword("criterion", own) for own in takes)
            raise InvalidInput(
                f"{keyword(name, value)} with {keyword('criterion', found.name)}",
                f"{keyword(name)} with {which} only",
                f"Leave {keyword(name)} out, or choose {which}.",
            )
    assert make is not None, "a name was refused above"
    return make(**given)
