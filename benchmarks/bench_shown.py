"""How numbers and names of the results are shown on the page."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import log10
from typing import Any

from contestants.choosers import TAKE_PART
from contestants.results import Row, seconds
from contestants.selectors import ADAPTERS

ABSENT = "-"
SAME = [name for name in TAKE_PART if ADAPTERS[name].criteria]
OTHERS = [name for name in TAKE_PART if not ADAPTERS[name].criteria]


def times(ratio: float | None) -> str:
    """Two digits of a ratio; in bold where the other one is faster."""
    if ratio is None:
        return ABSENT
    shown = f"{ratio:.0f}" if ratio >= 9.95 else f"{ratio:.1f}" if ratio >= 0.995 else f"{ratio:.2g}"
    return f"**{shown}**" if ratio < 1.0 else shown


def milliseconds(spent: float | None) -> str:
    if spent is None:
        return ABSENT
    digits = max(0, 1 - int(log10(max(1e3 * spent, 1e-3)) // 1))
    return f"{1e3 * spent:.{digits}f}"


def with_spread(row: Row, name: str) -> str:
    found = row["contestants"][name]["seconds"]
    shown = milliseconds(found["median"])
    if found["runs"] == 1:
        return shown
    return f"{shown} ({milliseconds(found['fastest'])} to {milliseconds(found['slowest'])})"


def table_name(row: Row) -> str:
    shape = f"{row['rows']} x {row['columns']}"
    return shape if row["source"] == "generated" else f"{shape} ({row['source']})"


def fact(row: Row, name: str, key: str) -> Any:
    return row["contestants"].get(name, {}).get(key)


def ran(rows: Iterable[Row], names: Sequence[str]) -> list[str]:
    """Those of some names that ran anywhere."""
    return [name for name in names if any(seconds(row, name) is not None for row in rows)]


def percent_up(fraction: float) -> str:
    """A bound is rounded up."""
    hundredths = -int(-1e4 * fraction // 1)
    return f"{hundredths / 100:.2f}"
