"""Columns -> a data frame of the kind the user has."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from typing import Any

import numpy as np

from certselect.errors import InvalidInput

# In the order in which one is taken where the data came as an array; the last is always installed.
LIBRARIES = ("pandas", "polars", "pyarrow")


def frame_library(X: Any) -> str | None:
    """Which library a frame is of, by its name; None for an array, or a frame of another library."""
    import narwhals as nw

    native = nw.to_native(X, pass_through=True)
    if nw.dependencies.is_pandas_dataframe(native):
        return "pandas"
    if nw.dependencies.is_polars_dataframe(native):
        return "polars"
    return "pyarrow" if nw.dependencies.is_pyarrow_table(native) else None


def take_columns(X: Any, columns: np.ndarray) -> Any:
    """These columns of a frame, of whatever types, as a frame of its library."""
    import narwhals as nw

    return nw.from_native(X, eager_only=True)[:, columns.tolist()].to_native()


def make_frame(columns: Mapping[str, Sequence[Any]], library: str | None) -> Any:
    """These columns as a frame of that library, or of the first that is installed."""
    import narwhals as nw

    if library is None:
        library = next(name for name in LIBRARIES if find_spec(name) is not None)
    if library not in LIBRARIES:
        raise InvalidInput(f"library={library!r}", f"one of {', '.join(LIBRARIES)}", "Check the spelling.")
    if find_spec(library) is None:
        raise InvalidInput(f"library={library!r}, which is not installed", "an installed one", f"Install {library}.")
    return nw.from_dict(dict(columns), backend=library).to_native()
