"""A lift as JSON can hold it, and back: the price as a number, the pairs packed into text."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from certselect.certificate.lift import Lift
from certselect.errors import InvalidInput
from certselect.names import shown
from certselect.results.packed_numbers import packed, unpacked
from certselect.results.schema import KNOWN_NUMBER, PACKED, REMEDY, Field, Record, only, whole

FLOATS = "<f4"
_PAIRS = Record("a lift's pairs", {"size": Field(whole()), "upper_triangle": Field(PACKED)}, nullable=True)
LIFT = Record("a lift", {"price": Field(KNOWN_NUMBER), "pairs": Field(_PAIRS)}, nullable=True)


def lift_as_json(lift: Lift | None) -> dict[str, Any] | None:
    """Write a lift for a file: its pairs as the upper triangle row by row, in float32, compressed, in base64."""
    if lift is None:
        return None
    if lift.pairs is None:
        return {"price": float(lift.price), "pairs": None}
    text = packed((row[i + 1 :] for i, row in enumerate(lift.pairs)), FLOATS)
    return {"price": float(lift.price), "pairs": {"size": len(lift.pairs), "upper_triangle": text}}


def lift_from_json(stored: Any, size: int) -> Lift | None:
    """Read a lift of a problem of this size; trusts nothing and takes no more memory than such a lift needs.

    Whether it proves anything is for `Lift.check` to say.
    """
    if stored is None:
        return None
    if not isinstance(stored, dict) or not _is_price(stored.get("price")):
        raise InvalidInput("a lift without a price", "an object with a number for a price", REMEDY)
    only(stored, LIFT.fields.keys(), LIFT.called)
    try:
        price = float(stored["price"])
    except OverflowError:
        price = math.inf
    if stored.get("pairs") is None:
        return Lift(None, price)
    triangle = stored["pairs"]
    if not isinstance(triangle, dict) or type(triangle.get("size")) is not int or triangle["size"] != size:
        got = triangle.get("size") if isinstance(triangle, dict) else triangle
        raise InvalidInput(f"a lift of size {shown(got)}", f"{size}, the size of the reduced problem", REMEDY)
    only(triangle, _PAIRS.fields.keys(), _PAIRS.called)
    upper = unpacked(triangle.get("upper_triangle"), size * (size - 1) // 2, FLOATS, "a lift")
    pairs = np.zeros((size, size), dtype=np.float32)
    start = 0
    for i in range(size - 1):
        row = upper[start : start + size - 1 - i]
        pairs[i, i + 1 :] = pairs[i + 1 :, i] = row
        start += len(row)
    return Lift(pairs, price)


def _is_price(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
