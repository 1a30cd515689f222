"""Sparse tables have the codes, levels and edges of the dense ones."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

import naive_coding as naive
from certselect.coding import CodedTable, SparseCodedTable, code_table
from certselect.errors import InvalidInput
from certselect.settings.measuring import METHODS
from certselect.table import read_table

quick = settings(max_examples=40, deadline=None)
OPTIONS = [{"discretize": method} for method in METHODS]
OPTIONS += [{"discretize": method, "bins": 3} for method in ("uniform", "quantile")]
OPTIONS += [{"bins": 40}, {"bins": "sqrt"}, {"discretize": "quantile", "bins": "freedman_diaconis"}]
integers = st.sampled_from([0, 0, 0, 0, 1, 1, 2, -7, 300, 2**62, -(2**63)])
numbers = st.sampled_from([0.0, 0.0, 0.0, 1.0, 0.5, -2.0, 1e-300, 1e308, -1e308, np.nan])


def matrices(cells):
    shape = st.tuples(st.integers(2, 9), st.integers(1, 5))
    return shape.flatmap(
        lambda mn: st.lists(st.lists(cells, min_size=mn[1], max_size=mn[1]), min_size=mn[0], max_size=mn[0])
    )


def assert_same(found, dense) -> None:
    assert isinstance(found, SparseCodedTable)
    assert isinstance(dense, CodedTable)
    n, m = dense.codes.shape
    assert naive.expanded(found.starts, found.rows, found.codes, found.background, m) == dense.codes.tolist()
    assert found.levels.tolist() == dense.levels.tolist()
    assert found.constant.tolist() == dense.constant.tolist()
    assert found.target.tolist() == dense.target.tolist()
    assert found.classes == dense.classes
    for i in range(n):
        one, other = found.coding.edges(i), dense.coding.edges(i)
        assert (one is None and other is None) or one.tobytes() == other.tobytes()
        cells = slice(found.starts[i], found.starts[i + 1])
        assert (np.diff(found.rows[cells]) > 0).all()
        assert (found.codes[cells] != found.background[i]).all()
    assert [found.starts.dtype, found.rows.dtype, found.codes.dtype] == [np.int64, np.int32, np.uint32]


def check(X, y=None, weights=None, **options):
    y = np.arange(len(X)) % 2 if y is None else y
    # Floats of a sparse matrix are numbers even if they are whole but for missing ones.
    kinds = dict.fromkeys(range(X.shape[1]), "number") if X.dtype.kind == "f" else None
    tables = [
        read_table(sparse.csr_array(X), y, missing="level", sample_weight=weights),
        read_table(X, y, missing="level", sample_weight=weights, kinds=kinds),
    ]
    found, dense = (code_table(table, **options) for table in tables)
    assert_same(found, dense)


@quick
@given(matrices(integers))
def test_integers_by_their_levels(cells):
    check(np.array(cells, dtype=np.int64))
    check(np.array(cells) == 1)


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@quick
@given(matrices(numbers))
def test_numbers_with_gaps(options, cells):
    check(np.array(cells), **options)
    check(np.clip(np.array(cells), -1e38, 1e38).astype(np.float32), **options)


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_a_larger_table(options):
    rng = np.random.default_rng(0)
    X = np.where(rng.random((90, 40)) < 0.2, rng.normal(size=(90, 40)), 0)
    X[rng.random((90, 40)) < 0.02] = np.nan
    X[:, 3], X[:, 4], X[:, 5], X[:, 6] = 0, np.nan, 2.5, rng.normal(size=90)
    check(X, rng.integers(0, 3, 90), **options)
    check(X, rng.normal(size=90), rng.integers(0, 3, 90), **options)
    check(X, rng.normal(size=90), rng.random(90), **options)
    whole = rng.poisson(0.4, (90, 40))
    check(whole, integers="numbers", **options)
    check(whole.astype(np.uint8), integers="numbers", **options)
    check(whole > 0, integers="numbers", **options)


def test_slices_of_filled_up_columns_are_put_together(monkeypatch):
    monkeypatch.setattr("certselect.coding.sparse._SLICE_CELLS", 64)
    rng = np.random.default_rng(1)
    X = np.where(rng.random((50, 30)) < 0.3, rng.normal(size=(50, 30)), 0)
    for options in OPTIONS:
        check(X, **options)


def test_gaps_cannot_be_left_out_of_a_sparse_table():
    X = np.array([[0, np.nan], [1, 0], [0, 0.5]])
    table = read_table(sparse.coo_array(X), [0, 1, 1], missing="pairwise")
    with pytest.raises(InvalidInput, match="missing='level', or a dense table"):
        code_table(table)
    complete = read_table(sparse.coo_array(np.nan_to_num(X)), [0, 1, 1], missing="pairwise")
    assert_same(code_table(complete), code_table(read_table(np.nan_to_num(X), [0, 1, 1])))


@pytest.mark.parametrize("dtype", [np.int64, np.float32])
def test_memory_grows_with_the_cells_that_are_stored(dtype):
    rng = np.random.default_rng(0)
    shape, cells = (200_000, 100_000), 300_000  # 20 thousand million cells, which no memory here would hold
    X = sparse.coo_array(
        (rng.integers(1, 5, cells).astype(dtype), (rng.integers(0, shape[0], cells), rng.integers(0, shape[1], cells))),
        shape=shape,
    )
    found = code_table(read_table(X, np.arange(shape[0]) % 2))
    assert len(found.rows) <= cells
    column = X.tocsc()[:, [77]].toarray()
    dense = code_table(read_table(column, np.arange(shape[0]) % 2))
    assert (
        naive.expanded(found.starts[77:79], found.rows, found.codes, found.background[77:78], shape[0])
        == dense.codes.tolist()
    )


def test_balanced_columns_and_mostly_zeros_keep_their_levels():
    X = np.column_stack([np.repeat([0.0, 0.6], 20), np.repeat([-1.5, 0.0, 2.5], [3, 34, 3])])
    for weights in (None, np.arange(1, 21).tolist() * 2):
        check(X, weights=weights, discretize="mean_std")
        check(X, weights=weights, discretize="quantile")
    table = read_table(sparse.csr_array(X), np.arange(40) % 2)
    assert code_table(table, discretize="mean_std").levels.tolist() == [2, 3]
    found = code_table(table, discretize="quantile")
    assert found.levels[1] == 3
    assert found.background[1] == 1
