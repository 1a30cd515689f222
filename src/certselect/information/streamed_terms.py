"""streamed_terms: StreamedTable -> InformationTerms, as `measure_table` gives them for a table in memory."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from certselect.clock import Stopwatch
from certselect.coding.copies import resembling_groups
from certselect.coding.streamed import code_stream
from certselect.errors import InvalidInput, keyword
from certselect.information.chance import ChanceInformation, ChancePairs
from certselect.information.choice import cut_integers, pick_measure
from certselect.information.kernels.margins import CountedMargins
from certselect.information.sound_pairs import SoundPairs
from certselect.information.streamed_pairs import NotCounted, StreamedPairs
from certselect.information.terms import Families, InformationTerms
from certselect.settings import Measuring
from certselect.table import Table
from certselect.table.streams.streamed_table import StreamedTable


def streamed_terms(
    table: StreamedTable,
    measuring: Measuring,
    dtype: np.dtype,
    measure_whole: Callable[[Table, Measuring], InformationTerms],
) -> InformationTerms:
    """The information terms of a table that is read in blocks: the same floats as of the table in memory.

    `measure="auto"` may rank a table of few rows, which is then measured in memory by `measure_whole`.
    """
    watch = Stopwatch()
    coding = code_stream(table, measuring)
    picked = ""
    if measuring.measure == "auto":  # the task is known by now
        stated, (measuring, why) = measuring, pick_measure(table.task, table.total_weight, measuring)
        picked = f"{measuring.measure}: {why}"
        if measuring.measure == "mixed":
            return whole_terms(table, stated, measure_whole)
    correction = measuring.correction
    counted = "none" if correction == "chance" else correction
    coded = watch.seconds
    pairs: Any = StreamedPairs(table, coding, counted, dtype, by_chance=correction == "chance")
    sums, constant, levels = pairs.sums, pairs.constant, pairs.levels
    relevance, chance = sums.relevance, None
    find_copies = partial(_copies, pairs, np.stack([relevance, sums.entropy], axis=1), constant)
    absent = coding.coding.absent
    if counted == "none":
        chance = ChanceInformation(
            CountedMargins(levels, pairs.margins, absent), relevance, pairs.logs, pair_sums=pairs.chance_sums
        )
    if correction == "chance" and chance is not None:
        relevance, pairs = np.maximum(relevance - chance.expected, 0.0), ChancePairs(pairs, chance)
    if correction != "none" or absent is not None:
        pairs = SoundPairs(pairs, relevance, sums.entropy)
    described = {name: value for name, value in coding.coding.describe().items() if value is not None}
    whole = [i for i, one in enumerate(table.features) if one.kind == "whole"]
    return InformationTerms(
        relevance=relevance,
        entropy=sums.entropy,
        target_entropy=sums.target_entropy,
        n_samples=table.n_samples,
        feature_names=table.feature_names,
        levels=levels,
        constant=constant,
        pairs=pairs,
        coding=coding.coding,
        by_chance=chance,
        cells=NotCounted(table, measuring),  # type: ignore[arg-type] (it has the two methods that are asked for)
        settings={"measure": "plugin", "correction": correction, **described},
        picked=picked,
        decisions=(*table.decisions, *cut_integers(np.array(whole), coding.coding)),
        find_copies=find_copies,
        seconds={"coding": coded, "relevance": watch.seconds - coded},
    )


def whole_terms(
    table: StreamedTable, measuring: Measuring, measure_whole: Callable[[Table, Measuring], InformationTerms]
) -> InformationTerms:
    """The terms of a table that was to be read in blocks, by a measure that needs all rows together."""
    if not table.is_kept_whole:
        raise InvalidInput(
            f"{table.n_samples} rows in blocks with {keyword('measure', 'mixed')}, which ranks all rows together",
            f"{keyword('measure', 'plugin')}, which counts them block by block",
            f"Pass {keyword('measure', 'plugin')}, or {keyword('memory', spelled='')} enough to hold the table.",
        )
    return measure_whole(table.whole(), measuring)


def _copies(pairs: StreamedPairs, alike: np.ndarray, constant: np.ndarray) -> Families:
    return pairs.copies_among(resembling_groups(alike, constant))
