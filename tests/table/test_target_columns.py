"""Numbers as targets, and several target columns."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from certselect.errors import InvalidInput
from certselect.table import read_table


def read(y, **options):
    return read_table(np.arange(len(y))[:, None] / 2, y, **options)


def refused(y, **options) -> str:
    with pytest.raises(InvalidInput) as caught:
        read(y, **options)
    return str(caught.value)


def test_numbers_that_are_not_whole_are_a_regression():
    from decimal import Decimal

    import pandas as pd
    import polars as pl
    import pyarrow as pa

    values = [0.5, 2.0, -1.25]
    for y in (
        values,
        np.array(values),
        np.array(values, dtype=np.float32),
        np.array(values)[:, None],
        np.array(values, dtype=object),
        [Decimal("0.5"), 2, -1.25],
        pd.Series(values),
        pd.Series(values, dtype="Float64"),
        pl.Series(values),
        pa.array(values),
        pd.DataFrame({"y": values}),
    ):
        table = read(y)
        assert table.task == "regression"
        assert table.target_numbers.tolist() == [[value] for value in values]
        assert table.target_numbers.dtype == np.float64
        assert table.target.tolist() == [0, 0, 0]
        assert table.target.dtype == np.int32
        assert len(table.classes) == 1


def test_the_task_may_be_said():
    assert read([1, 2, 2]).task == "classification"
    assert read([1.0, 2.0, 2.0]).task == "classification"
    assert read([1.0, 2.0, 2.0]).target_numbers.shape == (3, 0)
    table = read([1, 2, 2], task="regression")
    assert table.target_numbers.tolist() == [[1], [2], [2]]
    assert read([True, False, True], task="regression").target_numbers.tolist() == [[1], [0], [1]]
    assert "something else than numbers" in refused(["a", "b", "c"], task="regression")
    assert "something else than numbers" in refused([[1, "b"], [2, "a"], [3, "a"]], task="regression")
    assert "Unknown label type: continuous" in refused([[1, 0.5], [2, 1], [3, 2]], task="classification")


def test_constant_numbers_are_refused():
    assert "the same target of all rows: [0.5]" in refused([0.5, 0.5])
    assert "the same target of all rows: [3.0, 0.0]" in refused([[3, 0.0], [3, -0.0]], task="regression")
    assert "one class only of all rows: ('a', 1)" in refused([["a", 1], ["a", 1]])
    assert "missing labels" in refused([0.5, np.nan, 1.0])
    assert "inf" in refused([0.5, np.inf, 1.0])


def label_frames(first, second):
    import pandas as pd
    import polars as pl
    import pyarrow as pa

    data = {"p": first, "q": second}
    objects = np.array([first, second], dtype=object).T
    doubled = pd.DataFrame(data)
    doubled.columns = ["same", "same"]
    return [objects, objects.tolist(), pd.DataFrame(data), doubled, pl.DataFrame(data), pa.table(data)]


def test_several_label_columns_are_taken_together():
    for y in label_frames(["b", "a", "b", "b"], [2, 1, 1, 2]):
        table = read(y)
        assert table.classes == (("a", 1), ("b", 1), ("b", 2))
        assert table.target.tolist() == [2, 0, 1, 2]
        assert table.target.dtype == np.int32
        assert table.task == "classification"
    indicators = read(np.array([[0, 1, 0], [1, 1, 0], [0, 0, 0], [1, 1, 0]]))
    assert indicators.classes == ((0, 0, 0), (0, 1, 0), (1, 1, 0))


def test_labels_and_numbers_side_by_side():
    for y in label_frames([0.5, 1.0, 2.5, 0.5], ["b", "a", "b", "a"]):
        table = read(y)
        assert table.classes == ("a", "b")
        assert table.target.tolist() == [1, 0, 1, 0]
        assert table.target_numbers.tolist() == [[0.5], [1.0], [2.5], [0.5]]
        assert table.task == "regression"
    for y in label_frames([0.5, 1.0, 2.5, 0.5], [7.5, 7.5, 7.5, 7.5]):  # a constant beside another is fine
        assert read(y).target_numbers.T.tolist() == [[0.5, 1.0, 2.5, 0.5], [7.5] * 4]
    same = read([[0.5, "a"], [1.0, "a"]])
    assert same.classes == ("a",)


def test_many_label_columns_do_not_overflow():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 1000, (50, 40))
    table = read(y, task="classification")
    assert table.classes == tuple(sorted(map(tuple, y.tolist())))
    assert [table.classes[code] for code in table.target] == list(map(tuple, y.tolist()))


def test_rows_of_a_regression():
    table = read([[0.5, "a"], [1.0, "b"], [2.5, "c"]]).rows(np.array([2, 0]))
    assert table.target_numbers.tolist() == [[2.5], [0.5]]
    assert table.classes == ("a", "c")


@pytest.mark.parametrize("dtype", [int, float, object])
def test_many_whole_numbers_may_be_a_measurement(dtype):
    y = np.arange(30).astype(dtype)
    found = read(y)
    assert found.task == "regression"
    assert found.decisions[-1].kind == "target"
    assert found.decisions[-1].why.startswith("30 different whole numbers in 30 rows")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert read(y, task="classification").task == "classification"
        assert read(y, task="regression").task == "regression"
        assert read(y[:20]).task == "classification"  # few rows
        assert read(y // 2).task == "classification"  # few labels
        assert read(y.astype(str)).task == "classification"


def test_rows_of_tuples_are_rows():
    pairs = [(0.5, "a"), (1.5, "b"), (2.5, "a")]
    for y in (pairs, list(map(list, pairs)), tuple(pairs)):
        table = read_table(np.arange(3)[:, None], y)
        assert table.target_numbers.ravel().tolist() == [0.5, 1.5, 2.5]
        assert table.classes == ("a", "b")


def test_a_measurement_in_whole_numbers_is_predicted_as_one():
    y = np.arange(300) % 75  # four rows each
    X = np.arange(300)[:, None] % 7
    assert read_table(X, y).task == "regression"
    assert len(read_table(X, np.arange(300) % 60).classes) == 60
    assert len(read_table(X, y, task="classification").classes) == 75
    assert read_table(X, y, task="regression").decisions == ()
