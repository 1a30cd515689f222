"""`certselect choose`: how many columns a classifier needs."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from certselect.cli import options
from certselect.errors import CertselectError, InvalidInput

if TYPE_CHECKING:
    from certselect.selectors import SubsetSelectorCV
    from certselect.selectors.size_scores import SizeScores


def choose(
    table: options.TableFile,
    target: options.Target,
    estimator: Annotated[
        str,
        typer.Option(
            help="The classifier: svm, lda, tree, forest, neural, neighbors or logistic. "
            "For a target of numbers: svm, tree, forest, neural, neighbors or linear."
        ),
    ],
    max_k: Annotated[int | None, typer.Option(help="Try 1 to this many columns; 50 if not given.")] = None,
    candidates: Annotated[
        str | None, typer.Option(help="Try these sizes, like 1-10,15,20; instead of --max-k.")
    ] = None,
    cv: Annotated[int, typer.Option(help="Number of splits, shuffled by the seed; stratified for classes.")] = 5,
    scoring: Annotated[
        str | None,
        typer.Option(help="What counts: accuracy (the default for classes), balanced_accuracy, r2 (for numbers), ..."),
    ] = None,
    protocol: Annotated[
        str, typer.Option(help="honest, or paper: choose with the test rows in sight, for comparison only.")
    ] = "honest",
    one_standard_error: Annotated[
        bool, typer.Option("--one-standard-error", help="The smallest size within one standard error of the best.")
    ] = False,
    criterion: options.CriterionName = "jmi",
    strategy: options.StrategyName = "forward",
    polish: options.Polish = False,
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
    seed: Annotated[int, typer.Option(help="Seed of splits, classifiers and random strategies.")] = 0,
    jobs: Annotated[int | None, typer.Option(help="Processes; one if not given.")] = None,
    resume: Annotated[
        Path | None,
        typer.Option(
            help="File that keeps finished scores, to go on from after a stop; with --json FILE, "
            "FILE.unfinished if not given, which is removed in the end."
        ),
    ] = None,
    json: options.Json = None,
) -> None:
    """Find how many columns a classifier or a regressor needs, by cross-validation, and choose them."""
    from sklearn.model_selection import KFold, StratifiedKFold

    from certselect.cli.chosen_table import notes_on
    from certselect.cli.predictors import make_predictor
    from certselect.cli.progress_bar import progress_bar
    from certselect.cli.result_file import check_destination
    from certselect.selectors import SubsetSelectorCV
    from certselect.selectors.size_scores import StoppedEarly
    from certselect.table import read_file

    options.check_names(criterion, strategy, beta)
    _check_splits_and_scoring(cv, scoring)
    check_destination(json)
    keeps_file = json is not None and str(json) != "-"
    unfinished = json.with_name(json.name + ".unfinished") if keeps_file and json is not None else None
    reading = {"task": task, "missing": missing, "weight": weight}
    with progress_bar(), warnings.catch_warnings(record=True) as warned_reading:
        rows = read_file(table, target, **reading)
    folds = KFold if rows.task == "regression" else StratifiedKFold
    selector = SubsetSelectorCV(
        make_predictor(estimator, rows.task, seed),
        _sizes(candidates, max_k),
        folds(cv, shuffle=True, random_state=seed),
        scoring,
        protocol,
        one_standard_error=one_standard_error,
        criterion=criterion,
        strategy=strategy,
        polish=polish,
        beta=beta,
        checkpoint=resume or unfinished,
        random_state=seed,
        n_jobs=jobs,
        information=information,
        task=task,
        missing=missing,
        **options.measuring_of(correction, n_neighbors, target_bins, discretize, bins, integers),
        **options.constraints_of(include, exclude, together, at_most_one, costs, budget),
    )
    stopped: SizeScores | None = None
    with progress_bar(), warnings.catch_warnings(record=True) as warned:
        try:
            selector.fit_table(rows)
        except StoppedEarly as stop:
            stopped = stop.so_far
        except ValueError as error:
            if scoring is None or isinstance(error, CertselectError):
                raise
            raise InvalidInput(
                f"--scoring {scoring} for {rows.task} ({error})", "a score of that kind", "Leave --scoring out."
            ) from error
    for message in dict.fromkeys(str(warning.message) for warning in (*warned_reading, *warned)):
        typer.echo(f"note: {message}", err=True)
    if stopped is not None:
        _print_scores(stopped, one_standard_error)
        kept = resume or unfinished
        hint = f"the same command goes on from {kept}" if kept else "with --resume FILE a stopped run can go on"
        typer.echo(f"note: interrupted; this is the best so far; {hint}", err=True)
        raise typer.Exit(options.INTERRUPTED_EXIT)
    for note in notes_on(rows, selector.terms_):
        typer.echo(f"note: {note}", err=True)
    _write(selector, target=options.target_of(target), reading=reading, estimator=estimator, json=json)
    if resume is None and unfinished is not None:
        unfinished.unlink(missing_ok=True)


def _check_splits_and_scoring(cv: int, scoring: str | None) -> None:
    from sklearn.metrics import get_scorer_names

    if cv < 2:
        raise InvalidInput(f"--cv {cv}", "2 or more", "The usual number is 5 or 10.")
    if scoring is not None and scoring not in get_scorer_names():
        raise InvalidInput(
            f"--scoring {scoring}",
            "one of scikit-learn's names, such as accuracy, balanced_accuracy, f1_macro or roc_auc",
            "Check the spelling.",
        )


def _sizes(candidates: str | None, max_k: int | None) -> Any:
    """The sizes of "1-10,15": a number, or a first and a last with a dash, separated by commas."""
    if candidates is None:
        return max_k
    if max_k is not None:
        raise InvalidInput("--candidates and --max-k", "one of them", "Leave one out.")
    sizes: list[int] = []
    for part in candidates.split(","):
        first, dash, last = part.strip().partition("-")
        if not first.isdigit() or (dash and not last.isdigit()):
            raise InvalidInput(f"--candidates {candidates}", "sizes like 1-10,15,20", f"Check {part.strip()!r}.")
        sizes.extend(range(int(first), int(last or first) + 1))
    return sizes


def _print_scores(scores: SizeScores, one_standard_error: bool) -> None:
    """The score of every size in all splits so far, and the best of them."""
    import numpy as np

    from certselect.cli.size_table import print_size_table

    done = ~np.isnan(scores.mean)
    sizes, mean, error = scores.sizes[done], scores.mean[done], scores.standard_error[done]
    if not len(sizes):
        typer.echo("No size is scored in every split yet.")
        return
    columns = {"mean score": [f"{value:.4f}" for value in mean], "+-": [f"{value:.4f}" for value in error]}
    best = int(scores.sizes[scores.best(one_standard_error=one_standard_error)])
    print_size_table(sizes, columns, mean, marked=best)
    rule = "within one standard error of the best" if one_standard_error else "the best mean score"
    typer.echo(f"{best} features: {rule}. +-: one standard error of the mean over {len(scores.scores)} splits.")


def _write(
    selector: SubsetSelectorCV,
    *,
    target: str | list[str],
    reading: dict[str, str | None],
    estimator: str,
    json: Path | None,
) -> None:
    """Print the scores and the chosen columns, and write both as a result that `certselect verify` checks."""
    from certselect.cli.chosen_table import print_selection, remarks
    from certselect.cli.result_file import result_of, write_result
    from certselect.criteria import subset_problem

    terms, selection, scores = selector.terms_, selector.selection_, selector.size_scores_
    constraints = {name: getattr(selector, name) for name in ("include", "exclude", "groups", "costs", "budget")}
    problem = subset_problem(terms, selector.n_features_, selector.criterion, beta=selector.beta, **constraints)
    if json is None or str(json) != "-":
        _print_scores(scores, selector.one_standard_error)
        print_selection(selection, terms, problem)
    for remark in remarks(selection, terms):
        typer.echo(f"note: {remark}", err=True)
    if json is None:
        return
    result = result_of(
        selection,
        terms,
        target=target,
        reading=reading,
        beta=selector.beta,
        seed=selector.random_state,
        constraints=problem.constraints,
    )
    result["choice"] = {
        "estimator": estimator,
        "scoring": selector.scoring,
        "protocol": selector.protocol,
        "one_standard_error": selector.one_standard_error,
        "sizes": scores.sizes.tolist(),
        "mean_scores": _numbers(scores.mean),
        "standard_errors": _numbers(scores.standard_error),
        "split_scores": [_numbers(row) for row in scores.scores],
    }
    write_result(result, json)


def _numbers(values: Any) -> list[float | None]:
    return [value if value == value else None for value in values.tolist()]
