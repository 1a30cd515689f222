"""Take one named file out of what was downloaded, in memory.

Nothing is unpacked to disk, so no path in an archive can lead anywhere, and what
unpacks to more than a limit is refused, so no small download can fill the memory.
"""

from __future__ import annotations

import gzip
import io
import zipfile
import zlib
from pathlib import PurePosixPath
from typing import IO

MOST_BYTES = 1 << 27  # the largest published file, the advertisements, has a tenth of it
_DEEPEST = 2  # a zip file in a zip file, no further


def file_within(content: bytes, name: str, *, most_bytes: int = MOST_BYTES) -> bytes:
    """The file called `name` in any folder of a zip file; a gzip file unpacked; anything else as it is.

    Raises
    ------
    ValueError
        If there is no such file, the archive is damaged, or the file is larger than `most_bytes`.
    """
    try:
        if content[:2] == b"\x1f\x8b":
            with gzip.open(io.BytesIO(content)) as file:
                return _at_most(file, most_bytes)
        if content[:2] != b"PK":
            return content
        found = _member(content, name, most_bytes, depth=1)
    except (OSError, EOFError, RuntimeError, zipfile.BadZipFile, zlib.error) as error:
        raise ValueError(f"a damaged archive ({error})") from None
    if found is None:
        raise ValueError(f"an archive without a file {name}")
    return found


def _member(content: bytes, name: str, most_bytes: int, depth: int) -> bytes | None:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        inner = []
        for entry in archive.infolist():
            last = PurePosixPath(entry.filename.replace("\\", "/")).name
            if last == name:
                with archive.open(entry) as file:
                    return _at_most(file, most_bytes)
            if last.lower().endswith(".zip"):
                inner.append(entry)
        if depth == _DEEPEST:
            return None
        for entry in inner:
            with archive.open(entry) as file:
                found = _member(_at_most(file, most_bytes), name, most_bytes, depth + 1)
            if found is not None:
                return found
    return None


def _at_most(file: IO[bytes] | gzip.GzipFile, most_bytes: int) -> bytes:
    # The size an archive states for a file cannot be trusted; what comes out is counted.
    content = file.read(most_bytes + 1)
    if len(content) > most_bytes:
        raise ValueError(f"a file of more than {most_bytes} bytes")
    return content
