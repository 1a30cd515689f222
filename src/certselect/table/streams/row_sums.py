"""A number that tells rows from other rows, whatever their order and however they are divided into blocks."""

from __future__ import annotations

from zlib import crc32

import numpy as np
import pyarrow as pa

# Odd numbers without a pattern in their bits: one spreads the columns of a row, the other mixes the sum of a row.
_SPREAD, _MIX = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xBF58476D1CE4E5B9)


def row_sum(table: pa.Table) -> int:
    """A sum over rows modulo 2**64, each of which is mixed out of its cells; add up the sums of blocks."""
    rows = np.zeros(table.num_rows, dtype=np.uint64)
    factors = np.cumprod(np.full(max(1, table.num_columns), _SPREAD))
    for factor, column in zip(factors, table.columns, strict=False):
        rows += _cells(column.combine_chunks()) * factor
    rows ^= rows >> np.uint64(32)
    rows *= _MIX
    return int(rows.sum())


def _cells(array: pa.Array) -> np.ndarray:
    """The bits of every cell, 0 of those without a value and of types that are seldom met."""
    kind = array.type
    lacking = None if not array.null_count else np.from_dlpack(array.is_null().cast(pa.uint8())) == 1
    if pa.types.is_dictionary(kind) or pa.types.is_string(kind) or pa.types.is_large_string(kind):
        encoded = array if pa.types.is_dictionary(kind) else array.dictionary_encode()
        words = [crc32(word) for word in _bytes_of(encoded.dictionary)]
        places = encoded.indices.fill_null(len(words)).to_numpy(zero_copy_only=False)
        return np.array([*words, 0], dtype=np.uint64)[places]
    if pa.types.is_boolean(kind):
        bits = np.from_dlpack(array.fill_null(False).cast(pa.uint8()))
    elif pa.types.is_primitive(kind) and kind.bit_width <= 64:
        numbers = np.frombuffer(array.buffers()[1], dtype=f"u{kind.bit_width // 8}")
        bits = numbers[array.offset : array.offset + len(array)]
    elif pa.types.is_decimal128(kind):
        halves = np.frombuffer(array.buffers()[1], dtype=np.uint64).reshape(-1, 2)[array.offset :][: len(array)]
        bits = halves[:, 0] + halves[:, 1] * _SPREAD
    else:
        bits = np.zeros(len(array), dtype=np.uint64)
    bits = bits.astype(np.uint64)
    return bits if lacking is None else np.where(lacking, np.uint64(0), bits)


def _bytes_of(words: pa.Array) -> list[bytes]:
    if pa.types.is_string(words.type) or pa.types.is_large_string(words.type):
        as_bytes = pa.binary() if pa.types.is_string(words.type) else pa.large_binary()
        return [word or b"" for word in words.cast(as_bytes).to_pylist()]  # which need not be UTF-8
    return [str(word).encode() for word in words.to_pylist()]
