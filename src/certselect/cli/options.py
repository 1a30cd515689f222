"""What several commands take in addition to the settings: the table, its target, and where the result goes.

Where `-` is written in the place of a file, standard input is opened.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any, BinaryIO

import typer

from certselect.cli.sheets import Format
from certselect.errors import InvalidInput

PANEL = "Output"
STANDARD = Path("-")  # standard input, or standard output

TableFile = Annotated[
    Path,
    typer.Argument(
        metavar="TABLE",
        help="CSV, Parquet or Feather file with one row per sample, a folder of such files or a pattern like "
        "'data/*.parquet'; - for standard input.",
    ),
]
Target = Annotated[
    list[str],
    typer.Option(
        "--target",
        "-t",
        metavar="COLUMN",
        help="Column to predict: class labels or numbers; may be repeated.",
    ),
]
SavedResult = Annotated[
    Path,
    typer.Argument(
        metavar="RESULT", help="What `certselect select --json` or `Result.save` wrote; - for standard input."
    ),
]
Threads = Annotated[int | None, typer.Option(metavar="NUMBER", help="How many cores to use; all if not given.")]
Memory = Annotated[
    str | None,
    typer.Option(
        metavar="AMOUNT",
        help="Memory for tables that are read in blocks, such as 2GB; a quarter of what is free if not given. Tables "
        "that take less are read at once.",
    ),
]
Resume = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE", help="Keep what was counted of a table in blocks there; a killed run goes on from it."
    ),
]
Json = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE", help="Save the result to this JSON file; - for standard output.", rich_help_panel=PANEL
    ),
]
Report = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Write a report that people can read to this HTML file.", rich_help_panel=PANEL),
]
Printed = Annotated[
    Format,
    typer.Option(
        metavar="|".join(Format),
        case_sensitive=False,
        help="What is written to standard output: a table to read, one for other programs, or the whole result.",
        rich_help_panel=PANEL,
    ),
]
Quiet = Annotated[
    bool,
    typer.Option(
        "--quiet", "-q", help="Print the result alone: no notes, no explanations, no progress.", rich_help_panel=PANEL
    ),
]
Debug = Annotated[bool, typer.Option("--debug", help="Print the traceback of an error as well.", rich_help_panel=PANEL)]


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
