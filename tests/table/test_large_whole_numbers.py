"""Whole numbers that floats do not hold, or only as floats with gaps, are the same wherever they come from."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from certselect import information_terms
from streamed import BUDGET, always_in_blocks  # noqa: F401

M = 120
SETTINGS = {"measure": "plugin", "correction": "none", "missing": "level"}


def drawn(levels, gaps=0):
    rng = np.random.default_rng(0)
    values = [levels[place] for place in rng.integers(0, len(levels), M)]
    return [None] * gaps + values[gaps:], [levels.index(value) % 2 for value in values]


def assert_same(found, wanted):
    assert found.levels.tolist() == wanted.levels.tolist()
    assert found.relevance.tolist() == wanted.relevance.tolist()
    assert found.decisions == wanted.decisions


@pytest.mark.usefixtures("always_in_blocks")
@pytest.mark.parametrize("levels", [[2**60 + 1024 * i for i in range(4)], [-(2**62), 0, 2**62]])
def test_whole_floats_with_gaps_are_integers_of_64_bits(levels, tmp_path):
    values, y = drawn(levels, gaps=3)
    integers = pa.table({"x": pa.array(values, pa.int64()), "y": y})
    floats = pa.table({"x": pa.array([None if v is None else float(v) for v in values]), "y": y})
    pq.write_table(floats, tmp_path / "floats.parquet", row_group_size=50)
    wanted = information_terms(integers, "y", **SETTINGS)
    assert wanted.levels.tolist() == [len(levels) + 1]
    assert_same(information_terms(floats.to_pandas(), "y", **SETTINGS), wanted)
    assert_same(information_terms(pd.DataFrame({"x": pd.array(values, "Int64"), "y": y}), "y", **SETTINGS), wanted)
    assert_same(information_terms(tmp_path / "floats.parquet", "y", memory=BUDGET, **SETTINGS), wanted)
