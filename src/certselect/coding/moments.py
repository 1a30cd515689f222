"""Three states at mean -+ deviation: cuts from exact sums, whatever the order of rows and however they are divided.

A number x of a column whose largest is below 2^e is taken as the whole number k nearest to x 2^(53 - e), and the sums
of k and of k^2, weighted or not, are whole numbers without any limit. So only the last step rounds.
"""

from __future__ import annotations

import math

import numpy as np

from certselect.coding.tiles import slices

_BITS = 53
_LIMB = 18  # bits of a third of such a number
_ROWS = 1 << 15  # whose products of limbs add up within 64 bits
# Of the deviation: numbers nearer to mean -+ std than this are at it, whatever rounding made of them.
_AT_AN_END = 1e-12


def exponents(low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """The powers of two that the numbers between these ends (p,) stay below."""
    return np.frexp(np.maximum(np.abs(low), np.abs(high)))[1]


def exact_sums(columns: np.ndarray, exponent: np.ndarray, units: np.ndarray | None) -> np.ndarray:
    """Sums of weights, of weights times k and of weights times k^2 over columns (p, m), as Python's integers (p, 3).

    `units` (m,) are the weights of the rows, whole numbers below 2^53.
    """
    p, m = columns.shape
    sums = np.zeros((p, 3), dtype=object)
    sums[:, 0] = m if units is None else int(units.sum())
    for rows in slices(m, _ROWS):
        whole = _whole(columns[:, rows], exponent[:, None])
        low, middle, high = _limbs(whole)
        terms = (
            (1, 0, low),
            (1, _LIMB, middle),
            (1, 2 * _LIMB, high),
            (2, 0, low * low),
            (2, _LIMB + 1, low * middle),
            (2, 2 * _LIMB, 2 * low * high + middle * middle),
            (2, 3 * _LIMB + 1, middle * high),
            (2, 4 * _LIMB, high * high),
        )
        for power, shift, term in terms:
            if units is None:
                sums[:, power] += term.sum(axis=1).astype(object) * (1 << shift)
                continue
            for place, weight in enumerate(_limbs(units[rows].astype(np.int64))):
                for part, more in ((term & ((1 << _LIMB) - 1), 0), (term >> _LIMB, _LIMB)):
                    sums[:, power] += (part @ weight).astype(object) * (1 << (shift + place * _LIMB + more))
    return sums


def mean_std_edges(sums: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Edges (p, 2) of three states: below mean - std, between, above mean + std (population deviation).

    `sums` are the exact ones of columns between these ends (p,). A number at either end is between; the upper edge is
    the next float above mean + std so that "count the edges not above" stays the only rule. A column that these edges
    leave in one piece is cut at its mean instead: two numbers in equal parts lie at these very ends.
    """
    exponent = exponents(low, high)
    mean, deviation, balanced = np.empty(len(low)), np.empty(len(low)), np.zeros(len(low), dtype=bool)
    ends = _whole(np.stack([low, high], axis=1), exponent[:, None]).tolist()
    for i, ((total, first, second), (lowest, highest)) in enumerate(zip(sums.tolist(), ends, strict=True)):
        mean[i] = first / (total << _BITS)
        deviation[i] = math.sqrt((total * second - first * first) / (total * total << 2 * _BITS))
        farthest = max(first - total * lowest, total * highest - first) / (total << _BITS)
        balanced[i] = farthest <= (1 + _AT_AN_END) * deviation[i]
    with np.errstate(over="ignore"):  # an infinite edge is one that no number crosses
        lower, upper = np.ldexp(mean - deviation, exponent), np.ldexp(mean + deviation, exponent)
        upper, above_low = np.nextafter(upper, np.inf), np.nextafter(low, np.inf)
    one_piece = balanced | ((lower <= low) & (high < upper))
    middle = np.minimum(np.maximum(np.ldexp(mean, exponent), above_low), high)
    return np.stack([np.where(one_piece, middle, lower), np.where(one_piece, np.nan, upper)], axis=1)


def _whole(numbers: np.ndarray, exponent: np.ndarray) -> np.ndarray:
    return np.rint(np.ldexp(numbers, _BITS - exponent)).astype(np.int64)


def _limbs(whole: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Three limbs of each whole number, of which only the highest may be negative."""
    mask = (1 << _LIMB) - 1
    return whole & mask, (whole >> _LIMB) & mask, whole >> 2 * _LIMB
