"""`certselect path`: what subsets of each size are worth."""

from __future__ import annotations

import json
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import typer

from certselect.cli import options
from certselect.cli.generated import with_settings
from certselect.cli.output import Output, telling
from certselect.cli.sheets import Format, Sheet, as_csv_line, print_sheet
from certselect.cli.standard_input import opened
from certselect.settings import Settings, all_settings

if TYPE_CHECKING:
    from certselect.evaluation.sizes import Elbow, ValueCurve

BOUND = "at most"  # the heading of upper bounds


@with_settings()
def path(
    table: options.TableFile,
    target: options.Target,
    max_size: Annotated[int, typer.Option(min=1, metavar="NUMBER", help="The largest size.")] = 50,
    *,
    settings: Settings,
    jobs: options.Threads = None,
    out: Output,
) -> None:
    """Show what the best subsets of 1, 2, 3, ... columns are worth, and where that curve bends.

    What --json saves holds sizes, values, bounds and features, and no proofs: save a subset with `certselect select`
    to verify it.
    """
    from certselect.cli.chosen_table import notes_on_table
    from certselect.criteria import unsized_problem
    from certselect.evaluation.sizes import find_elbow, value_curve
    from certselect.information import measure_table
    from certselect.results.choosing import read_checked
    from certselect.search.selection import INTERRUPTED
    from certselect.selectors.fold_tables import sizes_to_try
    from certselect.table.streams.in_blocks import InBlocks
    from certselect.threads import on_jobs

    constraints, searching = settings.constraints, settings.searching
    known = all_settings(("constraints", "searching"))
    with out.watching() as warned:
        rows, names, _ = read_checked(opened(table), target, settings, blocks=InBlocks(n_jobs=jobs))
        terms = measure_table(rows, settings.measuring, n_jobs=jobs)
        whole = unsized_problem(terms, searching.criterion, constraints=constraints, **searching.problem_options)
        sizes = sizes_to_try(whole, max_size)
        with on_jobs(jobs):
            asked = {name: value for name, value in settings.flat().items() if name in known}
            curve = value_curve(terms, sizes, **asked)
    interrupted = any(selection.status == INTERRUPTED for selection in curve.selections)
    # An elbow is that of a whole curve.
    elbow = find_elbow(curve) if len(sizes) > 2 and not interrupted else None
    about = {"settings": settings.to_dict(), "target": list(names), "measured_by": dict(terms.settings)}
    with telling(interrupted=interrupted), out.saving(partial(_as_text, curve, elbow, about), curve.to_html):
        _print_curve(curve, elbow, out, with_status=interrupted)
        ended = _notes_on_interrupt(curve, len(sizes)) + _notes_on_limit(curve)
        out.note(warned, notes_on_table(rows, terms, whole), ended)


def _notes_on_interrupt(curve: ValueCurve, asked: int) -> list[str]:
    from certselect.search.selection import INTERRUPTED

    stopped = [str(selection.k) for selection in curve.selections if selection.status == INTERRUPTED]
    if not stopped:
        return []
    some = ", ".join(stopped[:5]) + (", ..." if len(stopped) > 5 else "")
    missing = asked - len(curve.sizes)
    left_out = f"; {missing} of {asked} sizes were not searched and are left out" if missing else ""
    return [f"interrupted; what is shown of k = {some} is the best found so far{left_out}"]


def _notes_on_limit(curve: ValueCurve) -> list[str]:
    late = [selection for selection in curve.selections if selection.out_of_time]
    if not late:
        return []
    sizes = f"{len(late)} of {len(curve.sizes)} sizes"
    return [f"the time limit ended the work on {sizes} early; what is shown of them is the best found so far"]


def _print_curve(curve: ValueCurve, elbow: Elbow | None, out: Output, *, with_status: bool) -> None:
    if out.format is Format.JSON:
        return  # printed already
    from certselect.evaluation.sizes import changes

    features = {"feature": changes(curve)}
    if out.format is Format.CSV:  # where there is room for all of them
        features = {"features": [as_csv_line(selection.names) for selection in curve.selections]}
    columns = {
        "k": curve.sizes.tolist(),
        **features,
        "value": curve.values.tolist(),
        BOUND: curve.upper_bounds.tolist(),
    }
    if all(bound != bound for bound in curve.upper_bounds):
        del columns[BOUND]
    if with_status:
        columns["status"] = [selection.status for selection in curve.selections]
    bend = None if elbow is None or elbow.k is None else curve.sizes.tolist().index(elbow.k)
    print_sheet(Sheet(columns, marked=bend, bars=curve.values.tolist(), spare=[BOUND], bounds=[BOUND]), out.format)
    out.say(
        f"value: what the subset is worth by the criterion{_in_unit(curve)}." if out.talks else "",
        "" if elbow is None else elbow.statement,
    )


def _in_unit(curve: ValueCurve) -> str:
    unit = curve.selections[0].unit
    return f" ({unit})" if unit else ""


def _as_text(curve: ValueCurve, elbow: Elbow | None, about: dict[str, Any]) -> str:
    """The curve as JSON: no result, which is about one subset, but a document of its own."""
    from certselect.results.format import PATH

    document = {
        "format": PATH,
        "version": 1,
        "sizes": curve.sizes.tolist(),
        "values": curve.values.tolist(),
        "upper_bounds": [bound if bound == bound else None for bound in curve.upper_bounds.tolist()],
        "features": [list(selection.names) for selection in curve.selections],
        "statuses": [selection.status for selection in curve.selections],
        "elbow": None if elbow is None else elbow.k,
        **about,
    }
    return json.dumps(document, indent=2, allow_nan=False) + "\n"
