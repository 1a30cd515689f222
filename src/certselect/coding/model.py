"""CodedTable, and the Coding that made it and can code new rows in the same way."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass

import numpy as np

from certselect.coding.levels import CategoryLevels, IntegerLevels
from certselect.coding.numbers import NumberCuts
from certselect.errors import InvalidInput
from certselect.table import Block, Table

Part = IntegerLevels | CategoryLevels | NumberCuts


@dataclass(frozen=True, eq=False)
class CodedTable:
    """Every feature as small integers, one contiguous row per feature.

    Attributes
    ----------
    codes : ndarray (n, m), C-contiguous
        Of the smallest of uint8, uint16 and uint32 that holds every level.
    levels : ndarray of int64 (n,)
        Codes of feature i are in 0 .. levels[i] - 1; not all need occur.
    constant : ndarray of bool (n,)
        The feature takes one code only on these rows.
    target : ndarray of int32 (m,)
    classes : tuple
    feature_names : tuple of str
    coding : Coding
    """

    codes: np.ndarray
    levels: np.ndarray
    constant: np.ndarray
    target: np.ndarray
    classes: tuple[Hashable, ...]
    feature_names: tuple[str, ...]
    coding: Coding


@dataclass(frozen=True, eq=False)
class Coding:
    """What was learnt from the rows a table was coded by: levels, edges and classes.

    Attributes
    ----------
    discretize, bins, integers
        As given to `code_table`; bins is None where the method chooses its own.
    feature_names : tuple of str
    classes : tuple
    parts : tuple
        Levels or edges of some features each, together of all.
    """

    discretize: str
    bins: int | str | None
    integers: str
    feature_names: tuple[str, ...]
    classes: tuple[Hashable, ...]
    parts: tuple[Part, ...]

    def apply(self, table: Table) -> CodedTable:
        """Code new rows by the levels and edges that are kept here.

        The columns must be the same, in the same order. A category, an integer
        or a class that did not occur before is refused; numbers beyond the
        outer edges fall into the outer bins.
        """
        if table.feature_names != self.feature_names:
            raise InvalidInput(
                f"a table with other columns ({_difference(table.feature_names, self.feature_names)})",
                f"the {len(self.feature_names)} columns the coding was made from, in the same order",
                "Select and order the columns as they were.",
            )
        holders = {
            position: (block, place)
            for block in table.blocks
            for place, position in enumerate(block.positions.tolist())
        }
        coded = []
        for part in self.parts:
            columns = [holders[position] for position in part.positions.tolist()]
            names = [self.feature_names[position] for position in part.positions.tolist()]
            coded.append((part, _apply_part(part, columns, names)))
        return assemble(self, coded, self._target(table), fitted=False)

    def describe(self) -> dict[str, int | str | None]:
        """How numbers and integers were coded, for a report."""
        return {"discretize": self.discretize, "bins": self.bins, "integers": self.integers}

    def edges(self, position: int) -> np.ndarray | None:
        """Interior cut points of a feature coded as a number; None for one coded by its levels."""
        if not 0 <= position < len(self.feature_names):
            raise InvalidInput(
                f"feature position {position}", f"0 to {len(self.feature_names) - 1}", "Positions count from 0."
            )
        for part in self.parts:
            if isinstance(part, NumberCuts):
                place = np.flatnonzero(part.positions == position)
                if len(place):
                    return part.column_edges(int(place[0]))
        return None

    def _target(self, table: Table) -> np.ndarray:
        known = {label: code for code, label in enumerate(self.classes)}
        unknown = [label for label in table.classes if label not in known]
        if unknown:
            raise InvalidInput(
                f"class {unknown[0]!r} in the target",
                f"only the {len(self.classes)} classes the coding was made from",
                "Drop those rows, or make the coding from rows of every class.",
            )
        return np.array([known[label] for label in table.classes], dtype=np.int32)[table.target]


def assemble(
    coding: Coding, coded: Iterable[tuple[Part, np.ndarray]], target: np.ndarray, *, fitted: bool
) -> CodedTable:
    """Put the coded parts of a table together, every feature at its place; `fitted` on the rows coded."""
    coded = list(coded)
    n, m = len(coding.feature_names), len(target)
    levels = np.empty(n, dtype=np.int64)
    constant = np.empty(n, dtype=bool)
    for part, some in coded:
        levels[part.positions] = part.levels
        if isinstance(part, NumberCuts) or not fitted:
            constant[part.positions] = (some == some[:, :1]).all(axis=1)
        else:  # every level occurs in the rows it was made from
            constant[part.positions] = part.levels == 1
    dtype = np.min_scalar_type(int(levels.max()) - 1)
    if len(coded) == 1:  # the part's positions are 0 .. n - 1, for they ascend
        codes = coded[0][1].astype(dtype, copy=False)
    else:
        codes = np.empty((n, m), dtype=dtype)
        for part, some in coded:
            codes[part.positions] = some
    return CodedTable(codes, levels, constant, target, coding.classes, coding.feature_names, coding)


def _apply_part(part: Part, columns: list[tuple[Block, int]], names: list[str]) -> np.ndarray:
    for (block, _), name in zip(columns, names, strict=True):
        if block.kind == "category" and not isinstance(part, CategoryLevels):
            raise InvalidInput(
                f"categories in column {name!r}", "numbers, as in the rows the coding was made from", "Convert them."
            )
    if isinstance(part, NumberCuts):
        return part.code(np.stack([block.values[:, place] for block, place in columns], dtype=np.float64).T)
    codes = np.empty((len(columns), len(columns[0][0].values)), dtype=np.int64)
    for j, ((block, place), name) in enumerate(zip(columns, names, strict=True)):
        values = block.values[:, place]
        if isinstance(part, IntegerLevels):
            codes[j] = part.code_column(j, values, name)
        elif block.kind == "category":
            vocabulary = block.vocabularies[place]
            codes[j] = part.code_column(j, [vocabulary[code] for code in values.tolist()], name)
        else:
            codes[j] = part.code_column(j, values.tolist(), name)
    return codes


def _difference(got: tuple[str, ...], expected: tuple[str, ...]) -> str:
    if len(got) != len(expected):
        return f"{len(got)} of them"
    first = next(i for i, (new, old) in enumerate(zip(got, expected, strict=True)) if new != old)
    return f"{got[first]!r} where {expected[first]!r} was"
