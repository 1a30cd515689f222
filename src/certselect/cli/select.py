"""`certselect select`: which columns predict the target best together."""

from __future__ import annotations

from functools import partial
from typing import Annotated

import typer

from certselect.cli import options, output
from certselect.cli.generated import with_settings
from certselect.errors import FewerFeaturesWarning
from certselect.settings import Settings

USUAL_SIZE = 10


@with_settings()
def select(
    table: options.TableFile,
    target: options.Target,
    k: Annotated[
        int | None,
        typer.Option(
            "-k",
            help=f"How many features to choose; if not given, {USUAL_SIZE} (or all usable columns if there are "
            "fewer), or any number that a --budget pays for.",
        ),
    ] = None,
    *,
    settings: Settings,
    jobs: options.Threads = None,
    json: options.Json = None,
) -> None:
    """Choose k columns of a table that predict the target best together.

    `certselect criteria` and `certselect strategies` list what can be named.

    A result saved with --json can be checked with `certselect verify`.
    """
    from certselect.cli.chosen_table import notes_on_result, print_result
    from certselect.results.choosing import choose, read_checked
    from certselect.results.files import as_text
    from certselect.search.selection import INTERRUPTED

    size = USUAL_SIZE if k is None and settings.constraints.budget is None else k
    with output.watching() as warned:
        rows, names, seconds = read_checked(table, target, settings)
        result = choose(rows, size, settings, target=names, seconds=seconds, n_jobs=jobs)
    if k is None:  # nobody asked for 10
        warned = [warning for warning in warned if not issubclass(warning.category, FewerFeaturesWarning)]
    with (
        output.telling(interrupted=result.selection.status == INTERRUPTED),
        output.saving(partial(as_text, result), json),
    ):
        if output.prints_table(json):
            print_result(result)
        output.print_notes(warned, notes_on_result(rows, result))
