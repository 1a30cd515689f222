"""What every proof in floating point starts from: the unit of rounding, sums rounded up, numbers of order one."""

from __future__ import annotations

import math

import numpy as np

# Half the distance from 1 to the next number, in double and in single precision.
UNIT = 2.0**-53
SINGLE_UNIT = 2.0**-24
# On numbers of order one, all underflow there can be in a bound stays far below this.
UNDERFLOW = 1e-280
# Scales stay within these powers of two: so does what they are the inverse of, and products with it are exact.
SMALLEST_EXPONENT, LARGEST_EXPONENT = -1000, 1023


def largest(values: np.ndarray) -> float:
    """The largest absolute value, 0 of none; without a second array beside a large one."""
    return max(float(values.max()), -float(values.min())) if values.size else 0.0


def order_of(magnitude: float) -> float:
    """The power of two just above a magnitude: dividing by it brings numbers to order one, exactly short of underflow.

    Of 0, and of what is about to underflow, it is the smallest there is.
    """
    exponent = math.frexp(magnitude)[1] if magnitude > 0.0 else SMALLEST_EXPONENT
    return 2.0 ** min(max(exponent, SMALLEST_EXPONENT), LARGEST_EXPONENT)


def round_up(terms: np.ndarray | list[float]) -> float:
    """The smallest float that is at least the exact sum; inf where the sum overflows."""
    try:
        total = math.fsum(terms)
    except OverflowError:
        return math.inf
    if math.isinf(total):
        return total
    # fsum rounds once, so the sign of what it left over is exact.
    return total if math.fsum([*terms, -total]) <= 0.0 else math.nextafter(total, math.inf)


def sum_of_largest(values: np.ndarray, count: int) -> float:
    """At least the sum of the `count` largest."""
    return round_up(np.partition(values, len(values) - count)[len(values) - count :])
