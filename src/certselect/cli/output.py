"""What a command leaves behind: notes on standard error, a file or standard output, an exit code."""

from __future__ import annotations

import signal
import threading
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import typer

from certselect.cli.printing import hand_over, tell
from certselect.cli.progress_bar import progress_bar
from certselect.errors import ColumnsLeftOutWarning, IdleSettingWarning, InvalidInput
from certselect.writing import check_destination

INTERRUPTED_EXIT = 130  # what shells report for Ctrl-C


@contextmanager
def watching() -> Iterator[list[warnings.WarningMessage]]:
    """Show the progress of whatever runs inside the block, and collect its warnings.

    Ctrl-C that leaves the block, because there is nothing yet to show, is said to have come.
    """
    try:
        with progress_bar(), warnings.catch_warnings(record=True) as warned:
            # Noted where the options were read, and with what else was made of columns.
            warnings.simplefilter("ignore", IdleSettingWarning)
            warnings.simplefilter("ignore", ColumnsLeftOutWarning)
            yield warned
    except KeyboardInterrupt:
        tell("certselect: interrupted before there was a result")
        raise typer.Exit(INTERRUPTED_EXIT) from None


@contextmanager
def telling(*, interrupted: bool) -> Iterator[None]:
    """Let a block that prints and writes what was found come to its end, then exit with 130 if Ctrl-C came.

    `interrupted` says that it came before. One that comes now waits for the end of the
    block; a second one, should a pipe not take what is printed, does not.
    """
    pressed: list[int] = []

    def note(number: int, frame: object) -> None:
        if pressed:
            raise KeyboardInterrupt
        pressed.append(number)

    before = signal.getsignal(signal.SIGINT)
    # Only the main thread may say what Ctrl-C does; where it is ignored, as under nohup, it stays so.
    ours = threading.current_thread() is threading.main_thread() and before is signal.default_int_handler
    if ours:
        signal.signal(signal.SIGINT, note)
    try:
        yield
    finally:
        if ours:
            signal.signal(signal.SIGINT, before)
    if interrupted or pressed:
        raise typer.Exit(INTERRUPTED_EXIT)


def print_notes(warned: Iterable[warnings.WarningMessage], notes: Iterable[str] = ()) -> None:
    """What the user should know beside the result, each thing once."""
    for note in dict.fromkeys([*(str(warning.message) for warning in warned), *notes]):
        tell(f"note: {note}")


def prints_table(json: Path | None) -> bool:
    """Whether standard output is for people to read: `--json -` takes it for JSON alone."""
    return json is None or str(json) != "-"


def check_json(given: Mapping[str, Any]) -> None:
    """Of a command's arguments, refuse a `json` that could not be written in the end, or is another file of these."""
    json = given.get("json")
    if json is not None and prints_table(json):
        check_destination(json, [value for name, value in given.items() if name != "json" and isinstance(value, Path)])


@contextmanager
def saving(text: Callable[[], str], json: Path | None, *, then_remove: Path | None = None) -> Iterator[None]:
    """Write JSON to where `--json` says before the block prints: to a file, whole or not at all, or to standard output.

    The text is made only if it is wanted: proofs are long.
    Whoever reads what is printed may stop reading; that takes nothing from the file. Where the
    file cannot be written, the block is run all the same, and then the error is raised.
    """
    failure = None
    if json is not None:
        try:
            _write(text(), json)
        except InvalidInput as error:
            failure = error
        else:
            if then_remove is not None:
                then_remove.unlink(missing_ok=True)
    yield
    if failure is not None:
        raise failure


def _write(text: str, json: Path) -> None:
    from certselect.results.files import write_text

    if prints_table(json):
        write_text(text, json)
    else:
        hand_over(text)
