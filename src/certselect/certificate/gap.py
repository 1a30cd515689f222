"""The gap: how far above a value its bound lies."""

from __future__ import annotations

import math


def gap(value: float, bound: float) -> float:
    """(bound - value) / |value|: 0 when both are 0, inf when only the value is, NaN when one of them is NaN."""
    if value == 0.0:
        return bound if bound == 0.0 or math.isnan(bound) else math.inf
    return (bound - value) / abs(value)
