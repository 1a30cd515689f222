"""Have we become slower? Ratios of a new run beside those kept, never seconds.

A ratio of two runs on one machine moves by some ten percent, of runs of a millisecond by more, and on other machines
by what their processors are better at: less than `TOLERANCE` times is not called a loss.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .match import OURS
from .results import ratios, seconds

TOLERANCE = 1.6
# Runs this short, in seconds, are ruled by what else the machine does.
TOO_SHORT = 2e-4


@dataclass(frozen=True)
class Loss:
    case: str
    contestant: str
    before: float
    now: float

    def __str__(self) -> str:
        return f"{self.case}: {self.before:.3g} times as fast as {self.contestant} before, {self.now:.3g} times now"


@dataclass(frozen=True)
class Comparison:
    compared: int
    losses: list[Loss]
    wrong: list[str]  # cases in which our answer is not the reference's, or there is none

    @property
    def fails(self) -> bool:
        return bool(self.losses or self.wrong or not self.compared)


def compared(kept: dict[str, Any], new: dict[str, Any], tolerance: float = TOLERANCE) -> Comparison:
    """Ratios of the contestants that ran in both, on tables from the same source."""
    before = {(row["key"], row["source"]): row for row in kept["cases"]}
    count, losses = 0, []
    for row in new["cases"]:
        old = before.get((row["key"], row["source"]))
        if old is None or (seconds(row, OURS) or 0.0) < TOO_SHORT:
            continue
        now = ratios(row)
        for name, ratio in ratios(old).items():
            if name in now:
                count += 1
                if now[name] * tolerance < ratio:
                    losses.append(Loss(row["key"], name, ratio, now[name]))
    return Comparison(count, losses, [row["key"] for row in new["cases"] if is_wrong(row)])


def is_wrong(row: dict[str, Any]) -> bool:
    """Whether ours failed, or chose otherwise than the reference in a forward search."""
    ours = row["contestants"].get(OURS, {})
    return "seconds" not in ours or ("right" in ours and ours["right"] < ours["asked"])


def report(found: Comparison, tolerance: float = TOLERANCE) -> str:
    lines = [f"{found.compared} ratios compared; a loss is more than {tolerance} times."]
    if not found.compared:
        lines.append("Nothing to compare: the two runs have no case, source and contestant in common.")
    lines += [f"slower: {loss}" for loss in found.losses]
    lines += [f"failed, or not the reference's choice: {case}" for case in found.wrong]
    return "\n".join(lines if found.fails else [*lines, "None."])
