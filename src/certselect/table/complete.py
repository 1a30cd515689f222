"""Refuse cells that no code can stand for: missing values and infinities."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from certselect.errors import InvalidInput
from certselect.table.model import Block

_SHOWN = 5  # columns named in a message
_LONGEST = 80  # characters of a name in a message


def check_complete(blocks: Sequence[Block], names: Sequence[str], n_samples: int) -> None:
    """Refuse a table with NaN, None or null in it, or an infinity; name the columns."""
    suspects = [block for block in blocks if not _surely_complete(block)]
    _refuse(
        ((block, _missing(block)) for block in suspects),
        names,
        n_samples,
        "missing values (NaN, None or null)",
        "a value in every cell",
        "Fill them in or drop those rows or columns before selecting.",
    )
    _refuse(
        ((block, np.isinf(block.values)) for block in suspects if block.kind == "number"),
        names,
        n_samples,
        "infinity or -infinity (inf)",
        "finite numbers",
        "Replace the infinities or drop those rows or columns before selecting.",
    )


def name_columns(names: Iterable[str]) -> str:
    """The first few names, quoted, and how many more there are."""
    listed = list(names)
    shown = [repr(name) if len(name) <= _LONGEST else repr(name[:_LONGEST] + "...") for name in listed[:_SHOWN]]
    rest = f" and {len(listed) - _SHOWN} more" if len(listed) > _SHOWN else ""
    return ", ".join(shown) + rest


def _surely_complete(block: Block) -> bool:
    if block.kind == "integer":
        return True
    if block.kind == "category":
        return bool((block.values >= 0).all())
    # One sum reads the numbers once and keeps nothing: finite, and every term was.
    # Infinite or NaN, it may have overflowed, so only the slow look decides.
    with np.errstate(over="ignore", invalid="ignore"):
        return bool(np.isfinite(block.values.sum()))


def _missing(block: Block) -> np.ndarray:
    return block.values < 0 if block.kind == "category" else np.isnan(block.values)


def _refuse(
    found: Iterable[tuple[Block, np.ndarray]],
    names: Sequence[str],
    n_samples: int,
    what: str,
    expected: str,
    remedy: str,
) -> None:
    """Raise if any cell is marked, counting the rows that hold one."""
    rows = np.zeros(n_samples, dtype=bool)
    positions: list[int] = []
    for block, marked in found:
        rows |= marked.any(axis=1)
        positions.extend(block.positions[marked.any(axis=0)].tolist())
    if positions:
        columns = name_columns(names[position] for position in sorted(positions))
        many = "columns" if len(positions) > 1 else "column"
        raise InvalidInput(
            f"{what} in {many} {columns}, in {np.count_nonzero(rows)} of {n_samples} rows", expected, remedy
        )
