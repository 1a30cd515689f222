"""What a user passes as X and y -> Table: read now, or read before."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from certselect.errors import InvalidInput
from certselect.settings import Reading
from certselect.table.model import Table
from certselect.table.reading import read_table


def given_table(
    X: Any,
    y: Any,
    reading: Reading,
    *,
    feature_names: Sequence[object] | None = None,
    sample_weight: Any = None,
) -> Table:
    """The table that X and y state, or X itself if it is a `Table`, which brings everything else along.

    Nothing that was passed is ignored: what a `Table` has of its own is refused beside it.
    """
    if isinstance(X, Table):
        stated = {"y": y, "sample_weight": sample_weight, "feature_names": feature_names}
        beside = [name for name, value in stated.items() if value is not None]
        beside += [name for name, value in reading.to_dict().items() if value != Reading().to_dict()[name]]
        if beside:
            raise InvalidInput(
                f"a Table and {', '.join(beside)} beside it",
                "a Table alone: it brings its own target, weights, names and task",
                f"Leave {', '.join(beside)} out, or pass {'them' if len(beside) > 1 else 'it'} to read_table.",
            )
        return X
    if reading.weight is not None:
        raise InvalidInput(
            f"weight={reading.weight!r}",
            "weights as an array: `weight` names a column of a file",
            "Pass sample_weight=, and leave that column out of X.",
        )
    return read_table(
        X, y, feature_names=feature_names, sample_weight=sample_weight, task=reading.task, missing=reading.missing
    )
