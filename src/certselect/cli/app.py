"""The command line, and its small commands; `select`, `choose` and `path` have files of their own.

Nothing heavy is imported before a command runs, so that `--help` answers at once.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from certselect import __version__
from certselect.cli import output
from certselect.cli.choose import choose
from certselect.cli.generated import SettingsCommand
from certselect.cli.path import path
from certselect.cli.printing import say, tell
from certselect.cli.select import select

if TYPE_CHECKING:
    from certselect.results import Result

# What `verify` exits with; 1 is a crash, 2 wrong usage.
VERDICT_EXITS = {"false claim": 3, "broken file": 4, "another table": 5}

app = typer.Typer(
    help="Choose features by mutual information, exactly and fast.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


def main() -> None:
    """Run the command line; what went wrong on purpose is said in one line."""
    from certselect.errors import CertselectError

    try:
        app()
    except CertselectError as error:
        tell(f"certselect: {error}")
        sys.exit(2)
    except MemoryError as error:
        tell(f"certselect: out of memory ({error}). Use fewer columns or rows, or a machine with more memory.")
        sys.exit(2)


def _print_version(wanted: bool) -> None:
    if wanted:
        say(f"certselect {__version__}")
        raise typer.Exit


@app.callback()
def certselect(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Choose features by mutual information, exactly and fast."""


@app.command()
def demo() -> None:
    """Choose 8 of 30 measurements that predict the kind of a breast tumour, and show why those."""
    from sklearn.datasets import load_breast_cancer

    from certselect.results import choose_subset
    from certselect.search.selection import INTERRUPTED

    data: Any = load_breast_cancer()
    names = [str(name) for name in data.feature_names]
    result = choose_subset(data.data, data.target_names[data.target], 8, feature_names=names, random_state=0)
    with output.telling(interrupted=result.selection.status == INTERRUPTED):
        _print_demo(result)


def _print_demo(result: Result) -> None:
    from certselect.cli.chosen_table import print_result

    say("Breast cancer data: 569 tumours, malignant or benign; 30 measurements, each cut into 5 bins.")
    say("")
    print_result(result)
    for line in (
        "",
        "Try next:",
        "  certselect select TABLE.csv --target COLUMN -k 20             your own table (CSV or Parquet)",
        "  certselect select TABLE.csv --target COLUMN --criterion mrmr  another criterion",
        "  certselect select TABLE.csv --target COLUMN --strategy exact  the optimal subset, proven",
        "  certselect select TABLE.csv --target COLUMN --json OUT.json   save the result with its proof",
        "  certselect verify OUT.json TABLE.csv                          check a saved result against its table",
        "  certselect choose TABLE.csv --target COLUMN --estimator svm   how many features a classifier needs",
        "  certselect select --help                                      all options",
        'In Python: from certselect import choose_subset; choose_subset("TABLE.csv", "COLUMN", 20)',
    ):
        say(line)


app.command(cls=SettingsCommand)(select)
app.command(cls=SettingsCommand)(choose)
app.command(cls=SettingsCommand)(path)


@app.command()
def verify(
    result: Annotated[Path, typer.Argument(help="What `certselect select --json` or `Result.save` wrote.")],
    table: Annotated[Path, typer.Argument(help="The table it was made from.")],
    target: Annotated[
        list[str] | None,
        typer.Option("--target", "-t", metavar="COLUMN", help="Column to predict, if the result does not name it."),
    ] = None,
) -> None:
    """Check a saved result against its table: measure it again, value the subset again, prove the bound again.

    Times, versions, cross-validated scores and how the search went cannot be checked; docs/result-format.md lists
    what is.

    Exit codes: 0 what is claimed holds; 3 a claim is false; 4 the file is broken; 5 the table is another one.
    """
    from certselect.results import verify as check

    with output.watching() as warned:
        outcome = check(result, table, target or None)
    output.print_notes(warned)
    if outcome.verdict in VERDICT_EXITS:
        for reason in outcome.reasons:
            tell(f"FAILED ({outcome.verdict}): {reason}")
        raise typer.Exit(VERDICT_EXITS[outcome.verdict])
    say(f"verified: the features are worth {outcome.objective:.9g} nats")
    say(f"verified: {outcome.statement or 'the result claims no bound on other subsets'}")
    if outcome.constraints:
        say(f"verified under the constraints: {outcome.constraints}")
    for left in outcome.unconfirmed:
        say(f"not checked: {left}")


@app.command()
def strategies() -> None:
    """List the strategies with what they do and the options each has."""
    from certselect.cli.records import print_records
    from certselect.search import list_strategies

    print_records(
        ("strategy", "what it does", "--option"),
        [
            (name, record.summary, "\n".join(f"{option}={value}" for option, value in record.options.items()))
            for name, record in list_strategies().items()
        ],
    )


@app.command()
def criteria() -> None:
    """List the criteria with their formulas."""
    from certselect.cli.records import print_records
    from certselect.criteria import list_criteria

    print_records(
        ("criterion", "value of a subset of k features"),
        [(name, record.formula) for name, record in list_criteria().items()],
    )
    say("Xi, Xj: chosen features; C: the target. Sums are over the chosen features and over their pairs.")
