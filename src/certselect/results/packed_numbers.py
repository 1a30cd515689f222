"""Arrays of numbers as text a JSON file can hold: compressed, in base64, little-endian on every machine."""

from __future__ import annotations

import base64
import zlib
from collections.abc import Iterable
from typing import Any

import numpy as np

from certselect.errors import InvalidInput
from certselect.results.schema import REMEDY

# The low bits of what is packed are noise: higher levels take up to seven times as long and save next to nothing.
LEVEL = 1


def packed(rows: Iterable[np.ndarray], dtype: str) -> str:
    """The rows one after the other, in a little-endian type such as "<f8"."""
    packer = zlib.compressobj(LEVEL)
    parts = [packer.compress(np.ascontiguousarray(row, dtype=dtype).data) for row in rows]
    return base64.b64encode(b"".join([*parts, packer.flush()])).decode("ascii")


def unpacked(text: Any, count: int, dtype: str, what: str) -> np.ndarray:
    """So many numbers back from text that is not trusted: it is never unpacked beyond their size."""
    if not isinstance(text, str):
        raise InvalidInput(f"{what} without its numbers", "compressed numbers in base64", REMEDY)
    wanted = count * np.dtype(dtype).itemsize
    expander = zlib.decompressobj()
    try:
        # One byte more than there should be tells a longer one, however long it is.
        data = expander.decompress(base64.b64decode(text, validate=True), wanted + 1)
    except (ValueError, zlib.error) as error:
        got = f"{what} that cannot be unpacked ({error})"
        raise InvalidInput(got, "compressed numbers in base64", REMEDY) from error
    if len(data) != wanted or not expander.eof:
        raise InvalidInput(f"{what} of another length than its size says", f"{count} numbers", REMEDY)
    return np.frombuffer(data, dtype=dtype)
