"""Whole numbers that floats do not hold, or only as floats with gaps, are the same wherever they come from."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from certselect import information_terms, read_file
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


@pytest.mark.usefixtures("always_in_blocks")
@pytest.mark.parametrize("gaps", [0, 3])
@pytest.mark.parametrize(
    "levels",
    [
        [2**63 + i for i in range(4)],
        [0, 2**64 - 1, 2**64 - 2],
        [10**20 + i for i in range(4)],
        [-(2**63) - i for i in range(3)],
        [10**40 + i for i in range(3)],
    ],
)
def test_text_files_hold_different_whole_numbers_apart(levels, gaps, tmp_path):
    values, y = drawn(levels, gaps)
    lines = ["x,y", *(f"{'' if v is None else v},{label}" for v, label in zip(values, y, strict=True))]
    (tmp_path / "one.csv").write_text("\n".join([*lines, ""]))
    (tmp_path / "parts").mkdir()
    for part, rows in enumerate((lines[1:30], lines[30:])):
        (tmp_path / "parts" / f"{part}.csv").write_text("\n".join([lines[0], *rows, ""]))
    wanted = information_terms(pd.DataFrame({"x": pd.Series(values, dtype=object), "y": y}), "y", **SETTINGS)
    assert wanted.levels.tolist() == [len(levels) + (gaps > 0)]
    assert_same(information_terms(tmp_path / "one.csv", "y", memory=BUDGET, **SETTINGS), wanted)
    assert_same(information_terms(tmp_path / "parts", "y", memory=BUDGET, **SETTINGS), wanted)
    table = read_file(tmp_path / "one.csv", "y", missing="level")
    assert_same(information_terms(table, measure="plugin", correction="none"), wanted)


def test_large_numbers_with_a_point_are_floats(tmp_path):
    (tmp_path / "one.csv").write_text("x,y\n99999999999999999999,0\n0.5,1\n1e30,1\n")
    assert read_file(tmp_path / "one.csv", "y").blocks[0].kind == "number"
