"""Foreign text, times and axes as a page shows them; other numbers are shown as everywhere (`shown_numbers`)."""

from __future__ import annotations

import datetime

from certselect.names import harmless
from certselect.shown_numbers import UNKNOWN

_LONGEST_NAME, _END = 80, 16
_MOST_MINUTES = 1e6


def short(text: str, longest: int = _LONGEST_NAME) -> str:
    """Foreign text in one harmless line, its middle left out if it is long.

    >>> short("x" * 10000, 20)
    'xxxx…xxxxxxxxxxxxxxxx (10,000 characters)'
    """
    if len(text) <= longest:
        return harmless(text)
    return f"{harmless(text[: longest - _END])}…{harmless(text[-_END:])} ({len(text):,} characters)"


def seconds(spent: float | None) -> str:
    """A time that was spent."""
    if spent is None:
        return UNKNOWN
    if spent >= 120:
        return f"{spent / 60:.1f} min" if spent < 60 * _MOST_MINUTES else f"{spent / 60:.1e} min"
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
