"""Sentences about a selection, made from its numbers and its domain when they are shown."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from certselect.criteria.domain import Domain
from certselect.criteria.known import AnyCriterion
from certselect.criteria.stepwise import NO_SUM_OVER_PAIRS, StepwiseCriterion
from certselect.names import shown
from certselect.shown_numbers import rounded_up

if TYPE_CHECKING:
    from certselect.search.selection import Selection

# Gaps up to this are what rounding the best subset's value and its bound once each leaves of none at all.
_ROUNDING = 2.0**-51
# Up to this they are worth no percentage.
_SMALL = 1e-9
# No smaller percentage is named: 0.0001 % reads better than 7.6e-07 %, and is true as well.
_LEAST_NAMED = 1e-6


# Of each reason why columns were left out, so many names are shown.
_NAMED = 3
_AS = {
    "identifier": ("as an identifier", "as identifiers"),
    "text": ("as text", "as text"),
    "skipped": ("as asked", "as asked"),
    "excluded": ("as excluded", "as excluded"),
    "constant": ("as constant", "as constant"),
    "duplicate": ("as a duplicate", "as duplicates"),
}


def statement(selection: Selection, *, optimal: bool) -> str:
    """What is proven; empty if nothing is. `optimal` is whether the selection is called proven optimal."""
    domain, gap = selection.domain, selection.gap
    if domain is not None and domain.only_choice and len(selection.indices) == selection.k:
        return _only_choice(domain, selection.k)
    if math.isnan(gap):
        return ""
    if gap <= (_ROUNDING if optimal else 0.0):
        return f"Proven optimal: no other {_subsets(selection)} higher."
    if gap <= _SMALL:
        return f"Proven optimal to {rounded_up(gap, 2)} of the value: no other {_subsets(selection)} higher."
    if math.isinf(gap):
        return f"No {_subsets(selection)} more than {rounded_up(selection.upper_bound, 6)}."
    named = rounded_up(max(gap, _LEAST_NAMED), 2, 100)
    return f"No {_subsets(selection)} more than {named} % above {'this one' if selection.k == 1 else 'these'}."


def about_bound(selection: Selection, criterion: AnyCriterion | None, certify: str) -> str:
    """The statement; where there is none, that no bound was computed and what computes one."""
    if isinstance(criterion, StepwiseCriterion):
        return f"No bound exists for {selection.criterion}: {NO_SUM_OVER_PAIRS}."
    if selection.statement or selection.any_size:
        return selection.statement or "No bound was computed."
    columns = 0 if selection.problem is None else len(selection.problem.candidates)
    pairs = f", from all {columns * (columns - 1) // 2:,} pairs of {columns} columns" if columns else ""
    return f"No bound was computed: {certify} computes one{pairs}."


def considered(domain: Domain, named: int | None = _NAMED) -> str:
    """How many columns there were to choose from, and which were left out: "12 columns considered (1 left out: ...)".

    Of each reason `named` columns are listed, all if None.

    >>> considered(Domain(3, {"identifier": ("id",)}))
    "2 columns considered (1 left out: 'id' as an identifier)"
    """
    columns = "column" if domain.n_considered == 1 else "columns"
    return f"{domain.n_considered} {columns}{_left_out(domain, named)}"


def _left_out(domain: Domain, named: int | None = _NAMED) -> str:
    if not domain.left_out:
        return ""
    parts = (f"{_listed(names, named)} {_AS[reason][len(names) > 1]}" for reason, names in domain.left_out.items())
    return f" considered ({domain.n_left_out} left out: {', '.join(parts)})"


def _listed(names: Sequence[str], named: int | None) -> str:
    """Names in a row: "'a', 'b' and 7 more"."""
    some = [shown(name) for name in names[:named]]
    if len(some) < len(names):
        return f"{', '.join(some)} and {len(names) - len(some)} more"
    return " and ".join(filter(None, (", ".join(some[:-1]), some[-1])))


def _only_choice(domain: Domain, k: int) -> str:
    if k < domain.n_considered:
        return f"The only possible choice: no other {k} of the {considered(domain)} respect the constraints."
    return f"The only possible choice: {'the' if k == 1 else 'all'} {considered(domain)}."


def _subsets(selection: Selection) -> str:
    """The subsets a bound is about, and a verb: "2 of the 30 columns that respect the constraints score"."""
    domain, k = selection.domain, selection.k
    named = ["the constraints"] if _is_constrained(selection) else []
    if domain is not None and domain.max_shared is not None and k > 1:
        named.append(f"max_shared={domain.max_shared:g}")
    respect = f" that respect {' and '.join(named)}" if named else ""
    if selection.any_size:
        return f"subset{_of(domain)}{respect.replace('respect', 'respects')} scores"
    if k == 1:
        one = "" if domain is None else f" of the {domain.n_considered}{_left_out(domain)}"
        return f"column{one}{respect.replace('respect', 'respects')} scores"
    return f"{k}{_of(domain) or ' columns'}{respect} score"


def _of(domain: Domain | None) -> str:
    return "" if domain is None else f" of the {considered(domain)}"


def _is_constrained(selection: Selection) -> bool:
    return selection.constrained if selection.domain is None else selection.domain.constrained
