"""Weights of rows: whole ones are kept, others scaled, rows of weight 0 are gone."""

from __future__ import annotations

import numpy as np
import pytest

from certselect.errors import InvalidInput
from certselect.table import read_table

X = np.array([[0, 1], [2, 3], [4, 5], [6, 7]])
Y = ["a", "b", "a", "c"]


def weights_of(sample_weight, X=X, y=Y):
    table = read_table(X, y, sample_weight=sample_weight)
    return None if table.weights is None else table.weights.tolist()


def test_weights_of_every_library_are_read():
    import pandas as pd
    import polars as pl
    import pyarrow as pa

    values = [3, 1, 2, 1]
    for given in (
        values,
        tuple(values),
        np.array(values, dtype=np.uint8),
        np.array(values, dtype=np.float32)[:, None],
        np.array(values, dtype=object),
        pd.Series(values, index=[5, 5, 1, 0]),
        pd.Series(values, dtype="Int64"),
        pl.Series(values),
        pa.array(values),
        pl.DataFrame({"w": values}),
    ):
        assert weights_of(given) == values


def test_weights_that_are_all_the_same():
    assert weights_of(None) is None
    assert weights_of([1, 1, 1, 1]) is None
    assert weights_of([1.0] * 4) is None
    assert weights_of([0.3] * 4) is None
    assert weights_of([2] * 4) == [2] * 4  # every row twice


def test_weights_that_are_not_whole_add_up_to_the_rows():
    assert weights_of([0.5, 0.5, 1.5, 1.5]) == [0.5, 0.5, 1.5, 1.5]
    assert weights_of([0.125, 0.125, 0.375, 0.375]) == [0.5, 0.5, 1.5, 1.5]
    assert weights_of([0.5, 0, 1.5, 1]) == [0.5, 1.5, 1]
    assert weights_of([1e308, 1e308, 1e308, 1.5e308]) == pytest.approx([8 / 9, 8 / 9, 8 / 9, 4 / 3])
    assert min(weights_of([1e308, 1.5, 1.5, 5e-324])) > 0
    rng = np.random.default_rng(0)
    weights, order = rng.random(1000), rng.permutation(1000)
    y = np.arange(1000) % 3
    one = read_table(y[:, None], y, sample_weight=weights).weights
    other = read_table(y[order, None], y[order], sample_weight=weights[order]).weights
    assert one[order].tobytes() == other.tobytes()
    assert one.sum() == pytest.approx(1000)


def test_rows_of_weight_0_are_gone_from_everything():
    import pandas as pd
    import polars as pl
    import pyarrow as pa

    data = {"a": [1, 2, 3, 1], "b": ["u", "v", "w", "u"], "c": [0.5, np.inf, 1.0, np.nan]}
    rows = np.array([list(row) for row in zip(*data.values(), strict=True)], dtype=object)
    for frame in (pd.DataFrame(data, index=[3, 3, 3, 3]), pl.DataFrame(data), pa.table(data), rows, rows.tolist()):
        table = read_table(frame, [["a", 0.5], ["b", None], ["b", 1.5], [None, np.inf]], sample_weight=[1, 0, 1, 0])
        assert table.n_samples == 2
        assert table.weights is None
        assert table.classes == ("a", "b")
        assert table.target_numbers.tolist() == [[0.5], [1.5]]
        assert [block.values.tolist() for block in table.blocks if block.kind != "category"] in (
            [[[1], [3]], [[0.5], [1.0]]],
            [[[0.5], [1.0]], [[1], [3]]],
        )
        (words,) = (block.vocabularies for block in table.blocks if block.kind == "category")
        assert words == (("u", "w"),)
    masked = np.ma.array(X, mask=X == 3)
    assert read_table(masked, Y, sample_weight=[1, 0, 1, 1]).missing == "error"


def test_rows_of_a_weighted_table_keep_their_weights():
    table = read_table(X, Y, sample_weight=[0.5, 0.5, 1.5, 1.5])
    assert table.rows(np.array([2, 0])).weights.tolist() == [1.5, 0.5]


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (1, "sample_weight=1"),
        (2.5, "sample_weight=2.5"),
        (np.float64(2), "sample_weight="),
        ("balanced", "sample_weight='balanced'"),
        (np.array(3.0), "shape ()"),
        ([1, 2, 3], "3 weights for 4 rows"),
        (np.ones((4, 2)), "2 columns of 4 weights for 4 rows"),
        ([1, 2, -3, 1], "the negative weight -3.0"),
        ([1, 2, np.nan, 1], "missing weights"),
        ([1, 2, None, 1], "missing weights"),
        ([1, 2, np.inf, 1], "infinity (inf) in sample_weight"),
        (["1", "2", "3", "1"], "something else than numbers"),
        ([0, 0, 0, 0], "zero for all rows but 0"),
        ([0, 0, 3, 0], "zero for all rows but 1"),
    ],
)
def test_what_are_no_weights_is_refused(given, words):
    with pytest.raises(InvalidInput) as caught:
        weights_of(given)
    assert words in str(caught.value)


def test_the_rows_that_are_left_must_differ():
    with pytest.raises(InvalidInput, match="one class only of the rows whose sample_weight is not zero: 'a'"):
        weights_of([1, 0, 2, 0])
