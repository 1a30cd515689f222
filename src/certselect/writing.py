"""Writing files without destroying any: a file is replaced whole or left as it was.

Every file of certselect is written through here, but for the lines that a checkpoint appends to its own.
"""

from __future__ import annotations

import os
import secrets
import stat
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

from certselect.errors import InvalidInput


def check_destination(path: str | os.PathLike[str], inputs: Iterable[str | os.PathLike[str]] = ()) -> Path:
    """The path, if a file can be written there without harm: better known before the work than after it.

    Refused are folders, devices, pipes, sockets and links, whose targets were perhaps not meant,
    and the `inputs`, by whatever other name they are called here.
    """
    file = Path(path)
    try:
        for other in map(Path, inputs):
            if _are_same(file, other):
                raise _refused(file, f", which is {str(other)!r}, a file of this command", "Name another file.")
        _existing(file)
        unfinished = _unfinished(file)
        unfinished.touch(exist_ok=False)  # root may write everywhere and still cannot: only trying tells
        unfinished.unlink()
    except InvalidInput:
        raise
    except (OSError, ValueError) as error:  # ValueError: a NUL character in the path
        raise _not_written(file, error) from None
    return file


def write_whole(path: str | os.PathLike[str], fill: Callable[[BinaryIO], object]) -> None:
    """Put what `fill` writes into a file, whole or not at all.

    A reader, a full disk or a kill finds the old file or the new one. A file that was there
    keeps its mode and owner; a new one gets the usual mode.
    """
    file = Path(path)
    try:
        old = _existing(file)
        unfinished = _unfinished(file)
        handle = unfinished.open("xb")  # which follows no link that somebody has put there
        try:
            with handle:
                if old is not None:
                    _take_after(unfinished, old)
                fill(handle)
                handle.flush()
                os.fsync(handle.fileno())  # else the new name may reach the disk before what it names
            _existing(file)  # that is, if nobody has put something else there meanwhile
            os.replace(unfinished, file)
        finally:
            unfinished.unlink(missing_ok=True)
    except InvalidInput:
        raise
    except (OSError, ValueError) as error:
        raise _not_written(file, error) from None


def _take_after(file: Path, old: os.stat_result) -> None:
    """Give a file the owner and the mode of the one it will replace."""
    if hasattr(os, "chown"):
        with suppress(OSError):  # only root may give files away
            os.chown(file, old.st_uid, old.st_gid)
    file.chmod(stat.S_IMODE(old.st_mode))


def _existing(file: Path) -> os.stat_result | None:
    """What is known of the file that is there, if any; refuses what is no file, or not to be changed."""
    try:
        known = os.lstat(file)
    except FileNotFoundError:
        return None
    if stat.S_ISLNK(known.st_mode):
        raise _refused(file, ", which is a link", "Name the file itself.")
    if not stat.S_ISREG(known.st_mode):
        raise _refused(file, ", which is a folder, a device or a pipe", "Name another file.")
    if not os.access(file, os.W_OK):
        raise _refused(file, ", which is write-protected", "Name another file.")
    return known


def _are_same(file: Path, other: Path) -> bool:
    """Whether two paths lead to one file, there already or not."""
    try:
        return os.path.samefile(file, other)
    except OSError:  # one of them is not there
        return os.path.realpath(file) == os.path.realpath(other)


def _unfinished(file: Path) -> Path:
    # Not made of the file's own name, which may be as long as names can be.
    return file.with_name(f".certselect.{secrets.token_hex(8)}.part")


def _refused(file: Path, why: str, remedy: str) -> InvalidInput:
    return InvalidInput(f"the file {str(file)!r}{why}", "a new file, or one that may be replaced", remedy)


def _not_written(file: Path, error: Exception) -> InvalidInput:
    reason = getattr(error, "strerror", None) or error
    return InvalidInput(
        f"the file {str(file)!r}, which cannot be written ({reason})",
        "a file in a folder that can be written to",
        "Check the path.",
    )
