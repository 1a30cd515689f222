"""Numbers and foreign text as a page shows them."""

from __future__ import annotations

import datetime
import math
from decimal import ROUND_CEILING, Context, Decimal

from certselect.names import harmless

UNKNOWN = "–"  # noqa: RUF001 (a dash, which reads better in a column of numbers than a minus)
_LONGEST_NAME, _END = 80, 16
_NEVER = 1e-15
_LEAST_GAP = 1e-6
_EQUAL = 1e-12  # what differs by so little is rounding, and counts as worth the same when it is proven


def short(text: str, longest: int = _LONGEST_NAME) -> str:
    """Foreign text in one harmless line, its middle left out if it is long.

    >>> short("x" * 10000, 20)
    'xxxx…xxxxxxxxxxxxxxxx (10,000 characters)'
    """
    if len(text) <= longest:
        return harmless(text)
    return f"{harmless(text[: longest - _END])}…{harmless(text[-_END:])} ({len(text):,} characters)"


def nats(value: float | None) -> str:
    """Information in nats, with the digits that mean something."""
    if value is None:
        return UNKNOWN
    return f"{value:.4f}" if value == 0 or abs(value) >= 1e-3 else f"{value:.1e}"


def at_most(value: float | None) -> str:
    """A bound in nats, with as many digits; rounded up, for it is a claim."""
    if value is None:
        return UNKNOWN
    exact = Decimal(value)
    if value == 0 or abs(value) >= 1e-3:
        return f"{exact.quantize(Decimal('0.0001'), rounding=ROUND_CEILING):f}"
    return f"{float(Context(prec=2, rounding=ROUND_CEILING).plus(exact)):.1e}"


def percent(part: float | None) -> str:
    """A part of 1."""
    if part is None:
        return UNKNOWN
    return f"{100 * part:.0f} %" if part >= 0.01 or part == 0 else "< 1 %"


def gap_words(gap: float | None) -> str:
    """How far above the value the bound is; rounded up, for it is a claim."""
    if gap is None:
        return UNKNOWN
    if gap <= _EQUAL:
        return "0 %"
    if gap < _LEAST_GAP:
        return f"< {100 * _LEAST_GAP:.4f} %"
    digits = max(0, 1 - math.floor(math.log10(100 * gap)))
    return f"{math.ceil(100 * gap * 10**digits) / 10**digits:.{digits}f} %"


def p_value(value: float | None) -> str:
    """How probable as much is by chance."""
    if value is None:
        return UNKNOWN
    if value <= _NEVER:
        return "< 1e-15"
    return f"{value:.3f}" if value >= 1e-3 else f"{value:.0e}"


def seconds(spent: float | None) -> str:
    """A time that was spent."""
    if spent is None:
        return UNKNOWN
    if spent >= 120:
        return f"{spent / 60:.1f} min"
    return f"{spent:.2f} s" if spent >= 0.1 else f"{1000 * spent:.1f} ms"


def axis_number(value: float, *, date: bool = False) -> str:
    """A number at an axis; a date where it counts seconds since 1970."""
    if not date:
        return f"{value:,.0f}" if 1e3 <= abs(value) < 1e7 else f"{value:.4g}"
    try:
        day = datetime.datetime(1970, 1, 1) + datetime.timedelta(seconds=value)
    except OverflowError:
        return f"{value:.4g}"
    return day.strftime("%Y-%m-%d")
