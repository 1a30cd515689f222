"""What cannot be read is refused in words that say what to do."""

from __future__ import annotations

import numpy as np
import pytest

from certselect.errors import InvalidInput
from certselect.table import read_table

Y = [0, 1, 0, 1]


def refused(X, y=Y, **options) -> str:
    with pytest.raises(InvalidInput) as caught:
        read_table(X, y, **options)
    return str(caught.value)


def test_missing_numbers_name_their_columns_and_count_the_rest():
    X = np.zeros((4, 10))
    X[1, 2:9] = X[2, 3] = np.nan
    message = refused(X)
    assert "NaN" in message
    assert "columns 'x2', 'x3', 'x4', 'x5', 'x6' and 2 more, in 2 of 4 rows" in message


@pytest.mark.parametrize("missing", [None, float("nan"), np.float32("nan")])
def test_missing_objects_are_found_among_strings(missing):
    X = np.array([["a", 1], ["b", 2], [missing, 3], ["a", 4]], dtype=object)
    assert "column 'x0', in 1 of 4 rows" in refused(X)


def test_missing_values_of_every_library_are_found():
    import pandas as pd
    import polars as pl
    import pyarrow as pa

    whole = {"a": [1, None, 3, None], "b": [1, 2, 3, 4]}
    text = {"a": ["u", None, "v", None], "b": [1, 2, 3, 4]}
    flags = {"a": [True, None, False, None], "b": [1, 2, 3, 4]}
    for frame in (
        *(make(data) for make in (pd.DataFrame, pl.DataFrame, pa.table) for data in (whole, text, flags)),
        pd.DataFrame(whole).astype({"a": "Int64"}),
        pd.DataFrame(whole).astype({"a": "Float32"}),
        pd.DataFrame(whole).astype({"a": "int64[pyarrow]"}),
        pd.DataFrame(flags).astype({"a": "boolean"}),
        pd.DataFrame(text).astype({"a": "category"}),
        pd.DataFrame(text).astype({"a": "string"}),
        pd.DataFrame({"a": ["u", pd.NA, "v", pd.NaT], "b": [1, 2, 3, 4]}, dtype=object),
        pl.DataFrame({"a": [None] * 4}).with_columns(b=1),
    ):
        message = refused(frame, missing="error")
        assert "NaN" in message
        assert "column 'a', in " in message
        assert "missing='level' or 'pairwise'" in message


def test_infinities_name_their_columns():
    X = np.zeros((4, 3))
    X[0, 1], X[3, 1] = np.inf, -np.inf
    message = refused(X)
    assert "infinity" in message
    assert "column 'x1', in 2 of 4 rows" in message
    X[0, 0] = np.nan
    for missing in ("error", "level", "pairwise"):
        assert "infinity or -infinity (inf) in column 'x1', in 2 of 4 rows" in refused(X, missing=missing)


def test_unknown_options_are_refused_with_the_choices():
    assert "one of auto, error, level, pairwise" in refused(np.eye(4), missing="drop")
    assert "one of auto, classification, regression" in refused(np.eye(4), task="multilabel")


@pytest.mark.parametrize(
    ("X", "words"),
    [
        (np.zeros(4), "reshape(-1, 1)"),
        (np.zeros((4, 1, 1)), "2D array"),
        (3.5, "2D array"),
        (None, "2D array"),
        ("table.csv", "read_file"),
        (np.zeros((0, 3)), "a table of 3 columns without any row"),
        (np.zeros((4, 0)), "0 feature(s) (shape=(4, 0)) while a minimum of 1 is required."),
        (np.zeros((4, 1), dtype=complex), "Complex data not supported"),
        (np.array([[1j]] * 4, dtype=object), "Complex data not supported"),
        (np.zeros((4, 1), dtype=[("a", int)]), "data frame"),
        ([[1, 2], [3]], "rows of different lengths"),
        (np.zeros((3, 1)), "X with 3 rows and y with 4 labels"),
        (np.array([[{"foo": "bar"}], [1], [2], [3]], dtype=object), "column 'x0'"),
    ],
)
def test_what_is_no_table_is_refused(X, words):
    assert words in refused(X)


def test_cells_that_cannot_be_hashed_are_a_type_error_too():
    X = np.array([[{"foo": "bar"}], [1], [2], [3]], dtype=object)
    with pytest.raises(TypeError, match=r"argument must be .* string.* number"):
        read_table(X, Y)


def test_lists_in_frames_are_refused():
    import pandas as pd
    import polars as pl

    assert "cannot be hashed" in refused(pl.DataFrame({"a": [[1], [2], [3], [4]]}))
    assert ".collect()" in refused(pl.LazyFrame({"a": [1, 2, 3, 4]}))
    assert "reshape" in refused(pd.Series([1, 2, 3, 4]))


def test_names_must_fit_and_differ():
    import pandas as pd
    import pyarrow as pa

    X = np.eye(4)
    assert "3 feature names" in refused(X, feature_names=["a", "b", "c"])
    assert "'b'" in refused(X, feature_names=["a", "b", "c", "b"])
    assert "a sequence of names" in refused(X, feature_names="abcd")
    assert "'1'" in refused(pd.DataFrame(X[:, :2], columns=[1, "1"]))
    assert "'a'" in refused(pd.DataFrame(X[:, :2], columns=["a", "a"]))
    assert "'a'" in refused(pa.table([[1, 2, 3, 4], [1, 2, 3, 4]], names=["a", "a"]))


def test_a_long_name_does_not_fill_the_message():
    message = refused(np.full((4, 1), np.nan), feature_names=["n" * 100_000])
    assert len(message) < 500
    assert "nnn..." in message
