"""Whether the machine has room for what is about to be made: better known before than in the middle."""

from __future__ import annotations

import math
import os
import re
from contextlib import suppress
from numbers import Real
from pathlib import Path

from certselect.errors import InvalidInput

# Of the matrix of all pairs: the pair terms, Q made of them, and Q as a solver scales it.
_COPIES = 3
# Bytes of a proof for each pair of features, at its largest: pair terms, Q and N in double precision, two more matrices
# beside N while its consequences are derived, eight of single precision for the rounds (three, three put aside while
# another penalty is tried, two of their best state), and what is kept of N.
PROOF_BYTES = 5 * 8 + 8 * 4 + 4
# How amounts of memory are written, the share of what is free that is used if nobody says how much, the least that
# anything can be done with, and what is assumed where a system does not tell.
_AMOUNT = re.compile(r"(\d+(?:\.\d+)?) *([KMGT]?I?B?)", re.IGNORECASE)
_UNITS = {prefix + unit: 1000**power for power, prefix in enumerate(("", "K", "M", "G", "T")) for unit in ("", "B")}
_UNITS |= {prefix + unit: 1024**power for power, prefix in enumerate("KMGT", start=1) for unit in ("I", "IB")}
_SHARE, _LEAST_BUDGET, _UNKNOWN = 0.25, 64_000_000, 4.0 * 2**30
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


def memory_budget(memory: int | str | None) -> int:
    """The bytes that `memory` stands for: a number, a text such as "2GB"; a quarter of what is free if None."""
    if memory is None:
        return int(free_bytes() * _SHARE)
    if isinstance(memory, str):
        found = _AMOUNT.fullmatch(memory.strip())
        amount = float(found[1]) * _UNITS.get(found[2].upper(), math.nan) if found else math.nan
    else:
        amount = float(memory) if isinstance(memory, Real) and not isinstance(memory, bool) else math.nan
    if not _LEAST_BUDGET <= amount < 2**60:
        raise InvalidInput(
            f"memory={memory!r:.40}",
            f"{_LEAST_BUDGET // 1_000_000}MB or more, such as '2GB'",
            "Write a number and a unit.",
        )
    return int(amount)


def free_bytes() -> float:
    """The memory that is free at the moment, or all there is where that is not known."""
    with suppress(OSError, ValueError, IndexError):
        with open("/proc/meminfo", encoding="ascii") as lines:
            free = [int(line.split()[1]) * 1024.0 for line in lines if line.startswith("MemAvailable:")]
        return min(free[0], machine_bytes())
    known = machine_bytes()
    return known if math.isfinite(known) else _UNKNOWN


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
