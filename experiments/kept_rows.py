"""A run of many questions can be stopped at any time: every answered one is a line of a JSON file.

A results file is a list with one object per line; what tells the questions apart is up to the
experiment. Numbers are kept as they were measured; the page rounds them.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parent / "results"

Row = dict[str, Any]


def read_rows(path: Path) -> list[Row]:
    """The rows kept so far; none if there is no file yet."""
    return json.loads(path.read_text()) if path.exists() else []


def write_rows(path: Path, rows: Iterable[Row]) -> None:
    """Keep all rows, or leave the file as it was: a run that is killed while writing loses nothing."""
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_suffix(".part")
    unfinished.write_text("[\n" + ",\n".join(json.dumps(row) for row in rows) + "\n]\n")
    os.replace(unfinished, path)


def question(row: Row, keys: Sequence[str]) -> tuple[Any, ...]:
    """What tells a row from the others."""
    return tuple(row[key] for key in keys)
