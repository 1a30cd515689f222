"""A column without any value is taken alike, whatever type its container gives it."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from certselect import choose_subset, information_terms, verify

M = 120
TYPES = {
    "none": pa.null(),
    "float": pa.float64(),
    "text": pa.string(),
    "date": pa.date32(),
    "duration": pa.duration("us"),
}


def table_with(kind):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, M)
    return pa.table({"x": rng.normal(size=M) + y, "z": rng.normal(size=M), "empty": pa.nulls(M, kind), "y": y})


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("measure", ["plugin", "auto", "gaussian_copula", "neighbors"])
def test_any_type_gives_the_same_terms(measure, kind):
    settings = {"measure": measure, "missing": "pairwise"}
    wanted = information_terms(table_with(pa.float64()), "y", **settings)
    found = information_terms(table_with(TYPES[kind]), "y", **settings)
    assert found.decisions == wanted.decisions
    assert found.levels.tolist() == wanted.levels.tolist()
    assert found.picked == wanted.picked


@pytest.mark.parametrize("kind", ["date", "duration"])
def test_a_typed_column_is_verified_without_its_type(kind):
    table = table_with(TYPES[kind])
    result = choose_subset(table, "y", 1)
    untyped = table.set_column(2, "empty", pa.nulls(M))
    assert verify(result, untyped).reasons == ()


def test_ranks_are_verified_without_a_type():
    table = table_with(pa.float64()).to_pandas()
    result = choose_subset(table, "y", 1, measure="gaussian_copula")
    untyped = table.assign(empty=pd.Series([None] * M, dtype=object))
    assert verify(result, untyped).reasons == ()
