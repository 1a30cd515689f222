"""Options that several commands have, with what `--help` says of them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

INTERRUPTED_EXIT = 130  # what shells report for Ctrl-C

TableFile = Annotated[Path, typer.Argument(help="CSV or Parquet file, one row per sample.")]
Target = Annotated[
    list[str],
    typer.Option("--target", "-t", metavar="COLUMN", help="Column to be told: classes or numbers; may be repeated."),
]
Task = Annotated[
    str, typer.Option(help="auto, classification or regression; auto goes by whether the target is all whole.")
]
Missing = Annotated[
    str,
    typer.Option(help="Empty cells: level (one of their own; the default, auto), pairwise (rows with both) or error."),
]
Weight = Annotated[
    str | None,
    typer.Option(metavar="COLUMN", help="How much each row counts, to predictors that take weights as well."),
]
Information = Annotated[
    str, typer.Option(help="How information is measured: plugin (counts), gaussian_copula, neighbors or auto.")
]
Correction = Annotated[str, typer.Option(help="Of the bias of plugin: none, miller_madow, grassberger or shrinkage.")]
Neighbors = Annotated[int, typer.Option(help="Number of neighbours, for neighbors.")]
CriterionName = Annotated[str, typer.Option("--criterion", help="jmi, mrmr, mifs, d1 (cife) or max_relevance.")]
StrategyName = Annotated[
    str,
    typer.Option(
        "--strategy",
        help="auto, cobra, exact, forward, relevance, backward, floating, exhaustive, annealing, genetic, "
        "qpfs or soss.",
    ),
]
Polish = Annotated[bool, typer.Option("--polish", help="Afterwards, swap single features while that helps.")]
Include = Annotated[
    list[str] | None, typer.Option(metavar="COLUMN", help="Choose this column in any case; may be repeated.")
]
Exclude = Annotated[list[str] | None, typer.Option(metavar="COLUMN", help="Never choose this column; may be repeated.")]
Together = Annotated[
    list[str] | None,
    typer.Option(metavar="A,B,C", help="Choose all of these columns or none of them; may be repeated."),
]
AtMostOne = Annotated[
    list[str] | None, typer.Option(metavar="A,B,C", help="Choose one of these columns at most; may be repeated.")
]
Costs = Annotated[
    Path | None, typer.Option(help="CSV file with the columns feature and cost; the others cost nothing.")
]
Budget = Annotated[float | None, typer.Option(help="What the chosen columns may cost in all.")]
TargetBins = Annotated[int, typer.Option(help="Levels that plugin cuts a target of numbers into.")]
Discretize = Annotated[str, typer.Option(help="For numbers: uniform, quantile, mean_std or mdlp.")]
Bins = Annotated[str, typer.Option(help="Levels per number column: a number, sturges, freedman_diaconis or sqrt.")]
Integers = Annotated[str, typer.Option(help="Whole-number columns are levels, or numbers to discretize.")]
Beta = Annotated[float | None, typer.Option(help="Weight of the redundancy, for mifs.")]
Json = Annotated[Path | None, typer.Option(help="Write the result to this file; - for standard output.")]


def measuring_of(
    correction: str, n_neighbors: int, target_bins: int, discretize: str, bins: str, integers: str
) -> dict[str, Any]:
    """The options of measuring, but for the estimator, as the library takes them."""
    return {
        "correction": correction,
        "n_neighbors": n_neighbors,
        "target_bins": target_bins,
        "discretize": discretize,
        "bins": int(bins) if bins.isdigit() else bins,
        "integers": integers,
    }


def target_of(names: list[str]) -> str | list[str]:
    """The target as a result file names it: one column by itself, several as a list."""
    return names[0] if len(names) == 1 else names


def constraints_of(
    include: list[str] | None,
    exclude: list[str] | None,
    together: list[str] | None,
    at_most_one: list[str] | None,
    costs: Path | None,
    budget: float | None,
) -> dict[str, Any]:
    """The constraint options as the library takes them; None for those not given."""
    from certselect.cli.constraint_options import read_costs, split_names

    groups = {
        "all_or_none": [split_names(names) for names in together or ()],
        "at_most_one": [split_names(names) for names in at_most_one or ()],
    }
    return {
        "include": include or None,
        "exclude": exclude or None,
        "groups": groups if together or at_most_one else None,
        "costs": None if costs is None else read_costs(costs),
        "budget": budget,
    }


def check_names(
    criterion: str, strategy: str, beta: float | None, strategy_options: dict[str, Any] | None = None
) -> None:
    """Tell a slip of the pen before a large table is read."""
    from certselect.criteria import find_criterion
    from certselect.search import find_strategy
    from certselect.search.select import AUTO

    find_criterion(criterion, beta)
    if strategy != AUTO:
        find_strategy(strategy, strategy_options)
