"""What a command leaves behind: notes on standard error, a file or standard output, an exit code."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from certselect.cli.printing import hand_over, tell
from certselect.cli.progress_bar import progress_bar
from certselect.errors import IdleSettingWarning, InvalidInput
from certselect.writing import check_destination

INTERRUPTED_EXIT = 130  # what shells report for Ctrl-C


@contextmanager
def watching() -> Iterator[list[warnings.WarningMessage]]:
    """Show the progress of whatever runs inside the block, and collect its warnings."""
    with progress_bar(), warnings.catch_warnings(record=True) as warned:
        # Noted already, where the options were read.
        warnings.simplefilter("ignore", IdleSettingWarning)
        yield warned


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
def saving(text: str, json: Path | None, *, then_remove: Path | None = None) -> Iterator[None]:
    """Write JSON to where `--json` says before the block prints: to a file, whole or not at all, or to standard output.

    Whoever reads what is printed may stop reading; that takes nothing from the file. Where the
    file cannot be written, the block is run all the same, and then the error is raised.
    """
    failure = None
    if json is not None:
        try:
            _write(text, json)
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
