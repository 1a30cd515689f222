"""How many features, where no number was given: a share of the usable columns, or as many as add more than chance."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass
from typing import Any

from certselect.criteria import SubsetProblem
from certselect.errors import IdleSettingWarning, InvalidInput, keyword
from certselect.evaluation import stop_at_chance
from certselect.settings import Constraints, Settings, all_settings
from certselect.settings.fields import as_float, as_whole
from certselect.shown_numbers import p_words
from certselect.table import StreamedTable, Table
from certselect.table.order import in_own_order

AUTO = "auto"
# What a test of one column after the other knows nothing of, with the reason.
UNTESTED = {
    "feature_groups": "the test against chance adds one column at a time",
    "costs": "what a column costs has nothing to do with chance",
}
# What rounding takes from a product: 0.29 of 100 columns are 29.
_ROUNDING = 1e-9


@dataclass(frozen=True)
class SizeRule:
    """How the number of features came about where it was asked for as a share, or left to chance.

    Attributes
    ----------
    asked : float or "auto"
    usable : int
        How many columns could be chosen.
    n_included : int
        How many features were included whatever they add; they are not tested.
    p_values : tuple of float
        Of "auto": one for each step of forward selection, see `ChanceTest`; NaN for included
        features. Empty for a share, and where nothing was left to test.
    significance : float
        What a p-value has to be, at most, for a feature to count. NaN without a test.
    n_permutations : int
        0 without a test.
    """

    asked: float | str
    usable: int
    n_included: int = 0
    p_values: tuple[float, ...] = ()
    significance: float = math.nan
    n_permutations: int = 0

    @property
    def passed(self) -> int:
        """How many features, beside those included, add more than chance."""
        tested = self.p_values[self.n_included :]
        return next((step for step, p_value in enumerate(tested) if p_value > self.significance), len(tested))

    def size(self, problem: SubsetProblem) -> int:
        """The size of a subset by this rule: one at least."""
        if isinstance(self.asked, str):
            return max(1, self.n_included + self.passed)
        # A share is no exact number: groups and budgets may not allow just that one.
        return problem.nearest_size(max(1, math.floor(self.asked * self.usable + _ROUNDING)))

    @property
    def statement(self) -> str:
        """The rule in words."""
        columns = "the only usable column" if self.usable == 1 else f"the {self.usable} usable columns"
        if not isinstance(self.asked, str):
            least = ", one at least" if self.asked * self.usable < 1.0 else ""
            return f"Size: {self.asked:g} of {columns}{least}."
        if not len(self.p_values):
            return "Size: every usable feature is included, so that none was left to test against chance."
        how = f"significance {self.significance:g}, {self.n_permutations} permutations"
        beside = f" beside the {self.n_included} included" if self.n_included else ""
        tested = len(self.p_values) - self.n_included
        if self.passed == tested:
            adds = "the only feature tested adds" if tested == 1 else f"all {tested} features tested add"
            more = "; there may be more" if len(self.p_values) < self.usable else ""
            return f"Size: {adds} more than chance{beside} ({how}){more}."
        p_value = p_words(self.p_values[self.n_included + self.passed], self.significance)
        if self.passed == 0:
            kept = "" if self.n_included else "; the best one is kept all the same"
            return f"Size: no feature adds more than chance{beside} ({p_value}, {how}){kept}."
        adds = "1 feature adds" if self.passed == 1 else f"{self.passed} features add"
        return f"Size: {adds} more than chance{beside}, the next one does not ({p_value}, {how})."


def asked_size(asked: Any, called: str = "n_features_to_select") -> int | float | str | None:
    """A number of features, a share of the columns, "auto" or None; refuses anything else before a table is read."""
    whole, share = as_whole(asked), as_float(asked)
    if asked is None or whole is not None:
        return whole
    if isinstance(asked, str) and asked.casefold() == AUTO:
        return AUTO
    if share is not None and 0.0 < share < 1.0:
        return share
    remedy = "Check the spelling." if isinstance(asked, str) else "A whole number of features is an int."
    raise InvalidInput(
        keyword(called, asked), "a whole number, a fraction between 0 and 1 such as 0.2, or 'auto'", remedy
    )


def find_rule(
    asked: float | str, table: Table | StreamedTable, problem: SubsetProblem, settings: Settings, *, n_jobs: int | None
) -> SizeRule:
    """The rule for a share or "auto"; the latter tests the table against chance."""
    problem.nearest_size(1)  # says why, if nothing can be chosen
    usable = len(problem.candidates)
    if not isinstance(asked, str):
        return SizeRule(asked, usable)
    if isinstance(table, StreamedTable):
        raise InvalidInput(
            f"{keyword('n_features_to_select', asked)} for a table that is read block by block",
            "a number or a fraction: the test against chance shuffles all rows",
            "Pass a number, or find one with stop_at_chance on some of the rows.",
        )
    refuse_untested(settings.constraints)
    n_included = 0 if problem.constraints is None else len(problem.constraints.include)
    if n_included == usable:
        return SizeRule(asked, usable, n_included)
    flat = settings.flat()
    names = [*all_settings(("measuring",)), "criterion", "beta", "gamma", "order", "include", "exclude"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", IdleSettingWarning)  # whoever stated the settings was warned
        # Rows are shuffled there: neither their order nor repeating or weighting them may make a difference.
        test = stop_at_chance(in_own_order(table), n_jobs=n_jobs, **{name: flat[name] for name in names})
    return SizeRule(asked, usable, n_included, tuple(test.p_values.tolist()), test.significance, test.n_permutations)


def refuse_untested(constraints: Constraints) -> None:
    """Refuse constraints that a test of one column after the other knows nothing of."""
    for name, reason in UNTESTED.items():
        if getattr(constraints, name) is not None:
            raise InvalidInput(
                f"{keyword('n_features_to_select', 'auto')} with {keyword(name)}",
                f"a number or a fraction beside {keyword(name)}: {reason}",
                "Find the number with stop_at_chance first, or pass a fraction.",
            )
