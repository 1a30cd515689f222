"""The quadratic criteria: which pair term a subset pays for, and how much.

A pairwise criterion values a subset S as

    a(|S|) * sum of single(i) over S  -  w(|S|) * sum of pair(i, j) over the pairs in S,

where single(i) is I(Xi;C) and a is 1 for all but the criteria that look at pairs alone. Such a value is x'Qx, so there
are bounds and proofs for all of them; criteria that are no sums over pairs are in `stepwise`.

To add one, add an entry to `CRITERIA`; from outside the package, call `register_criterion`
or name a `Criterion` in the entry-point group "certselect.criteria".
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import get_args

from certselect.errors import InvalidInput, keyword
from certselect.information.derived import DERIVED, MEASURED, PairKind, PairTerm, can_gain, weighted_sum
from certselect.information.terms import IMPURITY_GAIN, SingleKind

_NAMED = (*MEASURED, *DERIVED, IMPURITY_GAIN)


@dataclass(frozen=True)
class SameWeight:
    """A pair costs the same in subsets of every size."""

    cost: float

    def __call__(self, size: int) -> float:
        return self.cost


def averaged(size: int) -> float:
    """A pair costs 1/(size - 1): each feature pays for its mean pair term with the others."""
    # Undefined for one feature, which has no pairs to pay for.
    return 1.0 / (size - 1) if size > 1 else 0.0


def without_pairs(size: int) -> float:
    """Single terms count in a subset of one feature only, which has no pairs; in larger ones pairs are all there is."""
    return 1.0 if size <= 1 else 0.0


ALWAYS = SameWeight(1.0)


@dataclass(frozen=True)
class Criterion:
    """One way to value a subset: a pair term, and its weight as a function of the subset's size.

    Attributes
    ----------
    name : str
        Lower case.
    pair : str, PairTerm or None
        The pair term that is subtracted: "redundancy" I(Xi;Xj), "conditional_redundancy" I(Xi;Xj|C), "interaction"
        I(Xi;Xj;C), "positive_interaction" max(0, I(Xi;Xj;C)), "doubled_overlap" I + max(0, I) with I = I(Xi;Xj;C) less
        chance, "symmetric_uncertainty"
        2 I(Xi;Xj) / (H(Xi) + H(Xj)), "symmetrical_relevance" I(Xi,Xj;C) / H(Xi,Xj,C) or "impurity_gain", by how much
        a pair lowers the Gini impurity of the classes; a `PairTerm` made of these and of other statistics of a pair;
        None if pairs do not matter.
    weight : callable
        From a subset's size to what a pair term costs in it; below 0 for one that is a gain. A function of a module
        or an object that pickles, so that problems can be sent to other processes.
    formula : str
        For people to read.
    single : {"relevance", "cautious_relevance", "impurity_gain"}
        What a feature is worth by itself: "cautious_relevance" is the relevance less its mean and two standard
        deviations for a shuffled target.
    alone : callable
        From a subset's size to the weight of the single terms in it, 0 or 1.
    unit : str
        Of the value; empty where it has none.
    """

    name: str
    pair: PairKind | None
    weight: Callable[[int], float]
    formula: str
    single: SingleKind = "relevance"
    alone: Callable[[int], float] = ALWAYS
    unit: str = "nats"

    def __post_init__(self) -> None:
        if self.pair is not None and not isinstance(self.pair, PairTerm) and self.pair not in _NAMED:
            got = f"a criterion with the pair term {self.pair!r}"
            expected = f"None, a PairTerm or one of {', '.join(_NAMED)}"
            raise InvalidInput(got, expected, "Check the spelling, or make a PairTerm of your function.")
        if self.single not in get_args(SingleKind):
            got = f"a criterion with the single term {self.single!r}"
            raise InvalidInput(got, f"one of {', '.join(get_args(SingleKind))}", "Check the spelling.")
        for name in ("weight", "alone"):
            if not callable(getattr(self, name)):
                raise InvalidInput(
                    f"a criterion with the {name} {getattr(self, name)!r}",
                    "a function from a subset's size to a number",
                    "Use SameWeight(0.5) for the same weight at every size.",
                )

    @property
    def rewards_synergy(self) -> bool:
        """Whether a pair may be worth more than its features are one by one."""
        return self.pair is not None and (can_gain(self.pair) or self.weight(2) < 0.0)


def mifs(beta: float = 1.0) -> Criterion:
    """Battiti's MIFS (1994): each pair of chosen features costs beta times its redundancy."""
    _check_weight("beta", beta, f"Use {keyword('beta', 1)} for the paper's MIFS.")
    return Criterion("mifs", "redundancy", SameWeight(float(beta)), f"sum I(Xi;C) - {beta:g} sum I(Xi;Xj)")


def linear(beta: float = 1.0, gamma: float = 1.0) -> Criterion:
    """The family of Brown et al. (2012): redundancy costs beta, redundancy within classes brings gamma.

        sum I(Xi;C) - beta sum I(Xi;Xj) + gamma sum I(Xi;Xj|C)

    gamma = 0 is "mifs", beta = gamma = 1 "d1" ("cife"), beta = 0 and gamma = 1 "condred"; for subsets of k features,
    beta = 1/(k-1) is "mrmr" with gamma = 0 and "jmi" with gamma = beta.
    """
    for name, weight in (("beta", beta), ("gamma", gamma)):
        _check_weight(name, weight, "Use 0 to leave that term out.")
    formula = f"sum I(Xi;C) - {beta:g} sum I(Xi;Xj) + {gamma:g} sum I(Xi;Xj|C)"
    return Criterion("linear", weighted_sum(float(beta), float(gamma)), SameWeight(1.0), formula)


def _check_weight(name: str, value: object, remedy: str) -> None:
    if not isinstance(value, int | float) or isinstance(value, bool) or not 0.0 <= value < float("inf"):
        raise InvalidInput(keyword(name, value), "a finite number, 0 or more", remedy)


def _by_name(*criteria: Criterion) -> dict[str, Criterion]:
    return {criterion.name: criterion for criterion in criteria}


_ALL_GAIN = SameWeight(-1.0)

CRITERIA: dict[str, Criterion] = _by_name(
    # JMI with redundancy charged twice: a feature that repeats another one also takes the place of a third. Synergy is
    # credited as measured. A feature counts for what it has beyond chance: its relevance less the mean, and twice the
    # standard deviation, of a shuffled target.
    Criterion(
        "distinct",
        "doubled_overlap",
        averaged,
        "sum c(Xi;C) - 1/(k-1) sum [I(Xi;Xj;C) + max(0, I(Xi;Xj;C))]",
        single="cautious_relevance",
    ),
    # Yang and Moody (1999): the mean over pairs of what both tell together, I(Xi,Xj;C), but for a factor.
    Criterion("jmi", "interaction", averaged, "sum I(Xi;C) - 1/(k-1) sum I(Xi;Xj;C)"),
    # Peng, Long and Ding (2005).
    Criterion("mrmr", "redundancy", averaged, "sum I(Xi;C) - 1/(k-1) sum I(Xi;Xj)"),
    mifs(),
    # Lin and Tang (2006), as CIFE: the first expansion of I(X;C) up to pairs.
    Criterion("d1", "interaction", SameWeight(1.0), "sum I(Xi;C) - sum I(Xi;Xj;C)"),
    # Meyer and Bontempi (2006): double input symmetrical relevance.
    Criterion(
        "disr",
        "symmetrical_relevance",
        _ALL_GAIN,
        "sum I(Xi,Xj;C)/H(Xi,Xj,C)",
        alone=without_pairs,
        unit="",
    ),
    # Jakulin (2005): interaction capping. What a pair tells only together does not make up for what it tells twice.
    Criterion("icap", "positive_interaction", SameWeight(1.0), "sum I(Xi;C) - sum max(0, I(Xi;Xj;C))"),
    # Brown et al. (2012): relevance and redundancy within classes.
    Criterion("condred", "conditional_redundancy", _ALL_GAIN, "sum I(Xi;C) + sum I(Xi;Xj|C)"),
    linear(),
    # Kursa (2021): DISR's kin with the Gini impurity, G(X;C) = sum p(x,c)^2/p(x) - sum p(c)^2.
    Criterion(
        "jim",
        "impurity_gain",
        _ALL_GAIN,
        "sum G(Xi,Xj;C)",
        single="impurity_gain",
        alone=without_pairs,
        unit="",
    ),
    # mRMR whose redundancy is a part of the entropy, so that columns of many levels do not pay for these alone.
    Criterion(
        "nmrmr",
        "symmetric_uncertainty",
        averaged,
        "sum I(Xi;C) - 1/(k-1) sum 2 I(Xi;Xj)/(H(Xi)+H(Xj))",
        unit="",
    ),
    Criterion("max_relevance", None, SameWeight(0.0), "sum I(Xi;C)"),
)
