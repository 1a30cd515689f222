"""What one pass learns of every column: its kind, how many values are missing, its ends, its levels if they are few."""

from __future__ import annotations

import json
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa

from certselect.table.columns import Column
from certselect.table.kinds import EXACT, NEARLY_ALL
from certselect.table.model import Kind
from certselect.table.streams.arrow_columns import read_cells
from certselect.table.streams.column_kinds import MOST_NUMBERS
from certselect.table.streams.passes import digest
from certselect.table.streams.saved_passes import as_bytes, packed_table, unpacked_table
from certselect.threads import side_by_side

# Different words of a column that are told apart at most; some may be dates.
MOST_WORDS = 1 << 14
_LOOKED_AT = 4096  # rows that show of most columns that they have many values
# The facts that are saved as they are.
_SAID = ("kind", "dated", "boolean", "rows", "missing", "infinite", "low", "high", "whole", "different", "overlapping")
_SPREAD = np.uint64(0x9E3779B97F4A7C15)  # an odd number without a pattern in its bits
_TABULATED = 1 << 16  # largest span of integers whose values are told apart by a table


@dataclass(eq=False)
class ColumnFacts:
    """Of one column, in the rows that were seen.

    Attributes
    ----------
    most : int
        Different numbers that are told apart.
    kind : Kind or None
        None before the first block.
    dated, boolean : bool
        Its numbers are seconds of dates; its integers are bools.
    rows, missing, infinite : int
        How many there are, and how many have no value, or an infinite one.
    low, high : float or int, or None
        Smallest and largest finite number.
    whole : bool
        All numbers are whole, and small enough to be integers.
    values : set or None
        The different values; None if they are more than are told apart.
    different : int
        No more different values than this: those of every block, added up.
    overlapping : bool
        Values of one block may occur in another, or more than once in it, so that `different` may be too many.
    """

    most: int = MOST_NUMBERS
    kind: Kind | None = None
    dated: bool = False
    boolean: bool = False
    rows: int = 0
    missing: int = 0
    infinite: int = 0
    low: Any = None
    high: Any = None
    whole: bool = True
    values: set[Hashable] | None = field(default_factory=set)
    different: int = 0
    overlapping: bool = False

    @property
    def present(self) -> int:
        return self.rows - self.missing

    def take(self, column: Column) -> None:
        if not self.present:  # a block without any value does not tell what kind they will be
            self.kind, self.boolean = column.kind, column.values.dtype == bool
        self.dated |= column.dated
        self.rows += len(column.values)
        if column.kind == "category":
            self.missing += 0 if column.missing is None else int(column.missing.sum())
            self._tell_apart(column.vocabulary, MOST_WORDS)
            self.different += len(column.vocabulary)
            self.overlapping = True
        elif column.kind == "number":
            self._take_numbers(column.values)
        else:
            values = column.values if column.missing is None else column.values[~column.missing]
            self.missing += len(column.values) - len(values)
            self._take_integers(values.view(np.uint8) if values.dtype == bool else values)

    def _take_numbers(self, values: np.ndarray) -> None:
        with np.errstate(over="ignore", invalid="ignore"):  # large numbers are looked at one by one
            suspect = not np.isfinite(values.sum())
        if suspect:
            finite = np.isfinite(values)
            self.missing += int(np.isnan(values).sum())
            self.infinite += int(np.isinf(values).sum())
            values = values[finite]
        if not len(values):
            return
        if self.whole:
            self.whole = all(
                bool(((part == np.floor(part)) & (np.abs(part) < EXACT)).all())
                for part in (values[:_LOOKED_AT], values[_LOOKED_AT:])
            )
        if self.whole:
            self._take_integers(values)
            return
        self._stretch(float(values.min()), float(values.max()))
        if self.values is not None:
            self._tell_apart(_different(values, self.most), self.most)

    def _take_integers(self, values: np.ndarray) -> None:
        if not len(values):
            return
        low, high = values.min().item(), values.max().item()
        self._stretch(low, high)
        possible = min(len(values), int(high) - int(low) + 1)
        # An identifier has nearly as many different values as rows; most columns cannot, by their span.
        told = possible >= NEARLY_ALL * len(values)
        self.different += len(np.unique(values)) if told else possible
        self.overlapping |= not told
        if self.values is None or len(self.values) == self.high - self.low + 1:  # nothing new can be among them
            return
        if high - low < _TABULATED and values.dtype.kind != "f":
            places = np.flatnonzero(np.bincount(offsets_from(low, values)))
            self._tell_apart([low + place for place in places.tolist()], self.most)
        else:
            self._tell_apart(_different(values, self.most), self.most)

    def _stretch(self, low: Any, high: Any) -> None:
        if self.low is None:
            self.low, self.high = low, high
            return
        self.overlapping |= low <= self.high and high >= self.low
        self.low, self.high = min(self.low, low), max(self.high, high)

    def _tell_apart(self, values: Iterable[Hashable] | None, most: int) -> None:
        if values is None:
            self.values = None
        elif self.values is not None:
            self.values.update(values)
            if len(self.values) > most:
                self.values = None

    def check(self) -> None:
        """Refuse facts that no rows have, out of a file that somebody has written to."""
        counts = (self.rows, self.missing, self.infinite, self.different)
        if not all(type(count) is int and count >= 0 for count in counts) or self.missing > self.rows:
            raise ValueError("counts that cannot be")
        if not all(type(flag) is bool for flag in (self.dated, self.boolean, self.whole, self.overlapping)):
            raise ValueError("facts that cannot be")
        numbers = self.kind in ("number", "integer") and self.present > self.infinite
        if self.kind not in (None, "category", "number", "integer") or (self.low is None) == numbers:
            raise ValueError("no smallest number")
        if numbers and not (isinstance(self.low, int | float) and self.low <= self.high):
            raise ValueError("ends that cannot be")

    def add(self, other: ColumnFacts) -> None:
        """The facts of the rows of both."""
        if other.kind is None:
            return
        if not self.present:
            self.kind, self.boolean = other.kind, other.boolean
        self.dated |= other.dated
        self.rows, self.missing = self.rows + other.rows, self.missing + other.missing
        self.infinite += other.infinite
        if other.low is not None:
            self._stretch(other.low, other.high)
        self.overlapping |= other.overlapping
        self.whole &= other.whole
        self.different += other.different
        self._tell_apart(other.values, MOST_WORDS if self.kind == "category" else self.most)


def _as_array(values: set[Hashable]) -> pa.Array:
    """Values of one column as Arrow's, which takes whole numbers for those of 64 bits with a sign."""
    large = any(isinstance(value, int) and value >= 1 << 63 for value in values)
    return pa.array(list(values), pa.uint64() if large else None)


def _different(values: np.ndarray, most: int) -> list[Hashable] | None:
    """The different numbers; None if already the first show that they are more than are told apart."""
    if len(np.unique(values[:_LOOKED_AT])) > most:
        return None
    return np.unique(values + 0.0 if values.dtype.kind == "f" else values).tolist()


def offsets_from(low: int, values: np.ndarray) -> np.ndarray:
    """How far whole numbers lie above the smallest, which is no further than an int64 reaches."""
    wide = values if values.dtype.kind == "f" or values.dtype == np.uint64 else values.astype(np.int64)
    return (wide - wide.dtype.type(low)).astype(np.int64)


class Survey:
    """The facts of some columns of a stream; `Learnt` of it.

    `told_apart` says how many different numbers of a column are of interest.
    """

    def __init__(self, columns: Sequence[str], told_apart: Mapping[str, int], n_threads: int) -> None:
        self.columns = tuple(columns)
        self.facts = {name: ColumnFacts(told_apart[name]) for name in columns}
        self._threads = n_threads

    def take(self, block: pa.RecordBatch, where: str) -> None:
        side_by_side(
            lambda name: self.facts[name].take(read_cells(block.column(name), name)), self.columns, self._threads
        )

    def add(self, other: Survey) -> None:
        for name, facts in self.facts.items():
            facts.add(other.facts[name])

    @property
    def key(self) -> str:
        return digest("survey", [(name, facts.most) for name, facts in self.facts.items()])

    def saved(self) -> dict[str, np.ndarray]:
        """Facts that JSON has words for, and the values that were told apart as Arrow arrays."""
        said, arrays = [], {}
        for place, facts in enumerate(self.facts.values()):
            said.append({name: getattr(facts, name) for name in _SAID} | {"many": facts.values is None})
            if facts.values:
                arrays[f"values {place}"] = packed_table(pa.table({"values": _as_array(facts.values)}))
        return {"facts": as_bytes(json.dumps(said).encode()), **arrays}

    def restore(self, saved: Mapping[str, np.ndarray]) -> None:
        for place, (facts, said) in enumerate(zip(self.facts.values(), json.loads(bytes(saved["facts"])), strict=True)):
            for name in _SAID:
                setattr(facts, name, said[name])
            listed = saved.get(f"values {place}")
            known = set() if listed is None else set(unpacked_table(listed).column("values").to_pylist())
            facts.values = None if said["many"] else known
            facts.check()


class DifferentIntegers:
    """How many different integers columns have that nearly count their rows; `Learnt` of a stream.

    Integers are kept, each once: those of one `part` out of so many, by a mixture of their bits, so that several
    passes count what does not fit into memory at once.
    """

    def __init__(self, columns: Sequence[str], part: int, n_parts: int) -> None:
        self.columns = tuple(columns)
        self._part, self._n_parts = part, n_parts
        self._seen = {name: [np.zeros(0, dtype=np.uint64)] for name in columns}

    def take(self, block: pa.RecordBatch, where: str) -> None:
        for name in self.columns:
            column = read_cells(block.column(name), name)
            values = column.values if column.missing is None else column.values[~column.missing]
            values = values[~np.isnan(values)].astype(np.int64) if values.dtype.kind == "f" else values
            bits = (values if values.dtype == np.uint64 else values.astype(np.int64)).view(np.uint64)
            own = (bits * _SPREAD >> np.uint64(32)) % np.uint64(self._n_parts) == self._part
            self._keep(name, np.unique(bits[own]))

    def _keep(self, name: str, values: np.ndarray) -> None:
        """Merged into the many as soon as the few are as many, so that merging takes little time."""
        first, *others = self._seen[name]
        others.append(values)
        if sum(map(len, others)) >= len(first):
            first, others = np.unique(np.concatenate([first, *others])), []
        self._seen[name] = [first, *others]

    def add(self, other: DifferentIntegers) -> None:
        for name in self.columns:
            for values in other._seen[name]:
                self._keep(name, values)

    @property
    def key(self) -> str:
        return digest("different", self.columns, self._part, self._n_parts)

    def saved(self) -> dict[str, np.ndarray]:
        return {str(place): np.unique(np.concatenate(seen)) for place, seen in enumerate(self._seen.values())}

    def restore(self, saved: Mapping[str, np.ndarray]) -> None:
        self._seen = {name: [saved[str(place)]] for place, name in enumerate(self.columns)}

    @property
    def counts(self) -> dict[str, int]:
        return {name: len(np.unique(np.concatenate(seen))) for name, seen in self._seen.items()}
