"""The outcome of a check, printed."""

from __future__ import annotations

import json
import math
from typing import Any

from certselect.cli.output import Output
from certselect.cli.printing import hand_over, say, tell
from certselect.cli.sheets import Format, Sheet, print_sheet
from certselect.results import Verification
from certselect.results.verifying import UNCHECKED
from certselect.search.wording import considered


def print_verdict(outcome: Verification, out: Output) -> None:
    """Print the verdict: to standard output what holds, to standard error what does not."""
    if out.format is not Format.TABLE:
        _print_row(outcome, out.format)
        return
    for reason in outcome.reasons:
        tell(
            f"{outcome.verdict}: {reason}" if outcome.verdict == UNCHECKED else f"FAILED ({outcome.verdict}): {reason}"
        )
    if outcome.holds and not out.quiet:
        say(f"verified: the features are worth {outcome.objective:.9g} {outcome.unit}".rstrip())
        say(f"verified: {outcome.statement or 'the result claims no bound on other subsets'}")
        columns = "" if outcome.domain is None else considered(outcome.domain, named=None)
        if outcome.domain is not None and outcome.domain.left_out and columns not in outcome.statement:
            say(f"verified about {columns}")
        if outcome.constraints:
            say(f"verified under the constraints: {outcome.constraints}")


def _print_row(outcome: Verification, format: Format) -> None:
    told: dict[str, Any] = {
        "verdict": outcome.verdict,
        "value": _known(outcome.objective),
        "at most": _known(outcome.upper_bound),
        "statement": outcome.statement,
        "constraints": outcome.constraints,
        "columns": None if outcome.domain is None else considered(outcome.domain, named=None),
    }
    if format is Format.JSON:
        hand_over(json.dumps({**told, "reasons": list(outcome.reasons)}, indent=2) + "\n")
        return
    row = {**told, "reasons": "; ".join(outcome.reasons)}
    print_sheet(Sheet({name: [value] for name, value in row.items()}), format)


def _known(value: float) -> float | None:
    return None if math.isnan(value) else value
