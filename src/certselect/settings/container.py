"""All settings of a run, and the one way from flat keyword parameters to them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from functools import cache
from types import MappingProxyType
from typing import Any, Self

from certselect.errors import InvalidInput, keyword
from certselect.names import did_you_mean, shown
from certselect.settings.constraints import Constraints
from certselect.settings.fields import About, check_keys, described
from certselect.settings.measuring import Measuring, Reading
from certselect.settings.searching import Searching

GROUPS: dict[str, type[Any]] = {
    "reading": Reading,
    "measuring": Measuring,
    "constraints": Constraints,
    "searching": Searching,
}
_USUAL = {name: group() for name, group in GROUPS.items()}  # frozen, so that all runs share them
# What a parameter is called now. `sizes` is no setting: it belongs to those who try several.
RENAMED = {
    "estimator": "measure",
    "information": "measure",
    "groups": "feature_groups",
    "candidates": "sizes",
}


@dataclass(frozen=True)
class Settings:
    """Everything that is set for a run, but for the table and the number of features.

    >>> settings = Settings.from_keywords({"criterion": "mrmr", "bins": 8})
    >>> settings.measuring.bins, settings.searching.criterion, settings.reading.task
    (8, 'mrmr', 'auto')
    """

    reading: Reading = field(default_factory=Reading)
    measuring: Measuring = field(default_factory=Measuring)
    constraints: Constraints = field(default_factory=Constraints)
    searching: Searching = field(default_factory=Searching)

    def __post_init__(self) -> None:
        for name, group in GROUPS.items():
            given = getattr(self, name)
            if not isinstance(given, group):
                raise InvalidInput(
                    keyword(name, given),
                    f"{group.__name__} settings",
                    f"Pass {keyword(name, spelled=f'{group.__name__}(...)')}.",
                )

    @classmethod
    def from_keywords(cls, keywords: Mapping[str, Any], groups: tuple[str, ...] = tuple(GROUPS)) -> Self:
        """The settings that flat keyword parameters state; those not named have their defaults.

        Only settings of these groups may be named.
        """
        known = all_settings(groups)
        stated: dict[str, dict[str, Any]] = {}
        for name, value in keywords.items():
            if name in known:
                if value is not known[name].default:
                    stated.setdefault(_group_of()[name], {})[name] = value
                continue
            expected = f"keywords among {', '.join(known)}"
            if name in RENAMED:
                raise InvalidInput(f"the keyword {name!r}", expected, f"{name!r} is now called {RENAMED[name]!r}.")
            remedy = did_you_mean(name, known) if isinstance(name, str) else "Keywords are str."
            if "searching" in groups and remedy.startswith("Check"):
                remedy = f"Check the spelling; options of a strategy go into {keyword('strategy_options')}."
            raise InvalidInput(f"the keyword {shown(name)}", expected, remedy)
        made = dict(_USUAL)
        for name, given in stated.items():
            made[name] = GROUPS[name](**given)
        return cls(**made)

    def flat(self) -> dict[str, Any]:
        """The settings as flat keyword parameters."""
        groups = [getattr(self, name) for name in GROUPS]
        return {entry.name: getattr(group, entry.name) for group in groups for entry in fields(group)}

    def to_dict(self) -> dict[str, dict[str, Any]]:
        """The settings as plain JSON, by group."""
        return {name: getattr(self, name).to_dict() for name in GROUPS}

    @classmethod
    def from_dict(cls, given: Any) -> Self:
        """The settings that `to_dict` wrote, checked like any others; what is not there has its default."""
        check_keys("settings", given, GROUPS)
        return cls(**{name: group.from_dict(given.get(name, {})) for name, group in GROUPS.items()})


@cache
def _group_of() -> Mapping[str, str]:
    """The group of every setting, by its flat name."""
    return {name: group for group in GROUPS for name in described(GROUPS[group])}


@cache
def all_settings(groups: tuple[str, ...] = tuple(GROUPS)) -> Mapping[str, About]:
    """What is known of every setting of these groups, by its flat name."""
    return MappingProxyType({name: about for group in groups for name, about in described(GROUPS[group]).items()})
