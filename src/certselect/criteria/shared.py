"""max_shared: which features share too much of their information to be selected together.

Searches, relaxations and proofs work on pair terms, so the limit becomes a part of these: a pair that shares too much
costs more than a subset could gain by it. The value of an allowed subset does not change, so every bound on the
problem with these costs is a bound on the allowed subsets, whatever the cost.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from certselect.criteria.pairs import PairSource
from certselect.memory import large_array

if TYPE_CHECKING:
    from certselect.information.terms import InformationTerms

# Shares that differ from the limit by no more than this part are equal to it.
ROUNDING = 1e-9
# Rows of shares that are looked at together.
AT_ONCE = 256


class Apart(NamedTuple):
    """Pairs that may not be selected together: first[i] < second[i]."""

    first: np.ndarray
    second: np.ndarray


@dataclass(frozen=True, eq=False)
class SharedLimit:
    """No two features of a subset may share more than `most` of the information of the smaller one.

    The share is I(Xi;Xj) / min(H(Xi), H(Xj)) for levels, and 1 - exp(-2 I(Xi;Xj)) where one of the two is a number,
    which has no entropy: of these two kinds of parts the larger counts, as in explanations.
    """

    most: float
    terms: InformationTerms
    _known: dict[int, np.ndarray] = field(default_factory=dict, repr=False)

    def shares(self, feature: int) -> np.ndarray:
        """How much each feature shares with this one, 0 to 1 (n,)."""
        shared = self.terms.pair_row("redundancy", feature)
        return self._parts(np.array([feature]), np.asarray(shared)[None, :])[0]

    def row(self, feature: int) -> np.ndarray:
        """Which features may not be selected together with this one, a mask (n,)."""
        apart = np.zeros(self.terms.n_features, dtype=bool)
        apart[self.apart_from(feature)] = True
        return apart

    def apart_from(self, feature: int) -> np.ndarray:
        """The same as a list, ascending; kept, as these are few."""
        if feature not in self._known:
            apart = np.flatnonzero(self._above(self.shares(feature)))
            self._known[feature] = apart[apart != feature]
        return self._known[feature]

    @cached_property
    def pairs(self) -> Apart:
        """All pairs that may not be selected together."""
        shared, first, second = self.terms.pair_matrix("redundancy"), [], []
        for top in range(0, len(shared), AT_ONCE):
            features = np.arange(top, min(top + AT_ONCE, len(shared)))
            rows, columns = np.nonzero(self._above(self._parts(features, shared[top : top + AT_ONCE])))
            above = columns > rows + top
            first.append(rows[above] + top)
            second.append(columns[above])
        return Apart(np.concatenate(first), np.concatenate(second))

    def _above(self, shares: np.ndarray) -> np.ndarray:
        return shares > self.most * (1.0 + ROUNDING)

    def _parts(self, features: np.ndarray, shared: np.ndarray) -> np.ndarray:
        """The shares of some features with all, (len(features), n)."""
        terms = self.terms
        information = shared.astype(np.float64)
        levels = (terms.levels > 0) & np.isfinite(terms.entropy)
        entropy = np.where(levels & (terms.entropy > 0.0), terms.entropy, np.inf)
        least = np.minimum(entropy[features][:, None], entropy[None, :])
        share = np.where(np.isfinite(least), information / least, 0.0)
        numbers = ~(levels[features][:, None] & levels[None, :])
        share[numbers] = np.maximum(share, -np.expm1(-2.0 * np.maximum(information, 0.0)))[numbers]
        share[:, terms.constant] = 0.0
        share[terms.constant[features]] = 0.0
        return share


@dataclass(frozen=True, eq=False)
class UnitLimit:
    """The same for units: two of them may not be selected together if two of their columns may not.

    The columns of one unit are selected together because the user wants it so.
    """

    columns: SharedLimit
    order: np.ndarray
    starts: np.ndarray

    @cached_property
    def _unit_of(self) -> np.ndarray:
        unit_of = np.empty(len(self.order), dtype=np.intp)
        unit_of[self.order] = np.repeat(np.arange(len(self.starts)), np.diff(self.starts, append=len(self.order)))
        return unit_of

    @cached_property
    def _single(self) -> bool:
        return len(self.starts) == len(self.order)

    def row(self, unit: int) -> np.ndarray:
        """Which units may not be selected together with this one, a mask."""
        apart = np.zeros(len(self.starts), dtype=bool)
        apart[self.apart_from(unit)] = True
        return apart

    def apart_from(self, unit: int) -> np.ndarray:
        """The same as a list, ascending."""
        if self._single:
            return self.columns.apart_from(unit)
        ends = np.append(self.starts, len(self.order))
        members = self.order[ends[unit] : ends[unit + 1]]
        apart = np.unique(self._unit_of[np.concatenate([self.columns.apart_from(int(column)) for column in members])])
        return apart[apart != unit]

    @cached_property
    def pairs(self) -> Apart:
        if self._single:
            return self.columns.pairs
        first, second = (self._unit_of[side] for side in self.columns.pairs)
        low, high = np.minimum(first, second), np.maximum(first, second)
        both = np.unique(np.stack([low, high])[:, low < high], axis=1)
        return Apart(both[0], both[1])

    def conflicts(self, units: Iterable[int]) -> list[tuple[int, int]]:
        """The pairs of these units that may not be selected together, ascending."""
        chosen, found = sorted(units), []
        for place, unit in enumerate(chosen[:-1]):
            apart = self.row(unit)
            found += [(unit, other) for other in chosen[place + 1 :] if apart[other]]
        return found


def most_columns(limit: UnitLimit, sizes: np.ndarray, units: np.ndarray) -> int:
    """At least as many columns as any of these units that share too little to be apart have together.

    The units are put into groups in which each may not be selected with any other: a subset has one of each group.
    """
    apart: dict[int, set[int]] = {int(unit): set() for unit in units}
    for i, j in zip(*(side.tolist() for side in limit.pairs), strict=True):
        if i in apart and j in apart:
            apart[i].add(j)
            apart[j].add(i)
    groups: list[list[int]] = []
    for unit in sorted(apart, key=lambda unit: (-len(apart[unit]), unit)):
        group = next((group for group in groups if apart[unit].issuperset(group)), None) if apart[unit] else None
        if group is None:
            groups.append([unit])
        else:
            group.append(unit)
    return sum(int(sizes[group].max()) for group in groups)


def cost_of_sharing(limit: SharedLimit, single: np.ndarray, weight: float, k: int) -> float:
    """The pair term that a pair which shares too much has in addition: above what any subset of k could gain by it.

    The single terms of k features differ by no more than k times their spread. A pair term is made of one or two
    terms in nats, each of them at most ln N and a correction below 1, counted at most twice: so k (k-1) / 2 pairs
    differ by no more than 8 (ln N + 1) each. The sum is rounded up to a power of 2.
    """
    if k < 2:
        return 0.0
    spread = k * float(np.ptp(single)) / abs(weight) if len(single) else 0.0
    return _power_above(spread + 4.0 * k * (k - 1) * (math.log(max(limit.terms.n_samples, 2)) + 1.0))


def _power_above(number: float) -> float:
    return 2.0 ** (math.frexp(number)[1])


def lower_costs(Q: np.ndarray, k: int, hopeless: float) -> None:
    """Raise the entries off the diagonal that are below `hopeless` to what is just enough; in place.

    Relaxations are looser, and rounding errors larger, with larger costs. A pair costs as much as the less useful of
    the two can bring to a subset of k, above the least that any feature brings to one: so exchanging it pays, where
    another one fits. A subset loses twice the entry.
    """
    n, diagonal = len(Q), Q.diagonal().astype(np.float64)
    others = min(k, n) - 1
    most, least = diagonal.copy(), diagonal.copy()
    for top in range(0, n if others > 0 else 0, AT_ONCE):
        rows = Q[top : top + AT_ONCE].astype(np.float64)
        some = np.arange(len(rows))
        rows[rows < hopeless] = 0.0
        rows[some, top + some] = 0.0
        rows.sort(axis=1)
        most[top + some] += 2.0 * np.maximum(rows[:, n - others :], 0.0).sum(axis=1)
        least[top + some] += 2.0 * np.minimum(rows[:, :others], 0.0).sum(axis=1)
    lowest = float(least.min(initial=0.0))
    for top in range(0, n, AT_ONCE):
        rows = Q[top : top + AT_ONCE]
        i, j = np.nonzero(rows < hopeless)
        i, j = i[j != i + top], j[j != i + top]
        rows[i, j] = np.maximum(rows[i, j], -0.5 * (np.minimum(most[i + top], most[j]) - lowest))


@dataclass(frozen=True, eq=False)
class LimitedPairs:
    """Pair terms with a cost in addition for pairs that share too much; `pairs` is None if only these cost anything."""

    pairs: PairSource | None
    limit: UnitLimit
    cost: float
    n_features: int

    def row(self, feature: int) -> np.ndarray:
        row = np.zeros(self.n_features) if self.pairs is None else self.pairs.row(feature)
        apart = self.limit.apart_from(feature)
        if not len(apart):
            return row
        row = np.array(row)
        row[apart] += self.cost
        return row

    def matrix(self) -> np.ndarray:
        n, (first, second) = self.n_features, self.limit.pairs
        whole = np.broadcast_to(0.0, (n, n)) if self.pairs is None else self.pairs.matrix()
        if not len(first):
            return whole
        limited = large_array((n, n), whole.dtype)
        limited[:] = whole
        limited[first, second] += self.cost
        limited[second, first] += self.cost
        return limited

    def seconds_for_matrix(self) -> float:
        return 0.0 if self.pairs is None else self.pairs.seconds_for_matrix()
