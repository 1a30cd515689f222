"""What the target of a stream is: classes, or numbers to predict."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from certselect.errors import InvalidInput
from certselect.table.labels import in_order
from certselect.table.model import Decision
from certselect.table.streams.column_kinds import MOST_NUMBERS, Feature
from certselect.table.target import FEW_ROWS_EACH, MANY_CLASSES, NO_LABELS

if TYPE_CHECKING:
    from certselect.table.streams.column_facts import ColumnFacts


@dataclass(frozen=True, eq=False)
class StreamTarget:
    """The target's column, the task, its classes in order (none for numbers), and what nobody had said."""

    feature: Feature
    task: str
    classes: tuple[Hashable, ...]
    decisions: tuple[Decision, ...]


def target_of(name: str, facts: ColumnFacts, task: str, many: int | None) -> StreamTarget:
    """Classes or numbers, by the facts of the column, the task that the user gave and how many different values it has.

    Nobody need have counted those, `many` is None then, if the task was given or there are no whole numbers.
    """
    decisions: tuple[Decision, ...] = ()
    if facts.missing or facts.infinite:
        what = "missing labels (NaN, None or null)" if facts.missing else "infinity (inf)"
        raise InvalidInput(
            f"{what} in y, in {facts.missing or facts.infinite} of {facts.rows} rows",
            "a label for every row",
            "Drop those rows before selecting.",
        )
    if facts.dated:
        raise InvalidInput(f"dates or times in {name!r}", "numbers or categories", "Convert them first.")
    numbers = facts.kind != "category" and not facts.boolean
    if task == "regression" and facts.kind == "category":
        raise InvalidInput(
            "task='regression' and a target that holds something else than numbers",
            "numbers in every column of the target",
            "Convert them, or pass task='classification'.",
        )
    measured = task == "regression" or (facts.kind == "number" and not facts.whole)
    if measured and task == "classification":
        raise InvalidInput(
            "a target of numbers that are not whole (Unknown label type: continuous)",
            "class labels",
            "Pass task='regression', or bin the target first.",
        )
    too_many = many is not None and many > MANY_CLASSES and facts.rows < FEW_ROWS_EACH * many
    if not measured and task == "auto" and numbers and too_many:
        decisions = (Decision("target", facts={"different": many, "rows": facts.rows}),)
        measured = True
    ends = facts.low, facts.high
    if (facts.low is not None and len({*map(float, ends)} if measured else {*ends}) == 1) or many == 1:
        raise InvalidInput(
            f"the same target {name!r} in all rows",
            "at least two classes, or numbers that differ",
            "No feature carries information about a target that never changes: check that the right column was named.",
        )
    if measured:
        return StreamTarget(Feature("number", facts), "regression", NO_LABELS, decisions)
    if facts.values is None or len(facts.values) > MOST_NUMBERS:
        raise InvalidInput(
            f"a target {name!r} of more than {MOST_NUMBERS} classes, read block by block",
            f"{MOST_NUMBERS} at most",
            "Pass task='regression' if it is a number to predict.",
        )
    labels: list[Hashable] = [bool(value) if facts.boolean else value for value in facts.values]
    classes = in_order(labels)
    return StreamTarget(Feature("levels", facts, classes), "classification", classes, decisions)
