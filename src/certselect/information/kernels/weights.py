"""Weights of samples as whole numbers, so that sums of them are exact."""

from __future__ import annotations

import math

import numpy as np

# Sums of weights stay below 2**53, which float64 holds exactly; one bit is kept for rounding up.
_SUM_BITS = 52


def whole_weights(weights: np.ndarray) -> tuple[np.ndarray, int]:
    """Weights as int64 multiples of 2**-bits, and bits; whole numbers are taken as they are (bits 0).

    Others are rounded to as many bits as their sum leaves room for, in a way
    that does not depend on the order of the samples.
    """
    total = math.fsum(weights.tolist())
    bits = unit_bits(bool((weights == np.floor(weights)).all()), total)
    # However light, a sample that was given does not vanish.
    return np.maximum(np.rint(np.ldexp(weights, bits)), 1).astype(np.int64), bits


def unit_bits(whole: bool, total: float) -> int:
    """How many bits a unit of weights of this sum is smaller than 1."""
    return 0 if whole and total <= 2.0**_SUM_BITS else _SUM_BITS - math.ceil(math.log2(total))
