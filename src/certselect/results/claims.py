"""What a result can claim in a file: no more than `verify` can prove again from the table and the file."""

from __future__ import annotations

import math
from dataclasses import replace

from certselect.certificate import Certificate
from certselect.results.limits import can_value_all, can_value_ties
from certselect.results.result import Result
from certselect.search import find_strategy
from certselect.search.registry import known_strategy
from certselect.search.selection import COMPLETE, PROVEN_OPTIMAL

EXHAUSTIVE = "exhaustive"


def claimed(result: Result) -> Result:
    """The result with the claims that its file makes.

    A search knows more than a file can show where its proof grew too large to keep, where
    each size within a budget was bounded by itself, and where every subset was valued of more
    than are valued again. Then the bound is left out, or is what the multipliers that were kept in
    place of the proof show; "proven optimal" becomes "complete", and features are not called
    proven. Ties are left out where a polished answer is none of them.
    """
    if result.terms is None:
        return result  # read from a file: these are its claims
    selection, certificate = result.selection, _kept(result.certificate)
    proof = certificate is not None and certificate.proof is not None
    answer = tuple(sorted(selection.indices.tolist()))
    tied = answer in selection.ties and can_value_ties(selection.ties)
    optimal = selection.status == PROVEN_OPTIMAL and (proof or _valued_again(result))
    bound = gap = math.nan
    if optimal and not proof:
        certificate = None  # multipliers say less than the values of all subsets
        bound, gap = selection.upper_bound, selection.gap
    elif certificate is not None:
        bound, gap = certificate.bound, certificate.gap
    strategy = known_strategy(selection.strategy)
    changed = replace(
        selection,
        upper_bound=bound,
        gap=gap,
        certificate=certificate,
        tolerance=selection.tolerance if optimal else math.nan,
        status=COMPLETE if selection.status == PROVEN_OPTIMAL and not optimal else selection.status,
        proven_in=selection.proven_in if proof else (),
        proven_out=selection.proven_out if proof else (),
        ties=selection.ties if tied else (),
        drawn_size=selection.drawn_size if strategy is not None and strategy.draws else math.nan,
    )
    told = ("status", "proven_in", "proven_out")  # what the explanation is made of, beside the subset
    same = all(getattr(changed, name) == getattr(selection, name) for name in told)
    return replace(result, selection=changed, saved_explanation=result.explanation if same else None)


def _kept(certificate: Certificate | None) -> Certificate | None:
    """The certificate, if it holds what shows its bound."""
    if certificate is None or (certificate.multipliers is None and certificate.proof is None):
        return None
    return certificate


def _valued_again(result: Result) -> bool:
    """Whether every subset was valued, and they are not more than are valued again."""
    if result.selection.strategy != EXHAUSTIVE or result.problem is None:
        return False
    usual = find_strategy(EXHAUSTIVE).options["max_subsets"]
    allowed = result.settings.searching.all_options.get("max_subsets", usual)
    return allowed <= usual and can_value_all(result.problem)


def beyond_its_file(result: Result, claim: Result) -> tuple[str, ...]:
    """What a result in memory says and its file's `claim` does not: what `verify` cannot confirm."""
    known, kept = result.selection, claim.selection
    left = []
    if known.statement != kept.statement:
        kept_too = "less" if kept.statement else "no bound"
        left.append(f"{known.statement} (by the search; what the result keeps proves {kept_too})")
    if known.status != kept.status:
        left.append(f"that the result is {known.status}")
    if (known.proven_in, known.proven_out) != (kept.proven_in, kept.proven_out):
        left.append("that features are proven in or out")
    if known.ties != kept.ties:
        left.append("the ties that were listed")
    return tuple(left)
