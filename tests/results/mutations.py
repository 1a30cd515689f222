"""Every entry of a stored result changed in ways that make it say something else."""

from __future__ import annotations

import base64
import math
from collections.abc import Callable, Iterator
from typing import Any

Path = tuple[Any, ...]
# Entries of a list that are changed one by one: the first, the last and some between.
_ENTRIES = 3


def mutations(stored: Any) -> Iterator[tuple[Path, str, Callable[[], Any]]]:
    """Path, kind of change, and what makes the changed copy, which shares all it can."""
    for path in _paths(stored):
        here = get(stored, path)
        for kind, entry in _changed(here):
            if path and not _same(entry, here):
                yield path, kind, lambda path=path, entry=entry: put(stored, path, entry)
        if path and isinstance(get(stored, path[:-1]), dict | list):
            yield path, "removed", lambda path=path: without(stored, path)


def put(stored: Any, path: Path, entry: Any) -> Any:
    """A copy with another entry there, that shares all the rest."""
    if not path:
        return entry
    changed = stored.copy()
    changed[path[0]] = put(stored[path[0]], path[1:], entry)
    return changed


def _paths(stored: Any, here: Path = ()) -> Iterator[Path]:
    yield here
    if isinstance(stored, dict):
        for key, entry in stored.items():
            yield from _paths(entry, (*here, key))
    elif isinstance(stored, list) and stored:
        last = len(stored) - 1
        for place in sorted({round(i * last / (_ENTRIES - 1)) for i in range(_ENTRIES)}):
            yield from _paths(stored[place], (*here, place))


def get(stored: Any, path: Path) -> Any:
    for step in path:
        stored = stored[step]
    return stored


def without(stored: Any, path: Path) -> Any:
    parent = get(stored, path[:-1]).copy()
    del parent[path[-1]]
    return put(stored, path[:-1], parent)


def _same(one: Any, other: Any) -> bool:
    return type(one) is type(other) and one == other


def _changed(here: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(here, bool):
        yield "flipped", not here
        yield "number for bool", int(here)
    elif isinstance(here, int):
        yield from (
            ("one more", here + 1),
            ("one less", here - 1),
            ("sign", -here),
            ("zero", 0),
            ("huge", here + 10**12),
        )
        yield from (("bool", bool(here)), ("as float", float(here) if abs(here) < 2**53 else 0.5), ("text", str(here)))
    elif isinstance(here, float):
        step = max(abs(here), 1e-3)
        yield from (("1e-6", here + 1e-6 * step), ("-1e-6", here - 1e-6 * step), ("1e-3", here + 1e-3 * step))
        yield from (("-1e-3", here - 1e-3 * step), ("sign", -here), ("zero", 0.0), ("null", None), ("huge", 1e300))
        yield from (("false", False), ("text", repr(here)), ("doubled", 2 * here), ("infinite", math.inf))
    elif isinstance(here, str):
        yield from (("longer", here + " "), ("other", "x0" if here != "x0" else "x1"), ("empty", ""), ("null", None))
        yield from (("upper", here.upper()), ("number", 3), ("escape", here + "\x1b[2J"))
        spoilt = _bit_flipped(here)
        if spoilt is not None:
            yield "bit", spoilt
    elif here is None:
        yield from (
            ("zero", 0),
            ("one", 1.0),
            ("half", 0.5),
            ("false", False),
            ("text", "x0"),
            ("list", []),
            ("object", {}),
        )
    elif isinstance(here, list):
        yield from (("doubled", here * 2), ("reversed", here[::-1]), ("emptied", []), ("null", None))
        if here:
            yield "first twice", [here[0], *here]
            yield "without the last", here[:-1]
        if len(here) > 1:
            yield "swapped", [here[1], here[0], *here[2:]]
            yield "first for last", [*here[:-1], here[0]]
        yield from (("a number more", [*here, 0]), ("a name more", [*here, "x0"]), ("a list more", [*here, [0, 1, 2]]))
    elif isinstance(here, dict):
        yield from (("unknown key", here | {"n_jobs": 1}), ("emptied", {}), ("null", None))


def _bit_flipped(text: str) -> str | None:
    """Packed numbers with another bit in the middle; they are compressed, so mostly refused at once."""
    if len(text) < 40 or len(text) % 4:
        return None
    try:
        data = bytearray(base64.b64decode(text, validate=True))
    except ValueError:
        return None
    data[len(data) // 2] ^= 1
    return base64.b64encode(data).decode()
