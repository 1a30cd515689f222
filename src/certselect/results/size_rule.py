"""How many features, where no number was given: a share of the usable columns, or as few as carry nearly as much."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

from certselect.criteria import SubsetProblem
from certselect.errors import FewerFeaturesWarning, InvalidInput, keyword
from certselect.information import InformationTerms
from certselect.information.derived import derived_term
from certselect.information.terms import BOTH
from certselect.search import select
from certselect.search.selection import INTERRUPTED
from certselect.settings import Constraints
from certselect.settings.fields import as_float, as_whole
from certselect.shown_numbers import percent

AUTO = "auto"
# What adding one column at a time knows nothing of, with the reason.
UNTESTED = {
    "feature_groups": "the size is found by adding one column at a time",
    "costs": "the size is found without looking at costs",
}
# How much of the largest information of any size is enough, and how many sizes are looked at.
ENOUGH, MOST_SIZES = 0.9, 64
# More usable columns than this are halved at least.
_FEW_COLUMNS = 20
# What rounding takes from a product: 0.29 of 100 columns are 29.
_ROUNDING = 1e-9


@dataclass(frozen=True)
class SizeRule:
    """How the number of features came about where it was asked for as a share or as "auto".

    Attributes
    ----------
    asked : float or "auto"
    usable : int
        How many columns could be chosen.
    n_included : int
        Of "auto": how many features were included whatever they add.
    information : tuple of float
        Of "auto": what the first 1, 2, ... features of forward selection carry about the target, in nats, by single
        features and pairs, less what chance gives (`information_along`). Empty for a share.
    by_p_values : int or None
        The size in a file of an earlier version, in which "auto" was a test against chance.
    """

    asked: float | str
    usable: int
    n_included: int = 0
    information: tuple[float, ...] = ()
    by_p_values: int | None = None

    def size(self, problem: SubsetProblem) -> int:
        """The size of a subset by this rule: one at least."""
        if not isinstance(self.asked, str):
            # A share is not an exact number: groups and budgets may not allow just that one.
            return problem.nearest_size(max(1, math.floor(self.asked * self.usable + _ROUNDING)))
        if self.by_p_values is not None:
            return max(1, self.by_p_values)
        return max(1, self.n_included, min(self._enough, self._most))

    @property
    def _enough(self) -> int:
        """The smallest size that carries nearly as much as the best."""
        best = max(self.information, default=0.0)
        if best <= 0.0:
            return 1
        return next(size for size, carried in enumerate(self.information, 1) if carried >= ENOUGH * best)

    @property
    def _most(self) -> int:
        return self.usable // 2 if self.usable > _FEW_COLUMNS else self.usable

    @property
    def statement(self) -> str:
        """The rule in words."""
        columns = "the only usable column" if self.usable == 1 else f"the {self.usable} usable columns"
        if not isinstance(self.asked, str):
            least = ", one at least" if self.asked * self.usable < 1.0 else ""
            return f"Size: {self.asked:g} of {columns}{least}."
        if self.by_p_values is not None:
            return "Size: as many features as add more than chance (the rule of an earlier version)."
        if max(self.information, default=0.0) <= 0.0:
            return f"Size: no feature of {columns} carries more information than chance gives; the fewest are kept."
        size = max(1, self.n_included, min(self._enough, self._most))
        carry = "1 feature carries" if size == 1 else f"{size} features carry"
        best = self.information.index(max(self.information)) + 1
        part = self.information[min(size, len(self.information)) - 1] / max(self.information)
        compared = f"{percent(max(0.0, part))} of what the best {best} do, by single features and pairs"
        if self.n_included >= size > min(self._enough, self._most):
            return f"Size: the {size} included features carry {compared}."
        half = "; at most half of the columns are taken" if self._most < self._enough else ""
        return f"Size: {carry} {compared}{half}."


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
    asked: float | str, problem: SubsetProblem, terms: InformationTerms, constraints: Constraints
) -> SizeRule:
    """The rule for a share or "auto"; the latter follows forward selection by the problem's criterion."""
    problem.nearest_size(1)  # says why, if nothing can be chosen
    usable = len(problem.candidates)
    if not isinstance(asked, str):
        return SizeRule(asked, usable)
    _refuse_untested(constraints)
    n_included = 0 if problem.constraints is None else len(problem.constraints.include)
    longest = max(n_included, min(usable, MOST_SIZES))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FewerFeaturesWarning)  # a path may end early
        found = select(problem.of_usable_size(longest), "forward")
    if found.status == INTERRUPTED:
        raise KeyboardInterrupt
    path = found.indices[:longest]
    return SizeRule(asked, usable, n_included, tuple(information_along(terms, path, problem).tolist()))


def information_along(terms: InformationTerms, path: np.ndarray, problem: SubsetProblem) -> np.ndarray:
    """What the first 1, 2, ... features of a path carry about the target, by single features and pairs, in nats.

    J(k) = sum of c_i - 1/(k-1) sum of I_ij over their pairs, where c_i is the cautious relevance of the terms and I_ij
    the information about the target that two features share, or if negative add together. Pair terms that the
    criterion needs are asked for again and not counted again.
    """
    shared = np.array([_shared(terms, int(i), problem)[path] for i in path], dtype=np.float64)
    in_pairs = np.cumsum(np.tril(shared, -1).sum(axis=1))
    return np.cumsum(terms.cautious_relevance[path]) - in_pairs / np.maximum(np.arange(len(path)), 1)


def _shared(terms: InformationTerms, feature: int, problem: SubsetProblem) -> np.ndarray:
    """I_ij of a feature with all, out of the terms that the criterion is made of where these hold it."""
    pair = None if problem.steps is not None else problem.criterion.pair
    derived = None if pair is None else derived_term(pair)
    if derived is not None and set(BOTH) <= set(derived.needs):
        redundancy, conditional = (terms.pair_row(kind, feature) for kind in BOTH)
        return redundancy - conditional
    return terms.pair_row("interaction", feature)


def _refuse_untested(constraints: Constraints) -> None:
    """Refuse constraints that adding one column at a time knows nothing of."""
    for name, reason in UNTESTED.items():
        if getattr(constraints, name) is not None:
            raise InvalidInput(
                f"{keyword('n_features_to_select', 'auto')} with {keyword(name)}",
                f"a number or a fraction with {keyword(name)}: {reason}",
                "Pass a number or a fraction.",
            )
