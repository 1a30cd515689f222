"""Intervals of databases are durations, if they hold no months."""

from datetime import timedelta

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from certselect import information_terms
from certselect.errors import InvalidInput
from streamed import BUDGET, always_in_blocks  # noqa: F401

M = 120
SETTINGS = {"measure": "plugin", "correction": "none", "missing": "level"}
INTERVALS = pa.month_day_nano_interval()


def tables(gaps):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, M)
    days, seconds = rng.integers(0, 40, M) + 20 * y, rng.integers(0, 86400, M)
    lacking = np.arange(M) < gaps
    cells = [None if no else (int(d), int(s)) for no, d, s in zip(lacking, days, seconds, strict=True)]
    intervals = pa.array([None if c is None else (0, c[0], c[1] * 10**9 + 5000) for c in cells], INTERVALS)
    durations = [None if c is None else timedelta(days=c[0], seconds=c[1], microseconds=5) for c in cells]
    return pa.table({"x": intervals, "y": y}), pa.table({"x": pa.array(durations), "y": y})


def assert_same(found, wanted):
    assert found.decisions == wanted.decisions
    assert found.levels.tolist() == wanted.levels.tolist()
    assert found.relevance.tolist() == wanted.relevance.tolist()


@pytest.mark.usefixtures("always_in_blocks")
@pytest.mark.parametrize("gaps", [0, 4, M])
def test_intervals_without_months_are_durations(gaps):
    intervals, durations = tables(gaps)
    wanted = information_terms(durations, "y", **SETTINGS)
    assert_same(information_terms(intervals, "y", **SETTINGS), wanted)
    assert_same(information_terms(intervals.to_pandas(types_mapper=pd.ArrowDtype), "y", **SETTINGS), wanted)
    assert_same(information_terms(lambda: intervals.to_batches(17), "y", memory=BUDGET, **SETTINGS), wanted)


@pytest.mark.parametrize("interval", ["INTERVAL (i) MINUTE", "INTERVAL (i) DAY"])
def test_intervals_of_a_database_are_durations(interval):
    found = duckdb.connect().sql(f"SELECT {interval} AS x, (i > 50)::INT AS y FROM range(100) t(i)")
    terms = information_terms(found, "y", **SETTINGS)
    assert [decision.kind for decision in terms.decisions] == ["date"]
    assert terms.relevance[0] > 0


def test_intervals_with_months_are_refused():
    found = duckdb.connect().sql("SELECT INTERVAL (i) MONTH AS x, i % 2 AS y FROM range(100) t(i)")
    with pytest.raises(InvalidInput, match="intervals with months or years in column 'x'"):
        information_terms(found, "y")


def test_intervals_to_predict_are_refused():
    intervals, _ = tables(0)
    with pytest.raises(InvalidInput, match="dates or times"):
        information_terms(pa.table({"z": intervals["y"]}), intervals["x"])
    with pytest.raises(InvalidInput, match="dates or times"):
        information_terms(pa.table({"z": intervals["y"], "x": intervals["x"]}), "x")
