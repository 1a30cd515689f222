"""Why each feature was chosen or left out, in numbers and in words."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from certselect.criteria import SubsetProblem
from certselect.information import InformationTerms
from certselect.search.selection import PROVEN_OPTIMAL, Selection

# From this part on, what a feature shares with a chosen one is reason enough to leave it out.
_MOSTLY = 0.5


def feature_report(selection: Selection, terms: InformationTerms) -> dict[str, list[Any]]:
    """Explain a selection feature by feature: the columns of a table with one row for each.

    feature : its name.
    chosen : whether it is in the subset.
    relevance : I(feature; target), in nats.
    closest : the chosen feature (another one) that shares most with it.
    shared : I(feature; closest), in nats.
    shared_part : how much of its own information that is, 0 to 1 (see `InformationTerms.shared_part`).
    worth : of a chosen feature, its relevance less what it pays for its pairs with the other
        chosen ones; NaN for the others.
    swap_loss : of a feature left out, what the subset would lose if it took the place of the
        chosen one it replaces best, negative if that would be a gain; NaN for chosen and
        constant features, and where constraints decide what may be swapped.
    proven : whether a proof has settled that it is in, or out of, a best subset.
    why : all that in words.

    Examples
    --------
    >>> import numpy as np
    >>> from certselect import information_terms, select, subset_problem
    >>> X = np.array([[0, 0, 1], [0, 0, 0], [1, 1, 1], [1, 1, 0]])
    >>> terms = information_terms(X, [0, 0, 1, 1], feature_names=["a", "b", "c"])
    >>> problem = subset_problem(terms, k=1)
    >>> feature_report(select(problem), terms, problem)["why"][1]
    "left out: 1.00 of its information is in 'a'"
    """
    problem = selection.problem
    assert problem is not None
    n, chosen = terms.n_features, np.sort(selection.indices)
    if problem.any_size:
        problem = problem.of_size(len(chosen))
    inside = np.zeros(n, dtype=bool)
    inside[chosen] = True
    shared = np.array([terms.pair_row("redundancy", int(i)) for i in chosen], dtype=np.float64)
    shared[np.arange(len(chosen)), chosen] = -1.0  # nothing is its own closest
    closest = shared.argmax(axis=0)
    part = np.array([terms.shared_part(int(i)) for i in chosen])[closest, np.arange(n)]
    nearest = shared.max(axis=0)
    alone = nearest < 0.0  # the only chosen feature
    worth, swap_loss, replaced = _worth_and_losses(problem, chosen)
    proven = _proven(selection, terms)
    names = terms.feature_names
    columns: dict[str, list[Any]] = {
        "feature": list(names),
        "chosen": inside.tolist(),
        "relevance": terms.relevance.tolist(),
        "closest": [None if alone[i] else names[chosen[closest[i]]] for i in range(n)],
        "shared": np.where(alone, np.nan, nearest).tolist(),
        "shared_part": np.where(alone, np.nan, part).tolist(),
        "worth": worth.tolist(),
        "swap_loss": swap_loss.tolist(),
        "proven": proven.tolist(),
    }
    reasons = _Reasons(columns, terms, problem, [names[chosen[place]] for place in replaced])
    columns["why"] = [reasons.of(i) for i in range(n)]
    return columns


def _worth_and_losses(problem: SubsetProblem, chosen: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """What each chosen feature is worth, what each other one would lose in a swap, and whose place it would take."""
    rows = np.array([problem.pair_row(int(i)) for i in chosen], dtype=np.float64)
    rows[np.arange(len(chosen)), chosen] = 0.0
    weight = problem.weight(problem.k)
    beside = problem.linear - weight * rows.sum(axis=0)  # beside all chosen ones but itself
    # A newcomer does not pay for its pair with the one it replaces.
    swaps = beside[chosen, None] - beside[None, :] - weight * rows
    worth, swap_loss = np.full((2, problem.n_features), np.nan)
    worth[chosen] = beside[chosen]
    if problem.constraints is None:
        others = np.setdiff1d(problem.candidates, chosen)
        swap_loss[others] = swaps[:, others].min(axis=0)
    return worth, swap_loss, swaps.argmin(axis=0)


def _proven(selection: Selection, terms: InformationTerms) -> np.ndarray:
    if selection.status == PROVEN_OPTIMAL:
        return np.ones(terms.n_features, dtype=bool)
    settled = {*selection.proven_in, *selection.proven_out}
    return np.array([name in settled for name in terms.feature_names])


class _Reasons:
    """The words for each feature."""

    def __init__(
        self, columns: dict[str, list[Any]], terms: InformationTerms, problem: SubsetProblem, replaced: list[str]
    ) -> None:
        self._columns, self._terms, self._replaced = columns, terms, replaced
        stated = problem.constraints
        self._include = set(stated.include) if stated is not None else set()
        self._exclude = set(stated.exclude) if stated is not None else set()
        self._mean = float(terms.relevance[np.array(columns["chosen"])].mean())

    def of(self, i: int) -> str:
        proven = "proven, " if self._columns["proven"][i] else ""
        if self._columns["chosen"][i]:
            worth = self._columns["worth"][i]
            return f"{proven}chosen: " + (
                "asked for" if i in self._include else f"worth {worth:.4g} nats beside the others"
            )
        return f"{proven}left out: {self._reason_against(i)}"

    def _reason_against(self, i: int) -> str:
        if i in self._exclude:
            return "excluded"
        if self._terms.constant[i]:
            return "constant"
        part, loss, relevance = self._columns["shared_part"][i], self._columns["swap_loss"][i], self._terms.relevance[i]
        if part >= _MOSTLY:
            return f"{part:.2f} of its information is in {self._columns['closest'][i]!r}"
        if relevance < 0.1 * self._mean:
            return f"says {relevance:.2g} nats of the target, the chosen ones {self._mean:.2g} on average"
        if math.isnan(loss):
            return "other features score higher together"
        return f"in place of {self._replaced[i]!r} it would change the value by {-loss:+.2g} nats"
