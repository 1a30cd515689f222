"""Table: complete columns grouped by kind, and the class of every row."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

Kind = Literal["integer", "number", "category"]


@dataclass(frozen=True, eq=False)
class Block:
    """Columns of one kind and one dtype, side by side, so that array operations handle 20 000 at once.

    Attributes
    ----------
    kind : {"integer", "number", "category"}
    positions : ndarray of intp (p,)
        The columns' places among the table's features, ascending.
    values : ndarray (m, p)
        Integers or bools; float32 or float64; or int32 codes into `vocabularies`.
        May be the caller's own array: never written to.
    vocabularies : tuple of tuples
        For categories, the values of each column in an order that does not depend on the rows'.
    """

    kind: Kind
    positions: np.ndarray
    values: np.ndarray
    vocabularies: tuple[tuple[Hashable, ...], ...] = ()


@dataclass(frozen=True, eq=False)
class Table:
    """Features without missing or infinite values, and a target of at least two classes.

    Made by `read_table` and `read_file`, which check what is promised here.

    Attributes
    ----------
    blocks : tuple of Block
        Together they hold every feature once.
    feature_names : tuple of str
        No name twice.
    target : ndarray of int32 (m,)
        Place of each row's class in `classes`; every class occurs.
    classes : tuple
        The labels, sorted where they can be.
    """

    blocks: tuple[Block, ...]
    feature_names: tuple[str, ...]
    target: np.ndarray
    classes: tuple[Hashable, ...]

    @property
    def n_samples(self) -> int:
        return len(self.target)

    @property
    def n_features(self) -> int:
        return len(self.feature_names)

    def rows(self, rows: np.ndarray) -> Table:
        """These rows alone, in this order; classes that do not occur in them leave the table."""
        seen, target = np.unique(self.target[rows], return_inverse=True)
        return replace(
            self,
            blocks=tuple(replace(block, values=block.values[rows]) for block in self.blocks),
            target=target.astype(np.int32),
            classes=tuple(self.classes[code] for code in seen),
        )
