"""Which features must, must not or may be chosen together, and what they may cost.

Only the form is checked here. Whether the features exist and the constraints agree is known with a table, and
checked when a problem is made.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

from certselect.errors import InvalidInput, keyword
from certselect.settings.checks import feature, listed, number_or_none, one_of, per_feature, plain_per_feature
from certselect.settings.fields import Option, SettingsGroup, as_float, check_keys, setting

PANEL = "Constraints"
ALL_OR_NONE, AT_MOST_ONE = "all_or_none", "at_most_one"
_KINDS = {
    ALL_OR_NONE: "Choose all of these columns or none of them; may be repeated",
    AT_MOST_ONE: "Choose at most one of these columns; may be repeated",
}
COPIES = {"first": "of columns that say the same, one can be chosen", "all": "each of them can"}

Feature = str | int


def _features(name: str, given: Any) -> list[Feature] | None:
    """A list of names and indices; None where it is empty."""
    return None if given is None else [feature(name, member) for member in listed(name, given)] or None


def _groups(name: str, given: Any) -> dict[str, list[list[Feature]]] | None:
    """The groups of each kind; None where there are none."""
    if given is None:
        return None
    stated = given if isinstance(given, Mapping) else {ALL_OR_NONE: given}
    check_keys(name, stated, _KINDS)
    found = {
        kind: [_features(f"a group of {keyword(name)}", group) or [] for group in listed(name, stated[kind])]
        for kind in _KINDS
        if stated.get(kind) is not None
    }
    return found if any(found.values()) else None


_costs = per_feature("cost", "Exclude it if it is not for sale.")


def _share(name: str, given: Any) -> float | None:
    """None, or a share of information."""
    share = as_float(given)
    if given is None or (share is not None and 0.0 <= share <= 1.0):
        return share
    raise InvalidInput(keyword(name, given), "a number from 0 to 1", f"Leave {keyword(name)} out for its default.")


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
        plain=plain_per_feature,
    )
    budget: float | None = setting(
        None, "What the chosen columns may cost in total", PANEL, number_or_none(above=False), Option("number")
    )

    max_shared: float | None = setting(
        None,
        "How much of its information a selected column may share with another selected one, 0 to 1",
        PANEL,
        _share,
        Option("number", "--max-shared"),
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
            if not (value is None or isinstance(value, str | float)):
                return self.from_dict(self.to_dict())
        return self

    @classmethod
    def from_dict(cls, given: Any) -> Self:
        made = super().from_dict(given)
        object.__setattr__(made, "costs", made._canonical()["costs"])  # which may be written as pairs
        return made

    def __eq__(self, other: object) -> bool:
        return self.to_dict() == other.to_dict() if isinstance(other, Constraints) else NotImplemented

    __hash__ = None  # type: ignore[assignment]
