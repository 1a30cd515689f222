"""How a command ends: what it exits with, and an error as one block on standard error.

The help prints the exit codes, and docs/command-line.md explains them.
"""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Callable
from typing import Any, NoReturn

from certselect.cli.printing import tell_block
from certselect.cli.wording import in_options, parts_in_options
from certselect.errors import CertselectError

FINE, BUG, WRONG, FALSE_CLAIM, BROKEN_FILE, ANOTHER_TABLE, UNCHECKED = range(7)
INTERRUPTED = 130  # what shells report for Ctrl-C

MEANINGS = {
    FINE: "done, or what a file claims holds",
    BUG: "an unexpected error, or nobody read the output",
    WRONG: "wrong options, or a table or file that cannot be used",
    FALSE_CLAIM: "verify: a claim is false",
    BROKEN_FILE: "verify: the file is broken",
    ANOTHER_TABLE: "verify: it was made from another table",
    UNCHECKED: "verify: a criterion, measure or strategy is not installed",
    INTERRUPTED: "interrupted by Ctrl-C; the best so far was printed and saved",
}
OF_VERDICTS = {
    "false claim": FALSE_CLAIM,
    "broken file": BROKEN_FILE,
    "another table": ANOTHER_TABLE,
    "cannot be checked here": UNCHECKED,
}

DEBUG = "--debug"


def run(app: Callable[..., Any]) -> NoReturn:
    """Run the command line to its exit."""
    try:
        # Not by itself, for it would print errors of its own kinds in a way of its own.
        code = app(prog_name="certselect", standalone_mode=False)
    except KeyboardInterrupt:  # before a command began
        code = INTERRUPTED
    except BrokenPipeError:  # `| head -1` has read what it wanted; what is left in the buffer has nowhere to go
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = BUG
    except Exception as error:
        # Looked for here, as the error may be that the options cannot be read.
        if DEBUG in sys.argv[1:]:
            traceback.print_exc()
        code = _tell(error)
    sys.exit(code if isinstance(code, int) else FINE)


def _tell(error: Exception) -> int:
    """Print the error in the words of the command line; what to exit with."""
    if isinstance(error, CertselectError):
        parts = parts_in_options(error)
        if parts is None:
            tell_block(in_options(error))
        else:
            tell_block(f"got {parts[0]}", f"expected {parts[1]}", parts[2])
        return WRONG
    if isinstance(error, MemoryError):
        tell_block(f"out of memory ({error})", "Use fewer columns or rows, or a machine with more memory.")
        return WRONG
    if hasattr(error, "format_message"):  # click's, or typer's own
        command = getattr(getattr(error, "ctx", None), "command_path", "certselect")
        tell_block(getattr(error, "format_message")(), f"`{command} --help` lists what there is.")  # noqa: B009
        return WRONG
    tell_block(
        f"unexpected {type(error).__name__}: {error}",
        "This is a fault of certselect, or of a package that it uses.",
        f"Run it again with {DEBUG}, and report what is printed.",
    )
    return BUG
