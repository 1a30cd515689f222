"""The target: labels -> class codes, and numbers as they are, one column or several."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from certselect.errors import InvalidInput
from certselect.settings import Reading
from certselect.table.labels import encode
from certselect.table.model import Decision
from certselect.table.series import Values, checked, columns_of

NO_LABELS = ("any",)  # the one class of a target without labels
# More different whole numbers than this, and fewer rows for each than that, are a measurement.
MANY_CLASSES, FEW_ROWS_EACH = 20, 5


@dataclass(frozen=True, eq=False)
class Target:
    """What is to be predicted: class codes (m,) int32, the classes' labels, and numbers (m, t).

    And what was decided about it that its types do not say.
    """

    codes: np.ndarray
    classes: tuple[Hashable, ...]
    numbers: np.ndarray
    decisions: tuple[Decision, ...] = ()


def read_target(y: Any, n_samples: int, task: str = Reading.task, rows: np.ndarray | None = None) -> Target:
    """Separate labels from numbers in a target of one or several columns, for all rows or some.

    Labels may be integers, whole floats, strings, bools or any other hashable values, in
    lists, arrays, series or frames. A column of numbers that are not all whole is a
    measurement, and so is one of many different whole numbers in a few rows each, unless `task` is
    "classification"; so is every column if `task` is "regression".
    """
    if y is None:
        raise InvalidInput(
            "y=None", "one class label per row", "Mutual information requires y to be passed, but the target y is None."
        )
    labels: list[tuple[np.ndarray, tuple[Hashable, ...]]] = []
    numbers: list[np.ndarray] = []
    decisions: list[Decision] = []
    for values in _of_length(columns_of(y, "y"), n_samples):
        column = checked(values if rows is None else _taken(values, rows), "y", "label")
        many = _many_whole_numbers(column) if task == "auto" else None
        if many is not None:
            decisions.append(many)
        if many is not None or _is_measured(column, task):
            numbers.append(np.asarray(column, dtype=np.float64) + 0.0)
        else:
            labels.append(_number_classes(column))
    m = n_samples if rows is None else len(rows)
    measured = np.stack(numbers, axis=1) if numbers else np.empty((m, 0))
    codes, classes = _joined(labels) if labels else (np.zeros(m, dtype=np.int32), NO_LABELS)
    refuse_constant(classes, measured, trimmed=rows is not None)
    return Target(codes, classes, measured, tuple(decisions))


def refuse_constant(classes: tuple[Hashable, ...], numbers: np.ndarray, *, trimmed: bool) -> None:
    """Refuse a target that is the same in every row; `trimmed` if only rows with a weight are left."""
    if len(classes) > 1 or (numbers != numbers[:1]).any():
        return
    where = "of the rows whose sample_weight is not zero" if trimmed else "of all rows"
    if numbers.shape[1]:
        got, expected = f"the same target {where}: {numbers[0].tolist()}", "numbers that differ"
    else:
        got, expected = f"one class only {where}: {', '.join(map(repr, classes))}", "at least two classes"
    raise InvalidInput(
        got,
        expected,
        "No feature carries information about a target that never changes: check that the right column was passed.",
    )


def _of_length(columns: list[Values], n_samples: int) -> list[Values]:
    if len(columns[0]) != n_samples:
        raise InvalidInput(
            f"X with {n_samples} rows and y with {len(columns[0])} labels",
            "as many labels as rows",
            "Check that X and y come from the same rows.",
        )
    if n_samples == 1:
        raise InvalidInput("1 sample", "at least two rows, of two classes", "Nothing can be learned from one row.")
    return columns


def _taken(values: Values, rows: np.ndarray) -> Values:
    return values[rows] if isinstance(values, np.ndarray) else [values[row] for row in rows.tolist()]


def _is_measured(column: Values, task: str) -> bool:
    array = column if isinstance(column, np.ndarray) else None
    if task == "regression":
        if array is None:
            raise InvalidInput(
                "task='regression' and a target that holds something else than numbers",
                "numbers in every column of the target",
                "Convert them, or pass task='classification'.",
            )
        return True
    if array is None or array.dtype.kind != "f" or (array == np.floor(array)).all():
        return False
    if task == "classification":
        raise InvalidInput(
            "a target of numbers that are not whole (Unknown label type: continuous)",
            "class labels",
            "Pass task='regression', or bin the target first, for example with numpy.digitize or pandas.cut.",
        )
    return True


def _number_classes(column: Values) -> tuple[np.ndarray, tuple[Hashable, ...]]:
    """Codes and labels, sorted where they can be."""
    if not isinstance(column, np.ndarray):
        return encode(column, "y")
    # -0.0 and 0.0 are one label, and 0.0 is its name.
    labels, codes = np.unique(column + 0.0 if column.dtype.kind == "f" else column, return_inverse=True)
    return codes.astype(np.int32), tuple(labels.tolist())


def _joined(
    columns: Sequence[tuple[np.ndarray, tuple[Hashable, ...]]],
) -> tuple[np.ndarray, tuple[Hashable, ...]]:
    """Several label columns as one, whose classes are the combinations that occur, in order."""
    if len(columns) == 1:
        return columns[0]
    joint = np.zeros(len(columns[0][0]), dtype=np.int64)
    for codes, classes in columns:
        # Numbered anew after each column, the combinations never outgrow rows x classes.
        joint = np.unique(joint * len(classes) + codes, return_inverse=True)[1]
    _, first = np.unique(joint, return_index=True)
    combinations = tuple(tuple(classes[codes[row]] for codes, classes in columns) for row in first)
    return joint.astype(np.int32), combinations


def _many_whole_numbers(column: Values) -> Decision | None:
    """What there is to say of whole numbers that are too many for classes; None if they are not."""
    if not isinstance(column, np.ndarray) or column.dtype == bool or len(column) <= MANY_CLASSES:
        return None
    if column.dtype.kind == "f" and not (column == np.floor(column)).all():
        return None  # a measurement anyway
    if int(column.max()) - int(column.min()) < MANY_CLASSES:  # as a rule: so few need not be told apart
        return None
    different = len(np.unique(column))
    if different <= MANY_CLASSES or len(column) >= FEW_ROWS_EACH * different:
        return None
    return Decision("target", facts={"different": different, "rows": len(column)})
