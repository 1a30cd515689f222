"""What was given to be drawn: a result, wherever it is."""

from __future__ import annotations

from typing import Any

from certselect.errors import InvalidInput
from certselect.names import shown
from certselect.results import Result


def result_of(given: Any) -> Result:
    """A result, or that of a fitted selector."""
    result = given if isinstance(given, Result) else getattr(given, "result_", None)
    if not isinstance(result, Result):
        raise InvalidInput(
            f"{shown(given)} to draw", "a Result, or a selector that was fitted", "Pass `result`, or call `fit` first."
        )
    return result
