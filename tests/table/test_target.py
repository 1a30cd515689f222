"""Targets of any labels; and those that are none."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from scipy import sparse

from certselect.errors import InvalidInput
from certselect.table import read_table


def target_of(y):
    m = len(y)
    table = read_table(np.arange(m)[:, None], y)
    assert table.target.dtype == np.int32
    return [table.classes[code] for code in table.target], table.classes


def refused(y, m=None, **options) -> str:
    with pytest.raises(InvalidInput) as caught:
        read_table(np.zeros((m or len(y), 1)), y, **options)
    return str(caught.value)


@pytest.mark.parametrize(
    "y",
    [
        [3, 1, 2, 1],
        ["b", "a", "", "a"],
        [True, False, True, True],
        [2.0, -1.0, 2.0, 5.0],
        (1, 2, 1, 2),
        [(0, 1), (1, 0), (0, 1), (1, 1)],
        [2**70, 1, 2**70, 0],
        [-1, 2**63, 0, 0],
        [b"x", b"y", b"x", b"x"],
        [Fraction(1, 2), Fraction(1, 3), Fraction(1, 2), Fraction(1, 3)],
    ],
)
def test_labels_come_back_in_order(y):
    labels, classes = target_of(y)
    assert labels == list(y)
    assert list(classes) == sorted(set(y))
    if not isinstance(y[0], tuple | Fraction):
        labels, classes = target_of(np.array(y))
        assert labels == np.array(y).tolist()
        assert list(classes) == sorted(set(y))


def test_unsortable_labels_have_an_order_that_rows_do_not_change():
    y = [1, "a", (2, "b"), "1", 1.5, b"c"]
    found = {target_of(y[turn:] + y[:turn])[1] for turn in range(len(y))}
    assert len(found) == 1
    labels, _ = target_of(np.array(y, dtype=object))
    assert labels == y


def test_equal_labels_of_different_types_are_one_class_by_one_name():
    for y in ([1, True, "a", 1.0], ["a", 1.0, True, 1]):
        assert list(map(repr, target_of(y)[1])) == ["True", "'a'"]


def test_series_of_every_library_are_read():
    import pandas as pd
    import polars as pl
    import pyarrow as pa

    words = ["b", "a", "b", "c"]
    for y in (
        pd.Series(words),
        pd.Series(words, index=[9, 9, 1, 0]),
        pd.Series(words, dtype=pd.CategoricalDtype(["c", "unused", "b", "a"])),
        pd.Categorical(words),
        pd.Index(words),
        pd.DataFrame({"y": words}),
        pl.Series(words),
        pl.Series(words, dtype=pl.Enum(["unused", "c", "b", "a"])),
        pl.DataFrame({"y": words}),
        pa.chunked_array([words]),
        pa.array(words),
        np.array(words)[:, None],
        np.array(words, dtype=object),
        [[word] for word in words],
    ):
        assert target_of(y) == (words, ("a", "b", "c"))
    whole = [3, 1, 3, 2]
    for y in (
        pd.Series(whole, dtype="Int8"),
        pd.Series(whole, dtype="int64[pyarrow]"),
        pl.Series(whole),
        pa.array(whole),
    ):
        assert target_of(y) == (whole, (1, 2, 3))
    flags = [True, False, True, True]
    for y in (pd.Series(flags, dtype="boolean"), pl.Series(flags), pd.Series(flags, dtype=object)):
        assert target_of(y) == (flags, (False, True))


def test_integers_that_only_floats_could_hold_stay_apart():
    y = [-1, 2**63, 2**63 + 1, 2**63]
    assert target_of(y) == (y, (-1, 2**63, 2**63 + 1))


def test_minus_zero_is_zero():
    for y in ([-0.0, 0.0, 1.0], [0.0, -0.0, 1.0]):
        assert list(map(repr, target_of(np.array(y))[1])) == ["0.0", "1.0"]


@pytest.mark.parametrize("missing", [None, float("nan")])
@pytest.mark.parametrize("rest", [["a", "b"], [1, 2], [1.0, 2.0]])
def test_missing_labels_are_refused(missing, rest):
    for y in ([*rest, missing], np.array([*rest, missing], dtype=object)):
        assert "missing labels (NaN, None or null) in y, in 1 of 3 rows" in refused(y)


def test_missing_labels_of_every_library_are_refused():
    import pandas as pd
    import polars as pl

    for y in (
        pd.Series([1, None, 2], dtype="Int64"),
        pd.Series([True, None, False], dtype="boolean"),
        pd.Series(["a", None, "b"]),
        pd.Series(["a", None, "b"], dtype="category"),
        pl.Series([1, None, 2]),
        pl.Series(["a", None, "b"]),
        np.ma.array([1, 2, 3], mask=[0, 1, 0]),
    ):
        assert "in 1 of 3 rows" in refused(y)


def test_continuous_targets_are_no_labels():
    for y in (np.array([0.5, 1.0, 2.0]), [0.5, 1, 2]):
        message = refused(y, task="classification")
        assert "Unknown label type: continuous" in message
        assert "bin the target" in message
    assert "inf" in refused(np.array([0.0, np.inf, 1.0]))


@pytest.mark.parametrize(("dtype", "step"), [(np.int8, 4), (np.int64, 2**57), (np.float64, 2.0**57), (np.uint8, 4)])
def test_many_whole_numbers_are_a_number_to_predict_however_far_apart(dtype, step):
    lowest = 0 if dtype == np.uint8 else -32
    y = np.array([(lowest + i) * step for i in range(64)]).astype(dtype)
    assert read_table(np.arange(128).reshape(64, 2) % 5, y).target_numbers.shape == (64, 1)


def test_one_class_and_one_sample_are_refused():
    message = refused(["spam"] * 5)
    assert "one class" in message
    assert "'spam'" in message
    assert "No feature carries information" in message
    assert "1 sample" in refused(["spam"])


@pytest.mark.parametrize(
    ("y", "words"),
    [
        (None, "requires y to be passed, but the target y is None"),
        (np.zeros((3, 2)), "one class only of all rows: (0.0, 0.0)"),
        (np.zeros((3, 2, 1)), "shape (3, 2, 1)"),
        (np.zeros((3, 0)), "shape (3, 0)"),
        ([[0, 1], [1, 0], [1]], "rows of different lengths in y"),
        (sparse.csr_array(np.eye(3)), "y as a sparse matrix"),
        (5, "shape ()"),
        ("abc", "shape ()"),
        ([0, 1], "X with 3 rows and y with 2 labels"),
        ([], "X with 3 rows and y with 0 labels"),
        (np.array([1j, 0, 1]), "Complex data not supported"),
        (np.array(["2020", "2021", "2022"], dtype="M8[Y]"), "dates or times in y"),
        ([{1}, {2}, {1}], "cannot be hashed"),
    ],
)
def test_what_is_no_target_is_refused(y, words):
    assert words in refused(y, 3)
