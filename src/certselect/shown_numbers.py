"""Numbers as reports, pictures, explanations and the command line show them.

What is claimed is rounded to the safe side; what is not all or not nothing is not shown as if it were.
"""

from __future__ import annotations

import math
from decimal import ROUND_CEILING, ROUND_HALF_EVEN, Context, Decimal

UNKNOWN = "–"  # noqa: RUF001 (a dash, which reads better in a column of numbers than a minus)
_SMALLEST, _LARGEST = 1e-3, 1e9  # what has its digits written out
_DECIMALS = Decimal("0.0001")
_NEVER = 1e-15
_LEAST_GAP, _MOST_GAP = 1e-6, 1e4
_EQUAL = 1e-12  # what differs by so little is rounding, and counts as worth the same when it is proven
_MOST_PART = 1e6
_ALL = 1.0 - 1e-9  # of a part: what is missing is rounding


def nats(value: float | None) -> str:
    """Information in nats, with the digits that mean something."""
    return _shown(value, ROUND_HALF_EVEN)


def at_most(value: float | None) -> str:
    """A bound in nats, with as many digits; rounded up, for it is a claim."""
    return _shown(value, ROUND_CEILING)


def _shown(value: float | None, rounding: str) -> str:
    if value is None:
        return UNKNOWN
    if value == 0.0 or _SMALLEST <= abs(value) < _LARGEST:
        return f"{Decimal(value).quantize(_DECIMALS, rounding):f}"
    return f"{float(Context(prec=2, rounding=rounding).plus(Decimal(value))):.1e}"


def rounded_up(value: float, digits: int, times: int = 1) -> str:
    """So many times a number of a proven statement, to so many digits, never below it."""
    rounded = Context(prec=digits, rounding=ROUND_CEILING).multiply(Decimal(float(value)), Decimal(times))
    return f"{float(rounded):g}"


def percent(part: float | None) -> str:
    """A part of 1; 0 % is nothing and 100 % is all.

    >>> percent(0.876), percent(0.9951), percent(0.004)
    ('88 %', '> 99 %', '< 1 %')
    """
    if part is None:
        return UNKNOWN
    if 0.995 <= part < _ALL:
        return "> 99 %"
    if part > _MOST_PART:  # nothing has so much, but a file may say so
        return f"{100 * part:.0e} %"
    return f"{100 * part:.0f} %" if part >= 0.01 or part == 0 else "< 1 %"


def gap_words(gap: float | None) -> str:
    """How far above the value the bound is; rounded up, for it is a claim."""
    if gap is None:
        return UNKNOWN
    if gap <= _EQUAL:
        return "0 %"
    if gap < _LEAST_GAP:
        return f"< {100 * _LEAST_GAP:.4f} %"
    if gap >= _MOST_GAP:
        return f"{float(rounded_up(gap, 2, 100)):.1e} %"
    digits = max(0, 1 - math.floor(math.log10(100 * gap)))
    return f"{math.ceil(100 * gap * 10**digits) / 10**digits:.{digits}f} %"


def p_words(value: float | None, level: float) -> str:
    """How probable as much is by chance; with the digits it takes to see on which side of the level it is.

    >>> p_words(0.3218, 0.05), p_words(0.05003, 0.05), p_words(2e-6, 0.05)
    ('p = 0.322', 'p = 0.05003', 'p = 2e-06')
    """
    if value is None:
        return UNKNOWN
    if value <= _NEVER:
        return "p < 1e-15"
    if value < _SMALLEST or value > 1.0:  # no probability, but a file may say so
        return f"p = {value:.0e}"
    rounded = (f"{value:.{digits}f}" for digits in range(3, 17))
    return f"p = {next((text for text in rounded if (float(text) > level) == (value > level)), value)}"
