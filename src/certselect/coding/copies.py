"""Columns that say the same: whoever knows one of them knows the other, row by row.

Coded columns are copies if they divide the rows alike, whatever their levels are called: a
weight in pounds beside the same in kilograms, "yes" beside 1. Ranked ones are if they put the
rows in the same order, or in the opposite one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np

from certselect.coding.model import CodedTable, SparseCodedTable


def copies_of(
    coded: CodedTable | SparseCodedTable, alike: np.ndarray, constant: np.ndarray
) -> tuple[tuple[int, ...], ...]:
    """Families of columns that divide the rows alike, two or more each, ascending; constant ones are in none.

    `alike` (n, any) are numbers that copies have in common, such as their entropy: columns that no
    other one resembles are not looked at. One column at a time is: no second table is made of them.
    """
    suspects = _resembling(alike, constant)
    if not len(suspects):
        return ()
    # Sums of these are exact.
    numbers = np.random.default_rng(0).integers(1, 2**52 // coded.n_samples, coded.n_samples).astype(np.float64)

    def content(i: int) -> bytes:
        codes = _codes(coded, i)
        # A row without a value is no row of any level.
        gaps = b"" if coded.coding.absent is None else (codes == coded.coding.absent[i]).tobytes()
        return _first_seen(codes).tobytes() + gaps

    return _families(suspects, lambda i: _mark(_codes(coded, i), numbers), content)


def copies_by_rank(values: np.ndarray, constant: np.ndarray) -> tuple[tuple[int, ...], ...]:
    """Families of columns (n, m) of numbers that put the rows in the same or in the opposite order, NaN apart."""
    numbers = np.random.default_rng(0).integers(1, 2**63, values.shape[1], dtype=np.uint64)
    return _families(
        np.flatnonzero(~constant),
        lambda i: int(_ranks(values[i]).astype(np.uint64) @ numbers),  # modulo 2^64
        lambda i: _ranks(values[i]).tobytes(),
    )


def _ranks(column: np.ndarray) -> np.ndarray:
    """Dense ranks from 0, -1 for NaN, counted from that end which the first row that decides is nearer to."""
    missing = np.isnan(column)
    found, ranks = np.unique(column[~missing], return_inverse=True)
    turned = len(found) - 1 - ranks
    differing = np.flatnonzero(ranks != turned)
    all_ranks = np.full(len(column), -1, dtype=np.int64)
    all_ranks[~missing] = turned if len(differing) and turned[differing[0]] < ranks[differing[0]] else ranks
    return all_ranks


def resembling_groups(alike: np.ndarray, constant: np.ndarray) -> list[list[int]]:
    """Columns whose numbers are about the same, to nine digits: groups of two or more."""
    groups: dict[float, list[int]] = {}
    for i, key in zip(np.flatnonzero(~constant).tolist(), _keys(alike[~constant]).tolist(), strict=True):
        groups.setdefault(key, []).append(i)
    return [group for group in groups.values() if len(group) > 1]


def _resembling(alike: np.ndarray, constant: np.ndarray) -> np.ndarray:
    """Columns whose numbers are about those of another one, to nine digits, ascending."""
    open_ = np.flatnonzero(~constant)
    return open_[:0] if len(open_) < 2 else open_[_shared(_keys(alike[open_]))]


def _keys(alike: np.ndarray) -> np.ndarray:
    """One number of all of a column's, in which copies agree, and hardly anybody else."""
    key = np.zeros(len(alike))
    for numbers in alike.T:
        key = 0.6180339887 * key + np.round(numbers, 9)
    return key


def _mark(codes: np.ndarray, numbers: np.ndarray) -> int:
    """A number of a column (m,) that it has in common with those that divide the rows alike, and hardly with others.

    Made of the sums of random `numbers` (m,) over the rows of each level, in a way that does not depend on how
    levels are called.
    """
    sums = np.bincount(codes, weights=numbers).astype(np.uint64)
    return int((sums * sums).sum())  # modulo 2^64


def _shared(marks: np.ndarray) -> np.ndarray:
    """Where in (n,) stands what stands somewhere else too, ascending."""
    order = np.argsort(marks, kind="stable")
    same = marks[order][1:] == marks[order][:-1]
    return np.sort(order[np.concatenate([[False], same]) | np.concatenate([same, [False]])])


def _codes(coded: CodedTable | SparseCodedTable, i: int) -> np.ndarray:
    """The codes (m,) of a column."""
    if isinstance(coded, CodedTable):
        return coded.codes[i]
    codes = np.full(coded.n_samples, coded.background[i], dtype=np.int64)
    cells = slice(coded.starts[i], coded.starts[i + 1])
    codes[coded.rows[cells]] = coded.codes[cells]
    return codes


def _first_seen(codes: np.ndarray) -> np.ndarray:
    """Codes (m,) with each level called by the first row that has it: alike where columns divide the rows alike."""
    first = np.empty(int(codes.max()) + 1, dtype=np.int32)
    # From the last row to the first, so that the first is what stays.
    first[codes[::-1]] = np.arange(len(codes) - 1, -1, -1, dtype=np.int32)
    return first[codes]


def _families(
    columns: np.ndarray, mark: Callable[[int], int], content: Callable[[int], bytes]
) -> tuple[tuple[int, ...], ...]:
    """Columns of the same content, two or more each; only those with a mark in common are compared."""
    suspects: dict[int, list[int]] = {}
    for i in columns.tolist():
        suspects.setdefault(mark(i), []).append(i)
    families = (family for some in suspects.values() if len(some) > 1 for family in _same(some, content))
    return tuple(sorted(families))


def _same(columns: Iterable[int], content: Callable[[int], bytes]) -> list[tuple[int, ...]]:
    found: dict[bytes, list[int]] = {}
    for i in columns:
        found.setdefault(content(i), []).append(i)
    return [tuple(family) for family in found.values() if len(family) > 1]
