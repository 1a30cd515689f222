"""Three states at mean -+ deviation: cuts from exact sums, whatever the order of rows and however they are divided.

A number x of a column whose largest is below 2^e is taken as the whole number k nearest to x 2^(53 - e), and the sums
of k and of k^2, weighted or not, are whole numbers without any limit. So only the last step rounds.
"""

from __future__ import annotations

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
        low, middle, high = limbs = _limbs(_whole(columns[:, rows], exponent[:, None]))
        if units is None:
            first = [(shift * _LIMB, limb.sum(axis=1)) for shift, limb in enumerate(limbs)]
            second = [
                (0, _products(low, low)),
                (_LIMB + 1, _products(low, middle)),
                (2 * _LIMB, 2 * _products(low, high) + _products(middle, middle)),
                (3 * _LIMB + 1, _products(middle, high)),
                (4 * _LIMB, _products(high, high)),
            ]
        else:
            weights = _limbs(units[rows].astype(np.int64))
            first = _weighed([(shift * _LIMB, limb) for shift, limb in enumerate(limbs)], weights)
            squares = 2 * low * high + middle * middle
            second = _weighed(
                [
                    (0, low * low),
                    (_LIMB + 1, low * middle),
                    (2 * _LIMB, squares),
                    (3 * _LIMB + 1, middle * high),
                    (4 * _LIMB, high * high),
                ],
                weights,
            )
        for power, parts in ((1, first), (2, second)):
            sums[:, power] += sum(part.astype(object) * (1 << shift) for shift, part in parts)
    return sums


def mean_std_edges(sums: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Edges (p, 2) of three states: below mean - std, between, above mean + std (population deviation).

    `sums` are the exact ones of columns between these ends (p,). A number at either end is between; the upper edge is
    the next float above mean + std so that "count the edges not above" stays the only rule. A column that these edges
    leave in one piece is cut at its mean instead: two numbers in equal parts lie at these very ends.
    """
    exponent = exponents(low, high)
    mean, deviation = _moments(sums)
    balanced = np.zeros(len(low), dtype=bool)
    scaled_low, scaled_high = np.ldexp(low, -exponent), np.ldexp(high, -exponent)
    near = 1e-6 * deviation + 1e-9
    for i in np.flatnonzero((scaled_low >= mean - deviation - near) & (scaled_high <= mean + deviation + near)):
        (total, first, _), (lowest, highest) = sums[i], _whole(np.array([low[i], high[i]]), exponent[i]).tolist()
        farthest = max(first - total * lowest, total * highest - first) / (total << _BITS)
        balanced[i] = farthest <= (1 + _AT_AN_END) * deviation[i]
    with np.errstate(over="ignore"):  # an infinite edge is one that no number crosses
        lower, upper = np.ldexp(mean - deviation, exponent), np.ldexp(mean + deviation, exponent)
        upper, above_low = np.nextafter(upper, np.inf), np.nextafter(low, np.inf)
    one_piece = balanced | ((lower <= low) & (high < upper))
    middle = np.minimum(np.maximum(np.ldexp(mean, exponent), above_low), high)
    return np.stack([np.where(one_piece, middle, lower), np.where(one_piece, np.nan, upper)], axis=1)


def _products(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    return np.einsum("ij,ij->i", one, other)


def _weighed(
    terms: list[tuple[int, np.ndarray]], weights: tuple[np.ndarray, np.ndarray, np.ndarray]
) -> list[tuple[int, np.ndarray]]:
    """Sums (p,) of terms (p, rows) times weights (rows,), the latter in limbs; each with how far it is shifted."""
    return [
        (shift + more + place * _LIMB, part @ weight)
        for shift, term in terms
        for part, more in ((term & ((1 << _LIMB) - 1), 0), (term >> _LIMB, _LIMB))
        for place, weight in enumerate(weights)
    ]


def _moments(sums: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Means and deviations (p,) of numbers scaled to 1."""
    totals, firsts, seconds = sums.T.tolist()
    units = {total: (total << _BITS, total * total << 2 * _BITS) for total in set(totals)}
    mean = [first / units[total][0] for total, first in zip(totals, firsts, strict=True)]
    variance = [
        (total * second - first * first) / units[total][1]
        for total, first, second in zip(totals, firsts, seconds, strict=True)
    ]
    return np.array(mean), np.sqrt(variance)


def _whole(numbers: np.ndarray, exponent: np.ndarray) -> np.ndarray:
    return np.rint(np.ldexp(numbers, _BITS - exponent)).astype(np.int64)


def _limbs(whole: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Three limbs of each whole number, of which only the highest may be negative."""
    mask = (1 << _LIMB) - 1
    return whole & mask, (whole >> _LIMB) & mask, whole >> 2 * _LIMB
