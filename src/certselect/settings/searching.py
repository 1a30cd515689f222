"""What a subset is worth, and how a good one is searched for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from certselect.errors import InvalidInput, keyword
from certselect.settings.checks import (
    flag,
    is_flag,
    name_of,
    number_or_none,
    per_feature,
    plain_per_feature,
    record,
    whole,
)
from certselect.settings.fields import Option, SettingsGroup, as_whole, setting

PANEL = "Searching"
TIGHT = "tight"
ANY_DEVICE = "auto"
DEVICES = (ANY_DEVICE, "cpu", "cuda")


def _options(name: str, value: Any) -> dict[str, Any] | None:
    if value is None:
        return None
    if isinstance(value, Mapping) and all(isinstance(key, str) for key in value):
        return dict(value)
    raise InvalidInput(
        keyword(name, value), "a mapping from names of options to values", f"Pass {keyword(name, {'draws': 500})}, say."
    )


def _certify(name: str, value: Any) -> bool | str:
    if is_flag(value):
        return bool(value)
    if isinstance(value, str) and value.casefold() == TIGHT:
        return TIGHT
    raise InvalidInput(keyword(name, value), f"False, True or {TIGHT!r}", f"Pass {TIGHT!r} for a smaller bound.")


def check_device(name: str, value: Any) -> str:
    """The device, if there is one of that name."""
    if isinstance(value, str) and value.casefold() in DEVICES:
        return value.casefold()
    raise InvalidInput(
        keyword(name, value),
        " or ".join(map(repr, DEVICES)),
        "Choose 'auto' to use a GPU where there is one and it gains.",
    )


def _random_state(name: str, value: Any) -> Any:
    seed = as_whole(value)
    if seed is not None and seed >= 0:
        return seed
    if value is None or hasattr(value, "random"):  # NumPy's Generator and RandomState
        return value
    raise InvalidInput(
        keyword(name, value),
        "None, a whole number (0 or more), a numpy Generator or a RandomState",
        "Use an int for an answer that can be repeated.",
    )


@dataclass(frozen=True)
class Searching(SettingsGroup):
    """The criterion and the search. Names of criteria and strategies are looked up when a search begins.

    `to_dict` has a criterion and a strategy by their names, and null for a random generator and for
    objects among the options.
    """

    criterion: Any = setting(
        "distinct",
        "What a subset is worth",
        PANEL,
        record,
        plain=name_of,
        names="certselect.criteria.known:criterion_names",
    )
    beta: float | None = setting(
        None, "Weight of the redundancy, for mifs and linear", PANEL, number_or_none(above=False), Option("number")
    )
    gamma: float | None = setting(
        None, "Weight of the conditional redundancy, for linear", PANEL, number_or_none(above=False), Option("number")
    )
    order: int = setting(
        2,
        "Order of the expansion, for jmi and d1: 2 for pairs, 3 for triples (slower, without bounds)",
        PANEL,
        whole(2, 3),
        Option("whole"),
    )
    relevance: Any = setting(
        None,
        "Relevance of each column from elsewhere, in place of the measured one",
        PANEL,
        per_feature(
            keyword("relevance"), "Negative scores, such as permutation importances below 0, may be raised to 0."
        ),
        Option(
            "relevance",
            help="CSV file with the columns feature and relevance, used in place of the measured relevance",
            metavar="FILE",
        ),
        plain=plain_per_feature,
    )
    strategy: Any = setting(
        "auto",
        "How the subset is searched for (auto chooses by the number of columns)",
        PANEL,
        record,
        plain=name_of,
        names="certselect.search.registry:strategy_names",
    )
    strategy_options: Mapping[str, Any] | None = setting(
        None,
        "Options of the strategy, by name",
        PANEL,
        _options,
        Option("assignments", "--option", "An option of the strategy, like draws=500; may be repeated", "NAME=VALUE"),
    )
    polish: bool = setting(
        False, "Improve the subset that was found by swapping single features", PANEL, flag, Option("flag")
    )
    certify: bool | str = setting(
        False,
        "Prove how far the subset can be from the optimal one",
        PANEL,
        _certify,
        Option("flag", part=True),
        Option(
            "flag",
            "--tight",
            "Prove it as tightly as possible in about a minute; often that the subset is optimal",
            part=TIGHT,
        ),
    )
    max_seconds: float | None = setting(
        None,
        "Time limit of the search and its bound; the answer is then the best subset found so far",
        PANEL,
        number_or_none(above=True),
        Option("number", metavar="SECONDS"),
    )
    device: str = setting(
        ANY_DEVICE,
        "Where relaxations are computed: auto (a GPU where there is one and it gains), cpu or cuda",
        PANEL,
        check_device,
    )
    random_state: Any = setting(
        None,
        "Seed of the random strategies",
        PANEL,
        _random_state,
        Option("whole", "--seed", default=0),
        plain=lambda value: value if isinstance(value, int) else None,
    )

    @property
    def criterion_options(self) -> dict[str, float | None]:
        """The criterion's options, None where they are not given."""
        usual = self.order == type(self).order
        return {"beta": self.beta, "gamma": self.gamma, "order": None if usual else self.order}

    @property
    def problem_options(self) -> dict[str, Any]:
        """What a problem is stated with: the criterion's options, and the relevance where it is given."""
        return {**self.criterion_options, "relevance": self.relevance}

    @property
    def all_options(self) -> dict[str, Any]:
        """The strategy's options; none if there are none."""
        return dict(self.strategy_options or {})

    def _check(self) -> None:
        super()._check()
        if self.max_seconds is not None and "max_seconds" in (self.strategy_options or ()):
            raise InvalidInput(
                f"{keyword('max_seconds')}, also in {keyword('strategy_options')}",
                "one time limit",
                f"Remove it from {keyword('strategy_options')}.",
            )
