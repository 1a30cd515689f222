"""How the columns of a table were taken: kinds, gaps, and how the values of the chosen ones lie in each class.

Learnt while the table is at hand: some rows of the chosen columns are kept with a result, which does not keep the
table, and are counted when somebody asks. What is pickled holds the counts in their place.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from certselect.coding import CodedTable, code_table
from certselect.names import shown
from certselect.settings import Measuring
from certselect.table import StreamedTable, Table
from certselect.table.model import Block, SparseBlock

TRUTH = "truth"  # a column of trues and falses
# Of so many chosen columns, the first ones, the values are counted.
MOST_COLUMNS = 60
_MOST_CLASSES = 6
_MOST_LEVELS = 8
_FEWEST_BINS, _MOST_BINS = 6, 24
_FIRST_ROWS = 1000
# Of more rows of a class some are drawn: shares differ by some 1 % then, less than a small picture shows, and nobody
# has asked for the picture yet.
_MOST_ROWS = 5000
_LONGEST_LEVEL = 100
_OTHERS = "all others"
# Bars for numbers span the values between these quantiles, so that one far value does not flatten the rest.
_SPAN = (0.005, 0.995)


@dataclass(frozen=True, eq=False)
class Distribution:
    """How many rows of each class have which values of a column.

    Attributes
    ----------
    levels : tuple of str
        The most frequent values, and all others together; empty for numbers in bins.
    edges : ndarray (bins + 1,)
        Of bins of equal width, of which the outermost hold what lies beyond; empty for levels.
    counts : ndarray (classes, bins or levels)
        Sums of weights, of the rows that were counted. Rows without a value are not in it.
    """

    levels: tuple[str, ...]
    edges: np.ndarray
    counts: np.ndarray


class _Column(NamedTuple):
    """Some rows of a column: values, which of them are missing (None if none), and what values stand for."""

    values: np.ndarray
    lacking: np.ndarray | None
    vocabulary: Sequence[Hashable]


@dataclass(frozen=True, eq=False)
class _Rows:
    """What distributions are counted from: some rows of the chosen columns, with their class and weight."""

    columns: Mapping[int, _Column]
    groups: np.ndarray
    weights: np.ndarray | None
    sizes: np.ndarray  # rows of each group, those that were not drawn too


@dataclass(frozen=True, eq=False)
class TakenColumns:
    """What is known of a table's columns beside what was measured of them.

    Attributes
    ----------
    kinds : tuple of str
        "integer", "number", "category" or "truth" for each column.
    missing : ndarray of int (n,)
        How many rows have no value there.
    labels : tuple
        What the rows of `distributions` are about: classes, or thirds of a target that is a number.
    most_rows : int or None
        How many rows of a class were counted, drawn at random, where it has more; None if all were.
    """

    kinds: tuple[str, ...]
    missing: np.ndarray
    labels: tuple[Hashable, ...]
    most_rows: int | None
    _rows: _Rows

    @cached_property
    def classes(self) -> tuple[str, ...]:
        """The `labels` as a reader knows them."""
        return tuple([_in_words(label) for label in self.labels])

    @cached_property
    def distributions(self) -> Mapping[int, Distribution]:
        """Of the chosen columns, of the first sixty at most; counted when first asked for, by a report."""
        rows = self._rows
        weights = np.ones(len(rows.groups)) if rows.weights is None else rows.weights
        return {i: _distribution(one, rows.groups, len(self.labels), weights) for i, one in rows.columns.items()}

    def coded_rows(self) -> tuple[CodedTable, dict[int, int]] | None:
        """The chosen columns in levels, and where each is; None where no rows are kept.

        Classes are those of `labels`: a target that is a number is cut into thirds.
        """
        rows = self._rows
        present = np.flatnonzero(np.bincount(rows.groups, minlength=len(self.labels))) if len(rows.groups) else []
        if not rows.columns or len(present) < 2:
            return None
        drawn = np.bincount(rows.groups, minlength=len(self.labels))
        weights = rows.weights
        if self.most_rows is not None and (drawn < rows.sizes).any():
            each = (rows.sizes / np.maximum(drawn, 1))[rows.groups] * (1.0 if weights is None else weights)
            weights = each * (len(each) / each.sum())
        blocks = tuple(
            Block(
                "category" if one.vocabulary else "integer" if one.values.dtype.kind in "biu" else "number",
                np.array([place]),
                one.values[:, None],
                (tuple(one.vocabulary),) if one.vocabulary else (),
                None if one.lacking is None or not one.lacking.any() else one.lacking[:, None],
            )
            for place, one in enumerate(rows.columns.values())
        )
        table = Table(
            blocks=blocks,
            feature_names=tuple(map(str, rows.columns)),
            target=np.searchsorted(present, rows.groups).astype(np.int32),
            classes=tuple(self.labels[group] for group in present),
            target_numbers=np.empty((len(rows.groups), 0)),
            weights=weights,
            missing="level",
        )
        coded = code_table(table, Measuring())
        assert isinstance(coded, CodedTable), "dense columns have dense codes"
        return coded, {column: place for place, column in enumerate(rows.columns)}

    def __getstate__(self) -> dict[str, Any]:
        """With the counts in place of the rows: what is pickled holds nothing of the table."""
        nothing = _Rows({}, np.empty(0, dtype=np.intp), None, np.empty(0, dtype=np.intp))
        return {**self.__dict__, "labels": self.classes, "distributions": self.distributions, "_rows": nothing}


def take_columns(table: Table | StreamedTable, chosen: Iterable[int]) -> TakenColumns | None:
    """What a result keeps of its table's columns; None if there are rows of one class only to draw from a stream."""
    if isinstance(table, StreamedTable):
        sample = table.as_sample()
        missing = np.array([feature.facts.missing for feature in table.features])
        return None if sample is None else replace(_taken(sample, chosen), missing=missing, most_rows=_MOST_ROWS)
    return _taken(table, chosen)


def _taken(table: Table, chosen: Iterable[int]) -> TakenColumns:
    kinds = np.empty(table.n_features, dtype=object)
    missing = np.zeros(table.n_features, dtype=np.int64)
    counted = np.array(list(chosen)[:MOST_COLUMNS], dtype=np.intp)
    groups, labels = _groups(table)
    rows = _rows_to_count(groups, len(labels))
    found: dict[int, _Column] = {}
    for block in table.blocks:
        kinds[block.positions] = TRUTH if block.values.dtype == bool else block.kind
        if block.missing is not None:
            missing[block.positions] = _missing_counts(block)
        places = np.minimum(np.searchsorted(block.positions, counted), len(block.positions) - 1)  # they ascend
        here = block.positions[places] == counted
        found.update(zip(counted[here].tolist(), _columns(block, places[here], rows), strict=True))
    weights = None if table.weights is None else table.weights[rows]
    in_order: dict[int, _Column] = {}
    for i in counted.tolist():
        in_order[i] = found[i]
    kept = _Rows(in_order, groups[rows], weights, np.bincount(groups, minlength=len(labels)))
    drawn = None if isinstance(rows, slice) else _MOST_ROWS
    return TakenColumns(tuple(kinds.tolist()), missing, labels, drawn, kept)


def _missing_counts(block: Block | SparseBlock) -> np.ndarray:
    assert block.missing is not None
    if isinstance(block, SparseBlock):
        columns = np.repeat(np.arange(len(block.positions)), np.diff(block.values.indptr))
        return np.bincount(columns[block.missing], minlength=len(block.positions))
    return np.count_nonzero(block.missing, axis=0)


def _groups(table: Table) -> tuple[np.ndarray, tuple[Hashable, ...]]:
    """The class of each row to compare distributions by, and the labels of the classes."""
    if table.target_numbers.shape[1]:
        cuts = np.quantile(table.target_numbers[:, 0], [1 / 3, 2 / 3], method="nearest")
        thirds = (f"up to {cuts[0]:.4g}", f"{cuts[0]:.4g} to {cuts[1]:.4g}", f"above {cuts[1]:.4g}")
        return np.searchsorted(cuts, table.target_numbers[:, 0]), thirds
    if len(table.classes) <= _MOST_CLASSES:
        return table.target, table.classes
    sizes = np.bincount(table.target, minlength=len(table.classes))
    places, largest = _most_frequent(sizes, _MOST_CLASSES)
    return places[table.target], (*(table.classes[c] for c in largest), _OTHERS)


def _rows_to_count(groups: np.ndarray, n_groups: int) -> np.ndarray | slice:
    """All rows of small classes and some of large ones, the same at every call."""
    if len(groups) <= _MOST_ROWS or np.bincount(groups, minlength=n_groups).max() <= _MOST_ROWS:
        return slice(None)
    rng = np.random.default_rng(0)
    each = (np.flatnonzero(groups == group) for group in range(n_groups))
    drawn = [rows if len(rows) <= _MOST_ROWS else rng.choice(rows, _MOST_ROWS, replace=False) for rows in each]
    return np.sort(np.concatenate(drawn))


def _most_frequent(sizes: np.ndarray, most: int) -> tuple[np.ndarray, list[int]]:
    """A new number for each of these, in their own order, the rare ones sharing the last; and which are not rare."""
    if len(sizes) <= most:
        return np.arange(len(sizes)), list(range(len(sizes)))
    kept = sorted(np.argsort(-sizes, kind="stable")[: most - 1].tolist())
    places = np.full(len(sizes), len(kept))
    places[kept] = np.arange(len(kept))
    return places, kept


def _distribution(column: _Column, groups: np.ndarray, n_groups: int, weights: np.ndarray) -> Distribution:
    values, lacking, vocabulary = column
    if lacking is not None:
        values, groups, weights = values[~lacking], groups[~lacking], weights[~lacking]
    # Most columns of numbers show by their first rows that they have many values; sorting all of them takes long.
    different = np.unique(values[:_FIRST_ROWS])
    if vocabulary or len(different) <= _MOST_LEVELS:
        different = np.unique(values)
    if vocabulary or len(different) <= _MOST_LEVELS:
        codes = np.searchsorted(different, values)
        places, kept = _most_frequent(np.bincount(codes, minlength=len(different)), _MOST_LEVELS)
        levels = tuple(_in_words(vocabulary[int(different[c])] if vocabulary else different[c]) for c in kept)
        levels += (_OTHERS,) if len(kept) < len(different) else ()
        return Distribution(levels, np.empty(0), _counted(places[codes], len(levels), groups, n_groups, weights))
    values = values.astype(np.float64)
    # A value that is there, for differences of the largest numbers overflow.
    low, high = np.quantile(values, _SPAN, method="nearest")
    if not low < high:  # nearly all values are one
        low, high = float(values.min()), float(values.max())
    # Rice's rule: few rows in many bins show nothing but noise.
    bins = int(np.clip(np.ceil(2.0 * np.cbrt(len(values))), _FEWEST_BINS, _MOST_BINS))
    along = np.linspace(0.0, 1.0, bins + 1)
    edges = (1.0 - along) * low + along * high
    places = np.clip(np.searchsorted(edges, values, side="right") - 1, 0, bins - 1)
    return Distribution((), edges, _counted(places, bins, groups, n_groups, weights))


def _columns(block: Block | SparseBlock, places: np.ndarray, rows: np.ndarray | slice) -> list[_Column]:
    """Some rows of these columns of a block, copied: the table may change after it."""
    if isinstance(block, SparseBlock):
        dense = (block.values[:, [place]].toarray().ravel()[rows] for place in places)
        return [_Column(column, np.isnan(column), ()) for column in dense]
    cells = (rows, places) if isinstance(rows, slice) else np.ix_(rows, places)
    values, lacking = block.values[cells], None if block.missing is None else block.missing[cells]
    columns = []
    for one, place in enumerate(places.tolist()):
        vocabulary = block.vocabularies[place] if block.vocabularies else ()
        columns.append(_Column(values[:, one], None if lacking is None else lacking[:, one], vocabulary))
    return columns


def _counted(places: np.ndarray, n_places: int, groups: np.ndarray, n_groups: int, weights: np.ndarray) -> np.ndarray:
    counts = np.bincount(groups * n_places + places, weights, minlength=n_groups * n_places)
    return counts.reshape(n_groups, n_places)


def _in_words(value: object) -> str:
    """A class or level as a reader knows it: 1, not np.int64(1) or 1.0; never long, for a result keeps it."""
    value = value.item() if isinstance(value, np.generic) else value
    if isinstance(value, float):
        return f"{value:.6g}"
    try:
        return str(value)[:_LONGEST_LEVEL]
    except Exception:  # whatever a foreign __str__ raises: the features are chosen all the same
        return shown(value)
