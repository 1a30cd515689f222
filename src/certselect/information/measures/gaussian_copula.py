"""Ranks: numbers whose dependence is rising or falling."""

from __future__ import annotations

import numpy as np

from certselect.information.gaussian_copula import copula_terms
from certselect.information.measure import RANKS, Measure
from certselect.information.terms import InformationTerms
from certselect.settings import Measuring
from certselect.table import Table


def _measured(table: Table, measuring: Measuring, *, dtype: np.dtype, n_jobs: int | None) -> InformationTerms:
    return copula_terms(table, dtype=dtype, n_jobs=n_jobs)


MEASURE = Measure(
    "gaussian_copula",
    _measured,
    "ranks: numbers whose dependence is rising or falling, any number of columns",
    RANKS,
    words=False,
)
