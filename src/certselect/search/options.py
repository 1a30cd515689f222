"""Checks of what a caller passes to a search: options and seed."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from certselect.errors import InvalidInput, keyword, option
from certselect.names import AS_FLAG, AS_WHOLE
from certselect.settings.checks import is_flag

Seed = int | np.random.Generator | np.random.RandomState | None


def check_count(name: str, value: object, smallest: int, mark: Callable[..., str] = option) -> int:
    """The value as an int, if it is a whole number and large enough: an option's, or a parameter's (`keyword`)."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < smallest:
        raise InvalidInput(mark(name, value), f"a whole number, {smallest} or more", f"Pass {mark(name)} {AS_WHOLE}.")
    return int(value)


def check_flag(name: str, value: object) -> bool:
    """The option as a bool."""
    if is_flag(value):
        return bool(value)
    raise InvalidInput(option(name, value), "True or False", f"Pass {option(name)} {AS_FLAG}.")


def check_positive(name: str, value: object) -> float:
    """The option as a float, if it is a finite number above 0."""
    if (
        isinstance(value, int | float | np.integer | np.floating)
        and not isinstance(value, bool)
        and 0.0 < value < np.inf
    ):
        return float(value)
    raise InvalidInput(option(name, value), "a finite number above 0", f"Leave {option(name)} out for the usual value.")


def make_generator(random_state: object) -> np.random.Generator:
    """The random numbers a search draws: new ones for None, always the same ones for an int."""
    if isinstance(random_state, np.random.RandomState):
        # A seed drawn from it, as scikit-learn's estimators do for their parts.
        return np.random.default_rng(random_state.randint(np.iinfo(np.int32).max))
    if random_state is None or isinstance(random_state, np.random.Generator):
        return np.random.default_rng(random_state)
    if isinstance(random_state, int | np.integer) and not isinstance(random_state, bool) and random_state >= 0:
        return np.random.default_rng(int(random_state))
    raise InvalidInput(
        keyword("random_state", random_state),
        "None, a whole number (0 or more), a numpy Generator or a RandomState",
        "Use an int for an answer that can be repeated.",
    )
