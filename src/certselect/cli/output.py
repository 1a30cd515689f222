"""What a command leaves behind: notes on standard error, a file or standard output, an exit code."""

from __future__ import annotations

import os
import signal
import sys
import threading
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import typer

from certselect.cli import exits
from certselect.cli.options import STANDARD
from certselect.cli.printing import check_open, hand_over, say, tell
from certselect.cli.sheets import Format, in_markdown
from certselect.cli.wording import in_options
from certselect.errors import ColumnsLeftOutWarning, InvalidInput
from certselect.writing import check_destination

REPORT = "report "  # what is saved, in a note


@dataclass(frozen=True)
class Output:
    """Where a command's result goes, and how much is said beside it.

    Attributes
    ----------
    format : Format
        What standard output is written in.
    quiet : bool
        Whether the result is all there is to print.
    file, report : path, optional
        The JSON file to save it to, and the HTML file for people.
    noted : set of str
        Notes that were printed; each is printed once.
    """

    format: Format = Format.TABLE
    quiet: bool = False
    file: Path | None = None
    report: Path | None = None
    noted: set[str] = field(default_factory=set)

    @classmethod
    def of(cls, json: Path | None, report: Path | None, format: Format, quiet: bool, debug: bool = False) -> Output:
        """By the options; `--json -` is `--format json`. What `debug` is about is looked at where errors end up."""
        if report == STANDARD:
            raise InvalidInput(
                "--report -",
                "a file: standard output is for the result",
                "Name a file, or save the result with --json FILE and run `certselect report FILE --out -`.",
            )
        if json != STANDARD:
            return cls(format, quiet, json, report)
        if format not in (Format.TABLE, Format.JSON):
            raise InvalidInput(
                f"--json - with --format {format}",
                "one of them: both are about standard output",
                "Name a file to save the result to, or leave --json out.",
            )
        return cls(Format.JSON, quiet, report=report)

    @property
    def talks(self) -> bool:
        """Whether people read standard output and want to be told what they see there."""
        return self.format is Format.TABLE and not self.quiet

    def say(self, *sentences: str) -> None:
        """Print sentences beside a table, where people read it."""
        for sentence in filter(None, sentences):
            if self.format is Format.TABLE:
                say(sentence)
            elif self.format is Format.MARKDOWN:  # each a paragraph
                say(in_markdown(sentence))
                say("")

    def check(self, inputs: Mapping[str, Any]) -> None:
        """Refuse files that could not be written in the end, or are among the command's other files.

        And a standard output that is closed, where no file would keep the result either.
        """
        if self.file is None and self.report is None:
            check_open()
        others = [path for path in inputs.values() if isinstance(path, Path)]
        for file in (self.file, self.report):
            if file is not None:
                others.append(check_destination(file, others))

    @contextmanager
    def watching(self) -> Iterator[list[warnings.WarningMessage]]:
        """Show the progress of whatever runs inside the block, and collect its warnings."""
        if self.quiet or sys.stderr is None or not sys.stderr.isatty():
            bar = nullcontext()
        else:
            from certselect.cli.progress_bar import progress_bar  # here: it takes longer to load than a small table

            bar = progress_bar()
        with bar, warnings.catch_warnings(record=True) as warned:
            # Said with what else was made of columns.
            warnings.simplefilter("ignore", ColumnsLeftOutWarning)
            yield warned

    def note(self, *warned: Iterable[warnings.WarningMessage | str]) -> None:
        """What the user should know beside the result, each thing once, in the words of the command line."""
        for each in (each for some in warned for each in some):
            said = in_options(each if isinstance(each, str) else each.message)
            if said not in self.noted and not self.quiet:
                tell(f"note: {said}")
            self.noted.add(said)

    def save(self, write: Callable[[Path], object], file: Path | None, what: str = "") -> InvalidInput | None:
        """Write a file, if one is wanted, and say where it is; the error if it cannot be written."""
        if file is None:
            return None
        replaced = os.path.exists(file)  # pathlib may raise where a folder is closed
        try:
            write(file)
        except InvalidInput as error:
            return error
        self.note([f"{what}saved to {str(file)!r}{', in the place of what was there' if replaced else ''}"])
        return None

    @contextmanager
    def saving(
        self, text: Callable[[], str], write_page: Callable[[Path], object], *, then_remove: Path | None = None
    ) -> Iterator[None]:
        """Write JSON and the report before the block prints: to files, whole or not at all, or JSON to standard output.

        Both are made only if they are wanted: proofs are long.
        Whoever reads what is printed may stop reading; that takes nothing from the files. Where a
        file cannot be written, the block is run all the same, and then the error is raised.
        """
        from certselect.results.files import write_text

        text = cache(text)
        failure = self.save(lambda file: write_text(text(), file), self.file)
        if then_remove is not None and failure is None:
            then_remove.unlink(missing_ok=True)
        no_page = self.save(write_page, self.report, REPORT)
        if self.format is Format.JSON:
            hand_over(text())
        yield
        for error in filter(None, (failure, no_page)):
            raise error


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
        raise typer.Exit(exits.INTERRUPTED)
