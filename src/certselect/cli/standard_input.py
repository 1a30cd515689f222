"""A table or a result that comes in by standard input, where `-` is written in the place of its file."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any, BinaryIO

from certselect.cli.options import STANDARD
from certselect.errors import InvalidInput


def opened(table: Path) -> Any:
    """The path, or the table that standard input holds, as a data frame."""
    from certselect.table.files import read_columns

    return table if table != STANDARD else read_columns(_standard_input("a table"))


def opened_result(result: Path, table: Path | None) -> Path | BinaryIO:
    """The path of a saved result, or standard input, which holds it or its table."""
    if result != STANDARD:
        return result
    if table == STANDARD:
        raise InvalidInput(
            "- for the result and for its table", "one of them by standard input", "Save one of them to a file."
        )
    return _standard_input("a saved result")


def _standard_input(expected: str) -> BinaryIO:
    if sys.stdin is None:  # it was closed before the command began
        raise InvalidInput("a standard input that is closed", expected, "Name a file, or send one by a pipe.")
    return sys.stdin.buffer
