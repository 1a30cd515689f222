"""A column without any value is taken alike, whatever type its container gives it."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from certselect import choose_subset, information_terms, verify
from streamed import BUDGET, always_in_blocks  # noqa: F401

M = 120
TYPES = {
    "none": pa.null(),
    "float": pa.float64(),
    "text": pa.string(),
    "integer": pa.int64(),
    "bool": pa.bool_(),
    "levels": pa.dictionary(pa.int32(), pa.string()),
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


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("kinds", [{}, {"empty": "number"}, {"empty": "levels"}])
@pytest.mark.usefixtures("always_in_blocks")
def test_blocks_give_the_terms_of_the_table_in_memory(tmp_path, kind, kinds):
    pq.write_table(table_with(TYPES[kind]), tmp_path / "t.parquet", row_group_size=40)
    settings = {"measure": "plugin", "missing": "level", "kinds": kinds}
    wanted = information_terms(table_with(pa.float64()), "y", **settings)
    found = information_terms(tmp_path / "t.parquet", "y", memory=BUDGET, **settings)
    assert found.decisions == wanted.decisions
    assert found.levels.tolist() == wanted.levels.tolist()
    assert found.relevance.tolist() == wanted.relevance.tolist()
