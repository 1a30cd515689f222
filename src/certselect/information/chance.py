"""Information by chance: what columns of the same levels would share if one of them were shuffled.

The model is that of a permutation test: all orders of the rows of one column are equally likely, within
each class where the class is given. Its mean needs no permutations: it is a sum over the cells of the
joint table, and depends on how often each level occurs, and on nothing else.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import TypeAlias

import numpy as np
from scipy.special import chdtrc

from certselect.coding import CodedTable, SparseCodedTable
from certselect.information.kernels.cell_table import counting_units
from certselect.information.kernels.chance_cells import expected_cells, first_order_cells
from certselect.information.kernels.entropy_sums import CountLogs
from certselect.information.kernels.margins import CountedMargins, LevelCounts, Margins
from certselect.information.level_layout import LevelLayout
from certselect.information.terms import PairTerms
from certselect.progress import report

# Of a feature with all: expected cells added up, the same within classes, and the samples that have both features.
PairSums: TypeAlias = tuple[np.ndarray, np.ndarray, np.ndarray]
# Expected cells that are kept for the next row of pairs: 64 MB.
_MOST_KEPT = 1 << 23


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
    pair_sums : callable, optional
        From a feature to its `PairSums`, where margins alone do not give them.
    """

    def __init__(
        self,
        table: CodedTable | SparseCodedTable | CountedMargins,
        relevance: np.ndarray,
        logs: CountLogs | None = None,
        pair_sums: Callable[[int], PairSums] | None = None,
    ) -> None:
        self._table = table
        self._logs = logs
        self._sums_of = pair_sums
        self._relevance = relevance
        self._slices: dict[int | None, _Slice] = {}

    @property
    def coded(self) -> CodedTable | SparseCodedTable | None:
        """The codes that were counted; None of a table in blocks, of which the margins alone are kept."""
        return None if isinstance(self._table, CountedMargins) else self._table

    @cached_property
    def expected(self) -> np.ndarray:
        """Of each feature about a shuffled target, (n,), from the rows where it has a value."""
        return self._units.nats(self._units.of_beside(self._levels, self._of_classes), self._of_classes.sum(axis=1))

    @cached_property
    def cautious_relevance(self) -> np.ndarray:
        """I(Xi;C) less its mean and two standard deviations among shuffled columns, (n,); not limited at 0.

        Twice the number of samples times the information is about chi squared, so that the deviation is the mean times
        sqrt(2 / degrees of freedom).
        """
        freedom = (self._levels.levels - 1) * (np.count_nonzero(self._of_classes, axis=1) - 1)
        return self._relevance - self.expected * (1.0 + 2.0 * np.sqrt(2.0 / np.maximum(freedom, 1)))

    @cached_property
    def p_values(self) -> np.ndarray:
        """How probable so much information of a feature and a shuffled target is, (n,).

        By the G-test, 2 N I being distributed as chi squared, after it was divided so that its mean is the
        exact one of all permutations. For columns of many levels with few samples each it is cautious: noise
        is found significant more rarely than the test says.
        """
        freedom = (self._levels.levels - 1) * (np.count_nonzero(self._of_classes, axis=1) - 1)
        varies = (freedom > 0) & (self.expected > 0)
        freedom = np.where(varies, freedom, 1)
        ratio = np.divide(self._relevance, self.expected, out=np.zeros(len(varies)), where=varies)
        return np.where(varies, chdtrc(freedom, freedom * ratio), 1.0)

    def row(self, kind: str, feature: int) -> np.ndarray:
        """Of a feature with all, (n,): I(Xi;Xj), I(Xi;Xj|C), or for "interaction" the first minus the second."""
        if self._sums_of is not None:
            whole, within, together = self._sums_of(feature)
            sums = {"redundancy": whole, "conditional_redundancy": within}.get(kind, whole - within)
            return self._own_left_out(self._units.nats(sums, together), feature)
        sums = np.zeros(len(self._relevance), dtype=np.int64)
        if kind != "redundancy":
            for group in range(self._margins.n_classes):
                sums += self._pair_sums(feature, group)
        if kind != "conditional_redundancy":
            sums = self._pair_sums(feature, None) - sums
        return self._own_left_out(self._units.nats(sums, self._together(feature)), feature)

    def _own_left_out(self, row: np.ndarray, feature: int) -> np.ndarray:
        row[feature] = 0.0  # with itself a feature shares its entropy, whatever is shuffled
        return row

    def _pair_sums(self, feature: int, group: int | None) -> np.ndarray:
        """Expected cells of a feature with all, added up, among the rows of a class, or among all."""
        margins = self._margins
        if margins.complete or isinstance(margins, CountedMargins):
            if group not in self._slices:
                counts, samples = margins.of_group(group)
                self._slices[group] = _Slice(counts, samples, self._units)
            return self._slices[group].sums(feature)
        rows = margins.rows_of(group) & margins.having(feature)
        return self._units.of_beside(margins.counts(rows), margins.of_feature(feature, rows))

    def _together(self, feature: int) -> np.ndarray:
        """How many samples have a value of this feature and of each other one."""
        if self._margins.complete or isinstance(self._margins, CountedMargins):
            return self._of_classes.sum(axis=1)
        return self._margins.of_feature(feature, self._margins.rows_of(None)).sum(axis=1)

    @cached_property
    def _counting(self) -> tuple[Margins | CountedMargins, _Units]:
        table = self._table
        if isinstance(table, CountedMargins):
            assert self._logs is not None, "counts come with their logarithms"
            return table, _Units(self._logs)
        whole, logs = counting_units(table.weights, table.n_samples, "none")
        return Margins(table, whole), _Units(logs)

    @property
    def _margins(self) -> Margins | CountedMargins:
        return self._counting[0]

    @property
    def _units(self) -> _Units:
        return self._counting[1]

    @cached_property
    def _levels(self) -> LevelCounts:
        return self._margins.of_group(None)[0]

    @cached_property
    def _of_classes(self) -> np.ndarray:
        return self._margins.of_classes()


def expected_of_pairs(joint: np.ndarray, layout: LevelLayout, logs: CountLogs) -> PairSums:
    """The `PairSums` of a feature from its joint counts (classes, levels, width of the layout) with all features.

    Levels that stand for absent values have no counts.
    """
    units, sums = _Units(logs), []
    whole = joint.sum(axis=0)
    for table in (whole, *joint):
        by_level = table.sum(axis=0)
        there = by_level > 0
        starts = np.concatenate([[0], np.cumsum(layout.summed(there.astype(np.int64)))])
        sums.append(units.of_beside(LevelCounts(starts, by_level[there]), layout.summed(table).T))
    return sums[0], np.sum(sums[1:], axis=0), layout.summed(whole.sum(axis=0))


class ChancePairs(PairTerms):
    """Pair terms less what chance alone gives: information that is below that is none.

    The interaction is the difference of both terms before either is limited.
    """

    def __init__(self, counted: PairTerms, chance: ChanceInformation) -> None:
        self.counted = counted
        self._chance = chance

    def measured(self, kinds: tuple[str, ...], features: np.ndarray | None = None) -> tuple[np.ndarray, ...]:
        counted = self.counted.measured(kinds, features)
        some = np.arange(len(counted[0])) if features is None else features
        return tuple(self._less_chance(terms, kind, some) for terms, kind in zip(counted, kinds, strict=True))

    def _less_chance(self, terms: np.ndarray, kind: str, features: np.ndarray) -> np.ndarray:
        for row, feature in enumerate(features.tolist()):
            less = terms[row] - self._chance.row(kind, feature)
            terms[row] = less if kind == "interaction" else np.maximum(less, 0.0)
            report("chance", row + 1, len(features))
        return terms


class _Units:
    """Expected cells in fixed point, whose sums are exact: no order of levels, rows or features matters."""

    def __init__(self, logs: CountLogs) -> None:
        self._one = 2.0**logs.fraction_bits
        self._sample = 2.0**-logs.weight_bits
        self._cells = expected_cells if logs.weight_bits == 0 else first_order_cells

    def cells(self, first: np.ndarray, second: np.ndarray, samples: np.ndarray) -> np.ndarray:
        return np.rint(self._cells(first, second, samples) * self._one).astype(np.int64)

    def nats(self, sums: np.ndarray, samples: np.ndarray) -> np.ndarray:
        """Sums of cells of so many samples as information, 0 of no samples."""
        return sums / self._one / np.where(samples > 0, samples * self._sample, 1.0)

    def of_beside(self, counts: LevelCounts, others: np.ndarray) -> np.ndarray:
        """Expected cells of each feature and another column, added up, (n,).

        `others` are the samples of that column's levels beside each feature, (n, levels), or (1, levels)
        where they are the same beside all.
        """
        patterns, pattern = np.unique(others, axis=0, return_inverse=True)
        pattern = np.repeat(np.broadcast_to(pattern.ravel(), counts.levels.shape), counts.levels)
        distinct, own = np.unique(counts.counts, return_inverse=True)
        # What a level is expected to add, once for each count beside each pattern.
        keys, places = np.unique(pattern * len(distinct) + own, return_inverse=True)
        pattern, own = np.divmod(keys, max(1, len(distinct)))
        key, level = np.nonzero(patterns[pattern])
        samples = patterns.sum(axis=1)[pattern]
        different, cell = _distinct(distinct[own[key]], patterns[pattern[key], level], samples[key])
        added = np.zeros(len(keys), dtype=np.int64)
        np.add.at(added, key, self.cells(*different)[cell])
        return counts.summed(added[places])


def _distinct(*numbers: np.ndarray) -> tuple[list[np.ndarray], np.ndarray]:
    """The different combinations of numbers at the same places, and which of them stands at each place."""
    combined = np.zeros(len(numbers[0]), dtype=np.int64)
    for each in numbers:
        different, place = np.unique(each, return_inverse=True)
        # Numbered anew after each, combinations never outgrow the places times the next numbers.
        combined = np.unique(combined * len(different) + place, return_inverse=True)[1]
    _, first, place = np.unique(combined, return_index=True, return_inverse=True)
    return [each[first] for each in numbers], place


class _Slice:
    """Level counts of all features among the same rows, and what pairs of counts are expected to add."""

    def __init__(self, counts: LevelCounts, samples: int, units: _Units) -> None:
        self._counts = counts
        self._samples = samples
        self._units = units
        self._distinct, self._places = np.unique(counts.counts, return_inverse=True)
        self._kept: dict[int, np.ndarray] = {}  # by place among the distinct counts

    def sums(self, feature: int) -> np.ndarray:
        """Expected cells of a feature with all, added up, (n,)."""
        starts = self._counts.starts
        added = np.zeros(len(self._distinct), dtype=np.int64)
        for place in self._places[starts[feature] : starts[feature + 1]].tolist():
            added += self._beside(place)
        return self._counts.summed(added[self._places])

    def _beside(self, place: int) -> np.ndarray:
        """What a level of that count is expected to add beside each count that occurs."""
        found = self._kept.get(place)
        if found is not None:
            return found
        found = np.empty(len(self._distinct), dtype=np.int64)
        new = np.ones(len(found), dtype=bool)
        for other, cells in self._kept.items():
            new[other], found[other] = False, cells[place]
        own = np.full(int(new.sum()), self._distinct[place])
        found[new] = self._units.cells(self._distinct[new], own, np.full(len(own), self._samples))
        if len(self._kept) * len(found) < _MOST_KEPT:
            self._kept[place] = found
        return found
