"""A match: who answers a question, who cannot, and what there is to say about an answer."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

OURS = "certselect"


def nothing_to_say(name: str, answer: Any) -> dict[str, Any]:
    return {}


@dataclass(frozen=True, eq=False)
class Match:
    """`runs` give their answer each time they are called, ours first; `missing` are reasons."""

    runs: Mapping[str, Callable[[], Any]]
    missing: Mapping[str, str] = field(default_factory=dict)
    facts: Callable[[str, Any], dict[str, Any]] = nothing_to_say
    source: str = "generated"


@dataclass(frozen=True, eq=False)
class Case:
    """A question that a match is made for; `key` names it in results, so that runs can be compared."""

    job: str
    label: str
    match: Callable[[], Match]
    sizes: Mapping[str, Any] = field(default_factory=dict)
    starts_cold: bool = False
    back_to_back: bool = False
    # Where the others are parts of our own work: how many times such a part ours may cost.
    at_most: float | None = None

    @property
    def key(self) -> str:
        return f"{self.job}: {self.label}"
