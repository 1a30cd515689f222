"""What the chosen features carry about the target together, counted, and whether chance would give as much.

Criteria add up single features and pairs. Here the features are counted together, as long as the rows are enough for
it: from the best feature or the best pair, one feature after the other is joined as long as that adds more than
chance does. Fewer features never carry more, so the result is a lower limit for all of them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from certselect.coding import CodedTable, SparseCodedTable
from certselect.information.chance import ChanceInformation
from certselect.information.kernels.joint_cells import JointCells
from certselect.shown_numbers import p_words, percent

# How rarely features that have nothing to do with the target are found better than chance.
LEVEL = 0.01
# Kinds of tests, of which each has its share of the level: single features, pairs, all chosen ones together.
_FAMILIES = 3
# Codes (pairs x rows) that are counted at a time, and in all.
_AT_ONCE, _MOST_CODES = 1 << 22, 1 << 26
_FEWEST_PAIRED, _MOST_PAIRED = 8, 60


@dataclass(frozen=True)
class CarriedInformation:
    """How much of the target's information the chosen features carry, and how much chance would give.

    Attributes
    ----------
    information : float
        I(some of the features; target), in nats, less `chance`; 0 or more.
    chance : float
        What these would carry on average if the target were shuffled, in nats.
    target_entropy : float
        H(C), in nats.
    counted : tuple of int
        The features that were counted together: all, or those that the rows are enough for.
    n_chosen, n_considered : int
        How many features were chosen, and from how many.
    p_value : float
        How probable features as good are among as many that have nothing to do with the target.
    n_samples : int
        How many rows were counted.
    """

    information: float
    chance: float
    target_entropy: float
    counted: tuple[int, ...]
    n_chosen: int
    n_considered: int
    p_value: float
    n_samples: int

    @property
    def share(self) -> float:
        """How much of the target's entropy that is, 0 to 1."""
        return min(1.0, self.information / self.target_entropy)

    @property
    def chance_share(self) -> float:
        """The same of what chance gives."""
        return min(1.0, self.chance / self.target_entropy)

    @property
    def above_chance(self) -> bool:
        """Whether features that have nothing to do with the target are as good more rarely than `LEVEL`."""
        return self.p_value <= LEVEL

    @property
    def statement(self) -> str:
        """The share in a sentence: "8 of 30 features carry at least 71 % of the target's information (...)"."""
        carry = "feature carries" if self.n_chosen == 1 else "features carry"
        least = "at least " if len(self.counted) < self.n_chosen and self.share < 0.995 else ""
        return (
            f"{self.n_chosen} of {self.n_considered} {carry} {least}{percent(self.share)} of the target's information "
            f"({percent(self.chance_share)} expected by chance, subtracted)."
        )

    @property
    def verdict(self) -> str:
        """That the features are no better than chance; empty if they are better."""
        if self.above_chance:
            return ""
        return (
            "No better than chance: as good a choice from as many shuffled columns is found with "
            f"{p_words(self.p_value, LEVEL)} (level {LEVEL:g})."
        )


def carried_information(
    coded: CodedTable | SparseCodedTable, chosen: Mapping[int, int], n_considered: int
) -> CarriedInformation | None:
    """Count what chosen features, in order of choice, carry about the target together; None of a target of one class.

    The test asks for the most significant of three: single features, pairs, and all chosen features together, each by
    the G-test with its exact mean (`ChanceInformation.p_values`) and multiplied (Bonferroni) by how many of the
    kind there are among the columns that were considered, and by three. So features that interact, of which each alone
    is independent of the target, are found better than chance as well.

    Parameters
    ----------
    coded : CodedTable or SparseCodedTable
    chosen : mapping of int to int
        Where each chosen feature is in the table, in order of choice.
    n_considered : int
        How many columns the search could choose from.
    """
    features, counts = list(chosen), _Combinations(coded, list(chosen.values()))
    n, k = max(n_considered, len(chosen)), len(chosen)
    single = [(place,) for place in range(k)]
    pairs = list(combinations(range(counts.n_paired), 2))
    known = counts.measured([*single, *pairs])
    if not counts.target_entropy > 0.0:
        return None
    p_value = min(
        _corrected(min(known[some].p_value for some in single), n),
        _corrected(min((known[some].p_value for some in pairs), default=1.0), math.comb(n, 2)),
    )
    best = max(known, key=lambda some: known[some].cautious)  # the first of equal ones: singles, then pairs
    while len(best) < k:
        longer = [(*best, place) for place in range(k) if place not in best]
        found = counts.measured(longer)
        next_best = max(found, key=lambda some: found[some].cautious)
        if found[next_best].cautious <= known[best].cautious:
            break
        known[next_best], best = found[next_best], next_best
    together = tuple(range(k))
    if 2 < k <= counts.most_together:
        known |= counts.measured([together])
        p_value = min(p_value, _corrected(known[together].p_value, math.comb(n, k)))
        if known[together].cautious > known[best].cautious:
            best = together
    return CarriedInformation(
        information=max(0.0, known[best].information),
        chance=known[best].chance,
        target_entropy=counts.target_entropy,
        counted=tuple(sorted(features[place] for place in best)),
        n_chosen=k,
        n_considered=n,
        p_value=p_value,
        n_samples=coded.n_samples,
    )


def _corrected(p_value: float, n_tests: int) -> float:
    """The p-value of the best of so many, times the number of families."""
    if not n_tests:
        return 1.0
    if p_value <= 0.0:
        return 0.0
    return math.exp(min(0.0, math.log(p_value) + math.log(n_tests) + math.log(_FAMILIES)))


@dataclass(frozen=True)
class _Counted:
    """What some features carry together: `information` is as counted less `chance`.

    Which features to count together is chosen by `cautious`, which is less by two standard deviations of chance: the
    best of many that carry nothing would else seem to carry something.
    """

    information: float
    chance: float
    p_value: float
    freedom: int

    @property
    def cautious(self) -> float:
        return self.information - 2.0 * self.chance * math.sqrt(2.0 / max(1, self.freedom))


class _Combinations:
    """Counts features together, each combination as one column."""

    def __init__(self, coded: CodedTable | SparseCodedTable, chosen: Sequence[int]) -> None:
        self._coded = coded
        cells = JointCells(coded, "none")
        absent = None if isinstance(coded, SparseCodedTable) else coded.absent
        self._columns: list[np.ndarray] = []
        self._lacking: list[np.ndarray | None] = []
        for feature in map(int, chosen):
            codes = cells.codes(np.array([feature]))[0]
            self._columns.append(np.unique(codes, return_inverse=True)[1])
            code = -1 if absent is None else absent[feature]
            self._lacking.append(codes == code if code >= 0 else None)
        rows = max(coded.n_samples, 1)
        paired = int(math.sqrt(2.0 * _MOST_CODES / rows))
        self.n_paired = min(len(self._columns), max(_FEWEST_PAIRED, min(paired, _MOST_PAIRED)))
        # So many columns may have been joined before nearly every row is a combination of its own.
        self.most_together = int(math.log2(max(rows, 2)))
        self.target_entropy = _entropy(coded)

    def measured(self, wanted: Sequence[tuple[int, ...]]) -> dict[tuple[int, ...], _Counted]:
        """Each combination of features, named by their places among the chosen ones."""
        step = max(1, _AT_ONCE // max(1, self._coded.n_samples))
        found: dict[tuple[int, ...], _Counted] = {}
        for start in range(0, len(wanted), step):
            some = wanted[start : start + step]
            table = self._as_columns(some)
            plug_in = JointCells(table, "none").information_given([], np.arange(len(some)))
            chance = ChanceInformation(table, plug_in)
            freedom = (table.levels - 1) * (len(table.classes) - 1)
            columns = (plug_in - chance.expected, chance.expected, chance.p_values, freedom)
            rows = zip(*(column.tolist() for column in columns), strict=True)
            found |= {one: _Counted(*row) for one, row in zip(some, rows, strict=True)}
        return found

    def _as_columns(self, wanted: Sequence[tuple[int, ...]]) -> CodedTable:
        joined, levels, absent = zip(*map(self._joined, wanted), strict=True)
        codes = np.array(joined, dtype=np.min_scalar_type(max(levels)))
        return CodedTable(
            codes=codes,
            levels=np.array(levels, dtype=np.int64),
            constant=np.array([count == 1 for count in levels]),
            target=self._coded.target,
            classes=self._coded.classes,
            feature_names=tuple(map(str, range(len(wanted)))),
            coding=self._coded.coding,
            absent=np.array(absent) if max(absent) >= 0 else None,
            weights=self._coded.weights,
        )

    def _joined(self, places: tuple[int, ...]) -> tuple[np.ndarray, int, int]:
        """One code for each combination of levels, their number, and the code of rows that lack a value (or -1)."""
        joined = self._columns[places[0]]
        for place in places[1:]:
            width = int(self._columns[place].max()) + 1
            joined = joined * width + self._columns[place]
            joined = np.unique(joined, return_inverse=True)[1]
        lacking = [self._lacking[place] for place in places]
        some = [each for each in lacking if each is not None]
        if not some:
            return joined, int(joined.max()) + 1, -1
        without = np.logical_or.reduce(some)
        left = np.unique(joined[~without], return_inverse=True)[1]
        last = int(left.max(initial=-1)) + 1
        codes = np.full(len(joined), last)
        codes[~without] = left
        return codes, last + 1, last


def _entropy(coded: CodedTable | SparseCodedTable) -> float:
    """H(C) of the classes as counted, in nats."""
    sizes = np.bincount(coded.target, coded.weights, minlength=len(coded.classes))
    parts = sizes[sizes > 0] / sizes.sum()
    return float(-(parts * np.log(parts)).sum())
