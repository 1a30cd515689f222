"""Whichever of the others suits the table."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from certselect.information.choice import count_rows, pick_measure
from certselect.information.measure import COUNTS, Measure
from certselect.information.measures.mixed import read_whole
from certselect.information.measures.plugin import MEASURE as PLUGIN
from certselect.information.streamed_terms import streamed_terms
from certselect.information.terms import InformationTerms
from certselect.settings import Measuring
from certselect.settings.measuring import CORRECTIONS, COUNTING_SETTINGS
from certselect.table import StreamedTable, Table


def _picked(table: Table, measuring: Measuring) -> tuple[Measuring, str]:
    return pick_measure(table.task, count_rows(table.n_samples, table.weights), measuring)


def _in_blocks(
    table: StreamedTable,
    measuring: Measuring,
    dtype: np.dtype,
    measure_whole: Callable[[Table, Measuring], InformationTerms],
) -> InformationTerms:
    picked, why = pick_measure(table.task, table.total_weight, measuring)
    if picked.measure == "mixed":
        return read_whole(table, measuring, dtype, measure_whole)
    return replace(streamed_terms(table, picked, dtype, measure_whole), picked=f"{picked.measure}: {why}")


MEASURE = Measure(
    "auto",
    PLUGIN.measured,
    "plugin for classes, mixed for numbers to predict in at most 20 000 rows",
    COUNTS,
    uses=COUNTING_SETTINGS,
    corrections=tuple(CORRECTIONS),
    missing=("level", "pairwise"),
    sparse=True,
    in_blocks=_in_blocks,
    picks=_picked,
)
