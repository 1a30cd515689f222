"""The command line, and its small commands; `select`, `choose` and `path` have files of their own.

Nothing heavy is imported before a command runs, so that `--help` answers at once.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from certselect import __version__
from certselect.cli import examples, exits, options
from certselect.cli.choose import choose
from certselect.cli.command import Command, Group
from certselect.cli.generated import SettingsCommand
from certselect.cli.options import opened, opened_result
from certselect.cli.output import REPORT, Output, telling
from certselect.cli.path import path
from certselect.cli.printing import check_open, hand_over, say
from certselect.cli.report import report
from certselect.cli.select import select
from certselect.cli.sheets import Format, Sheet, print_sheet

if TYPE_CHECKING:
    from certselect.results import Result

DEMO_REPORT = Path("certselect-demo.html")
FIRST, REFERENCE = "Commands", "What can be named"

app = typer.Typer(cls=Group, epilog=examples.EVERYTHING, pretty_exceptions_enable=False)


def _print_version(wanted: bool) -> None:
    if wanted:
        say(f"certselect {__version__}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def certselect(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Choose features by mutual information, exactly and fast."""
    if context.invoked_subcommand is None:
        context.get_help()  # prints it


@app.command(cls=Command, rich_help_panel=FIRST)
def demo(quiet: options.Quiet = False, debug: options.Debug = False) -> None:
    """Choose 8 of 30 measurements that predict the kind of a breast tumour, and show why those.

    Unless it is to be --quiet, a report is written to certselect-demo.html in the current folder.
    """
    from sklearn.datasets import load_breast_cancer

    from certselect.cli.chosen_table import print_result
    from certselect.results.choosing import choose, read_checked
    from certselect.search.selection import INTERRUPTED
    from certselect.settings import Settings

    out = Output(quiet=quiet)
    data: Any = load_breast_cancer()
    names, kinds = [str(name) for name in data.feature_names], data.target_names[data.target]
    settings = Settings.from_keywords({"random_state": 0})
    with out.watching() as warned:
        rows, _, seconds = read_checked(data.data, kinds, settings, feature_names=names)
        result = choose(rows, 8, settings, target=("diagnosis",), seconds=seconds)
    with telling(interrupted=result.selection.status == INTERRUPTED):
        if not quiet:
            say("Breast cancer data: 569 tumours, malignant or benign; 30 measurements.")
            say("")
        print_result(result, out)
        out.note(warned)
        if not quiet:
            _write_report(result, out)
            _say_what_next()


def _write_report(result: Result, out: Output) -> None:
    """Write the demo's report; a folder that cannot be written to is no reason to fail."""
    from certselect.report import write_report
    from certselect.results.facts import result_facts

    facts = result_facts(result) | {"command": "certselect demo"}
    failure = out.save(partial(write_report, facts), DEMO_REPORT, REPORT)
    if failure is not None:
        out.note([f"no report was written to {failure.got}"])


def _say_what_next() -> None:
    for line in (
        "",
        "Try next, with a file of your own and its column to predict:",
        "  certselect select TABLE.csv --target COLUMN -k 20 --report REPORT.html",
        "  certselect select TABLE.csv --target COLUMN --strategy exact --json OUT.json",
        "  certselect verify OUT.json TABLE.csv",
        "  certselect choose TABLE.csv --target COLUMN --estimator svm",
        "  certselect --help",
        'In Python: from certselect import choose_subset; choose_subset("TABLE.csv", "COLUMN", 20)',
    ):
        say(line)


app.command(cls=SettingsCommand, epilog=examples.SELECT, rich_help_panel=FIRST)(select)
app.command(cls=SettingsCommand, epilog=examples.PATH, rich_help_panel=FIRST)(path)
app.command(cls=SettingsCommand, epilog=examples.CHOOSE, rich_help_panel=FIRST)(choose)
app.command(cls=Command, epilog=examples.REPORT, rich_help_panel=FIRST)(report)


@app.command(cls=Command, epilog=examples.VERIFY, rich_help_panel=FIRST)
def verify(
    result: options.SavedResult,
    table: Annotated[Path, typer.Argument(metavar="TABLE", help="The table it was made from; - for standard input.")],
    target: Annotated[
        list[str] | None,
        typer.Option("--target", "-t", metavar="COLUMN", help="Column to predict, if the result does not name it."),
    ] = None,
    memory: options.Memory = None,
    format: options.Printed = Format.TABLE,
    quiet: options.Quiet = False,
    debug: options.Debug = False,
) -> None:
    """Check a saved result against its table: measure it again, value the subset again, prove the bound again.

    Times, versions, cross-validated scores and how the search went cannot be checked; docs/result-format.md lists
    what is.

    Exit codes: 0 what is claimed holds; 3 a claim is false; 4 the file is broken; 5 the table is another one; 6 a
    criterion, measure or strategy is not installed.
    """
    from certselect.cli.verdicts import print_verdict
    from certselect.results import verify as check

    out = Output(format, quiet)
    with out.watching() as warned:
        outcome = check(opened_result(result, table), opened(table), target or None, memory=memory)
    out.note(warned)
    print_verdict(outcome, out)
    raise typer.Exit(exits.OF_VERDICTS.get(outcome.verdict, exits.FINE))


@app.command(cls=Command, rich_help_panel=REFERENCE)
def strategies(format: options.Printed = Format.TABLE, debug: options.Debug = False) -> None:
    """List the strategies with what they do and the options each has."""
    from certselect.search import list_strategies

    listed = list_strategies()
    records = listed.values()
    _print_records(
        {
            "strategy": list(listed),
            "what it does": [record.summary for record in records],
            "--option": [[f"{option}={value}" for option, value in record.options.items()] for record in records],
        },
        format,
    )


@app.command(cls=Command, rich_help_panel=REFERENCE)
def criteria(format: options.Printed = Format.TABLE, debug: options.Debug = False) -> None:
    """List the criteria with their formulas."""
    from certselect.criteria import StepwiseCriterion, list_criteria

    listed = list_criteria()
    formulas = [record.formula for record in listed.values()]
    proven = ["no" if isinstance(record, StepwiseCriterion) else "yes" for record in listed.values()]
    _print_records({"criterion": list(listed), "value of a subset of k features": formulas, "bounds": proven}, format)
    if format is Format.TABLE:
        say("Xi, Xj: chosen features; C: the target. Sums are over the chosen features and over their pairs.")
        say("Without bounds: what a feature X adds to W, those chosen before it. The value is the sum of that.")


@app.command(cls=Command, rich_help_panel=REFERENCE)
def measures(format: options.Printed = Format.TABLE, debug: options.Debug = False) -> None:
    """List the measures of information with what each supports."""
    from certselect.information import list_measures

    listed = list_measures()
    records = listed.values()
    _print_records(
        {
            "measure": list(listed),
            "what it looks at": [record.summary for record in records],
            "supports": [list(record.supports) for record in records],
            "options": [[f"--{option.replace('_', '-')}" for option in record.uses] for record in records],
        },
        format,
    )


@app.command(cls=Command, rich_help_panel=REFERENCE)
def formats(format: options.Printed = Format.TABLE, debug: options.Debug = False) -> None:
    """List the file formats with the suffixes of their files."""
    from certselect.table.formats import list_formats

    listed = list_formats()
    records = listed.values()
    _print_records(
        {
            "format": list(listed),
            "suffixes": [list(record.suffixes) for record in records],
            "what it is": [record.summary for record in records],
        },
        format,
    )


def _print_records(columns: dict[str, list[Any]], format: Format) -> None:
    import json

    check_open()
    if format is Format.JSON:
        rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
        hand_over(json.dumps(rows, indent=2) + "\n")
    else:
        print_sheet(Sheet(columns, lines=True), format)
