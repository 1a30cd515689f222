"""Distances to nearest neighbours: dependence of any shape in some hundreds of columns."""

from __future__ import annotations

import numpy as np

from certselect.information.measure import DISTANCES, Measure
from certselect.information.neighbors import neighbor_terms
from certselect.information.repeated_rows import merge_repeated_rows
from certselect.information.terms import InformationTerms
from certselect.settings import Measuring
from certselect.table import Table


def _measured(table: Table, measuring: Measuring, *, dtype: np.dtype, n_jobs: int | None) -> InformationTerms:
    return neighbor_terms(table, n_neighbors=measuring.n_neighbors, dtype=dtype, n_jobs=n_jobs)


MEASURE = Measure(
    "neighbors",
    _measured,
    "distances to nearest neighbours: any shape of dependence, some hundreds of columns",
    DISTANCES,
    uses=("n_neighbors",),
    prepared=merge_repeated_rows,
)
