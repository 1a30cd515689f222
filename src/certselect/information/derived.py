"""Pair terms that are made of what was measured, entry by entry: functions of the statistics of a pair.

The package's own:

    positive interaction        max(0, I(Xi;Xj;C))
    doubled overlap             I + max(0, I), with I = I(Xi;Xj;C) as `InformationTerms.overlap` measures it
    symmetric uncertainty       2 I(Xi;Xj) / (H(Xi) + H(Xj)), 0 to 1
    symmetrical relevance       I(Xi,Xj;C) / H(Xi,Xj,C), 0 to 1
    weighted sum                beta I(Xi;Xj) - gamma I(Xi;Xj|C)

where H(Xi,Xj,C) = H(C) + H(Xi|C) + H(Xj|C) - I(Xi;Xj|C). With missing="pairwise", each part comes from the rows that
have its columns.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from certselect.errors import InvalidInput, keyword
from certselect.names import AS_TEXT, did_you_mean, shown

if TYPE_CHECKING:
    from certselect.information.terms import InformationTerms

_TINY = np.finfo(np.float64).tiny
MEASURED = {
    "redundancy": "I(Xi;Xj)",
    "conditional_redundancy": "I(Xi;Xj|C)",
    "interaction": "I(Xi;Xj;C)",
    "overlap": "I(Xi;Xj;C) less chance",
}
_SINGLES = {
    "relevance_i": "I(Xi;C)",
    "relevance_j": "I(Xj;C)",
    "entropy_i": "H(Xi)",
    "entropy_j": "H(Xj)",
    "target_entropy": "H(C)",
}
STATISTICS = MEASURED | _SINGLES
_OF_ENTROPY = {"entropy_i", "entropy_j", "target_entropy"}
_SWAPPED = {"relevance_i": "relevance_j", "relevance_j": "relevance_i"}
_SWAPPED |= {"entropy_i": "entropy_j", "entropy_j": "entropy_i"}
# Relative rounding errors by which a pair term may differ from that of the swapped pair.
_ROUNDING = 1e-9


@dataclass(frozen=True)
class PairTerm:
    """What a pair of features costs, as a function of the pair's statistics.

    The names of the function's parameters say which statistics it gets:

        redundancy                I(Xi;Xj)
        conditional_redundancy    I(Xi;Xj|C)
        interaction               I(Xi;Xj;C) = I(Xi;Xj) - I(Xi;Xj|C), negative for synergy
        overlap                   the same; with correction="chance", the difference of both after each is limited at 0
        relevance_i, relevance_j  I(Xi;C) and I(Xj;C)
        entropy_i, entropy_j      H(Xi) and H(Xj), for measures that have entropies
        target_entropy            H(C)

    All are arrays of pairs, but for `target_entropy`, which is a number. The function returns an array of the same
    shape, computes each entry from the same entry of its arguments, and gives the same when i and j are swapped.
    Parameters with other names need a default. Both is checked with made-up statistics, among them pairs
    without any redundancy, where the result must be finite as well.

    Attributes
    ----------
    name : str
        What to call the term: "redundancy and conditional redundancy", say.
    made : callable
        The function. It should pickle, so that problems can be sent to other processes: a function of a module, or an
        instance of a class of a module.
    formula : str
        For people to read, in messages; the name if empty.

    Examples
    --------
    >>> import numpy as np
    >>> from certselect import PairTerm
    >>> def larger(redundancy, conditional_redundancy):
    ...     return np.maximum(redundancy, conditional_redundancy)
    >>> PairTerm("larger redundancy", larger).needs
    ('redundancy', 'conditional_redundancy')
    """

    name: str
    made: Callable[..., Any]
    formula: str = ""

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name:
            raise InvalidInput(f"a pair term named {shown(self.name)}", "a name", f"Pass the name {AS_TEXT}.")
        if not callable(self.made):
            got = f"the pair term {self.name!r} made by {shown(self.made)}"
            raise InvalidInput(got, "a function of the statistics of a pair", "Pass the function itself.")
        try:
            hash(self.made)
        except TypeError:
            got = f"the pair term {self.name!r} made by an object without a hash"
            raise InvalidInput(got, "one that can be a key", "Use @dataclass(frozen=True) for its class.") from None
        for parameter in inspect.signature(self.made).parameters.values():
            if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
                continue
            named = parameter.kind is not parameter.POSITIONAL_ONLY
            if (parameter.name in STATISTICS and named) or parameter.default is not parameter.empty:
                continue
            raise InvalidInput(
                f"the pair term {self.name!r}, whose function takes {parameter.name!r}",
                f"parameters among {', '.join(STATISTICS)}, or with a default",
                did_you_mean(parameter.name, STATISTICS),
            )
        _check_with_made_up_pairs(self)

    def __str__(self) -> str:
        return self.name

    @cached_property
    def takes(self) -> tuple[str, ...]:
        """The statistics that the function gets."""
        return tuple(name for name in inspect.signature(self.made).parameters if name in STATISTICS)

    @cached_property
    def needs(self) -> tuple[str, ...]:
        """Those of them that are measured of pairs."""
        return tuple(name for name in MEASURED if name in self.takes)

    @cached_property
    def can_gain(self) -> bool:
        """Whether the term is negative for some pairs, so that these are worth more together."""
        return bool((_apply(self, _made_up_pairs()) < 0.0).any())

    def rows(self, terms: InformationTerms, features: np.ndarray, measured: Sequence[np.ndarray]) -> np.ndarray:
        """The term of some features with all, (len(features), n), from the measured terms that it needs."""
        self._check_entropies(terms)
        shape = measured[0].shape if measured else (len(features), terms.n_features)
        dtype = measured[0].dtype if measured else np.dtype(np.float64)
        statistics = dict(zip(self.needs, measured, strict=True))
        if len(self.takes) > len(self.needs):
            statistics |= self._singles(terms, features)
        found = _apply(self, statistics)
        if found.shape != shape:
            found = np.broadcast_to(found, shape)
        if not np.isfinite(found).all():
            found = self._without_meaningless(terms, features, found)
        return found.astype(dtype, copy=False)

    def _singles(self, terms: InformationTerms, features: np.ndarray) -> dict[str, Any]:
        """Statistics of the single features, in an order that does not depend on which of a pair is asked about.

        Then both entries of a pair are the same float, however the function adds.
        """
        singles: dict[str, Any] = {"target_entropy": terms.target_entropy}
        relevance, entropy = terms.relevance, terms.entropy
        mine, my_entropy = relevance[features][:, None], entropy[features][:, None]
        swapped = (mine > relevance) | ((mine == relevance) & (my_entropy > entropy))
        for name, one, other in (("relevance", mine, relevance), ("entropy", my_entropy, entropy)):
            if f"{name}_i" in self.takes or f"{name}_j" in self.takes:
                singles[f"{name}_i"] = np.where(swapped, other, one)
                singles[f"{name}_j"] = np.where(swapped, one, other)
        return {name: value for name, value in singles.items() if name in self.takes}

    def _check_entropies(self, terms: InformationTerms) -> None:
        lacking = not _OF_ENTROPY.isdisjoint(self.takes) and not terms.has_entropies
        if lacking or ("target_entropy" in self.takes and not math.isfinite(terms.target_entropy)):
            raise _no_entropy(terms, self.formula or self.name)

    def _without_meaningless(self, terms: InformationTerms, features: np.ndarray, found: np.ndarray) -> np.ndarray:
        """Zeros for pairs that no subset has, of a feature with itself or a constant one; others have to be finite."""
        bad = ~np.isfinite(found)
        bad[np.arange(len(features)), features] = False
        bad[:, terms.constant] = False
        bad[terms.constant[features]] = False
        if bad.any():
            row, other = (int(place[0]) for place in np.nonzero(bad))
            one, two = (terms.feature_names[int(i)] for i in (features[row], other))
            raise InvalidInput(
                f"the pair term {self.name!r}, which is {found[row, other]} for {one!r} and {two!r}",
                "a finite number for every pair",
                "Divide by np.maximum(..., 1e-300), or by what cannot be 0.",
            )
        return np.where(np.isfinite(found), found, 0.0)


PairKind = str | PairTerm


def derived_term(kind: PairKind) -> PairTerm | None:
    """How a kind of pair term is made of others; None if it is measured itself."""
    return kind if isinstance(kind, PairTerm) else DERIVED.get(kind)


def can_gain(kind: PairKind) -> bool:
    """Whether a pair term is negative for some pairs, so that these are worth more together."""
    derived = derived_term(kind)
    return kind in ("interaction", "overlap") if derived is None else derived.can_gain


def _apply(term: PairTerm, statistics: dict[str, Any]) -> np.ndarray:
    """What the function makes of statistics, which it cannot change."""
    given = {}
    for name in term.takes:
        value = given[name] = statistics[name]
        if isinstance(value, np.ndarray):
            given[name] = value.view()
            given[name].flags.writeable = False
    with np.errstate(all="ignore"):  # what is not finite is looked for afterwards
        return np.asarray(term.made(**given))


def _made_up_pairs() -> dict[str, Any]:
    """Statistics of pairs as tables have them, (12, 12); some pairs share nothing, or nothing within classes."""
    side = np.arange(144.0).reshape(12, 12)
    part = [(0.5 + side * step) % 1.0 for step in (0.618033988749, 0.754877666247, 0.569840290998, 0.8191725134, 0.671)]
    entropy_i, entropy_j = 0.1 + 2.0 * part[0], 0.1 + 2.0 * part[1]
    smaller = np.minimum(entropy_i, entropy_j)
    redundancy = np.where(side % 5 == 0, 0.0, smaller * part[2])
    conditional = np.where(side % 7 == 0, 0.0, smaller * part[3])
    return {
        "redundancy": redundancy,
        "conditional_redundancy": conditional,
        "interaction": redundancy - conditional,
        "overlap": redundancy - conditional,
        "relevance_i": np.where(side % 11 == 0, 0.0, entropy_i * part[4]),
        "relevance_j": np.where(side % 13 == 0, 0.0, entropy_j * part[2]),
        "entropy_i": entropy_i,
        "entropy_j": entropy_j,
        "target_entropy": 2.1,
    }


def _check_with_made_up_pairs(term: PairTerm) -> None:
    """Refuse a function that is not finite, not symmetric or not elementwise before a table is measured."""
    pairs = _made_up_pairs()
    swapped = pairs | {one: pairs[other] for one, other in _SWAPPED.items()}
    some = {name: value if name == "target_entropy" else value[2:5] for name, value in pairs.items()}
    found, mirrored, part = (_apply(term, statistics) for statistics in (pairs, swapped, some))
    got, how = f"the pair term {term.name!r}", ""
    if not np.issubdtype(found.dtype, np.number) or np.iscomplexobj(found):
        got, how = f"{got}, which returns {found.dtype}", "real numbers"
    elif found.shape not in ((12, 12), ()):
        got, how = f"{got}, which makes an array of shape {found.shape} of arrays (12, 12)", "an array of their shape"
    elif not np.isfinite(found).all():
        place = tuple(int(place[0]) for place in np.nonzero(~np.isfinite(found)))
        values = ", ".join(f"{name}={np.broadcast_to(pairs[name], (12, 12))[place]:.3g}" for name in term.takes)
        got, how = f"{got}, which is {found[place]} for {values}", "a finite number for every pair"
    elif not _close(found, mirrored):
        got, how = f"{got}, which changes when i and j are swapped", "the same term for a pair in either order"
    elif not _close(np.broadcast_to(found, (12, 12))[2:5], np.broadcast_to(part, (3, 12))):
        got, how = (
            f"{got}, whose entries depend on other pairs",
            "each entry computed from the same entry of the arrays",
        )
    if how:
        raise InvalidInput(got, how, "Use NumPy's elementwise functions; docs/extending.md has an example.")


def _close(one: np.ndarray, other: np.ndarray) -> bool:
    return bool((np.abs(one - other) <= _ROUNDING * np.maximum(np.abs(one), np.abs(other)) + _TINY).all())


def _no_entropy(terms: InformationTerms, wanted: str) -> InvalidInput:
    measure = terms.settings.get("measure", "another measure than 'plugin'")
    return InvalidInput(
        f"a criterion of {wanted} with {keyword('measure', measure)}",
        f"{keyword('measure', 'plugin')}: numbers that are not cut into levels have no entropy to divide by",
        f"Pass {keyword('measure', 'plugin')}, or choose a criterion without a quotient, such as 'jmi'.",
    )


# The package's own


@dataclass(frozen=True)
class _Weighted:
    """beta I(Xi;Xj) - gamma I(Xi;Xj|C)."""

    beta: float
    gamma: float

    def __call__(self, redundancy: np.ndarray, conditional_redundancy: np.ndarray) -> np.ndarray:
        # Plain floats, which leave the terms in their own precision.
        return self.beta * redundancy - self.gamma * conditional_redundancy


def weighted_sum(beta: float, gamma: float) -> PairTerm:
    """beta I(Xi;Xj) - gamma I(Xi;Xj|C): what a pair costs in the family of Brown et al. (2012)."""
    return PairTerm("redundancy and conditional redundancy", _Weighted(float(beta), float(gamma)))


def _positive_interaction(interaction: np.ndarray) -> np.ndarray:
    return np.maximum(interaction, 0)


def _doubled_overlap(overlap: np.ndarray) -> np.ndarray:
    return overlap + np.maximum(overlap, 0)


def _symmetric_uncertainty(redundancy: np.ndarray, entropy_i: np.ndarray, entropy_j: np.ndarray) -> np.ndarray:
    return _part(2.0 * redundancy, entropy_i + entropy_j)


def _symmetrical_relevance(
    redundancy: np.ndarray,
    conditional_redundancy: np.ndarray,
    relevance_i: np.ndarray,
    relevance_j: np.ndarray,
    entropy_i: np.ndarray,
    entropy_j: np.ndarray,
    target_entropy: float,
) -> np.ndarray:
    # The interaction is written as what it is made of, so that one count of a pair serves both parts of the quotient.
    informative = relevance_i + relevance_j - (redundancy - conditional_redundancy)
    within_i, within_j = np.maximum(entropy_i - relevance_i, 0.0), np.maximum(entropy_j - relevance_j, 0.0)
    return _part(np.maximum(informative, 0.0), (within_i + within_j) + target_entropy - conditional_redundancy)


def _part(some: np.ndarray, whole: np.ndarray) -> np.ndarray:
    """some / whole, 0 where there is nothing; terms that are estimated apart may not fit, but no part exceeds 1."""
    return some / np.maximum(np.maximum(whole, some), _TINY)


DERIVED: dict[str, PairTerm] = {
    term.name: term
    for term in (
        PairTerm("positive_interaction", _positive_interaction, "max(0, I(Xi;Xj;C))"),
        PairTerm("doubled_overlap", _doubled_overlap, "I(Xi;Xj;C) + max(0, I(Xi;Xj;C))"),
        PairTerm("symmetric_uncertainty", _symmetric_uncertainty, "2 I(Xi;Xj) / (H(Xi) + H(Xj))"),
        PairTerm("symmetrical_relevance", _symmetrical_relevance, "I(Xi,Xj;C) / H(Xi,Xj,C)"),
    )
}
