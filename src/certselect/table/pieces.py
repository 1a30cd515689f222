"""Rows and columns of whatever a user's table is, as the thing it is: what an estimator learns from."""

from __future__ import annotations

from typing import Any

import numpy as np

from certselect.table.frames import as_frame, frame_columns, frame_rows
from certselect.table.sparse import is_sparse


def native_frame(X: Any) -> Any | None:
    """X as the data frame of the user's library that it is; None if it is none."""
    plain = X is None or isinstance(X, np.ndarray | list | tuple | str) or is_sparse(X)
    return None if plain else as_frame(X)


def take_cells(X: Any, rows: np.ndarray | None, columns: np.ndarray) -> Any:
    """These columns, in these rows or in all, of an array, a sparse matrix or a frame."""
    import narwhals as nw

    if native_frame(X) is None:
        part = X[:, columns]
        return part if rows is None else part[rows]
    if nw.dependencies.is_pandas_dataframe(X):
        part = X.iloc[:, columns]
    elif nw.dependencies.is_pyarrow_table(X):
        part = X.select(columns.tolist())
    else:
        part = nw.to_native(nw.from_native(X, eager_only=True)[:, columns.tolist()])
    return part if rows is None else frame_rows(part, rows)


def column_types(X: Any) -> list[str]:
    """What tells an estimator how to take each column: the library and the types of a frame, the dtype of an array."""
    if native_frame(X) is None:
        return [type(X).__name__, str(X.dtype)]
    return [type(X).__module__, *(str(column.dtype) for column in frame_columns(X))]
