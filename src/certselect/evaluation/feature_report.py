"""Why each feature was chosen or left out, in numbers and in words."""

from __future__ import annotations

from typing import Any

import numpy as np

from certselect.criteria import SubsetProblem
from certselect.errors import InvalidInput
from certselect.information import InformationTerms
from certselect.search.selection import PROVEN_OPTIMAL, Selection
from certselect.shown_numbers import p_words, percent
from certselect.table.kinds import KEPT_OUT

# A feature is above chance if a shuffled column would carry as much information more rarely than this.
SIGNIFICANCE = 0.05
# A feature that shares this part of its information with a chosen one is nearly a copy of it.
_NEARLY_ALL = 0.9
# A probability so small is 0: what rounding leaves of 1 - 1 is larger.
_NEVER = 1e-15
# Exchanges that change less, relative to what the subset is worth, change nothing but rounding.
_ROUNDING = 1e-12
_HIGHER_TOGETHER = "other features score higher together"


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
    reasons = _Reasons(columns, terms, problem)
    columns["why"] = [reasons.of(i) for i in range(n)]
    return columns


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
    if problem.constraints is None and len(rest):
        # A newcomer has no pair with the one it replaces.
        swaps = beside[chosen, None] - beside[None, rest] - weight * rows[:, rest]
        loss[rest], other[rest] = swaps.min(axis=0), chosen[swaps.argmin(axis=0)]
        loss[chosen], other[chosen] = swaps.min(axis=1), rest[swaps.argmin(axis=1)]
    return worth, loss, other


def _proven(selection: Selection, terms: InformationTerms) -> np.ndarray:
    if selection.status == PROVEN_OPTIMAL:
        return np.ones(terms.n_features, dtype=bool)
    settled = {*selection.proven_in, *selection.proven_out}
    return np.array([name in settled for name in terms.feature_names])


class _Reasons:
    """The words for each feature."""

    def __init__(self, columns: dict[str, list[Any]], terms: InformationTerms, problem: SubsetProblem) -> None:
        self._columns, self._constant = columns, terms.constant
        self._kept_out = {
            i: f"{one.kind} ({one.why})" for one in terms.decisions if one.kind in KEPT_OUT for i in one.columns
        }
        self._copies = {i: terms.feature_names[kept] for i, kept in problem.copies.items()}
        self._unit, self._stepwise = problem.criterion.unit, problem.steps is not None
        stated = problem.constraints
        self._include = set(stated.include) if stated is not None else set()
        self._exclude = set(stated.exclude) if stated is not None else set()
        self._rounding = _ROUNDING * float(np.abs(terms.relevance[np.array(columns["chosen"])]).sum())

    def of(self, i: int) -> str:
        proven = "proven, " if self._columns["proven"][i] else ""
        chosen = "chosen" if self._columns["chosen"][i] else "left out"
        if i in self._exclude:
            return f"{proven}{chosen}: excluded"
        if self._constant[i]:
            return f"{proven}{chosen}: {self._kept_out.get(i, 'constant')}"
        if i in self._copies:
            return f"{proven}{chosen}: says the same as {self._copies[i]!r}"
        reasons = self._for(i) if self._columns["chosen"][i] else self._against(i)
        p_value = self._columns["p_value"][i]
        if p_value > SIGNIFICANCE:
            reasons.append(f"by itself no better than chance ({p_words(p_value, SIGNIFICANCE)})")
        return f"{proven}{chosen}: {'; '.join(reasons)}"

    def _for(self, i: int) -> list[str]:
        if i in self._include:
            return ["always included"]
        reasons = [f"adds {self._amount(self._columns['worth'][i])} to the score"]
        if self._columns["swap_with"][i] is not None:
            reasons.append(
                f"replacing it by {self._columns['swap_with'][i]!r}, the best exchange, would {self._change(i)}"
            )
        return reasons + self._nearly_copy(i)

    def _against(self, i: int) -> list[str]:
        other = self._columns["swap_with"][i]
        if other is None:
            reasons = ["others added more when they were chosen" if self._stepwise else _HIGHER_TOGETHER]
        else:
            reasons = [f"putting it in for {other!r}, the best exchange, would {self._change(i)}"]
        return reasons + self._nearly_copy(i)

    def _nearly_copy(self, i: int) -> list[str]:
        part = self._columns["shared_part"][i]
        if not part >= _NEARLY_ALL:
            return []
        return [f"shares {percent(part)} of its information with {self._columns['closest'][i]!r}"]

    def _change(self, i: int) -> str:
        loss = self._columns["swap_loss"][i]
        if abs(loss) <= self._rounding:
            return "change nothing"
        return f"{'lose' if loss > 0 else 'gain'} {self._amount(abs(loss))}"

    def _amount(self, of_score: float) -> str:
        return f"{of_score:.3g} {self._unit}".rstrip()
