"""Information by chance: what columns of the same levels would share if one of them were shuffled.

The model is that of a permutation test: all orders of the rows of one column are equally likely, within
each class where the class is given. Its mean needs no permutations: it is a sum over the cells of the
joint table, and depends on how often each level occurs, and on nothing else.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np
from scipy.special import chdtrc

from certselect.coding import CodedTable, SparseCodedTable
from certselect.information.kernels.cell_table import counting_units
from certselect.information.kernels.chance_tables import ChanceTables, fixed_cells
from certselect.information.kernels.entropy_sums import CountLogs
from certselect.information.kernels.margins import CountedMargins, LevelCounts, Margins
from certselect.information.level_layout import LevelLayout
from certselect.information.terms import BOTH, PairTerms
from certselect.progress import report
from certselect.threads import thread_count

# Of a feature with all: expected cells added up, the same within classes, and the samples that have both features.
PairSums: TypeAlias = tuple[np.ndarray, np.ndarray, np.ndarray]
_LARGEST = 1 << 62
_MOST_KNOWN = 1 << 21  # pairs with rows of their own whose expected cells are kept: 48 MB
_ROWS_AT_ONCE = 256  # of a whole matrix, between two reports of progress


class ChanceInformation:
    """The expected information of columns that have nothing to do with each other.

    Whole weights stand for repeated rows. Among rows whose weights are not whole there are no
    permutations: then it is (levels - 1)(classes - 1) / 2N, of pairs (levels - 1)(levels - 1) / 2N, the
    first term of a series in 1/N.

    Parameters
    ----------
    table : CodedTable, SparseCodedTable, or CountedMargins with the `logs` of its samples
    relevance : ndarray (n,)
        The plug-in estimates I(Xi;C).
    logs : CountLogs, optional
    n_jobs : int, optional
        Threads; all cores if None.
    pair_sums : callable, optional
        From a feature to its `PairSums`, where margins alone do not give them.
    """

    def __init__(
        self,
        table: CodedTable | SparseCodedTable | CountedMargins,
        relevance: np.ndarray,
        logs: CountLogs | None = None,
        n_jobs: int | None = None,
        pair_sums: Callable[[int], PairSums] | None = None,
    ) -> None:
        self._table = table
        self._logs = logs
        self._sums_of = pair_sums
        self._relevance = relevance
        self._n_jobs = n_jobs
        self._known: dict[int, PairSums] = {}  # of pairs with rows of their own

    @cached_property
    def expected(self) -> np.ndarray:
        """Of each feature about a shuffled target, (n,), from the rows where it has a value."""
        of_classes = self._of_classes
        if self._first_order:
            sums = _first_cells(self._levels[0], np.count_nonzero(of_classes, axis=1))
        elif self._margins.complete:
            sums = self._tables.with_column(of_classes[0])
        else:
            starts = self._slices.starts[: self._n + 1]
            sums = _expected_sums(LevelCounts(starts, self._slices.counts[: starts[-1]]), of_classes, self._one)
        return sums / self._one / self._real(of_classes.sum(axis=1))

    @cached_property
    def beyond_chance(self) -> np.ndarray:
        """I(Xi;C) as counted, less `expected`, (n,)."""
        return self._relevance - self.expected

    @cached_property
    def deviation(self) -> np.ndarray:
        """The standard deviation of the information of each feature and a shuffled target, (n,).

        That of chi squared with (levels - 1)(classes - 1) degrees of freedom, which 2 N I approaches, after it
        was divided so that its mean is the exact one.
        """
        return self.expected * np.sqrt(2.0 / np.maximum(self._freedom, 1))

    @cached_property
    def p_values(self) -> np.ndarray:
        """How probable so much information of a feature and a shuffled target is, (n,).

        By the G-test, 2 N I being distributed as chi squared, after it was divided so that its mean is the
        exact one of all permutations. For columns of many levels with few samples each it is cautious: noise
        is found significant more rarely than the test says.
        """
        varies = (self._freedom > 0) & (self.expected > 0)
        freedom = np.where(varies, self._freedom, 1)
        ratio = np.divide(self._relevance, self.expected, out=np.zeros(len(varies)), where=varies)
        return np.where(varies, chdtrc(freedom, freedom * ratio), 1.0)

    def subtract(self, kind: str, features: np.ndarray, terms: np.ndarray, *, compiled: bool) -> None:
        """Subtract what chance alone gives from pair terms of some features with all, (len(features), n).

        Information that is below that is 0. The interaction is the difference of both terms before either is limited.
        With `compiled`, the compiled kernels are loaded already.
        """
        if self._margins.complete and not self._first_order and self._sums_of is None:
            self._tables.subtract(kind, features, terms, compiled=compiled)
            return
        for row, feature in enumerate(features.tolist()):
            own = terms[row, feature]
            whole, within, samples = self._one_by_one(feature, compiled)
            sums = {"redundancy": whole, "conditional_redundancy": within}.get(kind, whole - within)
            terms[row] -= sums / self._one / self._real(samples)
            terms[row, feature] = own  # with itself a feature shares its entropy, whatever is shuffled
        if kind != "interaction":
            np.maximum(terms, 0.0, out=terms)

    def _one_by_one(self, feature: int, compiled: bool) -> PairSums:
        """Expected cells of a feature with all, where pairs have rows of their own or weights are not whole."""
        if self._sums_of is not None:
            return self._sums_of(feature)
        margins = self._margins
        if margins.complete or isinstance(margins, CountedMargins):
            sums = _first_cells(self._levels[:, feature, None], self._levels)
            return sums[0], sums[1:].sum(axis=0), self._of_classes.sum(axis=1)
        if feature not in self._known:
            counts, others = margins.of_pairs(feature)
            if self._first_order:
                sums = _first_cells(np.count_nonzero(others, axis=1), counts.levels)
            else:
                sums = _expected_sums(counts, others, self._one, compiled)
            sums = sums.reshape(-1, self._n)
            found = sums[0], sums[1:].sum(axis=0), others[: self._n].sum(axis=1)
            if len(self._known) * self._n > _MOST_KNOWN:
                self._known.clear()
            self._known[feature] = found
        return self._known[feature]

    @cached_property
    def _counting(self) -> tuple[Margins | CountedMargins, CountLogs]:
        table = self._table
        if isinstance(table, CountedMargins):
            assert self._logs is not None, "counts come with their logarithms"
            return table, self._logs
        whole, logs = counting_units(table.weights, table.n_samples, "none")
        return Margins(table, whole), logs

    @property
    def _margins(self) -> Margins | CountedMargins:
        return self._counting[0]

    @property
    def _first_order(self) -> bool:
        """Whether weights are not whole."""
        return self._counting[1].weight_bits > 0

    @cached_property
    def _one(self) -> float:
        """What sums of cells are multiples of, inverted."""
        return _unit(self._counting[1])

    def _real(self, samples: np.ndarray) -> np.ndarray:
        """Samples in units of whole ones, 1 for none."""
        return np.where(samples > 0, samples * 2.0 ** -self._counting[1].weight_bits, 1.0)

    @cached_property
    def _slices(self) -> LevelCounts:
        return self._margins.of_slices()

    @property
    def _n(self) -> int:
        return len(self._relevance)

    @cached_property
    def _levels(self) -> np.ndarray:
        """How many levels of each feature occur among all rows, then in each class, (1 + classes, n)."""
        return self._slices.levels.reshape(-1, self._n)

    @cached_property
    def _of_classes(self) -> np.ndarray:
        """Samples of each class where a feature has a value, (n, classes), or (1, classes) for all alike."""
        samples = self._slices.summed(self._slices.counts).reshape(-1, self._n)[1:]
        return samples[:, :1].T if self._margins.complete else samples.T

    @cached_property
    def _freedom(self) -> np.ndarray:
        return (self._levels[0] - 1) * (np.count_nonzero(self._of_classes, axis=1) - 1)

    @cached_property
    def _tables(self) -> ChanceTables:
        return ChanceTables(self._slices, self._n, self._one, thread_count(self._n_jobs))


@dataclass(frozen=True, eq=False)
class ChanceMoments:
    """What chance gives single features, as `LessChance`, from the mean and the degrees of freedom of chi squared.

    Attributes
    ----------
    beyond_chance, expected : ndarray (n,)
        The relevance less its mean for independent columns, not limited at 0; and that mean.
    freedom : ndarray (n,)
        2 N I of independent columns is about chi squared with so many degrees of freedom; 0 for constant columns.
    """

    beyond_chance: np.ndarray
    expected: np.ndarray
    freedom: np.ndarray

    @property
    def deviation(self) -> np.ndarray:
        return self.expected * np.sqrt(2.0 / np.maximum(self.freedom, 1))

    @property
    def p_values(self) -> np.ndarray:
        """How probable so much information of a feature and a shuffled target is, (n,)."""
        varies = (self.freedom > 0) & (self.expected > 0)
        ratio = np.divide(self.beyond_chance + self.expected, self.expected, out=np.zeros(len(varies)), where=varies)
        freedom = np.where(varies, self.freedom, 1)
        return np.where(varies, chdtrc(freedom, np.maximum(freedom * ratio, 0.0)), 1.0)

    def replaced(self, places: np.ndarray, other: ChanceMoments) -> ChanceMoments:
        """The same with those of other columns at some places."""
        fields = [np.array(of_all, dtype=np.float64) for of_all in (self.beyond_chance, self.expected, self.freedom)]
        for of_all, some in zip(fields, (other.beyond_chance, other.expected, other.freedom), strict=True):
            of_all[places] = some
        return ChanceMoments(*fields)


class ChancePairs(PairTerms):
    """Pair terms less what chance alone gives: information that is below that is none.

    The interaction is the difference of both terms before either is limited.
    """

    def __init__(self, counted: PairTerms, chance: ChanceInformation) -> None:
        self.counted = counted
        self._chance = chance

    def measured(self, kinds: tuple[str, ...], features: np.ndarray | None = None) -> tuple[np.ndarray, ...]:
        counted = self.counted.measured(kinds, features)
        self._subtract(counted, kinds, features)
        return counted

    def overlap(self, features: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray | None]:
        redundancy, conditional = self.measured(BOTH, features)
        return np.subtract(redundancy, conditional, out=conditional), redundancy

    def redundancy_and_interaction(self, features: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
        """Both of some features with all, or of all pairs, from the same counts."""
        redundancy, conditional = self.counted.measured(BOTH, features)
        if redundancy.dtype != np.float64:  # rounded before they are subtracted, they would be another interaction
            return self.measured(("redundancy",), features)[0], self.measured(("interaction",), features)[0]
        found = redundancy, np.subtract(redundancy, conditional, out=conditional)
        self._subtract(found, ("redundancy", "interaction"), features)
        return found

    def _subtract(self, counted: tuple[np.ndarray, ...], kinds: tuple[str, ...], features: np.ndarray | None) -> None:
        some = np.arange(len(counted[0])) if features is None else features
        compiled = getattr(self.counted, "compiled", False)
        for terms, kind in zip(counted, kinds, strict=True):
            for start in range(0, len(some), _ROWS_AT_ONCE):
                part = slice(start, start + _ROWS_AT_ONCE)
                self._chance.subtract(kind, some[part], terms[part], compiled=compiled)
                report("chance", min(start + _ROWS_AT_ONCE, len(some)), len(some))


def expected_of_pairs(joint: np.ndarray, layout: LevelLayout, logs: CountLogs) -> PairSums:
    """The `PairSums` of a feature from its joint counts (classes, levels, width of the layout) with all features.

    Levels that stand for absent values have no counts.
    """
    sums, whole = [], joint.sum(axis=0)
    for table in (whole, *joint):
        by_level = table.sum(axis=0)
        there = by_level > 0
        starts = np.concatenate([[0], np.cumsum(layout.summed(there.astype(np.int64)))])
        counts, others = LevelCounts(starts, by_level[there]), layout.summed(table).T
        if logs.weight_bits > 0:
            sums.append(_first_cells(np.count_nonzero(others, axis=1), counts.levels))
        else:
            sums.append(_expected_sums(counts, others, _unit(logs)))
    return sums[0], np.sum(sums[1:], axis=0), layout.summed(whole.sum(axis=0))


def _unit(logs: CountLogs) -> float:
    """What sums of expected cells are multiples of, inverted: first terms are multiples of a half."""
    return 2.0 if logs.weight_bits > 0 else 2.0**logs.fraction_bits


def _expected_sums(counts: LevelCounts, others: np.ndarray, one: float, compiled: bool = False) -> np.ndarray:
    """Expected cells of several columns, each with another one of counts `others` (columns, levels), added up."""
    # Each level of each column with each level of the other one.
    owner, width = np.repeat(np.arange(len(others)), counts.levels), others.shape[1]
    first = np.repeat(counts.counts, width)
    second = others[owner].ravel()
    samples = np.repeat(others.sum(axis=1)[owner], width)
    there = np.flatnonzero(second)
    first, second, samples = first[there], second[there], samples[there]
    # A cell equals its mirror image.
    different, cell = _distinct(samples, np.minimum(first, second), np.maximum(first, second))
    totals, smaller, larger = different
    cells = np.zeros(len(owner) * width, dtype=np.int64)
    cells[there] = fixed_cells(smaller, larger, totals, one, compiled=compiled)[cell]
    return counts.summed(cells.reshape(-1, width).sum(axis=1))


def _first_cells(levels: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Sums of the first terms of cells, in halves."""
    return np.maximum(levels - 1, 0) * np.maximum(others - 1, 0)


def _distinct(*numbers: np.ndarray) -> tuple[list[np.ndarray], np.ndarray]:
    """The different combinations of numbers at the same places, and which of them stands at each place."""
    combined = np.zeros(len(numbers[0]), dtype=np.int64)
    most = 1
    for each in numbers:
        width = 1 + int(each.max(initial=0))
        if most * width > _LARGEST:  # numbered anew, combinations never outgrow the places
            different, combined = np.unique(combined, return_inverse=True)
            most = max(1, len(different))
        if most * width > _LARGEST:
            different, each = np.unique(each, return_inverse=True)
            width = max(1, len(different))
        combined = combined * width + each
        most *= width
    _, first, place = np.unique(combined, return_index=True, return_inverse=True)
    return [each[first] for each in numbers], place
