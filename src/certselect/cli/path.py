"""`certselect path`: what subsets of each size are worth."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Annotated, Any

import typer

from certselect.cli import options

if TYPE_CHECKING:
    from certselect.evaluation.sizes import Elbow, ValueCurve


def path(
    table: options.TableFile,
    target: options.Target,
    max_k: Annotated[int, typer.Option(help="The largest size.")] = 50,
    criterion: options.CriterionName = "jmi",
    strategy: options.StrategyName = "forward",
    polish: options.Polish = False,
    certify: Annotated[
        bool, typer.Option("--certify", help="Prove at every size how far from the best the subset can be.")
    ] = False,
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
    """Show what the best subsets of 1, 2, 3, ... columns are worth, and where that curve bends."""
    from certselect.cli.chosen_table import notes_on
    from certselect.cli.progress_bar import progress_bar
    from certselect.cli.result_file import check_destination, write_result
    from certselect.evaluation.sizes import find_elbow, value_curve
    from certselect.information import information_terms
    from certselect.search.selection import INTERRUPTED
    from certselect.selectors.fold_tables import candidate_sizes
    from certselect.table import read_file

    options.check_names(criterion, strategy, beta)
    check_destination(json)
    constraints = options.constraints_of(include, exclude, together, at_most_one, costs, budget)
    measuring = options.measuring_of(correction, n_neighbors, target_bins, discretize, bins, integers)
    reading = {"task": task, "missing": missing, "weight": weight}
    with progress_bar(), warnings.catch_warnings(record=True) as warned:
        rows = read_file(table, target, **reading)
        terms = information_terms(rows, estimator=information, **measuring, n_jobs=jobs)
        sizes = candidate_sizes(terms, max_k, constraints)
        curve = value_curve(
            terms,
            sizes,
            criterion,
            strategy,
            certify=certify,
            beta=beta,
            polish=polish,
            random_state=seed,
            **constraints,
        )
    elbow = find_elbow(curve) if len(sizes) > 2 else None
    if json is None or str(json) != "-":
        _print_curve(curve, elbow)
    for message in [*dict.fromkeys(str(warning.message) for warning in warned), *notes_on(rows, terms)]:
        typer.echo(f"note: {message}", err=True)
    interrupted = any(selection.status == INTERRUPTED for selection in curve.selections)
    if interrupted:
        typer.echo("note: interrupted; the sizes not reached are filled up with the most relevant columns", err=True)
    if json is not None:
        about = {
            "target": options.target_of(target),
            "reading": reading,
            "coding": terms.settings,
            "criterion": criterion,
            "beta": beta,
            "strategy": strategy,
            "seed": seed,
        }
        write_result(_as_json(curve, elbow) | about, json)
    if interrupted:
        raise typer.Exit(options.INTERRUPTED_EXIT)


def _print_curve(curve: ValueCurve, elbow: Elbow | None) -> None:
    import numpy as np

    from certselect.cli.size_table import print_size_table

    columns = {"feature": _changes(curve), "value": [f"{value:.4f}" for value in curve.values]}
    if not np.isnan(curve.upper_bounds).all():
        columns["at most"] = ["" if np.isnan(bound) else f"{bound:.4f}" for bound in curve.upper_bounds]
    print_size_table(curve.sizes, columns, curve.values, marked=elbow.k if elbow is not None else None)
    typer.echo("value: what the subset is worth by the criterion (nats).")
    if elbow is not None:
        typer.echo(elbow.statement)


def _changes(curve: ValueCurve) -> list[str]:
    """What comes in at each size; where subsets do not nest, also how many leave."""
    changes, before = [], frozenset()
    for selection in curve.selections:
        names = dict(zip(selection.indices.tolist(), selection.names, strict=True))
        come = [repr(name)[1:-1] for column, name in names.items() if column not in before]
        left = len(before.difference(names))
        some = ", ".join(come[:3]) + (f" and {len(come) - 3} more" if len(come) > 3 else "")
        changes.append(some + (f" ({left} leave)" if left else ""))
        before = frozenset(names)
    return changes


def _as_json(curve: ValueCurve, elbow: Elbow | None) -> dict[str, Any]:
    return {
        "sizes": curve.sizes.tolist(),
        "values": curve.values.tolist(),
        "upper_bounds": [bound if bound == bound else None for bound in curve.upper_bounds.tolist()],
        "features": [list(selection.names) for selection in curve.selections],
        "statuses": [selection.status for selection in curve.selections],
        "elbow": None if elbow is None else elbow.k,
    }
