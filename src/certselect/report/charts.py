"""Facts -> places and sizes of what the page draws; the templates draw it as SVG."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from typing import Any

from certselect.report.wording import axis_number, short
from certselect.shown_numbers import percent

# Shades of the map, light to dark.
SHADES = 9
_WIDTH, _HEIGHT, _LEFT, _BOTTOM, _TOP, _RIGHT = 640, 270, 56, 46, 12, 14
_SMALL_WIDTH, _SMALL_HEIGHT = 240, 84
_LONGEST_LABEL, _LETTER = 24, 7.2
# Numbers beyond have no place on an axis: beside them all others would lie on one line, and sums overflow.
_FARTHEST = 1e150
_SPELLED_OUT = 1e7
# A gap narrower than this part of the bar is drawn this wide, and the page says so.
THINNEST = 0.006

Known = Sequence[float | None]


def certificate_bar(certificate: dict[str, Any]) -> dict[str, Any] | None:
    """How much of the bar, 0 to 100, value and gap take; None where there is no bar to draw."""
    value, bound = certificate["value"], certificate["bound"]
    if value is None or bound is None or not 0.0 < value <= bound:
        return None
    gap = (bound - value) / bound
    thin = 0.0 < gap < THINNEST
    drawn = THINNEST if thin and gap > 1e-9 else gap
    return {"value": 100.0 * (1.0 - drawn), "gap": 100.0 * drawn, "thin": thin and gap > 1e-9}


def length(value: float | None, longest: float) -> float:
    """How much of a bar, 0 to 100, a value takes."""
    return round(100.0 * min(1.0, max(0.0, (value or 0.0) / longest)), 2)


def line_chart(
    sizes: Sequence[int], values: Known, *, above: Known = (), errors: Known = (), marked: int | None = None
) -> dict[str, Any]:
    """A curve over the number of features, with a second one `above` it or error bars."""
    values, above, errors = (_drawable(numbers) for numbers in (values, above, errors))
    known = [value for value in (*values, *above) if value is not None]
    for value, error in zip(values, errors, strict=False):
        known += [value - error, value + error] if value is not None and error is not None else []
    low, high = (min(known), max(known)) if known else (0.0, 1.0)
    low = 0.0 if not errors and low >= 0.0 else low
    steps = nice_steps(low, high)
    low, high = min(low, steps[0]), max(high, steps[-1])
    first, last = min(sizes), max(sizes)

    def across(size: float) -> float:
        return _LEFT + (_WIDTH - _LEFT - _RIGHT) * ((size - first) / (last - first) if last > first else 0.5)

    def up(value: float) -> float:
        return _TOP + (_HEIGHT - _TOP - _BOTTOM) * (1.0 - (value - low) / (high - low))

    def points(line: Known) -> list[tuple[float, float]]:
        return [(across(size), up(value)) for size, value in zip(sizes, line, strict=False) if value is not None]

    whole = [step for step in nice_steps(first, last, 8) if step == int(step) and first <= step <= last]
    return {
        "width": _WIDTH,
        "height": _HEIGHT,
        "left": _LEFT,
        "right": _WIDTH - _RIGHT,
        "bottom": _HEIGHT - _BOTTOM,
        "across": [(across(size), str(int(size))) for size in whole],
        "up": list(zip(map(up, steps), _alike(steps), strict=True)),
        "line": points(values),
        "above": points(above),
        "bars": [
            (across(size), up(value - error), up(value + error))
            for size, value, error in zip(sizes, values, errors, strict=False)
            if value is not None and error is not None
        ],
        "marked": None if marked is None or not first <= marked <= last else across(marked),
    }


def _drawable(numbers: Known) -> list[float | None]:
    return [None if number is None or abs(number) > _FARTHEST else number for number in numbers]


def nice_steps(low: float, high: float, about: int = 5) -> list[float]:
    """Round numbers from below `low` to above `high`, some `about` steps apart.

    >>> nice_steps(0.0, 0.93)
    [0.0, 0.2, 0.4, 0.6, 0.8, 1.0]
    """
    if not high - low > 1e-9 * max(abs(low), abs(high)):
        apart = max(0.5, 0.1 * abs(low))
        high, low = high + apart, low - apart
    raw = (high - low) / about
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(factor * power for factor in (1, 2, 5, 10) if factor * power >= raw * (1 - 1e-9))
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    return [float(f"{number * step:.10g}") for number in range(first, last + 1)]


def _alike(numbers: Sequence[float]) -> list[str]:
    """Numbers of an axis with as many decimals as the one that needs most."""
    if max(map(abs, numbers)) >= _SPELLED_OUT:
        return [f"{number:.4g}" for number in numbers]
    decimals = max(len(f"{number:.6g}".partition(".")[2].partition("e")[0]) for number in numbers)
    return [f"{number:.{decimals}f}" for number in numbers]


def heat_map(redundancy: dict[str, Any], names: Sequence[str], chosen: Collection[int]) -> dict[str, Any]:
    """The cells of the map, each with its shade and what it says."""
    columns: list[int] = redundancy["columns"]
    labels = [label_text(names[i]) for i in columns]
    return {
        "n": len(columns),
        "left": round(40 + _LETTER * max(map(len, labels))),
        "labels": [{"name": label, "chosen": i in chosen} for i, label in zip(columns, labels, strict=True)],
        "cells": [
            [{"part": part, "shade": min(SHADES - 1, int(part * SHADES))} for part in row]
            for row in redundancy["parts"]
        ],
        "pairs": _strongest(redundancy["parts"], [short(names[i]) for i in columns]),
    }


def label_text(name: str) -> str:
    """A name as it fits beside the map.

    >>> label_text("a name that is longer than the map has room for")
    'a name that is longer t…'
    """
    text = short(name)
    return text if len(text) <= _LONGEST_LABEL else f"{text[: _LONGEST_LABEL - 1]}…"


def _strongest(parts: Sequence[Sequence[float]], names: Sequence[str], most: int = 10) -> list[tuple[str, str, str]]:
    pairs = [(parts[i][j], i, j) for i in range(len(parts)) for j in range(i)]
    pairs.sort(key=lambda pair: (-pair[0], pair[2], pair[1]))
    return [(names[j], names[i], percent(part)) for part, i, j in pairs[:most]]


def distribution_chart(one: dict[str, Any]) -> dict[str, Any]:
    """The share of each class's rows in each bin, as outlines; or at each level, as bars."""
    shares = []
    for counts in one["counts"]:
        total = sum(counts)
        shares.append([count / total if total else 0.0 for count in counts])
    top = max((share for row in shares for share in row), default=0.0) or 1.0
    if one["levels"]:
        levels = [
            {
                "name": short(level, 28),
                "bars": [{"width": round(100.0 * row[place] / top, 2), "share": percent(row[place])} for row in shares],
            }
            for place, level in enumerate(one["levels"])
        ]
        return {"levels": levels}
    bins = len(one["edges"]) - 1
    step = _SMALL_WIDTH / bins
    outlines = []
    for row in shares:
        heights = [round(_SMALL_HEIGHT * (1.0 - share / top), 2) for share in row]
        walk = "".join(f"V{height:g}H{round(step * (place + 1), 2):g}" for place, height in enumerate(heights))
        outlines.append(f"M0 {_SMALL_HEIGHT}{walk}V{_SMALL_HEIGHT}")
    middle = one["edges"][bins // 2]
    ends = [axis_number(edge, date=one["date"]) for edge in (one["edges"][0], middle, one["edges"][-1])]
    return {"levels": [], "outlines": outlines, "ends": ends, "width": _SMALL_WIDTH, "height": _SMALL_HEIGHT}
