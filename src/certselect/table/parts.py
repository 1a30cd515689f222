"""One frame -> features, targets and weights, by the names of its columns."""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from certselect.errors import InvalidInput, UnknownColumn, keyword
from certselect.table.complete import name_columns
from certselect.table.frames import frame_names
from certselect.table.output import take_columns

LONGEST_NAME = 100  # that is compared with others


def split_columns(frame: Any, target: str | Sequence[str], weight: str | None) -> tuple[Any, Any, Any | None]:
    """The columns that are neither target nor weight, the targets, and the weights if there are any."""
    names = frame_names(frame)
    targets = [target] if isinstance(target, str) else list(target)
    check_names(names, targets, weight)
    apart = {*targets, weight}
    features = take_columns(frame, np.array([i for i, name in enumerate(names) if name not in apart], dtype=np.intp))
    chosen = take_columns(frame, np.array([names.index(name) for name in targets], dtype=np.intp))
    weights = None if weight is None else take_columns(frame, np.array([names.index(weight)]))
    return features, chosen, weights


def refuse_repeated_names(names: Sequence[str]) -> None:
    twice = [name for name, times in Counter(names).items() if times > 1]
    if twice:
        raise InvalidInput(
            f"column names that occur more than once: {name_columns(twice)}",
            "a different name for every column",
            "Rename those columns.",
        )


def check_names(names: Sequence[str], targets: Sequence[str], weight: str | None) -> None:
    refuse_repeated_names(names)
    if not targets:
        raise InvalidInput("no target", "the name of at least one column", "Name the column to predict.")
    for what, name in [*(("target", name) for name in targets), *([("weight", weight)] if weight is not None else [])]:
        if name not in names:
            close = difflib.get_close_matches(str(name)[:LONGEST_NAME], names)
            hint = f"Did you mean {name_columns(close)}?" if close else f"Name one of them as the {what}."
            raise UnknownColumn(keyword(what, name), f"one of the columns: {name_columns(names)}", hint)
    asked = [*targets, *([] if weight is None else [weight])]
    if len(set(asked)) < len(asked):
        raise InvalidInput(
            f"one column in two parts: {name_columns(asked)}",
            "different columns as targets and weight",
            "Name each column once.",
        )
