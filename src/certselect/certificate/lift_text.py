"""A lift as JSON can hold it, and back: the price as a number, the pairs packed into text."""

from __future__ import annotations

import base64
import math
import zlib
from typing import Any

import numpy as np

from certselect.criteria.lift import Lift
from certselect.errors import InvalidInput

# Little-endian, so that a file means the same on every machine.
PACKED = np.dtype("<f4")
REMEDY = "Pass what `certselect select --json` wrote."


def lift_as_json(lift: Lift | None) -> dict[str, Any] | None:
    """Write a lift for a file: its pairs as the upper triangle row by row, in float32, compressed, in base64."""
    if lift is None:
        return None
    if lift.pairs is None:
        return {"price": float(lift.price), "pairs": None}
    size, packer = len(lift.pairs), zlib.compressobj()
    packed = [packer.compress(lift.pairs[i, i + 1 :].astype(PACKED).tobytes()) for i in range(size)]
    text = base64.b64encode(b"".join([*packed, packer.flush()])).decode("ascii")
    return {"price": float(lift.price), "pairs": {"size": size, "upper_triangle": text}}


def lift_from_json(stored: Any, size: int) -> Lift | None:
    """Read a lift of a problem of this size; trusts nothing and takes no more memory than such a lift needs.

    Whether it proves anything is for `Lift.check` to say.
    """
    if stored is None:
        return None
    if not isinstance(stored, dict) or not _is_number(stored.get("price")):
        raise InvalidInput("a lift without a price", "an object with a number for a price", REMEDY)
    try:
        price = float(stored["price"])
    except OverflowError:
        price = math.inf
    if stored.get("pairs") is None:
        return Lift(None, price)
    packed = stored["pairs"]
    if not isinstance(packed, dict) or packed.get("size") != size or not isinstance(packed.get("upper_triangle"), str):
        got = packed.get("size") if isinstance(packed, dict) else packed
        raise InvalidInput(f"a lift of size {got!r:.40}", f"{size}, the size of the reduced problem", REMEDY)
    upper = _unpacked(packed["upper_triangle"], size * (size - 1) // 2)
    pairs = np.zeros((size, size), dtype=np.float32)
    start = 0
    for i in range(size - 1):
        row = upper[start : start + size - 1 - i]
        pairs[i, i + 1 :] = pairs[i + 1 :, i] = row
        start += len(row)
    return Lift(pairs, price)


def _unpacked(text: str, count: int) -> np.ndarray:
    wanted = count * PACKED.itemsize
    expander = zlib.decompressobj()
    try:
        # One byte more than there should be tells a longer one, however long it is.
        data = expander.decompress(base64.b64decode(text, validate=True), wanted + 1)
    except (ValueError, zlib.error) as error:
        got = f"a lift that cannot be unpacked ({error})"
        raise InvalidInput(got, "compressed numbers in base64", REMEDY) from error
    if len(data) != wanted or not expander.eof:
        raise InvalidInput("a lift of another length than its size says", f"{count} numbers", REMEDY)
    return np.frombuffer(data, dtype=PACKED)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
