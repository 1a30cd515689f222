"""The check that all levels of significance and confidence share."""

from __future__ import annotations

from certselect.errors import InvalidInput
from certselect.names import shown
from certselect.settings.fields import as_float


def check_probability(name: str, value: object, usual: float) -> float:
    """The value as a float, if it is a number between 0 and 1, both excluded."""
    number = as_float(value)
    if number is not None and 0.0 < number < 1.0:
        return number
    raise InvalidInput(f"{name}={shown(value)}", "a number between 0 and 1", f"The usual one is {usual:g}.")
