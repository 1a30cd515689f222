"""Which measure of information suits a table: what `measure="auto"` chooses, and why."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from certselect.coding import Coding
from certselect.coding.levels import NumberCuts
from certselect.settings import Measuring
from certselect.settings.measuring import MOST_WHOLE_LEVELS
from certselect.table.model import Decision

# Numbers are predicted better by ranks and counts together; tried on tables of 60 to 3000 rows. Beyond this, tables may
# be read in blocks, which can be counted but not ranked.
MOST_TO_RANK = 20_000


def pick_measure(task: str, rows: int, measuring: Measuring) -> tuple[Measuring, str]:
    """The settings with the measure for so many rows of a task, and the reason in words.

    Only the task and the number of rows decide, so that a table in blocks is measured as it is in memory.
    """
    if task == "classification":
        name, why = "plugin", "a target of classes"
    elif rows <= MOST_TO_RANK:
        name, why = "mixed", f"a target of numbers and at most {MOST_TO_RANK} rows"
    else:
        name, why = "plugin", f"a target of numbers and more than {MOST_TO_RANK} rows"
    # The user was warned of settings without effect when they were given.
    return replace(measuring, measure=name, **{idle: getattr(Measuring, idle) for idle in measuring.idle()}), why


def cut_integers(whole: np.ndarray, coding: Coding) -> tuple[Decision, ...]:
    """What there is to say of columns of whole numbers that have too many values to be levels."""
    cut = [part.positions for part in coding.parts if isinstance(part, NumberCuts)]
    if coding.integers != "auto" or not cut:
        return ()
    columns = tuple(np.intersect1d(whole, np.concatenate(cut)).astype(int).tolist())
    return (Decision("number", columns, {"more_than": MOST_WHOLE_LEVELS}),) if columns else ()


def count_rows(n_samples: int, weights: np.ndarray | None) -> int:
    """How many rows there are, each counted as often as its weight."""
    return n_samples if weights is None else round(float(weights.sum()))
