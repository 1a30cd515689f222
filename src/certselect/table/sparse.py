"""Sparse matrices -> SparseBlock, without ever writing their zeros down."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from certselect.errors import InvalidInput
from certselect.table.columns import complex_data
from certselect.table.model import SparseBlock


def is_sparse(X: Any) -> bool:
    """Asked of the name of its module, so that SciPy is not loaded for other tables."""
    return not isinstance(X, np.ndarray) and any(base.__module__.startswith("scipy.sparse") for base in type(X).__mro__)


def sparse_block(X: Any, rows: np.ndarray | None = None, unread: Sequence[int] = ()) -> SparseBlock:
    """All columns of a sparse matrix in any format, or these rows of them, column by column; X is not changed.

    Cells stored twice count as their sum, and stored zeros as zeros. Time and memory
    grow with the stored cells, the rows and the columns, not with their product. Columns that are
    `unread` come out empty.
    """
    from scipy.sparse import csc_array

    kind = X.dtype.kind
    if kind == "c":
        raise complex_data("X")
    if rows is not None:
        X = X.tocsr()[rows]
    columns = X.tocsc()
    # A matrix of one's own around the same arrays: flags of the caller's may be out of date, and none is set on it.
    values = csc_array((columns.data, columns.indices, columns.indptr), shape=X.shape)
    if not values.has_canonical_format or np.count_nonzero(values.data) < len(values.data):
        values = values.copy()
        values.sum_duplicates()
        values.eliminate_zeros()
    if len(unread):
        stored = np.diff(values.indptr)
        kept = ~np.isin(np.repeat(np.arange(len(stored)), stored), unread)
        stored[list(unread)] = 0
        starts = np.concatenate([[0], np.cumsum(stored)])
        values = csc_array((values.data[kept], values.indices[kept], starts), shape=X.shape)
    if kind == "f" and values.dtype not in (np.float32, np.float64):
        values = csc_array(values.astype(np.float64))
    return SparseBlock("number" if kind == "f" else "integer", np.arange(X.shape[1], dtype=np.intp), values)


def check_sparse_shape(X: Any) -> None:
    if X.ndim != 2:
        raise InvalidInput(
            f"a sparse array of shape {X.shape}: Expected 2D array, got {X.ndim}D array instead",
            "a table of rows and columns",
            "Reshape it with X.reshape(-1, 1) if it is one feature, X.reshape(1, -1) if it is one row.",
        )
