"""A table that comes in by standard input, where `-` is written in the place of its file."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from certselect.cli.options import STANDARD
from certselect.errors import InvalidInput


def opened(table: Path) -> Any:
    """The path, or what standard input holds, CSV or Parquet, as a data frame."""
    from certselect.table.files import read_columns

    if table != STANDARD:
        return table
    if sys.stdin is None:  # it was closed before the command began
        raise InvalidInput("a standard input that is closed", "a table", "Name a file, or send one by a pipe.")
    return read_columns(sys.stdin.buffer)
