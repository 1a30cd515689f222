"""The target: any labels -> class codes."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np

from certselect.errors import InvalidInput
from certselect.table.columns import complex_data, dates_and_times, numeric_array, unmasked
from certselect.table.labels import encode


def read_target(y: Any, n_samples: int) -> tuple[np.ndarray, tuple[Hashable, ...]]:
    """Number the classes of a target: codes (int32) and the labels, sorted where they can be.

    Labels may be integers, whole floats, strings, bools or any other hashable
    values, in a list, an array or a series. Numbers between the whole ones are
    no labels: such a target is continuous and has to be binned first.
    """
    if y is None:
        raise InvalidInput(
            "y=None", "one class label per row", "Mutual information requires y to be passed, but the target y is None."
        )
    values = _one_dimensional(y)
    if len(values) != n_samples:
        raise InvalidInput(
            f"X with {n_samples} rows and y with {len(values)} labels",
            "as many labels as rows",
            "Check that X and y come from the same rows.",
        )
    if n_samples == 1:
        raise InvalidInput("1 sample", "at least two rows, of two classes", "One row tells nothing about a target.")
    codes, classes = _classes(values)
    if len(classes) == 1:
        raise InvalidInput(
            f"a target of one class only: {classes[0]!r}",
            "at least two classes",
            "No feature can tell anything about a target that never changes: check that the right column was passed.",
        )
    return codes, classes


def _one_dimensional(y: Any) -> np.ndarray | Sequence[object]:
    """The labels as a numeric array or a list of Python values."""
    if isinstance(y, list | tuple):
        if not (y and isinstance(y[0], list | np.ndarray)):
            return y
        y = np.array(y, dtype=object)
    elif not isinstance(y, np.ndarray):
        y = _series_values(y)
    if isinstance(y, np.ma.MaskedArray):
        y = unmasked(y)
    if y.ndim == 2 and y.shape[1] == 1:
        y = y.ravel()
    if y.ndim != 1:
        raise InvalidInput(
            f"y of shape {y.shape}", "one label per row", "y should be a 1d array: pass one column as the target."
        )
    if y.dtype.kind == "c":
        raise complex_data("y")
    if y.dtype.kind in "mM":
        raise dates_and_times("y")
    return y if y.dtype.kind in "biuf" else y.tolist()


def _series_values(y: Any) -> np.ndarray:
    """Labels out of a series, a frame of one column, or anything that turns into an array."""
    import narwhals as nw

    native = nw.from_native(y, eager_only=True, allow_series=True, pass_through=True)
    if isinstance(native, nw.DataFrame) and native.shape[1] == 1:
        native = next(native.iter_columns())
    if isinstance(native, nw.Series):
        dtype = native.dtype
        if dtype.is_temporal():
            raise dates_and_times("y")
        if (dtype.is_numeric() and not dtype.is_decimal()) or dtype == nw.Boolean:
            return native.to_numpy()
        values = np.empty(len(native), dtype=object)
        values[:] = native.to_list()
        return values
    return np.asarray(y)


def _classes(values: np.ndarray | Sequence[object]) -> tuple[np.ndarray, tuple[Hashable, ...]]:
    array = values if isinstance(values, np.ndarray) else numeric_array(values, "y")
    if array is None:
        codes, classes = encode(values, "y")  # pyright: ignore[reportArgumentType]
        _refuse_missing(codes < 0)
        return codes, classes
    if array.dtype.kind == "f":
        _refuse_missing(np.isnan(array))
        if not np.isfinite(array).all():
            raise InvalidInput("infinity (inf) in y", "finite labels", "Drop those rows or relabel them.")
        if (array != np.floor(array)).any():
            raise InvalidInput(
                "a target of numbers that are not whole (Unknown label type: continuous)",
                "class labels",
                "Bin the target first, for example with numpy.digitize or pandas.cut.",
            )
        array = array + 0.0  # -0.0 and 0.0 are one label, and 0.0 is its name
    labels, codes = np.unique(array, return_inverse=True)
    return codes.astype(np.int32), tuple(labels.tolist())


def _refuse_missing(missing: np.ndarray) -> None:
    if missing.any():
        raise InvalidInput(
            f"missing labels (NaN, None or null) in y, in {np.count_nonzero(missing)} of {len(missing)} rows",
            "a label for every row",
            "Drop those rows before selecting.",
        )
