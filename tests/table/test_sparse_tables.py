"""Sparse matrices of every format are read without their zeros, and without a trace on the caller's."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from certselect.errors import InvalidInput
from certselect.table import read_table

Y = [0, 1, 0]
DENSE = np.array([[0, 2, 0], [1, 0, 0], [0, 3, 0]])
FORMATS = ["csr", "csc", "coo", "lil", "dok", "dia", "bsr"]


@pytest.mark.parametrize("kind", ["array", "matrix"])
@pytest.mark.parametrize("fmt", FORMATS)
def test_every_format_gives_the_same_block(fmt, kind):
    for dtype, expected in ((np.int8, "integer"), (np.int64, "integer"), (bool, "integer"), (np.float32, "number")):
        X = getattr(sparse, f"{fmt}_{kind}")(DENSE.astype(dtype))
        table = read_table(X, Y)
        block = table.sparse
        assert block.kind == expected
        assert block.values.format == "csc"
        assert block.values.dtype == dtype
        assert block.values.has_canonical_format
        assert block.values.nnz == 3
        assert block.values.toarray().tolist() == DENSE.astype(dtype).tolist()
        assert block.positions.tolist() == [0, 1, 2]
        assert table.feature_names == ("x0", "x1", "x2")
        assert table.missing == "error"


def test_long_doubles_become_doubles():
    block = read_table(sparse.csr_array(DENSE.astype(np.longdouble)), Y).sparse
    assert block.values.dtype == np.float64
    assert block.values.toarray().tolist() == DENSE.tolist()


def hand_made(fmt):
    """Indices out of order, a cell in two pieces, a stored zero, pieces that add up to zero."""
    data, indices, indptr = [2, 5, -1, 0, 4, -4], [1, 0, 1, 2, 0, 0], [0, 3, 4, 6]
    X = getattr(sparse, f"{fmt}_array")((np.array(data), np.array(indices), np.array(indptr)), shape=(3, 3))
    return X, (data, indices, indptr)


@pytest.mark.parametrize("fmt", ["csr", "csc"])
def test_duplicates_and_stored_zeros_leave_the_callers_matrix_alone(fmt):
    X, parts = hand_made(fmt)
    expected = X.toarray()
    block = read_table(X, Y).sparse
    assert block.values.toarray().tolist() == expected.tolist()
    assert block.values.nnz == np.count_nonzero(expected)
    assert [X.data.tolist(), X.indices.tolist(), X.indptr.tolist()] == list(parts)


def test_a_flag_that_is_out_of_date_is_not_believed():
    X, _ = hand_made("csc")
    expected = X.toarray()
    X.has_canonical_format = True
    assert read_table(X, Y).sparse.values.toarray().tolist() == expected.tolist()


def test_a_clean_matrix_is_not_copied():
    X = sparse.csc_array(DENSE)
    assert np.shares_memory(read_table(X, Y).sparse.values.data, X.data)


def test_int64_keeps_its_digits():
    X = sparse.csr_array(np.array([[2**62 + 1], [2**62], [0]]))
    assert read_table(X, Y).sparse.values.data.tolist() == [2**62 + 1, 2**62]


def test_nan_is_missing_and_infinity_is_refused():
    X = DENSE.astype(float)
    X[0, 1] = X[2, 0] = np.nan
    with pytest.raises(InvalidInput, match=r"NaN.*columns 'a', 'b', in 2 of 3 rows.*missing='level'"):
        read_table(sparse.csr_array(X), Y, feature_names=list("abc"))
    table = read_table(sparse.csr_array(X), Y, missing="level")
    assert table.missing == "level"
    assert table.sparse.missing.sum() == 2
    X[1, 1] = -np.inf
    for missing in ("level", "pairwise"):
        with pytest.raises(InvalidInput, match=r"infinity or -infinity .* column 'x1', in 1 of 3 rows"):
            read_table(sparse.coo_array(X), Y, missing=missing)
    large = sparse.csr_array(np.full((3, 1), 1.7e308))
    assert read_table(large, Y, missing="level").missing == "error"


def test_what_is_no_table_is_refused():
    with pytest.raises(InvalidInput, match="Complex data not supported"):
        read_table(sparse.csr_array(DENSE * 1j), Y)
    with pytest.raises(InvalidInput, match=r"shape \(3,\): Expected 2D array, got 1D array instead"):
        read_table(sparse.coo_array(np.array([1, 0, 2])), Y)
    with pytest.raises(InvalidInput, match=r"0 feature\(s\)"):
        read_table(sparse.csr_array((3, 0)), Y)
    with pytest.raises(InvalidInput, match="X with 3 rows and y with 2 labels"):
        read_table(sparse.csr_array(DENSE), Y[:2])


def test_rows_and_weights_of_a_sparse_table():
    table = read_table(sparse.csr_array(DENSE), Y)
    part = table.rows(np.array([2, 0, 2]))
    assert part.sparse.values.toarray().tolist() == DENSE[[2, 0, 2]].tolist()
    assert part.sparse.values.has_canonical_format
    weighted = read_table(sparse.coo_array(DENSE), Y, sample_weight=[2, 1, 0])
    assert weighted.sparse.values.toarray().tolist() == DENSE[:2].tolist()
    assert weighted.weights.tolist() == [2, 1]
