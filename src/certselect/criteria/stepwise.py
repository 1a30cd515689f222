"""Criteria that are no sums over pairs: each says what a feature would add to those chosen before it.

The value of a subset is the sum of these scores in its order of choice. It is no quadratic form x'Qx, so there is
no matrix that a relaxation could bound and no certificate: forward and floating search are all there is. They look at
the pair terms of the chosen features only, like every forward search here, and never at all pairs.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NoReturn, Protocol

import numpy as np

from certselect.criteria.definitions import ALWAYS, CRITERIA, SameWeight
from certselect.errors import InvalidInput, keyword
from certselect.information.derived import PairKind
from certselect.information.terms import SingleKind

if TYPE_CHECKING:
    from certselect.information.terms import InformationTerms

# Redundancy below this is as good as none: a quotient by it is still a number, and ranks by relevance.
_LEAST_REDUNDANCY = 1e-12
_NEVER = SameWeight(0.0)
# Why no search but two, no polish and no bound.
NO_SUM_OVER_PAIRS = "its value is no sum over pairs of features, the only kind of value that a bound is known for"


class Scores(Protocol):
    """What features would add to those chosen so far; `among` are the features that are asked about."""

    def __init__(self, terms: InformationTerms, among: np.ndarray | None) -> None: ...

    def next(self) -> np.ndarray:
        """The score of each feature, were it chosen next."""
        ...

    def add(self, feature: int) -> None:
        """Choose a feature. What its pair terms are is not asked before the next scores are."""
        ...


class _PairScores:
    """Scores that follow from the relevance and from pair terms with each of the chosen features."""

    def __init__(self, terms: InformationTerms, among: np.ndarray | None) -> None:
        self._terms, self._among = terms, among
        self._relevance = self._of(terms.relevance)
        self._to_come: list[int] = []
        self._chosen = 0

    def next(self) -> np.ndarray:
        for feature in self._to_come:
            self._account(feature)
            self._chosen += 1
        self._to_come.clear()
        return self._scores() if self._chosen else self._relevance

    def add(self, feature: int) -> None:
        self._to_come.append(feature)

    def _row(self, kind: PairKind, feature: int) -> np.ndarray:
        return self._of(self._terms.pair_row(kind, feature)).astype(np.float64, copy=False)

    def _of(self, every: np.ndarray) -> np.ndarray:
        return every if self._among is None else every[self._among]

    def _account(self, feature: int) -> None:
        raise NotImplementedError

    def _scores(self) -> np.ndarray:
        raise NotImplementedError


class _Least(_PairScores):
    """The smallest pair score with a chosen feature."""

    def __init__(self, terms: InformationTerms, among: np.ndarray | None) -> None:
        super().__init__(terms, among)
        self._least = np.full(len(self._relevance), np.inf)

    def _account(self, feature: int) -> None:
        np.minimum(self._least, self._pair_scores(feature), out=self._least)

    def _scores(self) -> np.ndarray:
        return self._least

    def _pair_scores(self, feature: int) -> np.ndarray:
        raise NotImplementedError


class _LeastConditional(_Least):
    """The least of I(X;C) and of I(X;C|W) = I(X;C) - I(X;W;C) over the chosen W.

    As in Fleuret's algorithm it begins with I(X;C): what X tells only beside others does not count.
    """

    def __init__(self, terms: InformationTerms, among: np.ndarray | None) -> None:
        super().__init__(terms, among)
        self._least[:] = self._relevance

    def _pair_scores(self, feature: int) -> np.ndarray:
        return np.maximum(self._relevance - self._row("interaction", feature), 0.0)


class _LeastJoint(_Least):
    """The least of I(X,W;C) = I(X;C) + I(W;C) - I(X;W;C) over the chosen W."""

    def _pair_scores(self, feature: int) -> np.ndarray:
        return self._relevance + self._terms.relevance[feature] - self._row("interaction", feature)


class _LeastPart(_Least):
    """The least of I(X,W;C) / H(X,W,C) over the chosen W."""

    def _pair_scores(self, feature: int) -> np.ndarray:
        return self._row("symmetrical_relevance", feature)


class _Quotient(_PairScores):
    """I(X;C) / mean of I(X;W) over the chosen W."""

    def __init__(self, terms: InformationTerms, among: np.ndarray | None) -> None:
        super().__init__(terms, among)
        self._redundancy = np.zeros(len(self._relevance))

    def _account(self, feature: int) -> None:
        self._redundancy += self._row("redundancy", feature)

    def _scores(self) -> np.ndarray:
        return self._relevance / np.maximum(self._redundancy / self._chosen, _LEAST_REDUNDANCY)


class _GivenAll:
    """I(X;C|all chosen), from their joint table."""

    def __init__(self, terms: InformationTerms, among: np.ndarray | None) -> None:
        self._terms, self._among = terms, among
        self._chosen: list[int] = []

    def next(self) -> np.ndarray:
        return self._terms.relevance_given(self._chosen, self._among)

    def add(self, feature: int) -> None:
        self._chosen.append(feature)


class _Triples(_PairScores):
    """Scores that follow from triples: a feature and two chosen ones.

    Every feature chosen takes as many more counts of all features as there were before it: k(k-1)/2 for k features.
    """

    def __init__(self, terms: InformationTerms, among: np.ndarray | None) -> None:
        super().__init__(terms, among)
        self._members: list[int] = []

    def _account(self, feature: int) -> None:
        interaction = self._row("interaction", feature)
        for other in self._members:
            self._account_pair(feature, other, self._terms.relevance_given([feature, other], self._among))
        self._account_one(feature, interaction)
        self._members.append(feature)

    def _account_one(self, feature: int, interaction: np.ndarray) -> None:
        raise NotImplementedError

    def _account_pair(self, one: int, other: int, given_both: np.ndarray) -> None:
        raise NotImplementedError


class _FirstExpansion(_Triples):
    """I(X;C) - sum of I(X;W;C) + sum of I(X;V;W;C), the last being I(X;V;C) + I(X;W;C) - I(X;C) + I(X;C|V,W)."""

    def __init__(self, terms: InformationTerms, among: np.ndarray | None) -> None:
        super().__init__(terms, among)
        self._total = self._relevance.copy()

    def _account_one(self, feature: int, interaction: np.ndarray) -> None:
        self._total -= interaction

    def _account_pair(self, one: int, other: int, given_both: np.ndarray) -> None:
        self._total += self._row("interaction", one) + self._row("interaction", other) - self._relevance + given_both

    def _scores(self) -> np.ndarray:
        return self._total


class _SecondExpansion(_Triples):
    """How the value k/2 times the mean of I(V,W,X;C) over triples changes; that of two features is their I(W,X;C)."""

    def __init__(self, terms: InformationTerms, among: np.ndarray | None) -> None:
        super().__init__(terms, among)
        self._beside_pairs = np.zeros(len(self._relevance))  # the sum of I(V,W,X;C) over pairs of members
        self._inside = 0.0  # the same over triples of members
        self._first: np.ndarray | None = None  # I(X;C|the first member)

    def _account_one(self, feature: int, interaction: np.ndarray) -> None:
        if self._first is None:
            self._first = self._relevance - interaction

    def _account(self, feature: int) -> None:
        if len(self._members) >= 2:
            self._inside += float(self._beside_pairs[self._place(feature)])
        super()._account(feature)

    def _account_pair(self, one: int, other: int, given_both: np.ndarray) -> None:
        relevance = self._terms.relevance
        pair = relevance[one] + relevance[other] - self._terms.pair_row("interaction", one)[other]
        self._beside_pairs += given_both + pair

    def _scores(self) -> np.ndarray:
        if len(self._members) == 1:
            assert self._first is not None, "there is a member"
            return self._first
        size = len(self._members) + 1
        return _of_triples(self._inside + self._beside_pairs, size) - self._value()

    def _value(self) -> float:
        """What the members are worth."""
        if len(self._members) > 2:
            return float(_of_triples(self._inside, len(self._members)))
        one, other = self._members
        relevance = self._terms.relevance
        return float(relevance[one] + relevance[other] - self._terms.pair_row("interaction", other)[one])

    def _place(self, feature: int) -> int:
        return feature if self._among is None else int(np.flatnonzero(self._among == feature)[0])


def _of_triples(total: Any, size: int) -> Any:
    """k/2 times the mean over the triples of k features that add up to `total`."""
    return 0.5 * size * total / math.comb(size, 3)


@dataclass(frozen=True)
class StepwiseCriterion:
    """What a feature adds to those chosen before it.

    Attributes
    ----------
    name : str
        Lower case.
    formula : str
        The score of a feature X beside the chosen ones, W; for people to read.
    scores : type
        Of objects that follow a choice: `Scores`.
    unit : str
        Of the scores; empty where they have none.
    stops : bool
        Whether a search ends where no feature adds anything.
    """

    name: str
    formula: str
    scores: Callable[[InformationTerms, np.ndarray | None], Scores]
    unit: str = "nats"
    stops: bool = False
    # What is asked of every criterion; without pairs, the single terms are all there is.
    pair: None = None
    single: SingleKind = "relevance"
    weight: Callable[[int], float] = _NEVER
    alone: Callable[[int], float] = ALWAYS


@dataclass(frozen=True, eq=False)
class TermSteps:
    """The scores of a stepwise criterion out of InformationTerms, in the place of pair terms."""

    terms: InformationTerms
    criterion: StepwiseCriterion
    valued: tuple[tuple[int, float], ...] = ()  # features in order of choice, and what each added: kept for one order

    def begin(self, among: Sequence[int] | None = None) -> Scores:
        """The scores of all features, or of some, before anything is chosen."""
        return self.criterion.scores(self.terms, None if among is None else np.array(among, dtype=np.intp))

    def along(self, order: Sequence[int]) -> list[float]:
        """What each feature added to those before it."""
        if self.valued and tuple(order) == tuple(feature for feature, _ in self.valued[: len(order)]):
            return [added for _, added in self.valued[: len(order)]]
        scores, added = self.begin(order), []
        for place, feature in enumerate(order):
            added.append(float(scores.next()[place]))
            scores.add(feature)
        return added

    def keeping(self, order: Sequence[int]) -> TermSteps:
        """The same without the table, which can value this choice alone."""
        valued = tuple(zip(order, self.along(order), strict=True))
        return TermSteps(self.terms.keeping(order, ["redundancy"]), self.criterion, valued)

    def row(self, feature: int) -> NoReturn:
        raise no_certificate(self.criterion, "a question about pair terms")

    def seconds_for_matrix(self) -> NoReturn:
        self.matrix()

    def matrix(self) -> NoReturn:
        raise no_certificate(self.criterion, "a bound or a search that needs all pair terms")


def no_certificate(criterion: StepwiseCriterion, asked: str) -> InvalidInput:
    """Why something that needs a quadratic form cannot be had, and what can."""
    return InvalidInput(
        f"{asked} with {keyword('criterion', criterion.name)}",
        f"{keyword('strategy', 'forward', 'floating')}, without certify and polish: {NO_SUM_OVER_PAIRS}",
        f"Leave it out, or choose a criterion with certificates: {', '.join(CRITERIA)}.",
    )


STEPWISE: dict[str, StepwiseCriterion] = {
    criterion.name: criterion
    for criterion in (
        # Fleuret (2004): what X tells beside the chosen feature that it overlaps most with.
        StepwiseCriterion("cmim", "min of I(X;C) and of I(X;C|W) over W", _LeastConditional),
        # Bennasar, Hicks and Setchi (2015): what X tells together with the chosen feature that suits it least.
        StepwiseCriterion("jmim", "min over W of I(X,W;C)", _LeastJoint),
        # The same authors: as a part of the entropy.
        StepwiseCriterion("njmim", "min over W of I(X,W;C)/H(X,W,C)", _LeastPart, unit=""),
        # The chain rule itself. Its value is I(all chosen;C), estimated from a joint table that few rows fill thinly.
        StepwiseCriterion("cmi", "I(X;C|all W)", _GivenAll, stops=True),
        # Ding and Peng (2005): mRMR as a quotient.
        StepwiseCriterion("miq", "I(X;C) / mean over W of I(X;W)", _Quotient, unit=""),
        # The paper's two expansions of I(X;C), one order beyond pairs ("d1" and "jmi" with order=3).
        StepwiseCriterion("cife3", "I(X;C) - sum I(X;W;C) + sum I(X;V;W;C)", _FirstExpansion),
        StepwiseCriterion("jmi3", "change of k/2 mean of I(U,V,W;C)", _SecondExpansion),
    )
}
