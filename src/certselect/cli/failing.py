"""Whatever ends a command before its time, as one block on standard error and an exit code."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Callable
from typing import Any, NoReturn

from certselect.cli import exits
from certselect.cli.printing import tell_block
from certselect.cli.wording import in_options, parts_in_options
from certselect.errors import CertselectError

DEBUG = "--debug"


def run(app: Callable[..., Any]) -> NoReturn:
    """Run the command line to its exit."""
    try:
        # Not by itself, for it would print errors of its own kinds in a way of its own.
        code = app(prog_name="certselect", standalone_mode=False)
    except KeyboardInterrupt:  # before a command began
        code = exits.INTERRUPTED
    except BrokenPipeError:  # `| head -1` has read what it wanted; what is left in the buffer has nowhere to go
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = exits.BUG
    except Exception as error:
        # Looked for here, as the error may be that the options cannot be read.
        if DEBUG in sys.argv[1:]:
            traceback.print_exc()
        code = _tell(error)
    sys.exit(code if isinstance(code, int) else exits.FINE)


def _tell(error: Exception) -> int:
    """Print the error in the words of the command line; what to exit with."""
    if isinstance(error, CertselectError):
        parts = parts_in_options(error)
        if parts is None:
            tell_block(in_options(error))
        else:
            tell_block(f"got {parts[0]}", f"expected {parts[1]}", parts[2])
        return exits.WRONG
    if isinstance(error, MemoryError):
        tell_block(f"out of memory ({error})", "Use fewer columns or rows, or a machine with more memory.")
        return exits.WRONG
    if hasattr(error, "format_message"):  # click's, or typer's own
        command = getattr(getattr(error, "ctx", None), "command_path", "certselect")
        tell_block(getattr(error, "format_message")(), f"`{command} --help` lists what there is.")  # noqa: B009
        return exits.WRONG
    tell_block(
        f"unexpected {type(error).__name__}: {error}",
        "This is a fault of certselect, or of a package that it uses.",
        f"Run it again with {DEBUG}, and report what is printed.",
    )
    return exits.BUG
