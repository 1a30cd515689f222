"""Counts of discrete levels: any table, any shape of dependence."""

from __future__ import annotations

import numpy as np

from certselect.coding import CodedTable, SparseCodedTable
from certselect.information.measure import COUNTS, Measure
from certselect.information.plugin import counted_terms
from certselect.information.streamed_terms import streamed_terms
from certselect.information.terms import InformationTerms
from certselect.settings import Measuring
from certselect.settings.measuring import CORRECTIONS, COUNTING_SETTINGS


def _measured(
    coded: CodedTable | SparseCodedTable, measuring: Measuring, *, dtype: np.dtype, n_jobs: int | None
) -> InformationTerms:
    return counted_terms(coded, measuring.correction, dtype=dtype, n_jobs=n_jobs)


MEASURE = Measure(
    "plugin",
    _measured,
    "counts of discrete levels: any table, any shape of dependence",
    COUNTS,
    uses=COUNTING_SETTINGS,
    corrections=tuple(CORRECTIONS),
    missing=("level", "pairwise"),
    sparse=True,
    in_blocks=streamed_terms,
)
