"""read_table: anything two-dimensional and its labels -> Table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from certselect.errors import InvalidInput, UnusableType
from certselect.table.columns import array_block, gather, read_values, unmasked
from certselect.table.complete import check_complete, name_columns
from certselect.table.frames import as_frame, frame_names, read_frame
from certselect.table.model import Block, Table
from certselect.table.target import read_target


def read_table(X: Any, y: Any, *, feature_names: Sequence[object] | None = None) -> Table:
    """Which columns are there, of what kind, and what class is each row?

    Integers and bools are told apart from numbers by their dtype, not by their
    values; everything that is neither is a category. A table with missing or
    infinite values is refused, with the columns named.

    Parameters
    ----------
    X : array, list of rows, or data frame (pandas, polars, Arrow)
        One row per sample. A numeric array is used as it is, without a copy.
    y : array, list or series
        One class label per row; at least two classes.
    feature_names : sequence, optional
        Names of the columns, by default those of the frame, or x0, x1, ...

    Examples
    --------
    >>> table = read_table([[0, 1.5, "red"], [1, 0.5, "blue"]], ["yes", "no"])
    >>> [block.kind for block in table.blocks], table.classes
    (['integer', 'number', 'category'], ('no', 'yes'))
    """
    frame = None if isinstance(X, np.ndarray) else _frame(X)
    if frame is None:
        array = _two_dimensional(X)
        _check_shape(array.shape)
        names = _names(feature_names, array.shape[1], None)
        blocks = _array_blocks(array, names)
        n_samples = array.shape[0]
    else:
        own_names = frame_names(frame)
        n_samples = frame.shape[0]
        _check_shape((n_samples, len(own_names)))
        names = _names(feature_names, len(own_names), own_names)
        blocks = read_frame(frame, names)
    check_complete(blocks, names, n_samples)
    target, classes = read_target(y, n_samples)
    return Table(blocks, names, target, classes)


def _frame(X: Any) -> Any | None:
    if isinstance(X, list | tuple | str) or X is None:
        return None
    if any(base.__module__.startswith("scipy.sparse") for base in type(X).__mro__):
        raise UnusableType(
            f"a sparse matrix ({type(X).__name__})",
            "a dense array or a data frame",
            "Sparse input is not supported yet: pass X.toarray().",
        )
    return as_frame(X)


def _two_dimensional(X: Any) -> np.ndarray:
    """X as an array whose columns keep the types of their values."""
    if isinstance(X, np.ma.MaskedArray):
        array = unmasked(X)
    elif isinstance(X, list | tuple):
        try:
            array = np.asarray(X)
            if array.dtype.kind not in "biu":
                # As one array [1, 0.5, "a"] is three strings, and a column of integers beside floats is floats.
                array = np.array(X, dtype=object)
        except ValueError as error:
            raise InvalidInput(
                f"rows of different lengths ({error})", "as many cells in every row", "Check the rows of X."
            ) from error
    else:
        array = np.asarray(X)
    if array.ndim == 2:
        return array
    if array.ndim == 1:
        raise InvalidInput(
            f"X of shape {array.shape}: Expected 2D array, got 1D array instead",
            "a table of rows and columns",
            "Reshape it with X.reshape(-1, 1) if it is one feature, X.reshape(1, -1) if it is one row.",
        )
    what = f"X of shape {array.shape}" if array.ndim else f"X={X!r:.60} ({type(X).__name__})"
    raise InvalidInput(
        what, "a 2D array, a list of rows or a data frame", "Reshape it, or use read_file if it is a path."
    )


def _check_shape(shape: tuple[int, ...]) -> None:
    for count, what in zip(reversed(shape), ("feature", "sample"), strict=True):
        if count == 0:
            raise InvalidInput(
                f"0 {what}(s) (shape={tuple(shape)}) while a minimum of 1 is required.",
                f"at least one {what}",
                "Check that the right rows and columns were read.",
            )


def _names(given: Sequence[object] | None, count: int, own: tuple[str, ...] | None) -> tuple[str, ...]:
    if given is None and own is None:
        return _default_names(count)
    if isinstance(given, str):
        raise InvalidInput(f"feature_names={given!r}", "a sequence of names", "Pass a list, one name per column.")
    names = tuple(map(str, given)) if given is not None else own or ()
    if len(names) != count:
        raise InvalidInput(f"{len(names)} feature names", f"one for each of {count} columns", "Check feature_names.")
    if len(set(names)) < count:
        twice = (name for name, times in Counter(names).items() if times > 1)
        raise InvalidInput(
            f"column names that occur more than once: {name_columns(twice)}",
            "a different name for every column",
            "Rename them, or pass feature_names.",
        )
    return names


@lru_cache(maxsize=4)  # tables of one width are read again and again, and 20 000 names take longer than the rest
def _default_names(count: int) -> tuple[str, ...]:
    return tuple([f"x{i}" for i in range(count)])


def _array_blocks(array: np.ndarray, names: tuple[str, ...]) -> tuple[Block, ...]:
    if array.dtype.kind == "V":
        raise UnusableType(
            f"X with dtype {array.dtype}", "numbers, strings or objects", "Pass structured data as a data frame."
        )
    block = array_block(array, np.arange(array.shape[1], dtype=np.intp))
    if block is not None:
        return (block,)
    return gather(read_values(array[:, i].tolist(), i, name) for i, name in enumerate(names))
