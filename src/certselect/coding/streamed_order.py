"""Exact order statistics of columns that are never in memory.

A sample says between which two numbers a rank lies, nearly certainly. One pass counts the numbers below and keeps
those between: if the rank is among them, it is known exactly; if not, a wider bracket is tried in another pass. So
bins of equal counts have the very edges that the sorted column would give, and no error has to be stated.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from certselect.coding.quantiles import DenseOrder, equal_count_edges
from certselect.coding.streamed_sums import Units, columns_read
from certselect.errors import InvalidInput
from certselect.table.streams.arrow_columns import numbers_of
from certselect.table.streams.passes import digest
from certselect.table.streams.row_source import Rows
from certselect.threads import side_by_side

# Half the width of a bracket, in standard deviations of a rank in the sample: missed about once in 10^8.
_DEVIATIONS = 6.0
_WIDER = 8.0  # times, for the next pass, where a bracket was missed
_MERGED_FROM = 1 << 20  # kept numbers of a column that are sorted and merged, to keep ties together
_MOST_PASSES = 12
_MARKS = 16  # numbers of the sample, in a bracket that is too wide, between which is counted


@dataclass(eq=False)
class Bracketed:
    """What is known of one column: how many numbers lie below, within and above brackets, and all those within.

    Numbers are kept once, with how often they occur, or with the units of weight at them: `inside` has pairs of
    arrays, one for each block.
    """

    bounds: np.ndarray
    counts: np.ndarray
    inside: list[tuple[np.ndarray, np.ndarray]] = field(default_factory=list)
    n_inside: int = 0
    merged_from: int = _MERGED_FROM

    @classmethod
    def between(cls, brackets: np.ndarray) -> Bracketed:
        """Nothing known yet of these brackets (b, 2), which are apart and ascending."""
        bounds = brackets.copy()
        bounds[:, 1] = np.nextafter(bounds[:, 1], np.inf)
        return cls(bounds.ravel(), np.zeros(2 * len(brackets) + 1, dtype=np.int64))

    def take(self, values: np.ndarray, units: np.ndarray | None = None) -> None:
        if units is not None:
            self._weigh(values, units)
            return
        from certselect.coding.brackets import split_by_bounds

        kept = np.empty(len(values) + 1)
        n_kept = split_by_bounds(values, self.bounds, self.counts, kept)
        if n_kept:
            numbers, times = np.unique(kept[:n_kept], return_counts=True)
            self._keep([(numbers, times)])

    def _weigh(self, values: np.ndarray, units: np.ndarray) -> None:
        """The same with rows of so many units each, whose sums stay below 2^53."""
        there = ~np.isnan(values)
        values, units = values[there], units[there]
        places = np.searchsorted(self.bounds, values, side="right")
        self.counts += np.bincount(places, units, minlength=len(self.counts)).astype(np.int64)
        inside = places % 2 == 1
        if inside.any():
            numbers, place = np.unique(values[inside], return_inverse=True)
            self._keep([(numbers, np.bincount(place, units[inside]).astype(np.int64))])

    def add(self, other: Bracketed) -> None:
        self.counts += other.counts
        self._keep(other.inside)

    def _keep(self, inside: Sequence[tuple[np.ndarray, np.ndarray]]) -> None:
        self.inside += inside
        self.n_inside += sum(len(numbers) for numbers, _ in inside)
        if self.n_inside > self.merged_from:
            self._merge()

    def _merge(self) -> None:
        """Numbers that occur in several blocks once, with how often in all."""
        if len(self.inside) > 1:
            numbers, times = (np.concatenate(each) for each in zip(*self.inside, strict=True))
            if int(times.max()) == 1:  # as of most columns of floats: sorting is quicker than saying in which order
                numbers, times = np.unique(numbers, return_counts=True)
            else:
                order = np.argsort(numbers, kind="stable")  # which merges the blocks, as each is in order
                numbers = numbers[order]
                starts = np.flatnonzero(np.append(True, numbers[1:] != numbers[:-1]))
                numbers, times = numbers[starts], np.add.reduceat(times[order], starts)
            self.inside, self.n_inside = [(numbers, times)], len(numbers)
        self.merged_from = max(_MERGED_FROM, 2 * self.n_inside)

    def merged(self) -> tuple[np.ndarray, np.ndarray]:
        """The numbers within brackets, ascending, and how often each occurs."""
        self._merge()
        return self.inside[0] if self.inside else (np.zeros(0), np.zeros(0, dtype=np.int64))

    def at(self, rank: int) -> float | None:
        """The number of that rank, from 0; None if it is in no bracket."""
        ends = np.cumsum(self.counts)
        place = int(np.searchsorted(ends, rank, side="right"))
        if place % 2 == 0 or place == len(ends):  # outside, or more than there are in a table that has changed
            return None
        numbers, times = self.merged()
        passed = int(self.counts[1:place:2].sum()) + rank - int(ends[place - 1])
        return float(numbers[np.searchsorted(np.cumsum(times), passed, side="right")])

    def between_bounds(self, rank: int) -> tuple[float, float]:
        """Where the number of that rank, which is in no bracket, lies."""
        place = min(int(np.searchsorted(np.cumsum(self.counts), rank, side="right")), len(self.bounds))
        low = self.bounds[place - 1] if place else -np.inf
        return low, np.nextafter(self.bounds[place], -np.inf) if place < len(self.bounds) else np.inf

    def run(self, number: float) -> tuple[int, int] | None:
        """How many numbers are smaller than one, and how many not larger; None if it is in no bracket."""
        place = int(np.searchsorted(self.bounds, number, side="right"))
        if place % 2 == 0:
            return None
        below = int(self.counts[:place].sum()) - int(self.counts[1:place:2].sum())
        numbers, times = self.merged()
        return below + int(times[numbers < number].sum()), below + int(times[numbers <= number].sum())


class Brackets:
    """The numbers within brackets of some columns; `Learnt` of a stream."""

    def __init__(
        self,
        brackets: Mapping[str, np.ndarray],
        words: Mapping[str, Mapping[str, float]],
        n_threads: int,
        units: Units | None = None,
    ) -> None:
        self.columns = columns_read(tuple(brackets), units)
        self._units = units
        self.parts = {name: Bracketed.between(own) for name, own in brackets.items()}
        self._words = {name: words[name] for name in brackets if name in words}
        self._threads = n_threads

    def take(self, block: Rows, where: str) -> None:
        units = None if self._units is None else self._units.of(block)

        def one(name: str) -> None:
            self.parts[name].take(numbers_of(block.column(name), name, self._words.get(name)), units)

        side_by_side(one, tuple(self.parts), self._threads)

    def add(self, other: Brackets) -> None:
        for name, part in self.parts.items():
            part.add(other.parts[name])

    @property
    def key(self) -> str:
        brackets = [(name, part.bounds.tolist()) for name, part in self.parts.items()]
        return digest("brackets", brackets, self._units and self._units.key)

    def saved(self) -> dict[str, np.ndarray]:
        arrays = {}
        for place, part in enumerate(self.parts.values()):
            numbers, times = part.merged()
            arrays |= {f"{place} counts": part.counts, f"{place} numbers": numbers, f"{place} times": times}
        return arrays

    def restore(self, saved: Mapping[str, np.ndarray]) -> None:
        for place, part in enumerate(self.parts.values()):
            numbers, times = saved[f"{place} numbers"], saved[f"{place} times"]
            part.counts[:] = saved[f"{place} counts"]
            part.inside, part.n_inside = ([(numbers, times)] if len(numbers) else []), len(numbers)


class StreamedOrder:
    """Columns of a stream in ascending order, as `Ordered` has them: a rank that is not known is looked for.

    Parameters
    ----------
    columns : sequence of str
    rows : ndarray of int (p,)
        How many numbers each has.
    samples : mapping from columns to Sample
    known : mapping from columns to Bracketed
        What an earlier pass has found.
    look : callable
        Goes over the stream: brackets by column -> Bracketed by column.
    room : int
        Numbers of a column that may be kept at a time. Where a bracket has more, they are only counted between some
        numbers of the sample, which tells a narrower bracket for the next pass.
    units : ndarray of int (p,), optional
        Of weight, which each column has; `unit` is how many of them a row of weight 1 has.
    """

    def __init__(
        self,
        columns: Sequence[str],
        rows: np.ndarray,
        samples: Mapping[str, Sample],
        known: Mapping[str, Sequence[Bracketed]],
        look: Callable[[dict[str, np.ndarray]], Mapping[str, Bracketed]],
        room: int,
        units: np.ndarray | None = None,
        unit: int = 1,
    ) -> None:
        self.columns = tuple(columns)
        self.rows = rows
        self.units = rows if units is None else units
        self.unit = unit
        self._samples = samples
        self._known = {name: list(known.get(name, ())) for name in columns}
        self._look = look
        self._room = room

    def of(self, places: np.ndarray) -> StreamedOrder:
        part = StreamedOrder(
            [self.columns[i] for i in places],
            self.rows[places],
            self._samples,
            {},
            self._look,
            self._room,
            self.units[places],
            self.unit,
        )
        part._known = self._known
        return part

    def at(self, ranks: np.ndarray) -> np.ndarray:
        found = np.full(ranks.shape, np.nan)
        width = 1.0
        asked: dict[str, np.ndarray] = {}
        for _ in range(_MOST_PASSES):
            asked = {}
            for i, name in enumerate(self.columns):
                lacking = [r for r in range(ranks.shape[1]) if np.isnan(found[i, r])]
                for r in lacking:
                    found[i, r] = self._known_at(name, int(ranks[i, r]))
                open_ = sorted({int(ranks[i, r]) for r in lacking if np.isnan(found[i, r])})
                if open_:
                    asked[name] = self._brackets(i, open_, width)
            if not asked:
                return found
            for name, part in self._look(asked).items():
                self._known[name].append(part)
            width *= _WIDER
        raise InvalidInput(
            f"numbers of column {next(iter(asked))!r} that were not found where they had been counted",
            "a table that does not change while it is read",
            "Read a copy of it.",
        )

    def run(self, numbers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        ends = np.empty((len(numbers), 2), dtype=np.int64)
        asked = {}
        for i, (name, number) in enumerate(zip(self.columns, numbers.tolist(), strict=True)):
            runs = [run for run in (part.run(number) for part in self._known[name]) if run is not None]
            if runs:
                ends[i] = runs[0]
            else:
                asked[name] = np.array([[number, number]])
        if asked:
            for name, part in self._look(asked).items():
                self._known[name].append(part)
                run = part.run(float(asked[name][0, 0]))
                assert run is not None, "the bracket was made for it"
                ends[self.columns.index(name)] = run
        return ends[:, 0], ends[:, 1]

    def _brackets(self, place: int, ranks: Sequence[int], width: float) -> np.ndarray:
        """What to look at next, so that these ranks are found or known better."""
        name, n_rows, last = self.columns[place], int(self.rows[place]), max(1, int(self.units[place]) - 1)
        sample = self._samples[name]
        numbers = sample.numbers
        found = []
        for rank in ranks:
            (low, high), *_ = sample.brackets_around(np.array([rank / last]), width).tolist()
            lowest, highest = self._known_between(name, rank)
            both = max(low, lowest), min(high, highest)
            found.append(both if both[0] <= both[1] else (lowest, highest))  # the sample was wrong
        brackets = _joined(found)
        # Equal numbers are kept once.
        inside = [np.unique(numbers[(numbers >= low) & (numbers <= high)]) for low, high in brackets.tolist()]
        if sum(map(len, inside)) * n_rows <= self._room * len(numbers):
            return brackets
        marks = [own[np.linspace(0, len(own) - 1, _MARKS).astype(int)] for own in inside if len(own)]
        points = np.unique(np.concatenate(marks))
        return np.stack([points, points], axis=1)

    def _known_between(self, name: str, rank: int) -> tuple[float, float]:
        """Two numbers between which the number of that rank lies, by what was counted so far."""
        ends = [part.between_bounds(rank) for part in self._known[name]]
        return max((low for low, _ in ends), default=-np.inf), min((high for _, high in ends), default=np.inf)

    def _known_at(self, name: str, rank: int) -> float:
        for part in self._known[name]:
            number = part.at(rank)
            if number is not None:
                return number
        return np.nan


@dataclass(frozen=True, eq=False)
class Sample:
    """Some numbers of a column, ascending, and which share of the weight lies up to each; None if all weigh the same.

    `spread` is how many times a share is less certain than it would be if all weighed the same.
    """

    numbers: np.ndarray
    shares: np.ndarray | None = None
    spread: float = 1.0

    @classmethod
    def of(cls, numbers: np.ndarray, weights: np.ndarray | None) -> Sample:
        """Of a column of some rows, NaN where it has no value."""
        there = ~np.isnan(numbers)
        if weights is None or not there.any():
            return cls(np.sort(numbers[there]))
        order = np.argsort(numbers[there], kind="stable")
        own = weights[there][order] / weights[there].max()
        spread = np.sqrt(len(own) * np.square(own).sum()) / own.sum()
        return cls(numbers[there][order], np.cumsum(own) / own.sum(), float(spread))

    def brackets_around(self, fractions: np.ndarray, width: float = 1.0) -> np.ndarray:
        """Brackets (b, 2), apart and ascending, in which the numbers of these fractions of all ranks lie, nearly
        surely.
        """
        sample, n = self.numbers, len(self.numbers)
        if n == 0:
            return np.array([[-np.inf, np.inf]])
        if self.shares is not None:
            fractions = np.minimum(np.searchsorted(self.shares, fractions), n - 1) / max(1, n - 1)
        width *= self.spread
        spread = width * (_DEVIATIONS * np.sqrt(np.maximum(fractions * (1 - fractions), 1.0 / n) * n) + 1.0)
        first, last = np.floor(fractions * (n - 1) - spread), np.ceil(fractions * (n - 1) + spread)
        low = np.where(first < 0, -np.inf, sample[np.clip(first, 0, n - 1).astype(int)])
        high = np.where(last > n - 1, np.inf, sample[np.clip(last, 0, n - 1).astype(int)])
        return _joined(zip(low.tolist(), high.tolist(), strict=True))


def _joined(brackets: Iterable[tuple[float, float]]) -> np.ndarray:
    joined: list[list[float]] = []
    for begin, end in sorted(brackets):
        if joined and begin <= joined[-1][1]:
            joined[-1][1] = max(joined[-1][1], end)
        else:
            joined.append([begin, end])
    return np.array(joined)


class _AskedOrder(DenseOrder):
    """A sample in order, which notes what fractions of its ranks it is asked for."""

    noted: list[float]

    def __init__(self, sample: np.ndarray) -> None:
        super().__init__(sample[None])
        object.__setattr__(self, "noted", [])

    def at(self, ranks: np.ndarray) -> np.ndarray:
        self.noted.extend((ranks / max(1, self.ordered.shape[1] - 1)).ravel().tolist())
        return super().at(ranks)

    def of(self, places: np.ndarray) -> DenseOrder:
        return self


def first_brackets(sample: np.ndarray, bins: int) -> np.ndarray:
    """Brackets in which the edges of bins of equal counts lie, nearly surely, by a sample in ascending order."""
    if len(sample) < 2:
        return np.array([[-np.inf, np.inf]])
    order = _AskedOrder(sample)
    equal_count_edges(order, np.array([bins]))
    return Sample(sample).brackets_around(np.unique(order.noted))
