"""What a result can claim in a file: no more than `verify` can prove again, in a time that the table limits."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from certselect.certificate import Certificate
from certselect.criteria import SubsetProblem
from certselect.criteria.rules import Rules
from certselect.results.result import Result
from certselect.search import find_strategy
from certselect.search.registry import known_strategy
from certselect.search.selection import COMPLETE, PROVEN_OPTIMAL

# Subsets, of all sizes together, that are valued again where a bound has no certificate.
MOST_SUBSETS = 10_000_000
# Pair terms, of all ties together, that are summed again; each tie counts as some more.
MOST_TIED_TERMS = 20_000_000
_TERMS_PER_TIE = 100


def can_value_all(problem: SubsetProblem) -> bool:
    """Whether the subsets, of every size that competes, are few enough to be valued one by one."""
    count = 0.0
    problem = replace(problem, pairs=None)  # counting needs no values, and a result that was pickled has few
    for size in problem.allowed_sizes if problem.any_size else [problem.k]:
        count += _count(problem.of_size(size).units.rules)
        if count > MOST_SUBSETS:
            return False
    return True


def can_value_ties(ties: tuple[tuple[int, ...], ...]) -> bool:
    """Whether the ties are few and small enough to be valued again."""
    return sum(len(tie) ** 2 + _TERMS_PER_TIE for tie in ties) <= MOST_TIED_TERMS


def _count(rules: Rules) -> float:
    """How many sets of units have the right size, allowed or not, as far as `MOST_SUBSETS`."""
    left = rules.k - rules.size(rules.required)
    ways = np.zeros(left + 1)
    ways[0] = 1.0
    for size in rules.sizes[np.setdiff1d(rules.candidates, rules.required)].tolist():
        if size <= left:
            ways[size:] += ways[: left + 1 - size]
        if ways[left] > MOST_SUBSETS:
            break
        np.minimum(ways, 1e300, out=ways)
    return float(ways[left])


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
