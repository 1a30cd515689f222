"""Whichever of the others suits the table."""

from __future__ import annotations

from certselect.information.choice import count_rows, pick_measure
from certselect.information.measure import COUNTS, Measure
from certselect.information.measures.plugin import MEASURE as PLUGIN
from certselect.information.streamed_terms import streamed_terms
from certselect.settings import Measuring
from certselect.settings.measuring import CORRECTIONS, COUNTING_SETTINGS
from certselect.table import Table


def _picked(table: Table, measuring: Measuring) -> tuple[Measuring, str]:
    return pick_measure(table.task, count_rows(table.n_samples, table.weights), measuring)


MEASURE = Measure(
    "auto",
    PLUGIN.measured,
    "plugin for classes, mixed for numbers to predict in at most 20 000 rows",
    COUNTS,
    uses=COUNTING_SETTINGS,
    corrections=tuple(CORRECTIONS),
    missing=("level", "pairwise"),
    sparse=True,
    in_blocks=streamed_terms,
    picks=_picked,
)
