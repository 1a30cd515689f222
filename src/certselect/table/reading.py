"""read_table: anything two-dimensional and its target -> Table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, cast

import numpy as np

from certselect.errors import InvalidInput, UnusableType
from certselect.settings import Reading
from certselect.table.columns import array_block, gather, read_values, unmasked
from certselect.table.complete import name_columns, settle_missing, settle_missing_sparse
from certselect.table.frames import as_frame, frame_names, frame_rows, read_frame
from certselect.table.model import Block, Missing, Table
from certselect.table.sparse import check_sparse_shape, is_sparse, sparse_block
from certselect.table.target import read_target
from certselect.table.weights import read_weights


def read_table(
    X: Any,
    y: Any,
    *,
    feature_names: Sequence[object] | None = None,
    sample_weight: Any = None,
    task: str = Reading.task,
    missing: str = Reading.missing,
) -> Table:
    """Which columns does the table have, of what kind, and what is the target?

    Integers and bools are distinguished from numbers by their dtype, not by their
    values; everything that is neither is a category. Infinite values are refused,
    with the columns named.

    Parameters
    ----------
    X : array, list of rows, data frame (pandas, polars, Arrow) or sparse matrix
        One row per sample. A numeric array is used as it is, without a copy; a sparse
        matrix stays sparse.
    y : array, list, series or frame
        One class label or number per row, or several: labels are then taken together,
        numbers each by itself. Not the same for every row.
    feature_names : sequence, optional
        Names of the columns, by default those of the frame, or x0, x1, ...
    sample_weight : array, list or series, optional
        How much each row counts. Whole numbers stand for that many rows; others are scaled
        to add up to the number of rows. Rows of weight 0 are left out.
    task : {"auto", "classification", "regression"}
        Whether the target is labels or numbers. "auto" looks at each of its columns:
        numbers that are not all whole are numbers, everything else is labels.
    missing : {"auto", "error", "level", "pairwise"}
        What becomes of NaN, None and null: they are refused, with the columns named; they
        are a value of their own; or each measure leaves out the rows that lack what it is
        about. "auto" is "level" for data frames, else "error".

    Examples
    --------
    >>> table = read_table([[0, 1.5, "red"], [1, 0.5, "blue"]], ["yes", "no"])
    >>> [block.kind for block in table.blocks], table.classes
    (['integer', 'number', 'category'], ('no', 'yes'))
    """
    how = Reading(task=task, missing=missing)
    task, missing = how.task, how.missing
    frame = None
    if is_sparse(X):
        check_sparse_shape(X)
        shape = X.shape
    else:
        frame = _frame(X)
        X = _two_dimensional(X) if frame is None else frame
        shape = X.shape if frame is None else (X.shape[0], len(frame_names(X)))
    _check_shape(shape)
    names = _names(feature_names, shape[1], None if frame is None else frame_names(frame))
    rows, weights = read_weights(sample_weight, shape[0])
    n_samples = shape[0] if rows is None else len(rows)
    policy = cast(Missing, missing if keeps_missing(missing, X) else "error")
    if is_sparse(X):
        block = sparse_block(X, rows)
        blocks, policy = (block,), settle_missing_sparse(block, names, n_samples, policy)
    else:
        blocks = _frame_blocks(frame, rows, names) if frame is not None else _array_blocks(X, rows, names)
        blocks, policy = settle_missing(blocks, names, n_samples, policy)
    target = read_target(y, shape[0], task, rows)
    return Table(blocks, names, target.codes, target.classes, target.numbers, weights, policy)


def keeps_missing(missing: str, X: Any) -> bool:
    """Whether missing values may stay in data that came like this."""
    return missing in ("level", "pairwise") or (missing == "auto" and not is_sparse(X) and _frame(X) is not None)


def _frame(X: Any) -> Any | None:
    return None if isinstance(X, np.ndarray | list | tuple | str) or X is None else as_frame(X)


def _two_dimensional(X: Any) -> np.ndarray:
    """X as an array whose columns keep the types of their values."""
    if isinstance(X, np.ma.MaskedArray):
        array = X
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


def _frame_blocks(frame: Any, rows: np.ndarray | None, names: tuple[str, ...]) -> tuple[Block, ...]:
    return read_frame(frame if rows is None else frame_rows(frame, rows), names)


def _array_blocks(array: np.ndarray, rows: np.ndarray | None, names: tuple[str, ...]) -> tuple[Block, ...]:
    if array.dtype.kind == "V":
        raise UnusableType(
            f"X with dtype {array.dtype}", "numbers, strings or objects", "Pass structured data as a data frame."
        )
    if rows is not None:
        array = array[rows]
    masked = np.ma.getmaskarray(array) if isinstance(array, np.ma.MaskedArray) else None
    block = array_block(
        np.asarray(array),
        np.arange(array.shape[1], dtype=np.intp),
        masked if masked is not None and masked.any() else None,
    )
    if block is not None:
        return (block,)
    array = array if masked is None else unmasked(array)
    return gather(read_values(array[:, i].tolist(), i, name) for i, name in enumerate(names))
