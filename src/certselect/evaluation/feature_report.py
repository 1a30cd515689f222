"""Why each feature was chosen or left out, in numbers and in words."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from certselect.criteria import SubsetProblem
from certselect.errors import InvalidInput
from certselect.information import InformationTerms
from certselect.search.selection import PROVEN_OPTIMAL, Selection

# A feature that shares this part of its information with a chosen one is left out because of it.
_MOSTLY = 0.5


def feature_report(selection: Selection, terms: InformationTerms) -> dict[str, list[Any]]:
    """Explain why each feature was chosen or left out: the columns of a table with one row for each feature.

    feature : its name.
    chosen : whether it is in the subset.
    relevance : I(feature; target), in nats.
    closest : the chosen feature, other than itself, that shares most information with it.
    shared : I(feature; closest), in nats.
    shared_part : how much of its own information that is, 0 to 1 (see `InformationTerms.shared_part`).
    worth : of a chosen feature, its relevance minus its redundancy penalty: the criterion's
        weighted pair terms with the other chosen features. NaN for the others.
    swap_loss : of a feature left out, how much the score of the subset would fall if it replaced
        the chosen feature that it replaces best; negative if the score would rise. NaN for
        chosen and constant features, and where constraints decide what may be swapped.
    proven : whether it is proven that the feature is in an optimal subset, or in none.
    why : all that in words.

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
    >>> X = np.array([[0, 0, 1], [0, 0, 0], [1, 1, 1], [1, 1, 0]])
    >>> terms = information_terms(X, [0, 0, 1, 1], feature_names=["a", "b", "c"])
    >>> feature_report(select(subset_problem(terms, k=1)), terms)["why"][1]
    "left out: shares 100 % of its information with 'a'"
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
    """The worth of each chosen feature, what a swap for each other one would lose, and which one it would replace."""
    rows = np.array([problem.pair_row(int(i)) for i in chosen], dtype=np.float64)
    rows[np.arange(len(chosen)), chosen] = 0.0
    weight = problem.weight(len(chosen))
    beside = problem.linear - weight * rows.sum(axis=0)  # beside all chosen ones but itself
    # A newcomer has no pair with the one it replaces.
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
        if not self._columns["chosen"][i]:
            return f"{proven}left out: {self._reason_against(i)}"
        if i in self._include:
            return f"{proven}chosen: always included"
        return f"{proven}chosen: worth {self._columns['worth'][i]:.4g} nats (relevance minus redundancy penalty)"

    def _reason_against(self, i: int) -> str:
        if i in self._exclude:
            return "excluded"
        if self._terms.constant[i]:
            return "constant"
        part, loss, relevance = self._columns["shared_part"][i], self._columns["swap_loss"][i], self._terms.relevance[i]
        if part >= _MOSTLY:
            return f"shares {100 * part:.0f} % of its information with {self._columns['closest'][i]!r}"
        if relevance < 0.1 * self._mean:
            return (
                f"carries {relevance:.2g} nats of information about the target, "
                f"the chosen features {self._mean:.2g} on average"
            )
        if math.isnan(loss):
            return "other features score higher together"
        return f"in place of {self._replaced[i]!r} it would change the score by {-loss:+.2g} nats"
