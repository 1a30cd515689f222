"""Whether the machine has room for what is about to be made: better known before than in the middle."""

from __future__ import annotations

import math
import os
from contextlib import suppress
from pathlib import Path

from certselect.errors import InvalidInput

# Of the matrix of all pairs: the pair terms, Q made of them, and Q as a solver scales it.
_COPIES = 3
# Where Linux says what a container may use, in its newer and its older way.
_LIMITS = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")


def check_room_for_pairs(n_features: int, bytes_each: int) -> None:
    """Refuse the pair terms of all features with all others where they would not fit into memory."""
    needed, there = _COPIES * n_features**2 * bytes_each, machine_bytes()
    if needed > there:
        raise InvalidInput(
            f"a search or a bound that needs all pairs of {n_features} features, {needed / 2**30:.3g} GiB",
            f"one that fits into this machine's {there / 2**30:.3g} GiB of memory",
            "Use strategy='forward' without certify, which needs the pairs of the chosen features alone, or remove "
            "the least relevant columns from the table.",
        )


def machine_bytes() -> float:
    """The memory of this machine, or what its container may use of it; infinite where that is not known."""
    known = math.inf
    with suppress(AttributeError, OSError, ValueError):  # not every system tells
        pages, size = os.sysconf("SC_PHYS_PAGES"), os.sysconf("SC_PAGE_SIZE")
        known = float(pages * size) if pages > 0 and size > 0 else math.inf
    for file in _LIMITS:
        with suppress(OSError, ValueError):  # not there, or the word "max"
            known = min(known, float(int(Path(file).read_text(encoding="ascii"))))
    return known
