"""Lifts and proofs in files: numbers as JSON, matrices packed into text.

Packed numbers are compressed, in base64, little-endian on every machine. A proof is a list of parts, each with its
steps. A part with a case distinction is followed by all parts of its first case and then by all of its second, so that
a list is enough, however deep the cases go. A file is not trusted: it is read in a loop, and no matrix is unpacked
beyond the size it can have.
"""

from __future__ import annotations

import base64
import math
import zlib
from collections.abc import Iterable
from typing import Any

import numpy as np

from certselect.certificate.coarse import TYPES, Coarse, is_grain
from certselect.certificate.lift import Lift
from certselect.certificate.proof import MOST_BYTES, Proof, Step
from certselect.errors import InvalidInput
from certselect.names import shown
from certselect.results.schema import (
    KNOWN_NUMBER,
    NUMBER,
    PACKED,
    REMEDY,
    Field,
    Record,
    Records,
    foreign,
    one_of,
    only,
    whole,
    wrong,
)

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


_OF_LIFTS = "<f4"
_PAIRS = Record("a lift's pairs", {"size": Field(whole()), "upper_triangle": Field(PACKED)}, nullable=True)
LIFT = Record("a lift", {"price": Field(KNOWN_NUMBER), "pairs": Field(_PAIRS)}, nullable=True)


def lift_as_json(lift: Lift | None) -> dict[str, Any] | None:
    """Write a lift for a file: its pairs as the upper triangle row by row, in float32, compressed, in base64."""
    if lift is None:
        return None
    if lift.pairs is None:
        return {"price": float(lift.price), "pairs": None}
    text = packed((row[i + 1 :] for i, row in enumerate(lift.pairs)), _OF_LIFTS)
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
    upper = unpacked(triangle.get("upper_triangle"), size * (size - 1) // 2, _OF_LIFTS, "a lift")
    pairs = np.zeros((size, size), dtype=np.float32)
    start = 0
    for i in range(size - 1):
        row = upper[start : start + size - 1 - i]
        pairs[i, i + 1 :] = pairs[i + 1 :, i] = row
        start += len(row)
    return Lift(pairs, price)


def _is_price(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


FLOATS = "<f8"
INTEGERS = {kind.name: kind.newbyteorder("<").str for kind in TYPES}

STEP = Record(
    "a proof step",
    {
        "size": Field(whole(1)),
        "grain": Field(foreign({"type": "number", "exclusiveMinimum": 0})),
        "type": Field(one_of(*(kind.name for kind in TYPES))),
        "above_diagonal": Field(PACKED),
        "diagonal": Field(PACKED),
        "weights": Field(PACKED),
        "out": Field(foreign({"type": "array", "items": {"type": "integer"}, "uniqueItems": True})),
        "into": Field(foreign({"type": "array", "items": {"type": "integer"}, "uniqueItems": True})),
        "twins": Field(
            foreign(
                {
                    "type": "array",
                    "items": {"type": "array", "items": {"type": "integer"}, "minItems": 2, "maxItems": 2},
                }
            )
        ),
    },
)
PROOF_PART = Record(
    "a part of a proof", {"steps": Field(Records(STEP)), "unit": Field(foreign({"type": ["integer", "null"]}))}
)
PROOF = Record(
    "a proof",
    {"floor": Field(foreign({"type": ["number", "null"], "maximum": 0})), "parts": Field(Records(PROOF_PART, 1))},
    nullable=True,
)


def proof_as_json(proof: Proof) -> dict[str, Any]:
    """Write a proof for a file, bit for bit."""
    parts = [
        {"steps": [_step_as_json(step) for step in part.steps], "unit": int(part.unit) if part.cases else None}
        for part in proof.parts()
    ]
    return {"floor": proof.floor if math.isfinite(proof.floor) else None, "parts": parts}


def proof_from_json(stored: Any, size: int) -> Proof:
    """Read a proof about a reduced problem of `size` units; it takes no more memory than a proof may.

    Whether it proves anything is for `replay` to say.
    """
    parts = stored.get("parts") if isinstance(stored, dict) else None
    if not isinstance(parts, list) or not parts:
        raise InvalidInput("a proof without parts", "an object with a list of them", REMEDY)
    only(stored, PROOF.fields.keys(), PROOF.called)
    floor = NUMBER.of_file(stored["floor"], PROOF.called, "floor")
    whole = Proof(floor=-math.inf if math.isnan(floor) else floor)
    # Proofs to be filled, the next one last, and how many units can be open in them.
    waiting = [(whole, size)]
    taken = 0
    for part in parts:
        steps = part.get("steps") if isinstance(part, dict) else None
        if not waiting or not isinstance(steps, list):
            raise InvalidInput(f"a proof of {len(parts)} parts", "as many as its cases need, with steps", REMEDY)
        only(part, PROOF_PART.fields.keys(), PROOF_PART.called)
        proof, most = waiting.pop()
        for step in steps:
            most = _size_of(step, most)
            taken += most * 8 + most * (most - 1) // 2 * _type_of(step).itemsize
            if taken > MOST_BYTES:
                raise InvalidInput("a proof of too many numbers", f"at most {MOST_BYTES} bytes", "Prove less at once.")
            proof.steps.append(_step_from_json(step, most))
        if part["unit"] is not None:
            if not steps:
                # Provers distinguish cases after a step only; without one, a few bytes would cost a problem each.
                raise InvalidInput("a proof that distinguishes cases without a step before", "one at least", REMEDY)
            proof.unit = _unit(part["unit"])
            proof.case_in, proof.case_out = Proof(), Proof()
            waiting += [(proof.case_out, most), (proof.case_in, most)]
    if waiting:
        raise InvalidInput(f"a proof in which {len(waiting)} cases are missing", "two parts for each unit", REMEDY)
    return whole


def _step_as_json(step: Step) -> dict[str, Any]:
    return {
        "size": len(step.w),
        "grain": step.N.grain,
        "type": step.N.entries.dtype.name,
        "above_diagonal": packed([step.N.entries], INTEGERS[step.N.entries.dtype.name]),
        "diagonal": packed([step.N.diagonal], FLOATS),
        "weights": packed([step.w], FLOATS),
        "out": [int(unit) for unit in step.out],
        "into": [int(unit) for unit in step.into],
        "twins": [[int(kept), int(dropped)] for kept, dropped in step.twins],
    }


def _step_from_json(stored: dict[str, Any], m: int) -> Step:
    only(stored, STEP.fields.keys(), STEP.called)
    grain, kind = NUMBER.of_file(stored["grain"], STEP.called, "grain"), _type_of(stored)
    if not is_grain(grain):
        raise wrong(STEP.called, "grain", stored["grain"], "a power of two such that all products are finite")
    entries = unpacked(stored["above_diagonal"], m * (m - 1) // 2, INTEGERS[kind.name], "a proof step")
    diagonal, w = (unpacked(stored[name], m, FLOATS, "a proof step") for name in ("diagonal", "weights"))
    N = Coarse(diagonal.astype(np.float64), grain, entries.astype(kind, copy=False))
    out, into, twins = (stored.get(name) for name in ("out", "into", "twins"))
    if not (isinstance(out, list) and isinstance(into, list) and isinstance(twins, list)):
        raise InvalidInput("a proof step that does not say what it decides", "lists out, into and twins", REMEDY)
    if any(not isinstance(pair, list) or len(pair) != 2 for pair in twins):
        raise InvalidInput("a proof step with twins that are not two units", "pairs", REMEDY)
    pairs = tuple((_unit(kept), _unit(dropped)) for kept, dropped in twins)
    dropped = [unit for _, unit in pairs]
    for units in (out, into, dropped):
        if len(units) > m or len(set(map(_unit, units))) < len(units):
            raise InvalidInput("a proof step that decides a unit twice", "each unit once", REMEDY)
    return Step(N, w.astype(np.float64), tuple(out), tuple(into), pairs)


def _size_of(step: Any, most: int) -> int:
    size = step.get("size") if isinstance(step, dict) else None
    if not isinstance(size, int) or isinstance(size, bool) or not 1 <= size <= most:
        raise InvalidInput(f"a proof step of size {shown(size)}", f"1 to {most}, as many as can be open there", REMEDY)
    return size


def _type_of(step: Any) -> np.dtype[Any]:
    """Of what is beside the diagonal."""
    name = step.get("type")
    if not isinstance(name, str) or name not in INTEGERS:
        raise InvalidInput(f"a proof step of type {shown(name)}", f"one of {', '.join(INTEGERS)}", REMEDY)
    return np.dtype(name)


def _unit(stored: Any) -> int:
    if not isinstance(stored, int) or isinstance(stored, bool):
        raise InvalidInput(f"{shown(stored)} for a unit", "a whole number", REMEDY)
    return stored
