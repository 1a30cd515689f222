"""The gap: how far above a value its bound lies; and the tolerance: how far it may lie for the best."""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction

from certselect.criteria.objective import Objective

# A subset is called optimal if no other is worth more by more than this part of the sum of its own terms.
TOLERANCE = 1e-12


def gap(value: float, bound: float) -> float:
    """(bound - value) / |value|, rounded up: 0 when both are 0, inf when only the value is, NaN when one of them is."""
    if value == 0.0:
        return bound if bound == 0.0 or math.isnan(bound) else math.inf
    if not (math.isfinite(value) and math.isfinite(bound)):
        return (bound - value) / abs(value)
    exact = (Fraction(bound) - Fraction(value)) / abs(Fraction(value))
    try:
        rounded = float(exact)
    except OverflowError:
        return math.inf if exact > 0 else -math.inf
    return rounded if rounded >= exact else math.nextafter(rounded, math.inf)


def tolerance(problem: Objective, indices: Iterable[int]) -> float:
    """How much more than these features others may be worth for these to be called optimal.

    It is relative to the terms of the subset itself, before they cancel: what other features bring has no part in it.
    """
    return TOLERANCE * problem.magnitude(indices)
