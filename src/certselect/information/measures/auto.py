"""Whichever of the others suits the table."""

from __future__ import annotations

from certselect.information.choice import pick_measure
from certselect.information.measure import COUNTS, Measure
from certselect.information.measures.plugin import MEASURE as PLUGIN
from certselect.information.streamed_terms import streamed_terms
from certselect.settings.measuring import CORRECTIONS, COUNTING_SETTINGS

MEASURE = Measure(
    "auto",
    PLUGIN.measured,
    "plugin, with a correction where one is needed, or gaussian_copula for few rows of numbers",
    COUNTS,
    uses=COUNTING_SETTINGS,
    corrections=tuple(CORRECTIONS),
    missing=("level", "pairwise"),
    sparse=True,
    in_blocks=streamed_terms,
    picks=pick_measure,
)
