"""How a table is read, and how the information in it is measured."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from importlib import import_module
from typing import Any

from certselect.errors import IdleSettingWarning, InvalidInput, keyword, warn_user
from certselect.names import find_name
from certselect.settings.checks import feature, name_of, one_of, record, text_or_none, whole, whole_or_one_of
from certselect.settings.fields import Option, SettingsGroup, setting

READING_PANEL, MEASURING_PANEL = "Reading the table", "Measuring information"
TASKS = {
    "auto": "a target of whole numbers is treated as classes, unless most of them occur in a few rows only",
    "classification": "class labels",
    "regression": "numbers",
}
MISSING = {
    "auto": "error for an array; otherwise level where levels are counted, else pairwise",
    "error": "refuse them",
    "level": "a level of their own",
    "pairwise": "each term uses the rows that have its columns",
}
KINDS = {
    "number": "a measurement, whose order counts",
    "levels": "each value is a level",
    "skip": "not looked at",
}
# The measures are looked up where tables are measured; only of the default one it is known here what it uses.
MEASURES_BY_NAME = "certselect.information.registry"
COUNTING_SETTINGS = ("correction", "discretize", "bins", "integers", "target_bins")
CORRECTIONS = {"none": "", "miller_madow": "", "grassberger": "", "shrinkage": "", "chance": ""}
METHODS = {
    "uniform": "bins of equal width",
    "quantile": "bins of equal counts",
    "mean_std": "three levels, cut at mean - std and mean + std",
    "mdlp": "cuts chosen by the classes",
}
# More would leave most of them empty in any table, and take gigabytes for their edges.
MOST_BINS = 10_000
BIN_RULES = {"auto": "3 to 5, more for more rows", "sturges": "", "freedman_diaconis": "", "sqrt": ""}
TARGET_BIN_RULES = {"auto": BIN_RULES["auto"]}
# Columns of whole numbers with more values are numbers: beside columns in 3 to 5 bins, more levels win by chance.
MOST_WHOLE_LEVELS = 10
INTEGERS = {
    "auto": f"columns of up to {MOST_WHOLE_LEVELS} different values are levels, the others numbers",
    "levels": "each value is a level",
    "numbers": "discretised like other numbers",
}


def _kinds(name: str, given: Any) -> dict[str | int, str] | None:
    """What kind each column is that was named; None where none was."""
    if given is None:
        return None
    try:
        pairs = list(given.items() if isinstance(given, Mapping) else given)  # a file has pairs: keys of JSON are str
        named = {feature(name, column): find_name(name, kind, KINDS, key=column) for column, kind in pairs}
    except (TypeError, ValueError) as error:
        if isinstance(error, InvalidInput):
            raise
        raise InvalidInput(
            keyword(name, given),
            f"a mapping from columns to {', '.join(map(repr, KINDS))}",
            f"Pass {keyword(name, {'zip': 'levels'})}, for example.",
        ) from None
    if len(named) < len(pairs):
        raise InvalidInput(f"a column twice in {keyword(name)}", "one kind for each", "Remove one of them.")
    return named or None


def _measure(name: str, value: Any) -> Any:
    found = record(name, value)
    return found.casefold() if isinstance(found, str) else found


@dataclass(frozen=True)
class Reading(SettingsGroup):
    """How a table is read: what kinds of columns and target, missing values, which column holds weights.

    `weight` is for files and data frames, whose columns have names; weights of an array are `sample_weight`.
    """

    task: str = setting("auto", "Kind of target to predict", READING_PANEL, one_of(TASKS), choices=TASKS)
    missing: str = setting("auto", "Missing values", READING_PANEL, one_of(MISSING), choices=MISSING)
    kinds: Any = setting(
        None,
        "What columns are where that is not as it seems",
        READING_PANEL,
        _kinds,
        Option(
            "kinds",
            "--kind",
            "What a column is, where it was taken for something else: number, levels or skip; may be repeated",
            "COLUMN=KIND",
        ),
        plain=lambda kinds: None if kinds is None else [list(pair) for pair in kinds.items()],
    )
    weight: str | None = setting(
        None, "Column that says how much each row counts", READING_PANEL, text_or_none, Option(metavar="COLUMN")
    )


@dataclass(frozen=True)
class Measuring(SettingsGroup):
    """How mutual information is estimated, and how numbers are discretised where levels are counted.

    A setting that has no effect beside another one is answered with an `IdleSettingWarning`.
    """

    measure: Any = setting(
        "auto",
        "How mutual information is estimated",
        MEASURING_PANEL,
        _measure,
        plain=name_of,
        names=f"{MEASURES_BY_NAME}:measure_names",
    )
    correction: str = setting(
        "chance", "Bias correction for counts", MEASURING_PANEL, one_of(CORRECTIONS), choices=CORRECTIONS
    )
    n_neighbors: int = setting(
        5, "Number of neighbours for the measure neighbors", MEASURING_PANEL, whole(1), Option("whole")
    )
    discretize: str = setting(
        "quantile", "How columns of numbers are discretised", MEASURING_PANEL, one_of(METHODS), choices=METHODS
    )
    bins: int | str = setting(
        "auto",
        "Levels per column of numbers, a whole number or the name of a rule",
        MEASURING_PANEL,
        whole_or_one_of(2, MOST_BINS, BIN_RULES),
        Option("bins", metavar="NUMBER|RULE"),
        choices=BIN_RULES,
    )
    integers: str = setting("auto", "Columns of whole numbers", MEASURING_PANEL, one_of(INTEGERS), choices=INTEGERS)
    target_bins: int | str = setting(
        "auto",
        "Bins of equal counts into which a target of numbers is cut",
        MEASURING_PANEL,
        whole_or_one_of(2, MOST_BINS, TARGET_BIN_RULES),
        Option("bins", metavar="NUMBER|auto"),
        choices=TARGET_BIN_RULES,
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        idle = self.idle()
        if idle:
            warn_user(" ".join(idle.values()), IdleSettingWarning)

    @property
    def _used(self) -> tuple[str, ...]:
        """The settings that have an effect with the measure; an error if there is no measure of that name."""
        if self.measure == type(self).measure:  # settings are made before anything heavy is loaded
            return COUNTING_SETTINGS
        return import_module(MEASURES_BY_NAME).find_measure(self.measure).uses

    def idle(self) -> dict[str, str]:
        """Settings that were given and have no effect beside another one, each with a sentence that names both."""
        used, idle = self._used, {}
        for entry in fields(self)[1:]:
            value = getattr(self, entry.name)
            if value == entry.default:
                continue
            if entry.name not in used:
                because = keyword("measure", name_of(self.measure))
            elif entry.name == "bins" and self.discretize in ("mean_std", "mdlp"):
                because = keyword("discretize", self.discretize)
            else:
                continue
            idle[entry.name] = f"{keyword(entry.name, value)} has no effect with {because}."
        return idle
