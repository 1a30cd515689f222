"""Why each feature was chosen or left out, in numbers and in words."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from certselect.criteria import SubsetProblem
from certselect.errors import InvalidInput
from certselect.information import InformationTerms
from certselect.search.selection import PROVEN_OPTIMAL, Selection
from certselect.shown_numbers import p_words, percent
from certselect.table.kinds import KEPT_OUT
from certselect.table.model import Decision, gather_decisions

# A feature is above chance if a shuffled column would carry as much information more rarely than this.
SIGNIFICANCE = 0.05
# A feature that shares this part of its information with a chosen one is nearly a copy of it.
_NEARLY_ALL = 0.9
# A probability so small is 0: what rounding leaves of 1 - 1 is larger.
_NEVER = 1e-15
# Exchanges that change less, relative to what the subset is worth, change nothing but rounding.
_ROUNDING = 1e-12
# What decided about a feature: it could not be chosen; or it was included, or adds to the score; or an exchange, the
# score of the others together, or the order of choice speaks against it.
EXCLUDED, CONSTANT, COPY = "excluded", "constant", "copy"
INCLUDED, ADDS = "included", "adds"
EXCHANGE, TOGETHER, ORDER = "exchange", "together", "order"
REASONS = (*KEPT_OUT, EXCLUDED, CONSTANT, COPY, INCLUDED, ADDS, EXCHANGE, TOGETHER, ORDER)


def feature_report(selection: Selection, terms: InformationTerms) -> dict[str, list[Any]]:
    """Explain why each feature was chosen or left out: the columns of a table with one row for each feature.

    feature : its name.
    chosen : whether it is in the subset.
    relevance : I(feature; target), in nats.
    chance : what I(feature; target) would be on average if the target were shuffled, in nats (see
        `InformationTerms.chance`). NaN where that is not known.
    p_value : how probable as much information as the feature carries is then. Of each feature by itself:
        of a hundred columns of noise five are below 0.05, and a search picks those; `stop_at_chance`
        accounts for the search. NaN where it is not known.
    closest : the chosen feature, other than itself, that shares most information with it.
    shared : I(feature; closest), in nats.
    shared_part : how much of its own information that is, 0 to 1 (see `InformationTerms.shared_part`).
    worth : of a chosen feature, its relevance minus its redundancy penalty: the criterion's
        weighted pair terms with the other chosen features. NaN for the others. By a criterion that is no sum
        over pairs, what the feature added to those chosen before it.
    swap_with : the other half of the best exchange: of a feature left out the chosen feature that it
        replaces best, of a chosen feature the one that replaces it best. None if there is none: for
        constant and excluded features, where constraints decide what may be swapped, and where the order
        of choice decides what a feature is worth.
    swap_loss : how much the score of the subset would fall by that exchange; negative if it would rise.
        NaN where there is none.
    proven : whether it is proven that the feature is in an optimal subset, or in none.
    reason : what decided: for a feature that could not be chosen "excluded", "constant", "copy", "identifier", "text"
        or "skipped"; for a chosen one "included" or "adds"; for others "exchange", "together" (where constraints
        decide what may be swapped) or "order" (of choice).
    why : all that in words. A feature whose p-value is above 0.05, and so every one whose relevance is not
        above chance, is said to be no better than chance by itself; together with others it may be.

    Parameters
    ----------
    selection : Selection
        From a search; one that was read from a file does not know its problem.
    terms : InformationTerms
        Those that were searched. Only the pair terms of chosen features are asked for.

    Examples
    --------
    >>> import numpy as np
    >>> from certselect import information_terms, select, subset_problem
    >>> X = np.array([[0, 0, 1], [0, 0, 0], [1, 1, 1], [1, 1, 0]] * 5)
    >>> terms = information_terms(X, [0, 0, 1, 1] * 5, feature_names=["a", "b", "c"])
    >>> report = feature_report(select(subset_problem(terms, k=1)), terms)
    >>> report["why"][1]
    "left out: says the same as 'a'"
    >>> report["why"][2].partition("; ")[0]
    "left out: putting it in for 'a', the best exchange, would lose 0.693 nats"
    >>> report["why"][2].partition("; ")[2]
    'by itself no better than chance (p = 1.000)'
    """
    problem = selection.problem
    if problem is None:
        raise InvalidInput(
            "a selection that does not know its problem", "one that a search returned", "Select again from the table."
        )
    if problem.feature_names != terms.feature_names:
        raise InvalidInput("terms of other features", "those that were searched", "Pass the terms of the same table.")
    n, chosen = terms.n_features, np.sort(selection.indices)
    inside = np.zeros(n, dtype=bool)
    inside[chosen] = True
    shared = np.array([terms.pair_row("redundancy", int(i)) for i in chosen], dtype=np.float64)
    shared[np.arange(len(chosen)), chosen] = -1.0  # nothing is its own closest
    closest = shared.argmax(axis=0)
    part = np.array([terms.shared_part(int(i)) for i in chosen])[closest, np.arange(n)]
    nearest = shared.max(axis=0)
    alone = nearest < 0.0  # the only chosen feature
    worth, swap_loss, swap_with = _worth_and_exchanges(problem, selection.indices)
    proven = _proven(selection, terms)
    names = terms.feature_names
    columns: dict[str, list[Any]] = {
        "feature": list(names),
        "chosen": inside.tolist(),
        "relevance": terms.relevance.tolist(),
        "chance": terms.chance.tolist(),
        "p_value": np.where(terms.chance_p_values < _NEVER, 0.0, terms.chance_p_values).tolist(),
        "closest": [None if alone[i] else names[chosen[closest[i]]] for i in range(n)],
        "shared": np.where(alone, np.nan, nearest).tolist(),
        "shared_part": np.where(alone, np.nan, part).tolist(),
        "worth": worth.tolist(),
        "swap_with": [None if other < 0 else names[other] for other in swap_with.tolist()],
        "swap_loss": swap_loss.tolist(),
        "proven": proven.tolist(),
    }
    columns["reason"] = reason_codes(
        columns,
        unused={i: one.kind for one in terms.decisions if one.kind in KEPT_OUT for i in one.columns},
        constant=set(np.flatnonzero(terms.constant).tolist()),
        copies=problem.copies,
        include=() if problem.constraints is None else problem.constraints.include,
        exclude=problem.excluded,
        stepwise=problem.steps is not None,
    )
    columns["why"] = in_words(
        columns, (*terms.decisions, *copy_decisions(problem)), problem.criterion.unit, given=problem.given_relevance
    )
    return columns


def copy_decisions(problem: SubsetProblem | None) -> tuple[Decision, ...]:
    """The features that were left out because they are duplicates of others."""
    if problem is None:
        return ()
    names = problem.feature_names
    return gather_decisions(("copy", {"of": names[kept]}, left_out) for left_out, kept in problem.copies.items())


def reason_codes(
    columns: Mapping[str, Sequence[Any]],
    *,
    unused: Mapping[int, str],
    constant: Collection[int],
    copies: Collection[int],
    include: Iterable[int],
    exclude: Iterable[int],
    stepwise: bool,
) -> list[str]:
    """What decided about each feature, by the columns of the explanation and by what is known of features.

    `unused` are features that were left out when the table was read, with the kind of decision.
    """
    included, excluded = set(include), set(exclude)

    def reason(i: int) -> str:
        if i in excluded:
            return EXCLUDED
        if i in constant:
            return unused.get(i, CONSTANT)
        if i in copies:
            return COPY
        if columns["chosen"][i]:
            return INCLUDED if i in included else ADDS
        if columns["swap_with"][i] is not None:
            return EXCHANGE
        return ORDER if stepwise else TOGETHER

    return [reason(i) for i in range(len(columns["feature"]))]


def _worth_and_exchanges(problem: SubsetProblem, chosen: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The worth of each chosen feature; and each one's best exchange: what it would lose, and for which feature."""
    worth, loss = np.full((2, problem.n_features), np.nan)
    other = np.full(problem.n_features, -1)
    if problem.steps is not None:
        worth[chosen] = problem.terms(chosen.tolist())  # in the order of choice, in which nothing can be exchanged
        return worth, loss, other
    chosen = np.sort(chosen)
    rows = np.array([problem.pair_row(int(i)) for i in chosen], dtype=np.float64)
    rows[np.arange(len(chosen)), chosen] = 0.0
    weight = problem.weight(len(chosen))
    beside = problem.singles(len(chosen)) - weight * rows.sum(axis=0)  # beside all chosen ones but itself
    worth[chosen] = beside[chosen]
    rest = np.setdiff1d(problem.candidates, chosen)
    asked = problem.constraints
    if not problem.constrained and len(rest):
        # A newcomer has no pair with the one it replaces.
        swaps = beside[chosen, None] - beside[None, rest] - weight * rows[:, rest]
        if asked is not None and asked.shared is not None:
            apart = np.array([asked.shared.row(int(i))[rest] for i in chosen])
            # A newcomer may share much with the one it replaces, and with no other.
            swaps[apart.sum(axis=0) - apart > 0] = np.inf
        fits, has_exchange = np.isfinite(swaps).any(axis=0), np.isfinite(swaps).any(axis=1)
        loss[rest[fits]], other[rest[fits]] = swaps.min(axis=0)[fits], chosen[swaps.argmin(axis=0)][fits]
        loss[chosen[has_exchange]] = swaps.min(axis=1)[has_exchange]
        other[chosen[has_exchange]] = rest[swaps.argmin(axis=1)][has_exchange]
    return worth, loss, other


def _proven(selection: Selection, terms: InformationTerms) -> np.ndarray:
    if selection.status == PROVEN_OPTIMAL:
        return np.ones(terms.n_features, dtype=bool)
    settled = {*selection.proven_in, *selection.proven_out}
    return np.array([name in settled for name in terms.feature_names])


def in_words(
    columns: Mapping[str, Sequence[Any]], decisions: Iterable[Decision], unit: str, *, given: bool = False
) -> list[str]:
    """Why each feature was chosen or left out, made from the other columns of the explanation and the decisions."""
    sentences = _Sentences(columns, decisions, unit, given)
    return [sentences.of(i) for i in range(len(columns["feature"]))]


class _Sentences:
    """The sentence for each feature."""

    def __init__(
        self, columns: Mapping[str, Sequence[Any]], decisions: Iterable[Decision], unit: str, given: bool
    ) -> None:
        self._columns, self._unit, self._given = columns, unit, given
        told = [one for one in decisions if one.kind in (*KEPT_OUT, COPY)]
        self._decided = {i: one for one in told for i in one.columns}
        relevance = np.array(columns["relevance"], dtype=np.float64)
        self._rounding = _ROUNDING * float(np.abs(relevance[np.array(columns["chosen"])]).sum())

    def of(self, i: int) -> str:
        proven = "proven, " if self._columns["proven"][i] else ""
        chosen = "chosen" if self._columns["chosen"][i] else "left out"
        return f"{proven}{chosen}: {'; '.join(self._reasons(i))}"

    def _reasons(self, i: int) -> list[str]:
        reason = self._columns["reason"][i]
        if reason in (EXCLUDED, CONSTANT):
            return [reason]
        if reason in KEPT_OUT:
            why = self._decided[i].why if i in self._decided else ""
            return [f"{reason} ({why})" if why else reason]
        if reason == COPY:
            return [(self._decided[i].why if i in self._decided else "") or "says the same as another feature"]
        reasons = [*self._decisive(i, reason)]
        p_value = self._columns["p_value"][i]
        if p_value > SIGNIFICANCE:
            reasons.append(f"by itself no better than chance ({p_words(p_value, SIGNIFICANCE)})")
        return reasons

    def _decisive(self, i: int, reason: str) -> Iterable[str]:
        other = self._columns["swap_with"][i]
        if reason == INCLUDED:
            yield "always included"
            return
        if reason == ADDS:
            by = ", by given relevance" if self._given else ""
            yield f"adds {self._amount(self._columns['worth'][i])} to the score{by}"
            if other is not None:
                yield f"replacing it by {other!r}, the best exchange, would {self._change(i)}"
        elif reason == EXCHANGE:
            yield f"putting it in for {other!r}, the best exchange, would {self._change(i)}"
        else:
            yield (
                "others added more when they were chosen" if reason == ORDER else "other features score higher together"
            )
        part = self._columns["shared_part"][i]
        if part >= _NEARLY_ALL:
            yield f"shares {percent(part)} of its information with {self._columns['closest'][i]!r}"

    def _change(self, i: int) -> str:
        loss = self._columns["swap_loss"][i]
        if abs(loss) <= self._rounding:
            return "change nothing"
        return f"{'lose' if loss > 0 else 'gain'} {self._amount(abs(loss))}"

    def _amount(self, of_score: float) -> str:
        return f"{of_score:.3g} {self._unit}".rstrip()
