"""Which features must, must not or may be chosen together, and what they may cost.

Only the form is checked here. Whether the features exist and the constraints agree is known with a table, and
checked when a problem is made.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Set
from dataclasses import dataclass
from typing import Any, Self

from certselect.errors import InvalidInput, keyword
from certselect.names import shown
from certselect.settings.checks import feature, number_or_none, one_of
from certselect.settings.fields import Option, SettingsGroup, as_float, check_keys, setting

PANEL = "Constraints"
ALL_OR_NONE, AT_MOST_ONE = "all_or_none", "at_most_one"
_KINDS = {
    ALL_OR_NONE: "Choose all of these columns or none of them; may be repeated",
    AT_MOST_ONE: "Choose at most one of these columns; may be repeated",
}
COPIES = {"first": "of columns that say the same, one can be chosen", "all": "each of them can"}

Feature = str | int


def _listed(name: str, given: Any) -> list[Any]:
    """The members of a list, which can be read again and again; a set's in an order of its own."""
    if isinstance(given, str | bytes | Mapping | Iterator) or not isinstance(given, Iterable):
        raise InvalidInput(keyword(name, given), "a list", f"Pass {keyword(name, spelled='[...]')}.")
    try:
        return sorted(given, key=str) if isinstance(given, Set) else list(given)
    except TypeError:  # an array without dimensions says that it can be iterated over
        raise InvalidInput(keyword(name, given), "a list", f"Pass {keyword(name, spelled='[...]')}.") from None


def _features(name: str, given: Any) -> list[Feature] | None:
    """A list of names and indices; None where it is empty."""
    return None if given is None else [feature(name, member) for member in _listed(name, given)] or None


def _groups(name: str, given: Any) -> dict[str, list[list[Feature]]] | None:
    """The groups of each kind; None where there are none."""
    if given is None:
        return None
    stated = given if isinstance(given, Mapping) else {ALL_OR_NONE: given}
    check_keys(name, stated, _KINDS)
    found = {
        kind: [_features(f"a group of {keyword(name)}", group) or [] for group in _listed(name, stated[kind])]
        for kind in _KINDS
        if stated.get(kind) is not None
    }
    return found if any(found.values()) else None


def _costs(name: str, given: Any) -> list[float] | dict[Feature, float] | None:
    """One cost per column, or the cost of each feature that has one."""
    if given is None:
        return None
    if not hasattr(given, "items"):
        return [_cost(f"column {i}", cost) for i, cost in enumerate(_listed(name, given))]
    costs: dict[Feature, float] = {}
    for given_feature, cost in given.items():  # a mapping, or a pandas Series, which may have a name twice
        column = feature(name, given_feature)
        if column in costs:
            raise InvalidInput(f"two {name} for {column!r}", "one", "Remove one of them.")
        costs[column] = _cost(repr(column), cost)
    return costs


def _cost(feature: str, given: Any) -> float:
    cost = as_float(given)
    if cost is None or cost < 0.0:
        raise InvalidInput(
            f"the cost {shown(given)} of {feature}", "a finite number, 0 or more", "Exclude it if it is not for sale."
        )
    return cost


def _plain_costs(costs: Any) -> list[Any] | None:
    """Keys of JSON are str, and a feature may be named by its index: a mapping becomes pairs."""
    return [list(pair) for pair in costs.items()] if isinstance(costs, dict) else costs


@dataclass(frozen=True, eq=False)
class Constraints(SettingsGroup):
    """What a subset must respect.

    Fields keep what the user gave. `to_dict` has one form for each; constraints are equal if these are.
    """

    include: Any = setting(
        None,
        "Columns that are always chosen",
        PANEL,
        _features,
        Option("columns", help="Always choose this column; may be repeated", metavar="COLUMN"),
    )
    exclude: Any = setting(
        None,
        "Columns that are never chosen",
        PANEL,
        _features,
        Option("columns", help="Never choose this column; may be repeated", metavar="COLUMN"),
    )
    feature_groups: Any = setting(
        None,
        "Groups of columns of which all or none are chosen, or at most one",
        PANEL,
        _groups,
        *(Option("groups", f"--{kind.replace('_', '-')}", help, "A,B,C", part=kind) for kind, help in _KINDS.items()),
    )
    costs: Any = setting(
        None,
        "What each column costs; 0 for those that are not named",
        PANEL,
        _costs,
        Option(
            "costs",
            help="CSV file with the columns feature and cost; a feature that is not in it costs nothing",
            metavar="FILE",
        ),
        plain=_plain_costs,
    )
    budget: float | None = setting(
        None, "What the chosen columns may cost in total", PANEL, number_or_none(above=False), Option("number")
    )

    copies: str = setting("first", "Columns that say the same", PANEL, one_of(COPIES), choices=COPIES)

    def _check(self) -> None:
        # Raises; what the user gave stays as it is, but for a name.
        object.__setattr__(self, "copies", self._canonical()["copies"])
        if self.costs is not None and self.budget is None:
            raise InvalidInput(
                f"{keyword('costs')} without a budget",
                "both",
                f"Pass {keyword('budget', spelled='')}, what the subset may cost in total.",
            )
        if self.costs is None and self.budget is not None:
            raise InvalidInput(
                f"{keyword('budget', self.budget)} without costs",
                "both",
                f"Pass {keyword('costs', spelled='')}, what the features cost.",
            )

    def kept(self) -> Self:
        """The same with lists and mappings of their own: the user's may change."""
        for value in vars(self).values():
            if not (value is None or isinstance(value, str)):
                return self.from_dict(self.to_dict())
        return self

    @classmethod
    def from_dict(cls, given: Any) -> Self:
        costs = given.get("costs") if isinstance(given, Mapping) else None
        if isinstance(costs, list) and (not costs or any(isinstance(pair, list) for pair in costs)):
            try:
                given = {**given, "costs": dict(costs)}
            except (TypeError, ValueError):
                raise InvalidInput(
                    keyword("costs", costs), "numbers, or pairs of a feature and its cost", "Check the pairs."
                ) from None
        return super().from_dict(given)

    def __eq__(self, other: object) -> bool:
        return self.to_dict() == other.to_dict() if isinstance(other, Constraints) else NotImplemented

    __hash__ = None  # type: ignore[assignment]
