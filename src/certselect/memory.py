"""Whether the machine has room for what is about to be made: better known before than in the middle."""

from __future__ import annotations

import math
import os
from contextlib import suppress
from pathlib import Path

from certselect.errors import InvalidInput

# Of the matrix of all pairs: the pair terms, Q made of them, and Q as a solver scales it.
_COPIES = 3
# Bytes of a proof for each pair of features, at its largest: pair terms, Q and N in double precision, two more matrices
# beside N while its consequences are derived, eight of single precision for the rounds (three, three put aside while
# another penalty is tried, two of their best state), and what is kept of N.
PROOF_BYTES = 5 * 8 + 8 * 4 + 4
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


def check_room_for_proof(n_features: int) -> None:
    """Refuse a proof whose matrices would not fit into memory."""
    check_room_for_pairs(n_features, 8)
    if not has_room_for_proof(n_features):
        needed, there = PROOF_BYTES * n_features**2 / 2**30, machine_bytes() / 2**30
        raise InvalidInput(
            f"{n_features} candidates for strategy='exact', which takes {needed:.3g} GiB for so many",
            f"as many as fit into this machine's {there:.3g} GiB of memory",
            "Remove the least relevant columns, or use strategy='forward' with certify=True for a quicker bound.",
        )


def has_room_for_proof(n_features: int) -> bool:
    """Whether the matrices of a proof fit into memory."""
    return PROOF_BYTES * n_features**2 <= machine_bytes()


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
