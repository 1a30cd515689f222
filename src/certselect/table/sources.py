"""What a user passes as a table -> Table or StreamedTable: files, frames with their target, data and target apart."""

from __future__ import annotations

import os
from numbers import Integral
from typing import TYPE_CHECKING, Any

from certselect.errors import InvalidInput, keyword
from certselect.settings import Constraints, Reading
from certselect.table.files import open_files
from certselect.table.frames import as_frame, frame_names
from certselect.table.model import Table
from certselect.table.parts import split_columns
from certselect.table.reading import read_as_stated
from certselect.table.series import names_of
from certselect.table.streams.in_blocks import InBlocks, is_arrow_stream, is_dask, is_in_blocks, one_name
from certselect.table.streams.streamed_table import StreamedTable

if TYPE_CHECKING:
    from certselect.table.streams.row_source import RowSource


def read_source(source: Any, target: Any, reading: Reading, **apart: Any) -> tuple[Table, tuple[str, ...]]:
    """A table in memory, and the names of its target columns where they have any; the rest as in `open_source`.

    What does not fit into memory is refused.
    """
    table, names = open_source(source, target, reading, **apart)
    assert isinstance(table, Table), "blocks are for those who ask for them"
    return table, names


def open_source(
    source: Any,
    target: Any,
    reading: Reading,
    *,
    sample_weight: Any = None,
    feature_names: Any = None,
    constraints: Constraints | None = None,
    blocks: InBlocks | None = None,
) -> tuple[Table | StreamedTable, tuple[str, ...]]:
    """The table, and the names of its target columns where they have any.

    What does not fit into memory is read in `blocks`, if the caller can use that, and refused otherwise.

    `target` names columns of a file or of a data frame, or holds the target itself. Columns that the
    `constraints` exclude are not looked at, and those they include not left out; a Table's were read already.
    """
    asked = constraints or Constraints()
    unread: dict[str, Any] = {"unread": asked.exclude, "wanted": asked.include}
    if isinstance(source, Table):
        usual = Reading().to_dict()
        stated = {name: value for name, value in reading.to_dict().items() if value != usual[name]}
        beside = {"a target": target, "sample_weight": sample_weight, "feature_names": feature_names, **stated}
        _refuse("a Table", beside, "A Table brings its own: pass it to read_table.")
        return source, ()
    apart = {"sample_weight": sample_weight, "feature_names": feature_names}
    if isinstance(source, str | os.PathLike):
        names = _named_in_file(target, apart)
        rows = open_files(source)
        whole = _whole(rows, blocks)
        if whole is None:
            return (blocks or InBlocks()).opened(rows, target, reading, asked), (one_name(target),)
        features, targets, weights = split_columns(whole, names, reading.weight)
        return read_as_stated(features, targets, reading, sample_weight=weights, **unread), names
    if is_in_blocks(source) or is_dask(source):
        _refuse("rows in blocks", apart, f"Name a column by {keyword('weight', spelled='')}.")
        rows, named = row_source(source, target)
        whole = _whole(rows, blocks)
        if whole is None:
            names = names_of(target) if is_dask(target) else (one_name(named),)
            return (blocks or InBlocks()).opened(rows, named, reading, asked), names
        if target is None:
            raise InvalidInput(
                "rows without a target", "the name of a column to predict", f"Pass {keyword('target', spelled='')}."
            )
        source = whole
    if isinstance(sample_weight, str):
        raise InvalidInput(
            keyword("sample_weight", sample_weight),
            "one number for every row",
            f"Pass {keyword('weight', sample_weight)} to name a column.",
        )
    frame = None if isinstance(source, list | tuple) else as_frame(source)
    names = _columns_named(frame, target)
    if frame is not None and names:
        if reading.weight is not None and sample_weight is not None:
            raise InvalidInput(f"{keyword('weight')} and {keyword('sample_weight')}", "one of them", "Leave one out.")
        features, targets, weights = split_columns(frame, names, reading.weight)
        table = read_as_stated(
            features,
            targets,
            reading,
            sample_weight=sample_weight if weights is None else weights,
            feature_names=feature_names,
            **unread,
        )
        return table, names
    if reading.weight is not None:
        raise InvalidInput(
            f"{keyword('weight', reading.weight)} beside data and target apart",
            "a file or a data frame that holds the target as well, by its name",
            f"Pass {keyword('sample_weight', spelled='')} instead.",
        )
    table = read_as_stated(source, target, reading, sample_weight=sample_weight, feature_names=feature_names, **unread)
    return table, names_of(target)


def row_source(source: Any, target: Any) -> tuple[RowSource, Any]:
    """The rows of files, of Arrow datasets and streams, of Dask or of a function; and the name of the target."""
    if is_dask(source):
        from certselect.table.streams.dask_source import open_dask

        return open_dask(source, target)
    if isinstance(source, str | os.PathLike):
        return open_files(source), target
    from certselect.table.streams.arrow_dataset import ArrowDataset
    from certselect.table.streams.row_source import ArrowStream, BatchFactory

    rows: Any = source
    if is_arrow_stream(source):
        return ArrowStream(rows), target
    return BatchFactory(rows) if callable(source) else ArrowDataset(rows), target


def in_memory(X: Any) -> Any:
    """Features that come in blocks as an Arrow table, if they fit into memory; anything else as it is."""
    return _whole(row_source(X, None)[0], None) if is_in_blocks(X) else X


def _whole(rows: RowSource, blocks: InBlocks | None) -> Any | None:
    """All rows in memory; None if they are to be read in blocks."""
    how = blocks or InBlocks()
    found = None if how.client is not None else rows.rows_within(how.budget())
    if found is None and blocks is None:
        raise _too_large(rows)
    return found


def _named_in_file(target: Any, apart: dict[str, Any]) -> tuple[str, ...]:
    """The names of the columns of a file that are to be predicted."""
    _refuse("a file", apart, f"Name a column by {keyword('weight', spelled='')}.")
    if target is None:
        raise InvalidInput(
            "a file without a target", "the name of its column to predict", f"Pass {keyword('target', spelled='')}."
        )
    listed = [target] if isinstance(target, str) else target
    if not isinstance(listed, list | tuple) or not all(isinstance(name, str) for name in listed):
        raise InvalidInput(
            f"{keyword('target', target)} beside a file",
            "the name of its column to predict, or a list of names",
            "Read the file into a data frame first if the target comes apart from it.",
        )
    return tuple(map(str, listed))


def _too_large(rows: RowSource) -> InvalidInput:
    return InvalidInput(
        "rows in blocks" if rows.n_rows is None else f"a table of about {rows.n_bytes / 1e9:.3g} GB in memory",
        "one that fits into a quarter of the memory that is free: this needs all rows at once",
        "Pass some of the rows; choose_subset, information_terms and `certselect select` read tables of any size.",
    )


def _columns_named(frame: Any | None, target: Any) -> tuple[str, ...]:
    """The names of a frame's columns that `target` lists; empty if it holds the target itself.

    A str is a name, and a number too, for pandas numbers columns that have no names. A list of
    str may hold names or the labels of all rows.
    """
    alone = isinstance(target, str | Integral) and not isinstance(target, bool)
    if frame is None:
        if alone:
            raise InvalidInput(
                f"{keyword('target', target)} for an array", "the target itself", "Names are for frames and files."
            )
        return ()
    if alone:
        return (str(target),)
    if not isinstance(target, list | tuple) or not all(isinstance(name, str) for name in target):
        return ()
    known = set(frame_names(frame)).issuperset(target)
    if len(target) != frame.shape[0]:
        return tuple(map(str, target))  # no labels, so names, which may be misspelled
    if known and target:
        raise InvalidInput(
            f"{keyword('target', target)}, which may name columns or label the {len(target)} rows",
            "one or the other",
            "Pass labels as an array; for columns pass frame[names] as the target, and the other columns as the table.",
        )
    return ()


def _refuse(what: str, beside: dict[str, Any], remedy: str) -> None:
    given = [name for name, value in beside.items() if value is not None]
    if given:
        raise InvalidInput(f"{what} and {', '.join(map(keyword, given))} beside it", f"{what} alone", remedy)
