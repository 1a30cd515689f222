"""How a table is read, and how the information in it is measured."""

from __future__ import annotations

from dataclasses import dataclass, fields

from certselect.errors import IdleSettingWarning, warn_user
from certselect.settings.checks import one_of, text_or_none, whole, whole_or_one_of
from certselect.settings.fields import Option, SettingsGroup, setting

READING_PANEL, MEASURING_PANEL = "Reading the table", "Measuring information"
TASKS = {
    "auto": "a target of whole numbers is treated as classes",
    "classification": "class labels",
    "regression": "numbers",
}
MISSING = {
    "auto": "error for an array; otherwise level with the measure plugin, pairwise with the others",
    "error": "refuse them",
    "level": "a level of their own",
    "pairwise": "each term uses the rows that have its columns",
}
MEASURES = {
    "plugin": "counts of discrete levels",
    "gaussian_copula": "ranks",
    "neighbors": "distances to nearest neighbours",
    "auto": "whichever suits the table",
}
CORRECTIONS = {"none": "", "miller_madow": "", "grassberger": "", "shrinkage": "", "chance": ""}
METHODS = {
    "uniform": "bins of equal width",
    "quantile": "bins of equal counts",
    "mean_std": "three levels, cut at mean - std and mean + std",
    "mdlp": "cuts chosen by the classes",
}
# More would leave most of them empty in any table, and take gigabytes for their edges.
MOST_BINS = 10_000
BIN_RULES = {"sturges": "", "freedman_diaconis": "", "sqrt": ""}
INTEGERS = {"levels": "each value is a level", "numbers": "discretised like other numbers"}


@dataclass(frozen=True)
class Reading(SettingsGroup):
    """How a table is read: what kind of target, what to do with missing values, which column holds weights.

    `weight` is for files and data frames, whose columns have names; weights of an array are `sample_weight`.
    """

    task: str = setting("auto", "Kind of target to predict", READING_PANEL, one_of(TASKS), choices=TASKS)
    missing: str = setting("auto", "Missing values", READING_PANEL, one_of(MISSING), choices=MISSING)
    weight: str | None = setting(
        None, "Column that says how much each row counts", READING_PANEL, text_or_none, Option(metavar="COLUMN")
    )


@dataclass(frozen=True)
class Measuring(SettingsGroup):
    """How mutual information is estimated, and how numbers are discretised where levels are counted.

    A setting that has no effect beside another one is answered with an `IdleSettingWarning`.
    """

    measure: str = setting(
        "plugin", "How mutual information is estimated", MEASURING_PANEL, one_of(MEASURES), choices=MEASURES
    )
    correction: str = setting(
        "none", "Bias correction for counts", MEASURING_PANEL, one_of(CORRECTIONS), choices=CORRECTIONS
    )
    n_neighbors: int = setting(
        5, "Number of neighbours for the measure neighbors", MEASURING_PANEL, whole(1), Option("whole")
    )
    discretize: str = setting(
        "uniform", "How columns of numbers are discretised", MEASURING_PANEL, one_of(METHODS), choices=METHODS
    )
    bins: int | str = setting(
        5,
        "Levels per column of numbers, a whole number or the name of a rule",
        MEASURING_PANEL,
        whole_or_one_of(2, MOST_BINS, BIN_RULES),
        Option("bins", metavar="NUMBER|RULE"),
        choices=BIN_RULES,
    )
    integers: str = setting("levels", "Columns of whole numbers", MEASURING_PANEL, one_of(INTEGERS), choices=INTEGERS)
    target_bins: int = setting(
        5,
        "Bins of equal counts into which the measure plugin cuts a target of numbers",
        MEASURING_PANEL,
        whole(2, MOST_BINS),
        Option("whole"),
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        idle = self.idle()
        if idle:
            warn_user(" ".join(idle.values()), IdleSettingWarning)

    def idle(self) -> dict[str, str]:
        """Settings that were given and have no effect beside another one, each with a sentence that names both."""
        of_counts = ("correction", "discretize", "bins", "integers", "target_bins")
        beside = {
            "plugin": dict.fromkeys(("n_neighbors",), "measure"),
            "gaussian_copula": dict.fromkeys(("n_neighbors", *of_counts), "measure"),
            "neighbors": dict.fromkeys(of_counts, "measure"),
            "auto": {"n_neighbors": "measure"},
        }[self.measure]
        if self.discretize in ("mean_std", "mdlp"):
            beside = {"bins": "discretize"} | beside
        return {
            entry.name: f"{entry.name}={getattr(self, entry.name)!r} has no effect with "
            f"{beside[entry.name]}={getattr(self, beside[entry.name])!r}."
            for entry in fields(self)
            if entry.name in beside and getattr(self, entry.name) != entry.default
        }
