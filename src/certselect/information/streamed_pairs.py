"""Pair terms of a table that is read in blocks, from exact joint counts; the same floats as of the table in memory."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cached_property

import numpy as np

from certselect.coding import CodedTable, SparseCodedTable, code_table
from certselect.coding.block_coding import StreamedCoding, changed
from certselect.coding.streamed_sums import Units
from certselect.errors import InvalidInput, keyword
from certselect.information.chance import PairSums, expected_of_pairs
from certselect.information.joint_counts import READ, WORD, JointCounts, count_type
from certselect.information.kernels.cell_table import CellMeasures, PairCounts, SingleTerms, refuse_broken_counts
from certselect.information.kernels.entropy_sums import EntropySums, streamed_logs
from certselect.information.kernels.weights import unit_bits
from certselect.information.level_layout import LevelLayout
from certselect.information.terms import PairTerms
from certselect.memory import large_array
from certselect.settings import Measuring
from certselect.table.streams.streamed_table import StreamedTable

# Counting may take so many times as long as reading, for pairs that nobody has asked for yet.
_AHEAD = 1.0
# Of the budget: counts and what is made of them. The rest is for blocks of rows.
_SHARE = 0.4
# Cells of pairs that are measured at a time.
_CHUNK = 1 << 20


class StreamedPairs(PairTerms):
    """Pair terms of a stream, counted when asked for, in as few passes as memory allows.

    Where counting all pairs takes no longer than reading the rows, they are counted at once, in one pass. Else
    the most relevant features are counted along with those that are asked for, since a search asks for them next.

    Parameters
    ----------
    table : StreamedTable
    coding : StreamedCoding
    correction : {"none", "miller_madow", "grassberger", "shrinkage"}
    dtype : dtype
        Of the pair terms.
    by_chance : bool
        Whether it is asked what pairs of features with absent values share by chance.
    """

    def __init__(
        self, table: StreamedTable, coding: StreamedCoding, correction: str, dtype: np.dtype, *, by_chance: bool = False
    ) -> None:
        self._table, self._coding, self._dtype = table, coding, dtype
        self.levels = coding.coding.levels
        self._units = _counting_units(table, correction)
        self._layout = LevelLayout(self.levels, bit_rows=self._units is None)
        self._shrinks = correction == "shrinkage"
        absent = coding.coding.absent
        self._absent = np.full(len(self.levels), -1) if absent is None else absent
        self._by_cells = self._shrinks or self._units is not None or bool((self._absent >= 0).any())
        # Of each feature that was counted: sums over joint counts (n,) and over those in classes, or both terms.
        self._known: dict[int, tuple[np.ndarray, np.ndarray]] = {}
        self._joint: dict[int, np.ndarray] = {}  # how many cells are not empty, absent levels too: what copies share
        self._chance: dict[int, PairSums] | None = {} if by_chance and absent is not None else None
        everything = self._worth_counting_all()
        features = self._layout.order.tolist() if everything else []
        first = self._counted(features, later_only=everything)
        self.margins, self.classes = first.margins, first.sizes
        bits = 0 if self._units is None else self._units.shift
        phi = "none" if self._shrinks else correction
        self.logs = streamed_logs(int(self.classes.sum()), table.n_samples, phi, bits)
        self._settle_single_terms()
        if everything:
            self._learn_all(first)

    @property
    def n_features(self) -> int:
        return len(self.levels)

    def measured(self, kinds: tuple[str, ...], features: np.ndarray | None = None) -> tuple[np.ndarray, ...]:
        if features is None:
            self._count_all()
            features = np.arange(self.n_features)
        self._count_missing(features.tolist())
        found = tuple(large_array((len(features), self.n_features), self._dtype) for _ in kinds)
        for row, i in enumerate(features.tolist()):
            for terms, kind in zip(found, kinds, strict=True):
                terms[row] = self._terms(kind, i)
        return found

    @property
    def chance_sums(self) -> Callable[[int], PairSums] | None:
        """What a feature shares with each other one by chance, in fixed point; None where margins give it."""
        return None if self._chance is None else self._chance_of

    def _chance_of(self, feature: int) -> PairSums:
        self._count_missing([feature])
        assert self._chance is not None, "asked for"
        return self._chance[feature]

    def copies_among(self, suspects: Iterable[Sequence[int]]) -> tuple[tuple[int, ...], ...]:
        """Families of features that divide the rows alike, among groups of suspects."""
        groups = [list(group) for group in suspects]
        self._count_missing([i for group in groups for i in group[:-1]])
        families = []
        for group in groups:
            while len(group) > 1:
                first, *rest = group
                same = [j for j in rest if self._alike(first, j)]
                if same:
                    families.append((first, *same))
                group = [j for j in rest if j not in same]
        return tuple(sorted(families))

    def _alike(self, i: int, j: int) -> bool:
        """Whether the joint table of two features has as few cells as each of them."""
        return bool(self._joint[i][j] == self._taken[i] == self._taken[j])

    def _terms(self, kind: str, i: int) -> np.ndarray:
        first, second = self._known[i]
        if self._by_cells:
            redundancy, conditional = first, second
        else:
            sums = self.sums
            assert isinstance(sums, EntropySums)
            redundancy, conditional = sums.redundancy(i, first), sums.conditional_redundancy(i, second)
        if kind == "interaction":
            return redundancy - conditional
        return redundancy if kind == "redundancy" else conditional

    # Counting

    def _worth_counting_all(self) -> bool:
        bytes_needed = self._count_bytes * self._coding.n_classes * self._layout.counted_width**2
        return bytes_needed <= self._room and self._cost(self.n_features) / 2 <= _AHEAD * self._reading

    @property
    def _room(self) -> float:
        return _SHARE * self._table.budget

    @property
    def _reading(self) -> float:
        """Nanoseconds a row takes to be read and coded."""
        return READ * len(self._coding.columns)

    def _cost(self, n_features: int) -> float:
        """Nanoseconds that counting so many features with all takes for a row."""
        return WORD * self._layout.counted_width**2 / 64 * n_features / self.n_features

    def _bytes(self, feature: int) -> int:
        return self._count_bytes * self._coding.n_classes * self._layout.height(feature) * self._layout.counted_width

    @property
    def _count_bytes(self) -> int:
        return count_type(self._table.n_samples, self._units).itemsize

    def _count_missing(self, features: Sequence[int]) -> None:
        waiting = [i for i in dict.fromkeys(features) if i not in self._known]
        while waiting:
            if len(waiting) < self.n_features:
                by_relevance = np.argsort(-self.sums.relevance, kind="stable").tolist()
                asked = set(waiting)
                waiting += [i for i in by_relevance if i not in self._known and i not in asked]
            left, now, asked_for = self._room, [], len(features)
            while waiting:
                left -= self._bytes(waiting[0])
                ahead = len(now) >= asked_for and self._cost(len(now) + 1) > _AHEAD * self._reading
                if now and (left < 0 or ahead):
                    break
                now.append(waiting.pop(0))
            self._learn(self._counted(now, later_only=False))
            waiting = [i for i in dict.fromkeys(features) if i not in self._known]

    def _count_all(self) -> None:
        """All pairs, each once, in as few passes as there is room for."""
        waiting = self._layout.order.tolist()
        if all(i in self._known for i in waiting):
            return
        while waiting:
            left, now = self._room, []
            while waiting and (not now or left > 0):
                now.append(waiting.pop(0))
                left -= self._bytes(now[-1])
            self._learn_all(self._counted(now, later_only=True))

    def _counted(self, features: Sequence[int], *, later_only: bool) -> JointCounts:
        table = self._table
        learnt = JointCounts(
            self._coding,
            self._layout,
            features,
            table.n_threads,
            most=table.n_samples,
            later_only=later_only,
            units=self._units,
        )
        found = self._table.run(learnt, "counting")
        if found.n_rows != self._table.n_samples:
            raise changed(f"{found.n_rows} rows where there had been {self._table.n_samples}")
        return found

    def _learn(self, found: JointCounts) -> None:
        for i in found.features:
            self._known[i], self._joint[i] = self._measured(i, found)
            if self._chance is not None:
                self._chance[i] = self._expected(i, found)

    def _learn_all(self, found: JointCounts) -> None:
        """Of counts with later features only: the others are known from those before."""
        starts = self._layout.counted_starts
        stores = self._all_pairs
        for i in found.features:
            (first, second), joint = self._measured(i, found)
            later = starts >= starts[i]
            for store, row in zip(stores, (first, second, joint), strict=True):
                store[i, later] = row[later]
                store[later, i] = row[later]
            self._known[i], self._joint[i] = (stores[0][i], stores[1][i]), stores[2][i]
            if self._chance is not None:
                whole, within, together = self._chance_of_all
                for store, row in zip(self._chance_of_all, self._expected(i, found), strict=True):
                    store[i, later] = row[later]
                    store[later, i] = row[later]
                self._chance[i] = whole[i], within[i], together[i]

    @cached_property
    def _all_pairs(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Room for what is known of all pairs: two terms or sums, and sums over all levels."""
        n, dtype = self.n_features, np.float64 if self._by_cells else np.int64
        first, second, joint = (large_array((n, n), np.dtype(kind)) for kind in (dtype, dtype, np.int64))
        return first, second, joint

    @cached_property
    def _chance_of_all(self) -> PairSums:
        n = self.n_features
        whole, within, together = (large_array((n, n), np.dtype(np.int64)) for _ in range(3))
        return whole, within, together

    # Measuring

    def _expected(self, i: int, found: JointCounts) -> PairSums:
        """What a feature shares by chance with those that were counted with it, in rows where both have a value."""
        joint = found.joint(i)
        places = self._layout.starts + self._absent
        joint[:, :, places[self._absent >= 0]] = 0
        if self._absent[i] >= 0:
            joint[:, self._absent[i]] = 0
        return expected_of_pairs(joint, self._layout, self.logs)

    def _measured(self, i: int, found: JointCounts) -> tuple[tuple[np.ndarray, np.ndarray], np.ndarray]:
        counts = found.joint(i)
        whole = counts.sum(axis=0)
        cells = self._layout.summed(np.count_nonzero(whole, axis=0))
        if self._by_cells:
            return self._cell_terms(i, counts), cells
        return (self._phi_sums(whole[None]), self._phi_sums(counts)), cells

    def _phi_sums(self, counts: np.ndarray) -> np.ndarray:
        """Sums of phi over joint tables (any, levels, width) with every feature, (n,)."""
        return self._layout.summed(self.logs.of(counts).sum(axis=(0, 1)))

    def _cell_terms(self, i: int, counts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """I(Xi;Xj) and I(Xi;Xj|C) of a feature with all, each pair from the rows where both have a value."""
        n, (n_classes, levels, _) = self.n_features, counts.shape
        redundancy, conditional = np.empty(n), np.empty(n)
        padded = np.concatenate([counts, np.zeros((n_classes, levels, 1), dtype=np.int64)], axis=2)
        if self._absent[i] >= 0:
            padded[:, self._absent[i]] = 0
        widest = int(self.levels.max())
        step = max(1, _CHUNK // (n_classes * levels * widest))
        for start in range(0, n, step):
            some = np.arange(start, min(n, start + step))
            places = self._layout.starts[some, None] + np.arange(widest)
            kept = (np.arange(widest) < self.levels[some, None]) & (np.arange(widest) != self._absent[some, None])
            joint = padded[:, :, np.where(kept, places, self._layout.width)].transpose(2, 1, 0, 3)
            tables = PairCounts.of(joint)
            redundancy[some] = self._measures.redundancy(tables)
            conditional[some] = self._measures.conditional_redundancy(tables)
        diagonal = self.sums
        assert isinstance(diagonal, SingleTerms)
        redundancy[i], conditional[i] = diagonal.entropy[i], diagonal.conditional_entropy[i]
        return redundancy, conditional

    def _settle_single_terms(self) -> None:
        """Terms of single features, from how often their levels occur in each class."""
        self._measures = CellMeasures(self.logs, self._shrinks)
        by_level = self.margins.sum(axis=0)
        self._taken = self._layout.summed((by_level > 0).astype(np.int64))
        if not self._by_cells:
            level = self._layout.summed(self.logs.of(by_level))
            level_class = self._layout.summed(self.logs.of(self.margins).sum(axis=0))
            classes = int(self.logs.of(self.classes).sum())
            self.sums: EntropySums | SingleTerms = EntropySums(
                level, level_class, classes, self.logs.total, self.logs.unit
            )
            return
        n, measures = self.n_features, self._measures
        relevance, entropy, conditional = np.empty(n), np.empty(n), np.empty(n)
        for i in range(n):
            own = self.margins[:, self._layout.starts[i] : self._layout.starts[i] + self.levels[i]].copy()
            if self._absent[i] >= 0:
                own[:, self._absent[i]] = 0
            tables = own.T.reshape(1, -1), own.sum(axis=0)[None], own.sum(axis=1)[None]
            relevance[[i]], entropy[[i]], conditional[[i]] = measures.single(*tables)
        target = float(measures.entropy(self.classes[None])[0])
        self.sums = SingleTerms(relevance, entropy, conditional, target)

    @property
    def constant(self) -> np.ndarray:
        """Features of which one level occurs only; an absent value is none."""
        by_level = self.margins.sum(axis=0)
        has_gap = self._absent >= 0
        gaps = by_level[np.where(has_gap, self._layout.starts + self._absent, 0)] > 0
        return self._taken - (has_gap & gaps) <= 1


def _counting_units(table: StreamedTable, correction: str) -> Units | None:
    """How much each row counts; None if each counts once."""
    weights = table.weights
    if weights is None:
        return None
    bits = unit_bits(weights.whole, weights.total)
    refuse_broken_counts(bits, correction)
    return Units(weights, bits)


class NotCounted:
    """What is not counted block by block: the joint table of three or more columns.

    Of a table of so few rows that all are kept, `coded` has the codes, as of the table in memory.
    """

    def __init__(self, table: StreamedTable, measuring: Measuring) -> None:
        self._table, self._measuring = table, measuring

    @cached_property
    def coded(self) -> CodedTable | SparseCodedTable | None:
        return code_table(self._table.whole(), self._measuring) if self._table.is_kept_whole else None

    def _refuse(self, *_: object) -> np.ndarray:
        raise InvalidInput(
            "a criterion of three or more columns together, or of the Gini impurity, for a table that is read block by "
            "block",
            "one of pairs: 'jmi', 'mrmr', 'cmim', 'disr', ...",
            f"Pass {keyword('memory', spelled='')} enough to hold the table, or a sample of its rows.",
        )

    information_given = impurity_gain = _refuse
