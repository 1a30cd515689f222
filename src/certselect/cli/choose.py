"""`certselect choose`: how many columns a classifier or regressor needs."""

from __future__ import annotations

from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from certselect.cli import options
from certselect.cli.constraint_options import whole_number
from certselect.cli.generated import with_settings
from certselect.cli.options import opened
from certselect.cli.output import Output, telling
from certselect.cli.report import write_page
from certselect.cli.sheets import Format, Sheet, print_sheet
from certselect.cli.wording import in_options
from certselect.errors import CertselectError, InvalidInput, keyword
from certselect.names import did_you_mean, shown
from certselect.settings import Settings
from certselect.settings.combinations import COMBINED
from certselect.writing import check_destination

if TYPE_CHECKING:
    from collections.abc import Sequence

    from certselect.results import Result
    from certselect.selectors import SubsetSelectorCV
    from certselect.selectors.size_scores import SizeScores
    from certselect.settings import Reading
    from certselect.table import Table

PANEL = "Trying sizes"
_ERROR = "+-"  # the heading of standard errors
MOST_SIZES = 1_000_000  # in one range: no classifier is tried on more columns


@with_settings(several=COMBINED)
def choose(
    table: options.TableFile,
    target: options.Target,
    estimator: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="The classifier: svm, lda, tree, forest, neural, neighbors or logistic. "
            "For a target of numbers: svm, tree, forest, neural, neighbors or linear.",
        ),
    ],
    sizes: Annotated[
        str | None,
        typer.Option(
            metavar="SIZES", help="Try these sizes, like 1-10,15,20; instead of --max-size.", rich_help_panel=PANEL
        ),
    ] = None,
    max_size: Annotated[
        int | None,
        typer.Option(
            min=1, metavar="NUMBER", help="Try 1 to this many columns; 50 if not given.", rich_help_panel=PANEL
        ),
    ] = None,
    cv: Annotated[
        int,
        typer.Option(
            metavar="NUMBER",
            help="Number of splits, shuffled by the seed; stratified for classes.",
            rich_help_panel=PANEL,
        ),
    ] = 5,
    scoring: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="What counts: accuracy (the default for classes), balanced_accuracy, r2 (for numbers), ...",
            rich_help_panel=PANEL,
        ),
    ] = None,
    protocol: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="honest, or paper: choose with the test rows in sight, for comparison only.",
            rich_help_panel=PANEL,
        ),
    ] = "honest",
    one_standard_error: Annotated[
        bool,
        typer.Option(
            "--one-standard-error",
            help="Take the smallest size within one standard error of the best.",
            rich_help_panel=PANEL,
        ),
    ] = False,
    *,
    settings: Settings,
    tried: dict[str, Any],
    jobs: Annotated[
        int | None,
        typer.Option(
            metavar="NUMBER", help="How many cores to use, a process each; if not given, threads on all of them."
        ),
    ] = None,
    resume: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="File that keeps finished scores, to go on from after a stop; with --json FILE, "
            "FILE.unfinished if not given, which is removed in the end.",
        ),
    ] = None,
    out: Output,
) -> None:
    """Find how many columns a classifier or a regressor needs, by cross-validation, and choose them.

    Criteria and ways to measure can be compared in the same splits: --criterion jmi,mrmr --discretize uniform,quantile.
    """
    from sklearn.model_selection import KFold, StratifiedKFold

    from certselect.cli.chosen_table import notes_on_result, print_result
    from certselect.cli.predictors import make_predictor
    from certselect.results.choosing import read_checked
    from certselect.results.files import as_text
    from certselect.selectors import SubsetSelectorCV
    from certselect.table import Table

    _check_splits_and_scoring(cv, scoring)
    unfinished = None if out.file is None else out.file.with_name(f"{out.file.name}.unfinished")
    if unfinished is not None and resume is None:
        check_destination(unfinished, [path for path in (table, out.report) if path is not None])
    seed = settings.searching.random_state
    with out.watching() as warned:
        rows, names, _ = read_checked(opened(table), target, settings)
        assert isinstance(rows, Table), "blocks were not asked for"
        folds = KFold if rows.task == "regression" else StratifiedKFold
        selector = SubsetSelectorCV(
            make_predictor(estimator, rows.task, seed),
            _sizes(sizes, max_size),
            folds(cv, shuffle=True, random_state=seed),
            scoring,
            protocol,
            one_standard_error=one_standard_error,
            checkpoint=resume or unfinished,
            n_jobs=jobs,
            # The weights are in the rows already.
            **{name: value for name, value in (settings.flat() | tried).items() if name != "weight"},
        )
        stopped = _fit(selector, rows, names, settings.reading)
    # There is one already if Ctrl-C came when all sizes were scored.
    result: Result | None = getattr(selector, "result_", None)
    finished = unfinished if stopped is None and resume is None else None
    with (
        telling(interrupted=stopped is not None),
        nullcontext()
        if result is None
        else out.saving(partial(as_text, result), partial(write_page, result, table), then_remove=finished),
    ):
        notes = [] if result is None else notes_on_result(rows, result)
        if stopped is not None:
            kept = resume or unfinished
            hint = f"the same command goes on from {kept}" if kept else "with --resume FILE a stopped run can go on"
            notes.append(f"interrupted; this is the best so far; {hint}")
        if out.format in (Format.TABLE, Format.MARKDOWN):  # CSV is one table, and JSON holds the scores
            _print_scores(selector.combination_scores_ if stopped is None else stopped, one_standard_error, out)
        if result is not None:
            print_result(result, out)
        out.note(warned, notes)


def _check_splits_and_scoring(cv: int, scoring: str | None) -> None:
    from sklearn.metrics import get_scorer_names

    if cv < 2:
        raise InvalidInput(f"--cv {cv}", "2 or more", "The usual number is 5 or 10.")
    if scoring is not None and scoring not in get_scorer_names():
        raise InvalidInput(
            f"--scoring {scoring}",
            "one of scikit-learn's names, such as accuracy, balanced_accuracy, f1_macro or roc_auc",
            did_you_mean(scoring, get_scorer_names()),
        )


def _sizes(listed: str | None, largest: int | None) -> list[int] | int | None:
    """The sizes of "1-10,15": a number, or a first and a last with a dash, separated by commas."""
    if listed is None:
        return largest
    if largest is not None:
        raise InvalidInput("--sizes and --max-size", "one of them", "Leave one out.")
    sizes: list[int] = []
    for part in listed.split(","):
        begin, dash, end = part.strip().partition("-")
        first, last = whole_number(begin), whole_number(end if dash else begin)
        if first is None or last is None or last - first >= MOST_SIZES:
            raise InvalidInput(f"--sizes {shown(listed)}", "sizes like 1-10,15,20", f"Check {shown(part.strip())}.")
        sizes.extend(range(first, last + 1))
    return sizes


def _fit(
    selector: SubsetSelectorCV, rows: Table, target: tuple[str, ...], reading: Reading
) -> Sequence[SizeScores] | None:
    """Fit the selector; the scores so far if that was stopped, else None."""
    from certselect.selectors.size_scores import StoppedEarly

    try:
        selector.fit_table(rows, target, reading)
    except StoppedEarly as stop:
        return stop.combinations
    except ValueError as error:
        if isinstance(error, CertselectError):
            raise
        if "n_splits" in str(error):
            raise InvalidInput(
                f"too large a --cv ({error})", "no more splits than rows of a class", "Lower it."
            ) from None
        if selector.scoring is None:
            raise
        raise InvalidInput(
            f"--scoring {selector.scoring} for {rows.task} ({error})", "a score of that kind", "Leave --scoring out."
        ) from error
    return None


def _print_scores(combinations: Sequence[SizeScores], one_standard_error: bool, out: Output) -> None:
    """What each combination is worth at its best, the score of every size of the one chosen, and the best of them."""
    import numpy as np

    from certselect.selectors.size_scores import best_of

    number, place = best_of(combinations, one_standard_error=one_standard_error)
    scores = combinations[number]
    done = ~np.isnan(scores.mean)
    sizes, mean = scores.sizes[done].tolist(), scores.mean[done].tolist()
    if not sizes:
        out.say("No size is scored in every split yet.")
        return
    if len(combinations) > 1:
        places = [each.best(one_standard_error=one_standard_error) for each in combinations]
        print_sheet(_combinations(combinations, places, number), out.format)
        chosen = ", ".join(keyword(name, value) for name, value in scores.settings.items())
        out.say(f"Chosen: {in_options(chosen)}. Its scores, size by size:")
    best = int(scores.sizes[place])
    columns = {"k": sizes, "mean score": mean, _ERROR: scores.standard_error[done].tolist()}
    print_sheet(Sheet(columns, marked=sizes.index(best), bars=mean, spare=[_ERROR]), out.format)
    rule = "within one standard error of the best" if one_standard_error else "the best mean score"
    out.say(f"{best} features: {rule}. +-: one standard error of the mean over {scores.counted.sum()} splits.")


def _combinations(combinations: Sequence[SizeScores], places: Sequence[int], chosen: int) -> Sheet:
    """A row for each combination of settings: the size that is chosen for it, its mean score and its error."""
    columns: dict[str, list[Any]] = {
        name: [str(each.settings[name]) for each in combinations] for name in combinations[0].settings
    }
    mean = [float(each.mean[place]) for each, place in zip(combinations, places, strict=True)]
    columns["k"] = [
        int(each.sizes[place]) if value == value else None
        for each, place, value in zip(combinations, places, mean, strict=True)
    ]
    columns["mean score"] = mean
    columns[_ERROR] = [float(each.standard_error[place]) for each, place in zip(combinations, places, strict=True)]
    return Sheet(columns, marked=chosen, spare=[_ERROR])
