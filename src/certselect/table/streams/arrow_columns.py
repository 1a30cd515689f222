"""A column of a block of rows -> Column, as `read_frame` would read it, without a copy where Arrow allows that."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import numpy as np
import pyarrow as pa

from certselect.errors import InvalidInput, keyword
from certselect.table.columns import Column
from certselect.table.frames import read_frame

_FLOATS = (pa.float32(), pa.float64())


def read_cells(array: pa.Array, name: str) -> Column:
    """A column of numbers (float64, NaN where there is none), integers or bools, or codes of categories."""
    with readable_cells(name):
        return _cells(array, name)


@contextmanager
def readable_cells(name: str) -> Iterator[None]:
    """Cells that Python cannot represent, in words."""
    try:
        yield
    except UnicodeDecodeError as error:
        raise InvalidInput(
            f"text that is not UTF-8 in column {name!r}",
            "text in UTF-8",
            f"Decode it where the table is written, or leave that column out by {keyword('exclude', spelled='')}.",
        ) from error
    except OverflowError as error:
        raise InvalidInput(
            f"dates or durations in column {name!r} that are out of range ({error})",
            "dates from the year 1 to 9999",
            f"Convert them to numbers, or leave that column out by {keyword('exclude', spelled='')}.",
        ) from error


def _cells(array: pa.Array, name: str) -> Column:
    kind = array.type
    if kind in _FLOATS:
        numbers = np.from_dlpack(array) if not array.null_count else _with_gaps(array)
        return Column(0, "number", numbers.astype(np.float64, copy=False))
    if pa.types.is_integer(kind) and not array.null_count:
        return Column(0, "integer", np.from_dlpack(array))
    if pa.types.is_boolean(kind) and not array.null_count:
        return Column(0, "integer", np.from_dlpack(array.cast(pa.uint8())).view(bool))
    if pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_dictionary(kind):
        return _texts(array)
    blocks, dated = read_frame(pa.table([pa.chunked_array([array])], names=["0"]), [name])
    values, missing = blocks[0].values[:, 0], None if blocks[0].missing is None else blocks[0].missing[:, 0]
    vocabulary = blocks[0].vocabularies[0] if blocks[0].vocabularies else ()
    if blocks[0].kind == "number":
        values = values.astype(np.float64, copy=False)
    return Column(0, blocks[0].kind, values, vocabulary, missing, dated=bool(dated))


def _with_gaps(array: pa.Array) -> np.ndarray:
    known = np.from_dlpack(array.is_valid().cast(pa.uint8())) == 1
    numbers = np.frombuffer(array.buffers()[1], dtype=f"f{array.type.bit_width // 8}")
    return np.where(known, numbers[array.offset : array.offset + len(array)], np.nan)


def _texts(array: pa.Array) -> Column:
    """Categories by the words that occur; a dictionary may hold others, and one more than once."""
    given = pa.types.is_dictionary(array.type)
    encoded = array if given else array.dictionary_encode()
    words = encoded.dictionary.to_pylist()
    if not encoded.null_count and not given:
        return Column(0, "category", np.from_dlpack(encoded.indices), tuple(words))
    codes = encoded.indices.fill_null(len(words)).to_numpy(zero_copy_only=False)
    occur = np.flatnonzero(np.bincount(codes, minlength=len(words) + 1)[: len(words)])
    code_of: dict[object, int] = {}
    own = np.full(len(words) + 1, -1, dtype=np.int32)  # the last place is that of no word
    for place in occur.tolist():
        if words[place] is not None:
            own[place] = code_of.setdefault(words[place], len(code_of))
    codes = own[codes]
    missing = codes < 0
    return Column(0, "category", codes, tuple(code_of), missing if missing.any() else None)


def numbers_of(array: pa.Array, name: str, words: Mapping[str, float] | None) -> np.ndarray:
    """A column of a block as float64, NaN where there is no value; `words` says what number each word stands for."""
    column = read_cells(array, name)
    if column.kind == "category":
        told = np.array([*((words or {}).get(str(word), np.nan) for word in column.vocabulary), np.nan])
        return told[column.values]
    values = column.values.astype(np.float64, copy=False)
    return values if column.missing is None else np.where(column.missing, np.nan, values)
