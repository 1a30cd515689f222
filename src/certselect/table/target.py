"""The target: labels -> class codes, and numbers as they are, one column or several."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from certselect.errors import InvalidInput, keyword
from certselect.settings import Reading
from certselect.table.columns import encode
from certselect.table.facts import ColumnFacts
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
            keyword("y", None),
            "one class label per row",
            "Mutual information requires y to be passed, but the target y is None.",
        )
    labels: list[tuple[np.ndarray, tuple[Hashable, ...]]] = []
    numbers: list[np.ndarray] = []
    decisions: list[Decision] = []
    for values in _of_length(columns_of(y, "y"), n_samples):
        column = checked(values if rows is None else _taken(values, rows), "y", "label")
        measured, decision = judge_target(_facts_of(column), task, partial(_count_different, column))
        decisions += [] if decision is None else [decision]
        if measured:
            numbers.append(np.asarray(column, dtype=np.float64) + 0.0)
        else:
            labels.append(_number_classes(column))
    m = n_samples if rows is None else len(rows)
    measurements = np.stack(numbers, axis=1) if numbers else np.empty((m, 0))
    if len(labels) == 1:
        codes, classes = labels[0]
    else:
        codes, classes = _joined(labels) if labels else (np.zeros(m, dtype=np.int32), NO_LABELS)
    refuse_constant(classes, measurements, trimmed=rows is not None)
    return Target(codes, classes, measurements, tuple(decisions))


def judge_target(facts: ColumnFacts, task: str, count: Callable[[], int]) -> tuple[bool, Decision | None]:
    """Whether a column of the target is a number to predict, and the decision if the user did not say it.

    `count` counts its different values, where they matter.
    """
    if task == "regression":
        if facts.kind == "category":
            raise InvalidInput(
                f"{keyword('task', 'regression')} and a target that holds something else than numbers",
                "numbers in every column of the target",
                f"Convert them, or pass {keyword('task', 'classification')}.",
            )
        return True, None
    if facts.kind == "number" and not facts.whole:
        if task == "classification":
            raise InvalidInput(
                "a target of numbers that are not whole (Unknown label type: continuous)",
                "class labels",
                f"Pass {keyword('task', 'regression')}, or bin the target first, for example with numpy.digitize or "
                "pandas.cut.",
            )
        return True, None
    if task == "classification" or facts.kind == "category" or facts.boolean or facts.rows <= MANY_CLASSES:
        return False, None
    if int(facts.high) - int(facts.low) < MANY_CLASSES:  # as a rule: so few need not be told apart
        return False, None
    different = count()
    if different <= MANY_CLASSES or facts.rows >= FEW_ROWS_EACH * different:
        return False, None
    return True, Decision("target", facts={"different": different, "rows": facts.rows})


def refuse_constant(classes: tuple[Hashable, ...], numbers: np.ndarray, *, trimmed: bool) -> None:
    """Refuse a target that is the same in every row; `trimmed` if only rows with a weight are left."""
    if len(classes) > 1 or (numbers != numbers[:1]).any():
        return
    where = f"of the rows whose {keyword('sample_weight')} is not zero" if trimmed else "of all rows"
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


def _facts_of(column: Values) -> ColumnFacts:
    """The facts about a column without missing or infinite values that the rule for targets needs."""
    if not isinstance(column, np.ndarray):
        return ColumnFacts(kind="category", rows=len(column))
    if column.dtype == bool:
        return ColumnFacts(kind="integer", boolean=True, rows=len(column))
    floats = column.dtype.kind == "f"
    whole = not floats or bool((column == np.floor(column)).all())
    kind, low, high = "number" if floats else "integer", column.min(), column.max()
    return ColumnFacts(kind=kind, rows=len(column), low=low, high=high, whole=whole)


def _count_different(column: Values) -> int:
    return len(np.unique(np.asarray(column)))


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
    joint = np.zeros(len(columns[0][0]), dtype=np.int64)
    for codes, classes in columns:
        # Numbered anew after each column, the combinations never outgrow rows x classes.
        joint = np.unique(joint * len(classes) + codes, return_inverse=True)[1]
    _, first = np.unique(joint, return_index=True)
    combinations = tuple(tuple(classes[codes[row]] for codes, classes in columns) for row in first)
    return joint.astype(np.int32), combinations
