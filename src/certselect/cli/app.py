"""The commands: `certselect demo`, `select` and `verify`; `choose` and `path` have files of their own.

Nothing heavy is imported before a command runs, so that `--help` answers at once.
"""

from __future__ import annotations

import sys
import warnings
from math import isnan
from pathlib import Path
from typing import Annotated, Any

import typer

from certselect import __version__
from certselect.cli import options
from certselect.cli.choose import choose
from certselect.cli.path import path

app = typer.Typer(
    help="Choose features by mutual information, exactly and fast.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
app.command()(choose)
app.command()(path)


def main() -> None:
    """Run the command line; what went wrong on purpose is said in one line."""
    from certselect.errors import CertselectError

    try:
        app()
    except CertselectError as error:
        typer.echo(f"certselect: {error}", err=True)
        sys.exit(2)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"certselect {__version__}")
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
    """Choose 8 of 30 measurements that tell breast tumours apart, and show why those."""
    from sklearn.datasets import load_breast_cancer

    from certselect.cli.chosen_table import print_selection
    from certselect.criteria import subset_problem
    from certselect.information import information_terms
    from certselect.search import select as search

    data: Any = load_breast_cancer()
    names = [str(name) for name in data.feature_names]
    terms = information_terms(data.data, data.target_names[data.target], feature_names=names)
    problem = subset_problem(terms, k=8, criterion="jmi")
    selection = search(problem, "cobra", random_state=0, polish=True)
    typer.echo("Breast cancer data: 569 tumours, 30 measurements, malignant or benign; 5 equal-width levels each.\n")
    print_selection(selection, terms, problem)
    typer.echo(
        "\nTry next:\n"
        "  certselect select TABLE.csv --target COLUMN -k 20             your own table (CSV or Parquet)\n"
        "  certselect select TABLE.csv --target COLUMN --criterion mrmr  another criterion\n"
        "  certselect select TABLE.csv --target COLUMN --strategy exact  the best subset, proven\n"
        "  certselect select TABLE.csv --target COLUMN --json OUT.json   keep the result with its proof\n"
        "  certselect choose TABLE.csv --target COLUMN --estimator svm   how many features a classifier needs\n"
        "  certselect verify OUT.json TABLE.csv                          check it again, trusting nothing\n"
        "  certselect select --help                                      all options\n"
        "In Python: from certselect import SubsetSelector; SubsetSelector(8).fit_transform(X, y)"
    )


@app.command()
def select(
    table: options.TableFile,
    target: options.Target,
    k: Annotated[
        int | None,
        typer.Option("-k", help="How many features to choose; if not given, 10, or any number a --budget pays for."),
    ] = None,
    criterion: options.CriterionName = "jmi",
    strategy: options.StrategyName = "auto",
    polish: options.Polish = False,
    certify: Annotated[bool, typer.Option("--certify", help="Prove how far from the best the answer can be.")] = False,
    tight: Annotated[
        bool, typer.Option("--tight", help="Prove it as tightly as can be in a minute; often that nothing is better.")
    ] = False,
    max_seconds: Annotated[
        float | None, typer.Option(help="Stop exact or cobra after that long, with the best found and its gap.")
    ] = None,
    include: options.Include = None,
    exclude: options.Exclude = None,
    together: options.Together = None,
    at_most_one: options.AtMostOne = None,
    costs: options.Costs = None,
    budget: options.Budget = None,
    information: options.Information = "plugin",
    correction: options.Correction = "none",
    n_neighbors: options.Neighbors = 3,
    task: options.Task = "auto",
    target_bins: options.TargetBins = 5,
    missing: options.Missing = "auto",
    weight: options.Weight = None,
    discretize: options.Discretize = "uniform",
    bins: options.Bins = "5",
    integers: options.Integers = "levels",
    beta: options.Beta = None,
    seed: Annotated[int, typer.Option(help="Seed of the random strategies.")] = 0,
    jobs: Annotated[int | None, typer.Option(help="Threads; all cores if not given.")] = None,
    json: options.Json = None,
) -> None:
    """Choose k columns of a table that together say most about the target column."""
    from certselect.cli.chosen_table import notes_on, print_selection, remarks
    from certselect.cli.progress_bar import progress_bar
    from certselect.cli.result_file import check_destination, result_of, write_result
    from certselect.criteria import find_features, subset_problem
    from certselect.information import information_terms
    from certselect.search import select as search
    from certselect.search.selection import INTERRUPTED
    from certselect.table import read_file

    limit = {} if max_seconds is None else {"max_seconds": max_seconds}
    options.check_names(criterion, strategy, beta, limit)
    check_destination(json)
    constraints = options.constraints_of(include, exclude, together, at_most_one, costs, budget)
    measuring = options.measuring_of(correction, n_neighbors, target_bins, discretize, bins, integers)
    reading = {"task": task, "missing": missing, "weight": weight}
    with progress_bar(), warnings.catch_warnings(record=True) as warned:
        rows = read_file(table, target, **reading)
        terms = information_terms(rows, estimator=information, **measuring, n_jobs=jobs)
        if k is None and budget is None:
            varying = set((~terms.constant).nonzero()[0].tolist())
            k = min(10, len(varying.difference(find_features(terms.feature_names, "--exclude", exclude))))
        problem = subset_problem(terms, k, criterion, beta=beta, **constraints)
        proof = "tight" if tight else certify
        selection = search(problem, strategy, random_state=seed, polish=polish, certify=proof, **limit)
    if json is None or str(json) != "-":
        print_selection(selection, terms, problem.of_size(len(selection.indices)) if problem.any_size else problem)
    said = [*(str(warning.message) for warning in warned), *notes_on(rows, terms), *remarks(selection, terms)]
    for remark in said:
        typer.echo(f"note: {remark}", err=True)
    if json is not None:
        result = result_of(
            selection,
            terms,
            target=options.target_of(target),
            reading=reading,
            beta=beta,
            seed=seed,
            constraints=problem.constraints,
        )
        write_result(result, json)
    if selection.status == INTERRUPTED:
        raise typer.Exit(options.INTERRUPTED_EXIT)


@app.command()
def verify(
    result: Annotated[Path, typer.Argument(help="What `certselect select --json` wrote.")],
    table: Annotated[Path, typer.Argument(help="The table it was made from.")],
) -> None:
    """Check a saved result against its table: count again, value again, prove the bound again."""
    from certselect.cli.progress_bar import progress_bar
    from certselect.results import verify as check

    with progress_bar():
        outcome = check(result, table)
    if not outcome.holds:
        for reason in outcome.reasons:
            typer.echo(f"FAILED: {reason}", err=True)
        raise typer.Exit(1)
    typer.echo(f"verified: the features are worth {outcome.objective:.9g}")
    if not isnan(outcome.upper_bound):
        typer.echo(f"verified: no subset of that size is worth more than {outcome.upper_bound:.9g}")
