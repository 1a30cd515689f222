"""`certselect report`: a saved result as a page that people can read."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from certselect.cli import options
from certselect.cli.options import opened, opened_result
from certselect.cli.output import REPORT, Output
from certselect.cli.printing import hand_over
from certselect.errors import InvalidInput

if TYPE_CHECKING:
    from certselect.results import Result


def report(
    result: options.SavedResult,
    page: Annotated[
        Path | None,
        typer.Option(
            "--out",
            metavar="FILE",
            help="The page to write; - for standard output; RESULT with .html if not given.",
            rich_help_panel=options.PANEL,
        ),
    ] = None,
    table: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="The table the result was made from, - for standard input: its claims are checked, and the page shows "
            "what a saved result does not hold, such as redundancy, kinds of columns and distributions.",
        ),
    ] = None,
    target: Annotated[
        list[str] | None,
        typer.Option("--target", "-t", metavar="COLUMN", help="Column to predict, if the result does not name it."),
    ] = None,
    memory: options.Memory = None,
    quiet: options.Quiet = False,
    debug: options.Debug = False,
) -> None:
    """Make a page that people can read of a saved result: one HTML file that needs no network."""
    from certselect.report import report_page
    from certselect.results import load_result

    if page is None and result == options.STANDARD:
        raise InvalidInput("a result from standard input without --out", "a page to write", "Pass --out FILE, or -.")
    out = Output(quiet=quiet, report=result.with_suffix(".html") if page is None else page)
    if page != options.STANDARD:
        out.check({"result": result, "table": table})
    with out.watching() as warned:
        made = load_result(opened_result(result, table))
        if table is not None:
            made = made.with_table(opened(table), target or None, memory=memory)
    out.note(warned)
    if page == options.STANDARD:
        hand_over(report_page(_facts(made, table)))
    elif failure := out.save(partial(write_page, made, table), out.report, REPORT):
        raise failure


def write_page(result: Result, table: Path | None, page: Path) -> None:
    """Write the report of a result, with the name of the table it was made from."""
    from certselect.report import write_report

    write_report(_facts(result, table), page)


def _facts(result: Result, table: Path | None) -> dict[str, Any]:
    from certselect.results.facts import result_facts
    from certselect.results.repeating import TABLE

    # What came by standard input has no name by which a call could read it again.
    return result_facts(result, table=TABLE if table in (None, options.STANDARD) else str(table))
