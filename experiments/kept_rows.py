"""A run of many questions can be stopped at any time: every answered one is a line of a JSON file.

A results file is a list with one object per line; what tells the questions apart is up to the
experiment. Numbers are kept as they were measured; the page rounds them.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parent / "results"

Row = dict[str, Any]


def read_rows(path: Path) -> list[Row]:
    """The rows kept so far; none if there is no file yet."""
    return json.loads(path.read_text()) if path.exists() else []


def write_rows(path: Path, rows: Iterable[Row]) -> None:
    """Keep all rows, or leave the file as it was."""
    replace_file(path, "[\n" + ",\n".join(json.dumps(row) for row in rows) + "\n]\n")


def replace_file(path: Path, text: str) -> None:
    """Write beside, then rename: a reader, or a kill at any moment, finds the old file or the new one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, beside = tempfile.mkstemp(prefix=path.stem, suffix=".part", dir=path.parent)
    try:
        with os.fdopen(handle, "w") as file:
            file.write(text)
        os.chmod(beside, 0o644)  # temporary files are private, results are not
        os.replace(beside, path)
    except BaseException:
        Path(beside).unlink(missing_ok=True)
        raise


def question(row: Row, keys: Sequence[str]) -> tuple[Any, ...]:
    """What tells a row from the others."""
    return tuple(row[key] for key in keys)
