"""Whether the machine has room for what is about to be made, and room on its disk for what memory has none for."""

from __future__ import annotations

import errno
import math
import os
import re
from contextlib import suppress
from numbers import Real
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from certselect.errors import InvalidInput, keyword

if TYPE_CHECKING:
    from mmap import mmap

    from numpy.typing import DTypeLike

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
# Where the disk has no room for an array, memory has if it is up to this share of what is free there.
_MOST_OF_FREE = 0.75
# Of what is free on the disk, so much may be taken: others write there too.
_DISK_SHARE = 0.9
# Where Linux says what a container may use, in its newer and its older way.
_LIMITS = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")


def check_room_for_pairs(n_features: int, bytes_each: int) -> None:
    """Refuse matrices of all pairs of features, in memory, where they would not fit."""
    if not has_room_for_pairs(n_features, bytes_each):
        needed, there = _COPIES * n_features**2 * bytes_each, machine_bytes()
        raise InvalidInput(
            f"a search or a bound that needs all pairs of {n_features} features, {needed / 2**30:.3g} GiB",
            f"up to {math.isqrt(int(there / (_COPIES * bytes_each)))} features, which fit into this machine's "
            f"{there / 2**30:.3g} GiB of memory",
            f"Use {keyword('strategy', 'forward')}, which needs the pairs of the chosen features alone, "
            "or 'backward', which can have them on disk, or remove the least relevant columns from the table.",
        )


def has_room_for_pairs(n_features: int, bytes_each: int) -> bool:
    """Whether the pair terms of all features, and the matrices that a solver makes of them, fit into memory."""
    return _COPIES * n_features**2 * bytes_each <= machine_bytes()


def check_room_for_proof(n_features: int) -> None:
    """Refuse a proof whose matrices would not fit into memory."""
    check_room_for_pairs(n_features, 8)
    if not has_room_for_proof(n_features):
        needed, there = PROOF_BYTES * n_features**2 / 2**30, machine_bytes() / 2**30
        raise InvalidInput(
            f"{n_features} candidates for {keyword('strategy', 'exact')}, which takes {needed:.3g} GiB for so many",
            f"as many as fit into this machine's {there:.3g} GiB of memory",
            f"Remove the least relevant columns, or use {keyword('strategy', 'forward')} with "
            f"{keyword('certify', True)} for a quicker bound.",
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
            keyword("memory", spelled=f"{memory!r:.40}"),
            f"{_LEAST_BUDGET // 1_000_000}MB or more, such as '2GB'",
            "Write a number and a unit.",
        )
    return int(amount)


def large_array(shape: tuple[int, ...], dtype: DTypeLike) -> np.ndarray:
    """An array that is still to be filled: in memory, or on disk where it takes more than a quarter of what is free.

    On disk it is a map of a file in the folder for temporary files (that of `TMPDIR`, where it is set). Its numbers are
    the same, whatever `dtype` they have; memory holds as many of them as there is room for at the moment. The file
    has no name, and goes with the last array that looks at it, or with the process, however that ends.
    """
    n_bytes = math.prod(shape) * np.dtype(dtype).itemsize
    if n_bytes <= _LEAST_BUDGET or n_bytes <= memory_budget(None):
        return np.empty(shape, dtype=dtype)
    try:
        check_room_on_disk(n_bytes)
        return np.frombuffer(_nameless_file(n_bytes), dtype=dtype).reshape(shape)
    except InvalidInput:  # in memory all the same, if there is more than that left
        if n_bytes > _MOST_OF_FREE * free_bytes():
            raise
        return np.empty(shape, dtype=dtype)


def check_room_on_disk(n_bytes: int) -> None:
    """Refuse arrays that would not fit onto the disk for temporary files."""
    folder, free = _temporary()
    if n_bytes > _DISK_SHARE * free:
        raise InvalidInput(
            f"all pairs of so many features that they take {n_bytes / 2**30:.3g} GiB, too much for memory, with "
            f"{free / 2**30:.3g} GiB free in {folder}, the folder for temporary files",
            f"{n_bytes / _DISK_SHARE / 2**30:.3g} GiB or more there",
            "Set TMPDIR to a folder on a larger disk, measure with dtype='float32' from Python, or use "
            f"{keyword('strategy', 'forward')} without certify.",
        )


def _temporary() -> tuple[str, int]:
    """The folder for temporary files, and how many bytes are free there."""
    import shutil  # here, as the next one: hardly anybody needs them
    import tempfile

    folder = tempfile.gettempdir()
    return folder, shutil.disk_usage(folder).free


def _nameless_file(n_bytes: int) -> mmap:
    import mmap
    import tempfile

    try:
        with tempfile.TemporaryFile(prefix="certselect-") as file:
            _reserve(file, n_bytes)
            return mmap.mmap(file.fileno(), n_bytes)
    except OSError as refused:
        raise InvalidInput(
            f"a file of {n_bytes / 2**30:.3g} GiB that {tempfile.gettempdir()}, the folder for temporary files, cannot "
            f"have ({refused})",
            "a folder that can",
            "Set TMPDIR to another one.",
        ) from refused


def _reserve(file: IO[Any], n_bytes: int) -> None:
    """Make a file this long, on blocks of its own: where a disk is full only later, a map of it ends the process."""
    try:
        os.posix_fallocate(file.fileno(), 0, n_bytes)
    except (AttributeError, OSError) as failed:  # not every system has it, nor every disk
        if getattr(failed, "errno", None) in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
            raise
        file.truncate(n_bytes)


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
