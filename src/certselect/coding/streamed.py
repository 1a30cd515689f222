"""code_stream: StreamedTable -> StreamedCoding, which turns blocks of rows into codes."""

from __future__ import annotations

import numpy as np

from certselect.coding.block_coding import LevelCoder, NumberCoder, StreamedCoding
from certselect.coding.cuts import bins_for_rows
from certselect.coding.levels import Levels
from certselect.coding.model import Coding
from certselect.coding.numbers import NumberCuts
from certselect.coding.streamed_edges import edges_of_numbers, edges_of_target, survey_with_brackets
from certselect.coding.target import bin_names
from certselect.errors import InvalidInput
from certselect.settings import Measuring
from certselect.settings.measuring import MOST_WHOLE_LEVELS
from certselect.table.streams.streamed_table import Feature, StreamedTable, too_many_levels

_NOT_STREAMED = "for a table that is read block by block"


def code_stream(table: StreamedTable, measuring: Measuring) -> StreamedCoding:
    """Learn what the columns of a stream are and where they are cut: one pass, or a few where numbers are uneven."""
    _refuse_unstreamed(measuring)
    found = survey_with_brackets(table, measuring)
    if measuring.integers == "levels":
        _refuse_many_levels(table)
    rows = table.n_samples
    bins = bins_for_rows(rows) if measuring.bins == "auto" else measuring.bins
    target_bins = int(bins_for_rows(rows) if measuring.target_bins == "auto" else measuring.target_bins)
    numbers = [i for i, one in enumerate(table.features) if _is_cut(one, measuring.integers)]
    edges = edges_of_numbers(table, numbers, measuring.discretize, bins, found)
    levels = [i for i in range(table.n_features) if i not in edges]
    counts = np.array([len(edges[i]) for i in numbers], dtype=np.int64)
    parts = []
    if levels:
        parts.append(Levels(np.array(levels), np.array([_n_levels(table.features[i]) for i in levels])))
    if numbers:
        flat = np.concatenate([edges[i] for i in numbers])
        parts.append(NumberCuts(np.array(numbers), flat, np.concatenate([[0], np.cumsum(counts)])))
    lacking = np.array([one.facts.missing > 0 and one.kind != "skip" for one in table.features])
    target_edges = edges_of_target(table, target_bins, found)
    classes = table.classes if target_edges is None else tuple(bin_names(target_edges))
    coding = Coding(
        measuring.discretize,
        bins,
        measuring.integers,
        table.feature_names,
        classes,
        tuple(parts),
        None if target_edges is None else target_bins,
        () if target_edges is None else (target_edges,),
        table.missing,
        lacking if lacking.any() else None,
    )
    coders = tuple(_coder(table, i, edges.get(i), coding) for i in range(table.n_features))
    return StreamedCoding(coding, coders, _target_coder(table, target_edges), len(classes))


def _refuse_unstreamed(measuring: Measuring) -> None:
    remedy = "Pass memory= enough to hold the table, or a sample of its rows."
    if measuring.measure not in ("plugin", "auto"):
        raise InvalidInput(f"measure={measuring.measure!r} {_NOT_STREAMED}", "measure='plugin'", remedy)
    if measuring.discretize not in ("quantile", "uniform"):
        raise InvalidInput(f"discretize={measuring.discretize!r} {_NOT_STREAMED}", "'quantile' or 'uniform'", remedy)
    if measuring.bins == "freedman_diaconis":
        raise InvalidInput(f"bins={measuring.bins!r} {_NOT_STREAMED}", "a number, 'auto', 'sturges' or 'sqrt'", remedy)


def _refuse_many_levels(table: StreamedTable) -> None:
    for name, one in zip(table.feature_names, table.features, strict=True):
        if one.kind == "whole" and one.facts.values is None:
            raise too_many_levels(name)


def _is_cut(feature: Feature, integers: str) -> bool:
    """Whether a feature is measured as a number in bins."""
    if feature.kind != "whole":
        return feature.kind == "number" and feature.facts.present > 0
    if feature.facts.boolean or integers == "levels" or not feature.facts.present:
        return False
    return integers == "numbers" or not feature.values or len(feature.values) > MOST_WHOLE_LEVELS


def _n_levels(feature: Feature) -> int:
    return 1 if feature.kind == "skip" else len(feature.values) if feature.facts.present else 0


def _coder(table: StreamedTable, i: int, edges: np.ndarray | None, coding: Coding) -> NumberCoder | LevelCoder | None:
    feature, name = table.features[i], table.feature_names[i]
    if feature.kind == "skip":
        return None
    missing_code = int(coding.levels[i]) - 1 if feature.facts.missing else -1
    if edges is not None:
        return NumberCoder(name, edges, missing_code, feature.words)
    return LevelCoder(name, feature.values, missing_code) if feature.facts.present else None


def _target_coder(table: StreamedTable, edges: np.ndarray | None) -> NumberCoder | LevelCoder:
    if edges is not None:
        return NumberCoder(table.target_name, edges, -1)
    # Bools are read as 0 and 1.
    values = tuple(int(value) if isinstance(value, bool) else value for value in table.classes)
    return LevelCoder(table.target_name, values, -1)
