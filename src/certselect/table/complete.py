"""Cells without a value: found, and refused where they may not be; infinities always."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from certselect.errors import InvalidInput, keyword
from certselect.table.model import Block, Missing, SparseBlock

_SHOWN = 5  # columns named in a message
_LONGEST = 80  # characters of a name in a message
# Rows and features, once per cell or more often.
Cells = tuple[np.ndarray, np.ndarray]


def mark_missing(blocks: Sequence[Block], names: Sequence[str], n_samples: int) -> tuple[Block, ...]:
    """The blocks with the cells marked that are NaN, None or null. Infinities are refused."""
    marked, infinite = list(blocks), []
    for place, block in enumerate(blocks):
        if block.kind == "number" and not _surely_finite(block.values):
            marked[place] = _marked(block)
            found = np.isinf(block.values)
            if found.any():
                infinite.append(_cells(block, found))
    if infinite:
        _refuse(infinite, names, n_samples, infinite_values)
    return tuple(marked)


def settle_missing(blocks: Sequence[Block], names: Sequence[str], n_samples: int, missing: Missing) -> Missing:
    """How missing cells are treated: "error" if there are none; refused, with the columns named, if `missing` is it."""
    lacking = []
    for block in blocks:
        if block.missing is not None:
            lacking.append(block)
    if lacking and missing == "error":
        _refuse((_cells(block, block.missing) for block in lacking), names, n_samples, missing_values)
    return missing if lacking else "error"


def settle_missing_sparse(block: SparseBlock, names: Sequence[str], n_samples: int, missing: Missing) -> Missing:
    """The same for a sparse matrix, where NaN is the mark already. Infinities are refused."""
    values = block.values
    if block.kind == "integer" or _surely_finite(values.data):
        return "error"

    def cells(marked: np.ndarray) -> Iterator[Cells]:
        stored = np.flatnonzero(marked)
        yield values.indices[stored], np.searchsorted(values.indptr, stored, side="right") - 1

    _refuse(cells(np.isinf(values.data)), names, n_samples, infinite_values)
    lacking = np.isnan(values.data)
    if missing == "error":
        _refuse(cells(lacking), names, n_samples, missing_values)
    return missing if lacking.any() else "error"


def missing_values(names: Sequence[str], rows: str) -> InvalidInput:
    """The error for columns that may not have missing values; `rows` says in how many rows they have."""
    return InvalidInput(
        f"missing values (NaN, None or null) in {_columns(names)}, in {rows} rows",
        "a value in every cell",
        "Fill them in or drop those rows or columns before selecting, or pass "
        f"{keyword('missing', 'level', 'pairwise')}.",
    )


def infinite_values(names: Sequence[str], rows: str) -> InvalidInput:
    """The error for columns with infinite values; `rows` says in how many rows they have."""
    return InvalidInput(
        f"infinity or -infinity (inf) in {_columns(names)}, in {rows} rows",
        "finite numbers",
        "Replace the infinities or drop those rows or columns before selecting.",
    )


def _columns(names: Sequence[str]) -> str:
    return f"{'columns' if len(names) > 1 else 'column'} {name_columns(names)}"


def name_columns(names: Iterable[str]) -> str:
    """The first few names, quoted, and how many more there are."""
    listed = list(names)
    shown = [repr(name) if len(name) <= _LONGEST else repr(name[:_LONGEST] + "...") for name in listed[:_SHOWN]]
    rest = f" and {len(listed) - _SHOWN} more" if len(listed) > _SHOWN else ""
    return ", ".join(shown) + rest


def _surely_finite(values: np.ndarray) -> bool:
    # One sum reads the numbers once and keeps nothing: finite, and every term was.
    # Infinite or NaN, it may have overflowed, so only the slow look decides.
    with np.errstate(over="ignore", invalid="ignore"):
        return bool(np.isfinite(values.sum()))


def _marked(block: Block) -> Block:
    missing = np.isnan(block.values)
    return replace(block, missing=missing) if missing.any() else block


def _cells(block: Block, marked: np.ndarray | None) -> Cells:
    assert marked is not None
    return np.flatnonzero(marked.any(axis=1)), block.positions[marked.any(axis=0)]


def _refuse(
    found: Iterable[Cells], names: Sequence[str], n_samples: int, error: Callable[[Sequence[str], str], InvalidInput]
) -> None:
    """Raise if any cell is named, counting the rows that hold one."""
    rows = np.zeros(n_samples, dtype=bool)
    columns: set[int] = set()
    for some_rows, some_columns in found:
        rows[some_rows] = True
        columns.update(some_columns.tolist())
    if columns:
        raise error([names[i] for i in sorted(columns)], f"{np.count_nonzero(rows)} of {n_samples}")
