"""Columns that say the same: whoever knows one of them knows the other, row by row.

Coded columns are copies if they divide the rows alike, whatever their levels are called: a
weight in pounds beside the same in kilograms, "yes" beside 1. Ranked ones are if they put the
rows in the same order, or in the opposite one.
"""

from __future__ import annotations

import numpy as np

from certselect.coding.model import CodedTable, SparseCodedTable

# Up to so many levels are looked at one by one.
MARKED_LEVELS = 16


def copies_of(
    coded: CodedTable | SparseCodedTable, alike: np.ndarray, constant: np.ndarray
) -> tuple[tuple[int, ...], ...]:
    """Families of columns that divide the rows alike, two or more each, ascending; constant ones are in none.

    `alike` (n, any) are numbers that copies have in common, such as their entropy: columns that no
    other one resembles are not looked at.
    """
    suspects = _resembling(alike, constant)
    if not len(suspects):
        return ()
    columns = _codes(coded, suspects)
    shared = _sharing_marks(columns)
    suspects, columns = suspects[shared], columns[shared]
    if not len(suspects):
        return ()
    if coded.coding.absent is not None:  # a row without a value is no row of any level
        absent = coded.coding.absent[suspects]
        same_gaps = columns == absent[:, None]
    else:
        same_gaps = None
    return _families(suspects, _first_seen(columns), same_gaps)


def copies_by_rank(values: np.ndarray, constant: np.ndarray) -> tuple[tuple[int, ...], ...]:
    """Families of columns (n, m) of numbers that put the rows in the same or in the opposite order, NaN apart."""
    columns = np.flatnonzero(~constant)
    ranks = np.empty((len(columns), values.shape[1]), dtype=np.int64)
    for place, i in enumerate(columns):
        ranks[place] = _ranks(values[i])
    return _families(columns, ranks, None)


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


def _sharing_marks(codes: np.ndarray) -> np.ndarray:
    """Which columns (p, m) have a mark in common with another one; those that divide the rows alike do.

    Every row has a random number. A mark is made of their sums over the rows of each level, in a way
    that does not depend on how levels are called: so most columns need not be compared at all.
    """
    p, m = codes.shape
    if int(codes.max()) > MARKED_LEVELS:  # they are few, as they hardly resemble one another
        return np.arange(p)
    # Sums of these are exact.
    numbers = np.random.default_rng(0).integers(1, 2**52 // m, m).astype(np.float64)
    marks = np.zeros(p, dtype=np.uint64)
    for level in range(int(codes.max()) + 1):
        sums = ((codes == level) @ numbers).astype(np.uint64)
        marks += sums * sums  # modulo 2^64
    return _shared(marks)


def _shared(marks: np.ndarray) -> np.ndarray:
    """Where in (n,) stands what stands somewhere else too, ascending."""
    order = np.argsort(marks, kind="stable")
    same = marks[order][1:] == marks[order][:-1]
    return np.sort(order[np.concatenate([[False], same]) | np.concatenate([same, [False]])])


def _codes(coded: CodedTable | SparseCodedTable, columns: np.ndarray) -> np.ndarray:
    """The codes (p, m) of some columns."""
    if isinstance(coded, CodedTable):
        return coded.codes[columns]
    codes = np.repeat(coded.background[columns, None], coded.n_samples, axis=1).astype(np.uint32)
    for place, i in enumerate(columns):
        cells = slice(coded.starts[i], coded.starts[i + 1])
        codes[place, coded.rows[cells]] = coded.codes[cells]
    return codes


def _first_seen(codes: np.ndarray) -> np.ndarray:
    """Codes (p, m) with each level called by the first row that has it: alike where columns divide the rows alike."""
    p, m = codes.shape
    seen = np.empty((p, m), dtype=np.int32)
    step = max(1, (1 << 22) // m)
    for start in range(0, p, step):
        part = codes[start : start + step].astype(np.int64)
        levels = int(part.max()) + 1
        first = np.full((len(part), levels), m, dtype=np.int32)
        # From the last row to the first, so that the first is what stays.
        np.put_along_axis(first, part[:, ::-1], np.arange(m - 1, -1, -1, dtype=np.int32)[None], axis=1)
        seen[start : start + step] = np.take_along_axis(first, part, axis=1)
    return seen


def _families(columns: np.ndarray, content: np.ndarray, gaps: np.ndarray | None) -> tuple[tuple[int, ...], ...]:
    """Columns whose rows of `content`, and of `gaps` if there are any, are equal."""
    found: dict[bytes, list[int]] = {}
    for place, i in enumerate(columns.tolist()):
        key = content[place].tobytes() + (b"" if gaps is None else gaps[place].tobytes())
        found.setdefault(key, []).append(i)
    return tuple(sorted(tuple(family) for family in found.values() if len(family) > 1))
