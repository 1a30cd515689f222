"""`certselect select`: which columns predict the target best together."""

from __future__ import annotations

from functools import partial
from typing import Annotated

import typer

from certselect.cli import options
from certselect.cli.constraint_options import whole_number
from certselect.cli.generated import with_settings
from certselect.cli.options import opened
from certselect.cli.output import Output, telling
from certselect.cli.report import write_page
from certselect.errors import FewerFeaturesWarning, InvalidInput
from certselect.names import shown
from certselect.settings import Settings

USUAL_SIZE = 10


@with_settings()
def select(
    table: options.TableFile,
    target: options.Target,
    k: Annotated[
        str | None,
        typer.Option(
            "-k",
            metavar="NUMBER|FRACTION|auto",
            help="How many features to choose: a number, a share of the usable columns such as 0.2, or auto for as "
            f"many as add more than chance. If not given, {USUAL_SIZE} (or all usable columns if there are fewer), or "
            "any number that a --budget pays for.",
        ),
    ] = None,
    *,
    settings: Settings,
    jobs: options.Threads = None,
    memory: options.Memory = None,
    resume: options.Resume = None,
    out: Output,
) -> None:
    """Choose k columns of a table that predict the target best together.

    `certselect criteria` and `certselect strategies` list what can be named.

    A result saved with --json can be checked with `certselect verify`.
    """
    from certselect.cli.chosen_table import notes_on_result, print_result
    from certselect.results.choosing import choose, read_checked
    from certselect.results.files import as_text
    from certselect.search.selection import INTERRUPTED
    from certselect.table.streams.in_blocks import InBlocks

    size = _size(k, settings)
    with out.watching() as warned:
        blocks = InBlocks(memory, resume, jobs)
        rows, names, seconds = read_checked(opened(table), target, settings, blocks=blocks)
        result = choose(rows, size, settings, target=names, seconds=seconds, n_jobs=jobs)
    if k is None:  # nobody asked for 10
        warned = [warning for warning in warned if not issubclass(warning.category, FewerFeaturesWarning)]
    with (
        telling(interrupted=result.selection.status == INTERRUPTED),
        out.saving(partial(as_text, result), partial(write_page, result, table)),
    ):
        print_result(result, out)
        out.note(warned, notes_on_result(rows, result))


def _size(k: str | None, settings: Settings) -> int | float | str | None:
    """What -k says, told in the words of the command line where it cannot be."""
    from certselect.results.size_rule import AUTO, UNTESTED

    if k is None:
        return USUAL_SIZE if settings.constraints.budget is None else None
    if k.casefold() == AUTO:
        for name, reason in UNTESTED.items():
            if getattr(settings.constraints, name) is not None:
                option = {"feature_groups": "--all-or-none or --at-most-one"}.get(name, f"--{name}")
                raise InvalidInput(f"-k auto with {option}", f"a number or a fraction: {reason}", "Pass -k 10, say.")
        return AUTO
    size = whole_number(k)
    if size is None:
        try:
            size = float(k)
        except ValueError:
            size = None
    if (isinstance(size, int) and size >= 1) or (isinstance(size, float) and 0.0 < size < 1.0):
        return size
    expected = "a whole number from 1, a fraction between 0 and 1 such as 0.2, or auto"
    raise InvalidInput(f"-k {shown(k)[1:-1]}", expected, "Check the number.")
