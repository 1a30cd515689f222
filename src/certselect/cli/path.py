"""`certselect path`: what subsets of each size are worth."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from certselect.cli import options, output
from certselect.cli.generated import with_settings
from certselect.cli.printing import say
from certselect.settings import Settings, all_settings

if TYPE_CHECKING:
    from certselect.evaluation.sizes import Elbow, ValueCurve


@with_settings()
def path(
    table: options.TableFile,
    target: options.Target,
    max_size: Annotated[int, typer.Option(help="The largest size.")] = 50,
    *,
    settings: Settings,
    jobs: options.Threads = None,
    json: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Save the curve to this JSON file; - for standard output. It holds sizes, values, bounds and "
            "features, and no proofs: save a subset with `certselect select` to verify it.",
        ),
    ] = None,
) -> None:
    """Show what the best subsets of 1, 2, 3, ... columns are worth, and where that curve bends."""
    from certselect.cli.chosen_table import notes_on_table
    from certselect.criteria import unsized_problem
    from certselect.evaluation.sizes import find_elbow, value_curve
    from certselect.information import measure_table
    from certselect.results.choosing import read_checked
    from certselect.search.selection import INTERRUPTED
    from certselect.selectors.fold_tables import sizes_to_try
    from certselect.threads import on_jobs

    constraints, searching = settings.constraints, settings.searching
    known = all_settings(("constraints", "searching"))
    with output.watching() as warned:
        rows, names, _ = read_checked(table, target, settings)
        terms = measure_table(rows, settings.measuring, n_jobs=jobs)
        whole = unsized_problem(terms, searching.criterion, beta=searching.beta, constraints=constraints)
        sizes = sizes_to_try(whole, max_size)
        with on_jobs(jobs):
            asked = {name: value for name, value in settings.flat().items() if name in known}
            curve = value_curve(terms, sizes, **asked)
    interrupted = any(selection.status == INTERRUPTED for selection in curve.selections)
    # An elbow is that of a whole curve.
    elbow = find_elbow(curve) if len(sizes) > 2 and not interrupted else None
    about = {"settings": settings.to_dict(), "target": list(names), "measured_by": dict(terms.settings)}
    with output.telling(interrupted=interrupted), output.saving(partial(_as_text, curve, elbow, about), json):
        if output.prints_table(json):
            _print_curve(curve, elbow, with_status=interrupted)
        ended = _notes_on_interrupt(curve, len(sizes)) + _notes_on_limit(curve)
        output.print_notes(warned, notes_on_table(rows, terms) + ended)


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


def _print_curve(curve: ValueCurve, elbow: Elbow | None, *, with_status: bool) -> None:
    import numpy as np

    from certselect.cli.size_table import print_size_table

    columns = {"feature": _changes(curve), "value": [f"{value:.4f}" for value in curve.values]}
    if not np.isnan(curve.upper_bounds).all():
        columns["at most"] = ["" if np.isnan(bound) else f"{bound:.4f}" for bound in curve.upper_bounds]
    if with_status:
        columns["status"] = [selection.status for selection in curve.selections]
    print_size_table(curve.sizes, columns, curve.values, marked=elbow.k if elbow is not None else None)
    say("value: what the subset is worth by the criterion (nats).")
    if elbow is not None:
        say(elbow.statement)


def _changes(curve: ValueCurve) -> list[str]:
    """What comes in at each size; where subsets do not nest, also how many leave."""
    changes, before = [], frozenset()
    for selection in curve.selections:
        names = dict(zip(selection.indices.tolist(), selection.names, strict=True))
        come = [name for column, name in names.items() if column not in before]
        left = len(before.difference(names))
        some = ", ".join(come[:3]) + (f" and {len(come) - 3} more" if len(come) > 3 else "")
        changes.append(some + (f" ({left} leave)" if left else ""))
        before = frozenset(names)
    return changes


def _as_text(curve: ValueCurve, elbow: Elbow | None, about: dict[str, Any]) -> str:
    """The curve as JSON: no result, which is about one subset, but a document of its own."""
    document = {
        "format": "certselect path",
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
