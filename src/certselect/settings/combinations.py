"""Several values of a setting to try: every combination of them as settings of its own."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any

from certselect.errors import IdleSettingWarning, InvalidInput, keyword, warn_user
from certselect.settings.container import Settings, all_settings

# Settings that may be lists of values to try, in the order in which combinations are named.
COMBINED = ("criterion", "measure", "correction", "discretize", "bins", "strategy")


@dataclass(frozen=True)
class Combination:
    """One value of each setting.

    Attributes
    ----------
    settings : Settings
    named : mapping
        The settings of which several values are tried, by name, as plain JSON; empty if there are none.
    """

    settings: Settings
    named: Mapping[str, Any]


def is_listed(value: object) -> bool:
    """Whether these are several values to try."""
    return isinstance(value, list | tuple)


def values_of(value: Any) -> list[Any]:
    """The values to try, be it one."""
    return list(value) if isinstance(value, list | tuple) else [value]


def combine(keywords: Mapping[str, Any]) -> list[Combination]:
    """Every combination of the values that flat keyword parameters list, the last one's values changing first.

    A value that has no effect in a combination does not make another one of it: beside
    the ranks of "gaussian_copula" all ways to discretise are one.
    """
    listed = {name: values_of(keywords[name]) for name in COMBINED if is_listed(keywords.get(name))}
    if not listed:
        return [Combination(Settings.from_keywords(keywords), {})]
    for name, values in listed.items():
        if not values:
            raise InvalidInput(
                keyword(name, []), "one value or more to try", f"Leave {keyword(name)} out for its default."
            )
    found: list[Combination] = []
    always_idle: dict[str, str] | None = None
    for values in product(*listed.values()):
        settings, idle = _settled(keywords, dict(zip(listed, values, strict=True)))
        if all(settings != other.settings for other in found):
            found.append(Combination(settings, _named(settings, listed)))
        always_idle = {name: said for name, said in idle.items() if always_idle is None or name in always_idle}
    if always_idle:
        warn_user(" ".join(always_idle.values()), IdleSettingWarning)
    return found


def _settled(keywords: Mapping[str, Any], one: Mapping[str, Any]) -> tuple[Settings, dict[str, str]]:
    """The settings with one of the values of each list, and what of the others has no effect."""
    with warnings.catch_warnings():  # what is idle in one combination has an effect in another
        warnings.simplefilter("ignore", IdleSettingWarning)
        settings = Settings.from_keywords({**keywords, **one})
        idle = settings.measuring.idle()
        usual = {name: all_settings()[name].default for name in idle if name in one}
        if usual:
            settings = Settings.from_keywords({**keywords, **one, **usual})
    return settings, {name: said for name, said in idle.items() if name not in one}


def _named(settings: Settings, names: Mapping[str, Any]) -> dict[str, Any]:
    flat, known = settings.flat(), all_settings()
    return {name: known[name].plain(flat[name]) for name in names}
