"""Table: columns grouped by kind, and the target to predict."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from certselect.table.wording import why

if TYPE_CHECKING:
    from scipy.sparse import csc_array

Kind = Literal["integer", "number", "category"]
Missing = Literal["error", "level", "pairwise", "auto"]


DECIDED = ("identifier", "text", "skipped", "date", "number", "copy", "target")


@dataclass(frozen=True)
class Decision:
    """How columns are treated where the user did not say it, and the facts that led to it.

    What is compared and saved are the facts; the sentence `why` is made from them when a decision is shown.

    Attributes
    ----------
    kind : str
        "identifier" and "text" are left out, and so is what the user "skipped"; "date" and "number" are
        measured as numbers; a "copy" is a duplicate of a column that is kept; "target" is about the target.
    columns : tuple of int
        Places among the table's features, ascending; none for the target.
    facts : mapping of str to int, float, str or bool
        For identifiers, texts and targets: `different` values in `rows`, or `more_than` so many; for identifiers
        that are `numbers`, whether the column is `named_so`. For dates in text: how they are `written`. For
        whole numbers measured as numbers: `more_than` so many levels. For a copy: `of` which column.
    """

    kind: str
    columns: tuple[int, ...] = ()
    facts: Mapping[str, int | float | str | bool] = field(default_factory=dict, hash=False)

    @property
    def why(self) -> str:
        """The facts in a sentence, for display only."""
        return why(self)


def gather_decisions(made: Iterable[tuple[str, Mapping[str, Any], int]]) -> tuple[Decision, ...]:
    """Decisions (kind, facts, column), those of one kind with the same facts put together, by their first column."""
    found: dict[tuple[Hashable, ...], Decision] = {}
    for kind, facts, column in sorted(made, key=lambda one: one[2]):
        same = (kind, *sorted(facts.items()))
        before = found.get(same, Decision(kind, (), facts))
        found[same] = replace(before, columns=(*before.columns, column))
    return tuple(found.values())


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
    missing : ndarray of bool (m, p), or None
        Which cells have no value; None where all have one. What `values` holds there is
        0 for integers, NaN for numbers, -1 for categories.
    """

    kind: Kind
    positions: np.ndarray
    values: np.ndarray
    vocabularies: tuple[tuple[Hashable, ...], ...] = ()
    missing: np.ndarray | None = None

    def columns(self, places: np.ndarray) -> Block:
        """Some of the columns, by their places in the block."""
        missing = None if self.missing is None else self.missing[:, places]
        return Block(
            self.kind,
            self.positions[places],
            self.values[:, places],
            tuple(self.vocabularies[place] for place in places) if self.vocabularies else (),
            missing if missing is not None and missing.any() else None,
        )

    def rows(self, rows: np.ndarray) -> Block:
        missing = None if self.missing is None else self.missing[rows]
        return replace(
            self, values=self.values[rows], missing=missing if missing is not None and missing.any() else None
        )


@dataclass(frozen=True, eq=False)
class SparseBlock:
    """All columns of a sparse matrix.

    Attributes
    ----------
    kind : {"integer", "number"}
    positions : ndarray of intp (n,)
        0 .. n - 1: a sparse matrix is a table's only block.
    values : csc_array (m, n)
        Rows ascending within a column, no cell twice, no zero stored; NaN where a value is missing.
    """

    kind: Kind
    positions: np.ndarray
    values: csc_array

    @property
    def missing(self) -> np.ndarray | None:
        """Which stored cells have no value; None where all have one."""
        lacking = np.isnan(self.values.data)
        return lacking if lacking.any() else None

    def rows(self, rows: np.ndarray) -> SparseBlock:
        part = self.values.tocsr()[rows].tocsc()
        part.sort_indices()
        return replace(self, values=part)


@dataclass(frozen=True, eq=False)
class Table:
    """Features without infinite values, and a target that is not the same for every row.

    Made by `read_table` and `read_file`, which check what is promised here.

    Attributes
    ----------
    blocks : tuple of Block, or of one SparseBlock
        Together they hold every feature once.
    feature_names : tuple of str
        No name twice.
    target : ndarray of int32 (m,)
        Place of each row's class in `classes`; every class occurs. Where several target
        columns have labels, a class is a combination of them; where none has, all rows are
        of one class.
    classes : tuple
        The labels, sorted where they can be.
    target_numbers : ndarray of float64 (m, t)
        The target columns that are numbers; t is 0 in classification.
    weights : ndarray of float64 (m,), or None
        How much each row counts, above 0: whole numbers, which stand for repeated rows, or
        numbers that add up to m. None if every row counts once.
    missing : {"error", "level", "pairwise", "auto"}
        What is to become of missing values: there are none; a level of their own; each term
        is about the rows that have what it is about; a level where levels are counted, rows
        left out where they are not.
    decisions : tuple of Decision
        How columns are treated because of their values: identifiers left out, dates measured.
    weighted : bool
        Whether weights were given, even if they left no more of themselves than the rows of weight 1.
    """

    blocks: tuple[Block, ...] | tuple[SparseBlock]
    feature_names: tuple[str, ...]
    target: np.ndarray
    classes: tuple[Hashable, ...]
    target_numbers: np.ndarray
    weights: np.ndarray | None = None
    missing: Missing = "error"
    decisions: tuple[Decision, ...] = ()
    weighted: bool = False

    @property
    def task(self) -> str:
        return "regression" if self.target_numbers.shape[1] else "classification"

    @property
    def sparse(self) -> SparseBlock | None:
        """The block of a sparse table."""
        return self.blocks[0] if isinstance(self.blocks[0], SparseBlock) else None

    @property
    def n_samples(self) -> int:
        return len(self.target)

    @property
    def n_features(self) -> int:
        return len(self.feature_names)

    @property
    def lacking(self) -> list[int]:
        """The features that have no value in some rows."""
        blocks = [block for block in self.blocks if isinstance(block, Block) and block.missing is not None]
        return [int(i) for block in blocks for i in block.positions[block.missing.any(axis=0)]]  # pyright: ignore[reportOptionalMemberAccess]

    def rows(self, rows: np.ndarray) -> Table:
        """These rows alone, in this order; classes that do not occur in them leave the table."""
        seen, target = np.unique(self.target[rows], return_inverse=True)
        return replace(
            self,
            blocks=tuple(block.rows(rows) for block in self.blocks),
            target=target.astype(np.int32),
            classes=tuple(self.classes[code] for code in seen),
            target_numbers=self.target_numbers[rows],
            weights=None if self.weights is None else self.weights[rows],
        )
