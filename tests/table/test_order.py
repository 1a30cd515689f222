"""Rows in an order of their own: the same for every order they come in, with nothing lost."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st

from certselect.table import read_table
from certselect.table.order import in_own_order


def frame(m=60):
    rng = np.random.default_rng(1)
    data = pd.DataFrame(
        {
            "number": rng.normal(size=m),
            "single": rng.normal(size=m).astype(np.float32),
            "whole": rng.integers(0, 3, m),
            "flag": rng.random(m) < 0.5,
            "city": rng.choice(["Lima", "Oslo", "Rome"], m),
            "gaps": pd.array(rng.integers(0, 2, m), dtype="Int64"),
        }
    )
    data.loc[rng.random(m) < 0.2, ["number", "gaps"]] = None
    return data, rng.integers(0, 3, m)


def cells(table):
    """Everything a table holds, row by row."""
    columns = [np.asarray(table.target), *table.target_numbers.T]
    columns += [] if table.weights is None else [table.weights]
    for block in table.blocks:
        columns += list((block.values.toarray() if table.sparse is not None else block.values).T)
        columns += [] if table.sparse is not None or block.missing is None else list(block.missing.T)
    return np.column_stack([np.asarray(column, dtype=np.float64) for column in columns])


@pytest.mark.parametrize("weighted", [None, "whole", "share"])
def test_no_order_makes_a_difference(weighted):
    X, y = frame()
    rng = np.random.default_rng(2)
    by = {None: None, "whole": rng.integers(1, 4, len(y)), "share": rng.random(len(y))}[weighted]
    expected = cells(in_own_order(read_table(X, y, sample_weight=by)))
    for _ in range(3):
        order = rng.permutation(len(y))
        again = in_own_order(read_table(X.iloc[order], y[order], sample_weight=None if by is None else by[order]))
        np.testing.assert_allclose(cells(again), expected, rtol=1e-14)
    whole = cells(read_table(X, y))
    rows = np.arange(len(y)) if weighted != "whole" else np.repeat(np.arange(len(y)), by)
    kept = expected if weighted != "share" else np.delete(expected, 1, axis=1)
    key = lambda rows: sorted(map(str, rows.tolist()))  # noqa: E731
    assert key(kept) == key(whole[rows])


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2), st.integers(1, 3)), min_size=2, max_size=8))
def test_weights_are_repetitions(rows):
    X, weights = np.array(rows)[:, :2], np.array(rows)[:, 2]
    y = np.arange(len(rows)) % 2
    repeated = np.repeat(np.arange(len(rows)), weights)[::-1]
    one = in_own_order(read_table(X, y, sample_weight=weights))
    other = in_own_order(read_table(X[repeated], y[repeated]))
    assert one.weights is None
    np.testing.assert_array_equal(cells(one), cells(other))


def test_sparse_rows():
    rng = np.random.default_rng(3)
    X, y = rng.poisson(0.5, (40, 6)), rng.integers(0, 2, 40)
    order = rng.permutation(40)
    one, other = (
        in_own_order(read_table(scipy.sparse.csr_matrix(X[rows]), y[rows])) for rows in (np.arange(40), order)
    )
    np.testing.assert_array_equal(cells(one), cells(other))
    assert sorted(cells(one).tolist()) == sorted(np.column_stack([y, X]).tolist())


def test_zeros_and_gaps_of_every_form_are_the_same():
    other_nan = np.array([0x7FF8000000000123], dtype=np.uint64).view(np.float64)[0]
    y = [0, 1, 0, 1]
    one = in_own_order(read_table([[0.0], [1.5], [np.nan], [2.5]], y, missing="level"))
    other = in_own_order(read_table(np.array([[-0.0], [1.5], [other_nan], [2.5]]), y, missing="level"))
    np.testing.assert_array_equal(cells(one), cells(other))


def test_weights_beyond_memory_stay_weights():
    table = in_own_order(read_table([[0, 1], [1, 0], [1, 1]], [0, 1, 1], sample_weight=[10**9, 1, 2]))
    assert sorted(table.weights.tolist()) == [1, 2, 10**9]
