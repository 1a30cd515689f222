"""ColumnFacts: what the values of a column show, learnt from all rows at once or block by block.

Facts of blocks add up, so that a column is judged alike wherever its rows are.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from certselect.table.columns import Column
from certselect.table.model import Kind

# Levels of a column, and classes of a target read in blocks, that are counted at most.
MOST_LEVELS_COUNTED = 1000
# Different words of a column that are kept at most; text of more different ones is not read as dates.
MOST_WORDS = 1 << 14
# An identifier has nearly as many different values as rows: this share of them at least.
NEARLY_ALL = 0.95
# Whole floats below this are integers of 64 bits.
WHOLE_BELOW = 2.0**63
_LOOKED_AT = 4096  # rows that show of most columns that they have many values
_TABULATED = 1 << 16  # largest span of integers whose values are told apart by a table


@dataclass(eq=False)
class ColumnFacts:
    """The facts about one column in the rows that were seen.

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

    most: int = MOST_LEVELS_COUNTED
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
            few = len(column.vocabulary) <= MOST_WORDS
            self._tell_apart(column.vocabulary if few else None, MOST_WORDS)
            self.different += len(column.vocabulary)
            self.overlapping = True
        elif column.kind == "number":
            self._take_numbers(column.values)
        else:
            values = column.values if column.missing is None else column.values[~column.missing]
            self.missing += len(column.values) - len(values)
            self._take_integers(values.view(np.uint8) if values.dtype == bool else values)

    def settle(self) -> None:
        """After the last row: a column without any value is one of numbers, whatever its type says."""
        if not self.present:
            self.kind, self.dated, self.boolean = "number", False, False

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
                bool(((part == np.floor(part)) & (np.abs(part) < WHOLE_BELOW)).all())
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
        """Refuse facts that contradict one another, from a file that was changed."""
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


def _different(values: np.ndarray, most: int) -> list[Hashable] | None:
    """The different numbers; None if already the first show that they are more than are told apart."""
    if len(np.unique(values[:_LOOKED_AT])) > most:
        return None
    return np.unique(values + 0.0 if values.dtype.kind == "f" else values).tolist()


def offsets_from(low: int, values: np.ndarray) -> np.ndarray:
    """How far whole numbers lie above the smallest, which is no further than an int64 reaches."""
    wide = values if values.dtype.kind == "f" or values.dtype == np.uint64 else values.astype(np.int64)
    return (wide - wide.dtype.type(low)).astype(np.int64)
