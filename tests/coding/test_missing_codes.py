"""Missing values are the last level of their column, and edges are found by the values that are there."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naive_coding as naive
from certselect.coding import code_table
from certselect.settings.measuring import BIN_RULES, METHODS
from certselect.table import read_table

quick = settings(max_examples=40, deadline=None)


def gappy(cells):
    return st.lists(st.one_of(st.none(), cells), min_size=2, max_size=30)


def coded(columns, missing="level", y=None, kinds=None, **options):
    X = np.empty((len(columns[0]), len(columns)), dtype=object)
    for j, column in enumerate(columns):
        X[:, j] = column
    y = np.arange(len(X)) % 2 if y is None else y
    return code_table(read_table(X, y, missing=missing, kinds=kinds), **options)


@quick
@given(
    gappy(st.integers(-300, 300) | st.integers(-(2**63), 2**63 - 1)), gappy(st.text(max_size=2)), gappy(st.booleans())
)
def test_levels_with_gaps_are_their_twin(whole, text, flags):
    m = min(map(len, (whole, text, flags)))
    columns = [column[:m] for column in (whole, text, flags)]
    level, pairwise = coded(columns), coded(columns, missing="pairwise")
    for i, column in enumerate(columns):
        expected = naive.with_gaps(column, naive.levels)
        assert level.codes[i].tolist() == expected
        assert level.levels[i] == len(set(column))
        assert level.constant[i] == (len(set(column)) == 1)
        assert pairwise.constant[i] == (len({x for x in column if x is not None}) <= 1)
    assert level.absent is None
    assert np.array_equal(pairwise.codes, level.codes)
    assert np.array_equal(pairwise.levels, level.levels)
    if any(None in column for column in columns):
        expected = [len(set(column)) - 1 if None in column else -1 for column in columns]
        assert pairwise.absent.tolist() == expected
        assert pairwise.absent.dtype == np.int64
    else:
        assert pairwise.absent is None


@pytest.mark.parametrize("options", [{"discretize": m} for m in METHODS] + [{"bins": r} for r in BIN_RULES], ids=str)
@quick
@given(gappy(st.one_of(st.integers(-3, 3).map(float), st.floats(-1e100, 1e100))))
def test_numbers_with_gaps_are_cut_as_the_rows_that_have_one(options, column):
    labels = [i % 2 for i in range(len(column))]
    there = [i for i, x in enumerate(column) if x is not None]
    options = {**options, "kinds": {0: "number"}}  # also those that are whole but for the gaps
    found = coded([column], y=labels, **options)
    without = coded([column], "pairwise", y=labels, **options)
    if len({labels[i] for i in there}) < 2:
        return
    alone = coded([[column[i] for i in there]], y=[labels[i] for i in there], **options)
    assert found.coding.edges(0).tobytes() == alone.coding.edges(0).tobytes()
    assert found.codes[0, there].tolist() == alone.codes[0].tolist()
    gaps = [i for i in range(len(column)) if i not in there]
    assert found.levels[0] == alone.levels[0] + bool(gaps)
    assert found.codes[0, gaps].tolist() == [found.levels[0] - 1] * len(gaps)
    assert not (found.constant[0] and gaps)
    assert without.constant[0] == alone.constant[0]
    assert np.array_equal(without.codes, found.codes)


def test_columns_without_any_value():
    X = np.array([[np.nan, 1, np.nan], [np.nan, 2, 0.5], [np.nan, 3, 0.5]])
    level = code_table(read_table(X, [0, 1, 1], missing="level"), bins=5)
    assert level.levels.tolist() == [1, 5, 2]
    assert level.codes[[0, 2]].tolist() == [[0, 0, 0], [1, 0, 0]]
    assert level.constant.tolist() == [True, False, False]
    pairwise = code_table(read_table(X, [0, 1, 1], missing="pairwise"))
    assert pairwise.absent.tolist() == [0, -1, 1]
    assert pairwise.constant.tolist() == [True, False, True]
    for kind in (object, np.float32):
        again = code_table(read_table(X.astype(kind), [0, 1, 1], missing="level"), bins=5, integers="numbers")
        assert np.array_equal(again.codes, level.codes)
    everything = code_table(read_table(X[:, :1], [0, 1, 1], missing="level"))
    assert everything.levels.tolist() == [1]
    assert everything.constant.tolist() == [True]


def test_256_values_and_a_gap_need_more_than_a_byte():
    column = [*range(0, 1024, 4), None]
    found = coded([column], integers="levels")
    assert found.codes.dtype == np.uint16
    assert found.codes[0].tolist() == list(range(257))
    numbers = coded([[float(x) if x is not None else None for x in column]], bins=256)
    assert numbers.codes[0, -1] == 256


def test_integers_with_gaps_may_be_cut_like_numbers():
    found = coded([[0, None, 1, 50, 100]], integers="numbers", bins=4)
    assert found.codes.tolist() == [[0, 4, 1, 2, 3]]


def test_shuffled_rows_keep_their_codes():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 8)).round(1), rng.integers(0, 3, 200)
    X[rng.random(X.shape) < 0.2] = np.nan
    order = rng.permutation(200)
    for method in METHODS:
        one = code_table(read_table(X, y, missing="level"), discretize=method)
        other = code_table(read_table(X[order], y[order], missing="level"), discretize=method)
        assert np.array_equal(one.codes[:, order], other.codes)
        assert all(one.coding.edges(j).tobytes() == other.coding.edges(j).tobytes() for j in range(8))


def test_threads_change_nothing(monkeypatch):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(100, 700))
    X[rng.random(X.shape) < 0.1] = np.nan
    table = read_table(X, np.arange(100) % 2, missing="level")
    for method in METHODS:
        alone = code_table(table, discretize=method, n_jobs=1)
        with monkeypatch.context() as many:
            many.setattr("certselect.coding.tiles._WORTH_THREADS", 0)
            together = code_table(table, discretize=method, n_jobs=3)
        assert np.array_equal(alone.codes, together.codes)


def frames(data):
    import pandas as pd
    import polars as pl
    import pyarrow as pa

    nullable = {"whole": "Int64", "flag": "boolean", "text": "string", "real": "Float64", "kind": "category"}
    arrow = {"whole": "int64[pyarrow]", "flag": "bool[pyarrow]", "text": "string[pyarrow]"}
    table = pa.table(data)
    return [
        pd.DataFrame(data, dtype=object),
        pd.DataFrame(data, dtype=object).astype(nullable),
        pd.DataFrame(data, dtype=object).astype(arrow),
        pl.DataFrame(data),
        pl.DataFrame(data).with_columns(
            pl.col("kind").cast(pl.Categorical), pl.col("text").cast(pl.Enum(["z", "b", "a"]))
        ),
        table,
        table.set_column(4, "kind", table["kind"].dictionary_encode()),
    ]


@pytest.mark.parametrize("missing", ["level", "pairwise"])
def test_every_library_gives_the_same_codes(missing):
    data = {
        "whole": [2**62, None, 2**62 + 1, 2**62, -1],
        "real": [0.5, 1.5, None, 0.25, 1.0],
        "flag": [None, True, False, None, True],
        "text": ["b", "a", None, "b", "b"],
        "kind": ["u", "u", "v", None, "u"],
    }
    y = [0, 1, 0, 1, 1]
    rows = [list(row) for row in zip(*data.values(), strict=True)]
    expected = code_table(read_table(rows, y, missing=missing, feature_names=list(data)), bins=2)
    assert expected.codes.tolist() == [
        [1, 3, 2, 1, 0],
        [0, 1, 2, 0, 1],
        [2, 1, 0, 2, 1],
        [1, 0, 2, 1, 1],
        [0, 0, 1, 2, 0],
    ]
    for frame in frames(data):
        found = code_table(read_table(frame, y, missing=missing), bins=2)
        assert np.array_equal(found.codes, expected.codes)
        assert found.levels.tolist() == expected.levels.tolist()
        assert found.constant.tolist() == expected.constant.tolist()
        assert found.coding.edges(1).tolist() == expected.coding.edges(1).tolist()
