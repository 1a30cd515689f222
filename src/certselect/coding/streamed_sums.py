"""What passes over a stream add up of columns of numbers, where edges depend on more than a few ranks."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from certselect.coding.block_coding import LevelCoder, NumberCoder
from certselect.coding.moments import exact_sums
from certselect.table.streams.arrow_columns import numbers_of
from certselect.table.streams.passes import digest
from certselect.table.streams.row_source import Rows
from certselect.table.streams.row_weights import RowWeights
from certselect.table.streams.saved_passes import as_bytes
from certselect.threads import side_by_side

Words = Mapping[str, Mapping[str, float]]


@dataclass(frozen=True)
class Units:
    """The weights of rows in units of 2^-shift."""

    weights: RowWeights
    shift: int

    @property
    def name(self) -> str:
        return self.weights.name

    @property
    def key(self) -> str:
        return digest(self.weights.key, self.shift)

    def of(self, block: Rows) -> np.ndarray:
        """Units of every row, int64."""
        return self.weights.units(block, self.shift)


def columns_read(columns: Sequence[str], units: Units | None) -> tuple[str, ...]:
    return tuple(columns) if units is None else (*columns, units.name)


class UnitSums:
    """How many units the rows have in which each of some columns has a value; `Learnt`."""

    def __init__(self, columns: Sequence[str], words: Words, units: Units) -> None:
        self.columns = columns_read(columns, units)
        self._words, self._units = words, units
        self.sums = dict.fromkeys(columns, 0)

    def take(self, block: Rows, where: str) -> None:
        units = self._units.of(block)
        for name in self.sums:
            there = ~np.isnan(numbers_of(block.column(name), name, self._words.get(name)))
            self.sums[name] += int(units[there].sum())

    def add(self, other: UnitSums) -> None:
        for name, more in other.sums.items():
            self.sums[name] += more

    @property
    def key(self) -> str:
        return digest("units", self.columns, self._units.key)

    def saved(self) -> dict[str, np.ndarray]:
        return {"sums": np.array(list(self.sums.values()), dtype=np.int64)}

    def restore(self, saved: Mapping[str, np.ndarray]) -> None:
        self.sums = dict(zip(self.sums, saved["sums"].tolist(), strict=True))


class Moments:
    """The exact sums of columns whose numbers stay below powers of two that are known; `Learnt`."""

    def __init__(self, exponent: Mapping[str, int], words: Words, units: Units | None, n_threads: int) -> None:
        self.columns = columns_read(tuple(exponent), units)
        self.sums = {name: np.zeros(3, dtype=object) for name in exponent}
        self._exponent, self._words, self._units, self._threads = dict(exponent), words, units, n_threads

    def take(self, block: Rows, where: str) -> None:
        units = None if self._units is None else self._units.of(block)

        def one(name: str) -> None:
            numbers = numbers_of(block.column(name), name, self._words.get(name))
            there = ~np.isnan(numbers)
            own = None if units is None else units[there]
            self.sums[name] += exact_sums(numbers[None, there], np.array([self._exponent[name]]), own)[0]

        side_by_side(one, tuple(self.sums), self._threads)

    def add(self, other: Moments) -> None:
        for name, more in other.sums.items():
            self.sums[name] += more

    @property
    def key(self) -> str:
        return digest("moments", sorted(self._exponent.items()), self._units and self._units.key)

    def saved(self) -> dict[str, np.ndarray]:
        return {"sums": as_bytes(json.dumps([own.tolist() for own in self.sums.values()]).encode())}

    def restore(self, saved: Mapping[str, np.ndarray]) -> None:
        for own, known in zip(self.sums.values(), json.loads(bytes(saved["sums"])), strict=True):
            own[:] = known


class NumbersByClass:
    """The different numbers of columns, and the units of each class at each of them; `Learnt`.

    Where they take more than `room` bytes, the column of most different numbers is given up: None.
    """

    def __init__(
        self,
        columns: Sequence[str],
        words: Words,
        target: NumberCoder | LevelCoder,
        n_classes: int,
        units: Units | None,
        room: int,
    ) -> None:
        self.columns = tuple(dict.fromkeys((*columns_read(columns, units), target.name)))
        self._words, self._target, self._n_classes, self._units, self._room = words, target, n_classes, units, room
        empty = np.zeros(0), np.zeros((0, n_classes), dtype=np.int64)
        self.found: dict[str, tuple[np.ndarray, np.ndarray] | None] = dict.fromkeys(columns, empty)

    def take(self, block: Rows, where: str) -> None:
        target = np.empty(block.num_rows, dtype=np.uint16)
        self._target.code(block, target, where)
        weights = None if self._units is None else self._units.of(block).astype(np.float64)
        for name, known in self.found.items():
            if known is None:
                continue
            values = numbers_of(block.column(name), name, self._words.get(name))
            there = ~np.isnan(values)
            numbers, place = np.unique(values[there], return_inverse=True)
            cells = place * self._n_classes + target[there]
            counts = np.bincount(cells, None if weights is None else weights[there], len(numbers) * self._n_classes)
            self._put(name, numbers, counts.astype(np.int64).reshape(-1, self._n_classes))

    def add(self, other: NumbersByClass) -> None:
        for name, more in other.found.items():
            if more is None:
                self.found[name] = None
            elif self.found[name] is not None:
                self._put(name, *more)

    def _put(self, name: str, numbers: np.ndarray, counts: np.ndarray) -> None:
        known = self.found[name]
        assert known is not None, "a column that was given up is not looked at"
        merged, place = np.unique(np.concatenate([known[0], numbers]), return_inverse=True)
        total = np.zeros((len(merged), self._n_classes), dtype=np.int64)
        total[place[: len(known[0])]] += known[1]
        total[place[len(known[0]) :]] += counts
        self.found[name] = merged, total
        while self._n_bytes > self._room:
            most = max((name for name, own in self.found.items() if own is not None), key=self._size)
            self.found[most] = None

    def _size(self, name: str) -> int:
        own = self.found[name]
        return 0 if own is None else own[0].nbytes + own[1].nbytes

    @property
    def _n_bytes(self) -> int:
        return sum(map(self._size, self.found))

    @property
    def key(self) -> str:
        target = self._target.name, self._target.what
        return digest("numbers by class", self.columns, target, self._room, self._units and self._units.key)

    def saved(self) -> dict[str, np.ndarray]:
        arrays = {"given up": np.array([own is None for own in self.found.values()])}
        for place, own in enumerate(self.found.values()):
            if own is not None:
                arrays |= {f"{place} numbers": own[0], f"{place} counts": own[1]}
        return arrays

    def restore(self, saved: Mapping[str, np.ndarray]) -> None:
        for place, (name, given_up) in enumerate(zip(self.found, saved["given up"].tolist(), strict=True)):
            if given_up:
                self.found[name] = None
                continue
            numbers, counts = saved[f"{place} numbers"], saved[f"{place} counts"]
            if counts.shape != (len(numbers), self._n_classes) or counts.min(initial=0) < 0:
                raise ValueError("counts of something else")
            self.found[name] = numbers, counts
