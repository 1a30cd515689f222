"""Where text goes to the terminal: everything the command line prints passes here.

Names and messages may come out of foreign files. Their control characters, with which a
name could clear the screen or write over what stands there, are shown instead of obeyed.
"""

from __future__ import annotations

import io
import os
import shutil
import sys
import textwrap
from typing import TYPE_CHECKING, Any

import typer

from certselect.errors import InvalidInput
from certselect.names import harmless

if TYPE_CHECKING:
    from rich.console import RenderableType


def say(line: str) -> None:
    """Print a line to standard output."""
    _put(_folded(line, sys.stdout))


def tell(line: str) -> None:
    """Print a line to standard error."""
    _put(_folded(line, sys.stderr), to_stderr=True)


def tell_block(first: str, *others: str) -> None:
    """Print what went wrong to standard error, and what can be done in lines below it."""
    lines = [_folded(f"certselect: {first}", sys.stderr), *(_folded(line, sys.stderr, "  ") for line in others if line)]
    _put("".join(lines), to_stderr=True)


def _folded(line: str, stream: Any, indent: str = "") -> str:
    """A line without what a terminal would obey; on one, between words where it is too long for it.

    In a pipe it stays whole: whatever reads it can search for it.
    """
    text = indent + harmless(line)
    width = shutil.get_terminal_size().columns
    if stream is None or not stream.isatty() or len(text) <= width:
        return text + "\n"
    wrapper = textwrap.TextWrapper(width, subsequent_indent=indent + "  ", break_long_words=False)
    return wrapper.fill(text) + "\n"


def show(drawing: RenderableType) -> None:
    """Print a table or a panel to standard output; what foreign files say in it is made harmless before."""
    from rich.console import Console

    seen = Console()  # knows the terminal; what is printed goes the same way as all else
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    # In the terminal's own encoding, by which rich chooses the characters that it draws lines with.
    drawn = io.TextIOWrapper(io.BytesIO(), encoding=encoding, errors="backslashreplace", newline="")
    Console(file=drawn, force_terminal=seen.is_terminal, width=seen.width).print(drawing)
    drawn.seek(0)
    _put(drawn.read())


def width() -> int:
    """How many characters a line of standard output has room for."""
    from rich.console import Console

    return Console().width


def check_open() -> None:
    """Refuse a standard output that was closed before the command began, where nothing else keeps what is printed."""
    if sys.stdout is None:
        raise _lost("closed")


def hand_over(text: str) -> None:
    """Write text that another program is to read, as it is, to standard output."""
    check_open()
    if not _put(text):
        raise typer.Exit(1)


def _put(text: str, *, to_stderr: bool = False) -> bool:
    """Write text to a standard stream; whether somebody was there to read it."""
    stream = sys.stderr if to_stderr else sys.stdout
    if stream is None:  # it was closed before the command began
        return False
    encoding = getattr(stream, "encoding", None) or "utf-8"
    try:
        stream.write(text.encode(encoding, "backslashreplace").decode(encoding))
        stream.flush()
    except OSError as error:
        # What is still in the stream's buffer would raise again at the end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
        if to_stderr or isinstance(error, BrokenPipeError):  # `| head -1` has read what it wanted
            return False
        raise _lost(str(error.strerror)) from None
    return True


def _lost(why: str) -> InvalidInput:
    return InvalidInput(f"a standard output that cannot be written ({why})", "an open one", "Check where it leads.")
