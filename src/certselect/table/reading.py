"""read_table: anything two-dimensional and its target -> Table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any, cast

import numpy as np

from certselect.errors import ColumnsLeftOutWarning, InvalidInput, UnusableType, keyword, warn_user
from certselect.names import Columns
from certselect.settings import Reading
from certselect.table.columns import (
    array_block,
    check_sparse_shape,
    gather,
    is_sparse,
    read_values,
    sparse_block,
    unmasked,
)
from certselect.table.complete import mark_missing, name_columns, settle_missing, settle_missing_sparse
from certselect.table.frames import as_frame, frame_names, frame_rows, read_frame
from certselect.table.kinds import (
    LEFT_OUT,
    Verdict,
    decisions_on,
    settle_kinds,
    whole_numbers_with_gaps,
    without_values,
    zeros,
)
from certselect.table.model import Block, Decision, Missing, Table
from certselect.table.output import take_columns
from certselect.table.target import read_target
from certselect.table.weights import read_weights

KEPT_MISSING = ("level", "pairwise")  # what `missing` is where missing values stay in any table


def read_table(
    X: Any,
    y: Any,
    *,
    feature_names: Sequence[object] | None = None,
    sample_weight: Any = None,
    task: str = Reading.task,
    missing: str = Reading.missing,
    kinds: Mapping[Any, str] | None = None,
    unread: Iterable[Any] | None = None,
    wanted: Iterable[Any] | None = None,
) -> Table:
    """Which columns does the table have, of what kind, and what is the target?

    Integers and bools are distinguished from numbers by their dtype, not by their
    values; dates, times and durations are numbers, of seconds; everything else is a
    category. Identifiers and text of too many levels are left out, and
    texts that are dates are dates: `decisions` of the table says so. Infinite values
    are refused, with the columns named.

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
        numbers that are not all whole are numbers, and so are whole numbers of which there are
        more than 20 different ones, in fewer than 5 rows each on average; everything else is labels.
    missing : {"auto", "error", "level", "pairwise"}
        What becomes of NaN, None and null: they are refused, with the columns named; they
        are a value of their own; or each measure leaves out the rows that lack what it is
        about. "auto" is "level" for data frames, else "error".
    kinds : mapping from names or indices of columns to {"number", "levels", "skip"}, optional
        What a column is, where it would be taken for something else; "skip" for not looked at.
    unread : list of names or indices, optional
        Columns that are not read, whatever is in them.
    wanted : list of names or indices, optional
        Columns that are never left out because of their values.

    Examples
    --------
    >>> table = read_table([[0, 1.5, "red"], [1, 0.5, "blue"]], ["yes", "no"])
    >>> [block.kind for block in table.blocks], table.classes
    (['integer', 'number', 'category'], ('no', 'yes'))
    """
    how = Reading(task=task, missing=missing, kinds=kinds)
    return read_as_stated(
        X, y, how, feature_names=feature_names, sample_weight=sample_weight, unread=unread, wanted=wanted
    )


def read_as_stated(
    X: Any,
    y: Any,
    reading: Reading,
    *,
    feature_names: Sequence[object] | None = None,
    sample_weight: Any = None,
    unread: Iterable[Any] | None = None,
    wanted: Iterable[Any] | None = None,
) -> Table:
    """`read_table` with settings that were checked before; their `weight` is for files and is not used here."""
    frame, sparse = None, is_sparse(X)
    if sparse:
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
    keeps = reading.missing in KEPT_MISSING or (reading.missing == "auto" and frame is not None)
    policy = cast(Missing, reading.missing if keeps else "error")
    given, closed, kept = stated_kinds(reading.kinds, unread, wanted, names)
    if sparse:
        block = sparse_block(X, rows, closed)
        _refuse_sparse_kinds(given, names)
        blocks, policy = (block,), settle_missing_sparse(block, names, n_samples, policy)
        verdicts: dict[int, Verdict] = {}
    else:
        blocks, dates = _open_columns(frame if frame is not None else X, frame is not None, rows, names, closed)
        blocks, empty = without_values(mark_missing(blocks, names, n_samples))
        dates = [i for i in dates if i not in empty] if empty else dates
        blocks, verdicts = settle_kinds(blocks, names, given, dates, kept)
        policy = settle_missing(blocks, names, n_samples, policy)
        blocks = whole_numbers_with_gaps(blocks, {*given, *verdicts})
    target = read_target(y, shape[0], reading.task, rows)
    decisions = decisions_on(verdicts, reading.kinds, names)
    if decisions:
        warn_of_left_out(decisions, names)
    decisions += target.decisions
    given_weights = sample_weight is not None
    return Table(
        blocks, names, target.codes, target.classes, target.numbers, weights, policy, decisions, weighted=given_weights
    )


def keeps_missing(missing: str, X: Any) -> bool:
    """Whether missing values may stay in data that came like this."""
    if missing in KEPT_MISSING or isinstance(X, np.ndarray):
        return missing in KEPT_MISSING
    return missing == "auto" and not is_sparse(X) and _frame(X) is not None


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
    remedy = "Check that the right rows and columns were read."
    if shape[1] == 0:  # in the words that scikit-learn's checks of estimators expect
        got = f"0 feature(s) (shape={tuple(shape)}) while a minimum of 1 is required."
        raise InvalidInput(got, "at least one feature", remedy)
    if shape[0] == 0:
        columns = "1 column" if shape[1] == 1 else f"{shape[1]} columns"
        raise InvalidInput(f"a table of {columns} without any row", "one row for each sample", remedy)


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


def stated_kinds(
    kinds: Mapping[Any, str] | None, unread: Iterable[Any] | None, wanted: Iterable[Any] | None, names: tuple[str, ...]
) -> tuple[dict[int, str], list[int], set[int]]:
    """The kinds that were given, by place; the columns that are not read, ascending; and those that are kept."""
    if not kinds and not unread and not wanted:
        return {}, [], set()
    columns = Columns(names)
    stated = {columns.find("kinds", column): kind for column, kind in (kinds or {}).items()}
    excluded = {columns.find("exclude", column) for column in unread or ()}
    kept = {columns.find("include", column) for column in wanted or ()}
    skipped = {i for i, kind in stated.items() if kind == "skip"}
    for i in sorted(kept & (skipped - excluded)):
        raise InvalidInput(
            f"{names[i]!r} in {keyword('include')}, and its kind is 'skip'", "one or the other", "Remove one."
        )
    closed = excluded | skipped
    return {i: kind for i, kind in stated.items() if i not in closed}, sorted(closed), kept


def warn_of_left_out(decisions: Sequence[Decision], names: Sequence[str]) -> None:
    left = [decision for decision in decisions if decision.kind in LEFT_OUT]
    if left:
        listed = "; ".join(f"{name_columns(names[i] for i in one.columns)} ({one.kind}: {one.why})" for one in left)
        first = names[left[0].columns[0]]
        warn_user(
            f"Columns left out as identifiers or as text of too many levels: {listed}. "
            f"Pass {keyword('kinds', {first: 'levels'}, 'number')} to use one, 'skip' to leave it out without this "
            "warning.",
            ColumnsLeftOutWarning,
        )


def _refuse_sparse_kinds(given: Mapping[int, str], names: Sequence[str]) -> None:
    if given:
        raise InvalidInput(
            f"{keyword('kinds')} for {name_columns(names[i] for i in given)} of a sparse matrix",
            "'skip' alone: the columns of a sparse matrix are all of one type",
            f"Pass {keyword('integers', 'levels', 'numbers')} for all of them, or a dense table.",
        )


def _open_columns(
    X: Any, is_frame: bool, rows: np.ndarray | None, names: tuple[str, ...], closed: list[int]
) -> tuple[tuple[Block, ...], list[int]]:
    """The columns that may be looked at, and zeros for the others; and which of them were dates."""
    if not closed:
        return _frame_blocks(X, rows, names) if is_frame else _array_blocks(X, rows, names)
    places = np.setdiff1d(np.arange(len(names)), closed)
    n_rows = X.shape[0] if rows is None else len(rows)
    blocks: tuple[Block, ...] = ()
    dates: list[int] = []
    if len(places):
        part, named = take_columns(X, places) if is_frame else X[:, places], [names[i] for i in places]
        blocks, dates = _frame_blocks(part, rows, named) if is_frame else _array_blocks(part, rows, named)
    blocks = tuple(replace(block, positions=places[block.positions]) for block in blocks)
    return (*blocks, zeros(n_rows, closed)), places[dates].tolist()


def _frame_blocks(frame: Any, rows: np.ndarray | None, names: Sequence[str]) -> tuple[tuple[Block, ...], list[int]]:
    return read_frame(frame if rows is None else frame_rows(frame, rows), names)


def _array_blocks(
    array: np.ndarray, rows: np.ndarray | None, names: Sequence[str]
) -> tuple[tuple[Block, ...], list[int]]:
    if array.dtype.kind == "V":
        raise UnusableType(
            f"X with dtype {array.dtype}", "numbers, strings or objects", "Pass structured data as a data frame."
        )
    if rows is not None:
        array = array[rows]
    masked = np.ma.getmaskarray(array) if isinstance(array, np.ma.MaskedArray) else None
    everything = np.arange(array.shape[1], dtype=np.intp)
    block = array_block(np.asarray(array), everything, masked if masked is not None and masked.any() else None)
    if block is not None:
        return (block,), everything.tolist() if array.dtype.kind in "mM" else []
    array = array if masked is None else unmasked(array)
    columns = [read_values(array[:, i].tolist(), i, name) for i, name in enumerate(names)]
    return gather(columns), [column.position for column in columns if column.dated]
