"""Columns -> a data frame of the kind the user has, or a table that reads well without any."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from html import escape
from importlib.util import find_spec
from typing import Any

import numpy as np

from certselect.errors import InvalidInput
from certselect.names import harmless

LIBRARIES = ("pandas", "polars", "pyarrow")
# In the order in which one is taken where the data came as an array.
_READABLE = ("pandas", "polars")
_ROWS_SHOWN = 30


def frame_library(X: Any) -> str | None:
    """Which library a frame is of, by its name; None for an array, or a frame of another library."""
    if isinstance(X, np.ndarray):
        return None
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

    if nw.dependencies.is_pyarrow_table(X):
        return X.select(columns.tolist())
    return nw.from_native(X, eager_only=True)[:, columns.tolist()].to_native()


def make_frame(columns: Mapping[str, Sequence[Any]], library: str | None) -> Any:
    """These columns as a frame of that library; if none is named, of the first that is installed and reads well."""
    import narwhals as nw

    if library is None:
        library = next((name for name in _READABLE if find_spec(name) is not None), None)
        if library is None:
            return ReportTable(columns)
    if library not in LIBRARIES:
        raise InvalidInput(f"library={library!r}", f"one of {', '.join(LIBRARIES)}", "Check the spelling.")
    if find_spec(library) is None:
        raise InvalidInput(f"library={library!r}, which is not installed", "an installed one", f"Install {library}.")
    return nw.from_dict(dict(columns), backend=library).to_native()


class ReportTable(Mapping[str, list[Any]]):
    """A table for people to read, where no library of data frames is installed: lists by the names of columns.

    Examples
    --------
    >>> ReportTable({"feature": ["age", "weight"], "relevance": [0.25, float("nan")]})
    feature  relevance
    age           0.25
    weight
    """

    def __init__(self, columns: Mapping[str, Sequence[Any]]) -> None:
        self._columns = {name: list(values) for name, values in columns.items()}

    def __getitem__(self, name: str) -> list[Any]:
        return self._columns[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns)

    def __len__(self) -> int:
        """How many columns there are."""
        return len(self._columns)

    def __repr__(self) -> str:
        cells = self._cells()
        widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
        numbers = [any(isinstance(value, float) for value in values) for values in self._columns.values()]
        aligned = [str.rjust if number else str.ljust for number in numbers]
        lines = ["  ".join(map(lambda align, *cell: align(*cell), aligned, row, widths)).rstrip() for row in cells]
        return "\n".join([*lines, *self._more()])

    def _repr_html_(self) -> str:
        """For notebooks."""
        head, *rows = [[escape(cell) for cell in row] for row in self._cells()]
        lines = [f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in rows]
        names = "".join(f"<th>{cell}</th>" for cell in head)
        return f"<table><tr>{names}</tr>{''.join(lines)}</table>{''.join(map(escape, self._more()))}"

    def _cells(self) -> list[list[str]]:
        rows = zip(*(values[:_ROWS_SHOWN] for values in self._columns.values()), strict=True)
        return [list(self._columns), *([_shown(value) for value in row] for row in rows)]

    def _more(self) -> list[str]:
        left = max(map(len, self._columns.values()), default=0) - _ROWS_SHOWN
        return [f"... {left} more rows"] if left > 0 else []


def _shown(value: Any) -> str:
    if value is None or value != value:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:.4g}" if isinstance(value, float) else harmless(str(value))
