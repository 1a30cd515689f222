"""A progress bar on a terminal; nothing in a pipe."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from certselect.progress import listening


@contextmanager
def progress_bar() -> Iterator[None]:
    """Show the progress of whatever runs inside the block, on standard error if it is a terminal."""
    if sys.stderr is None or not sys.stderr.isatty():
        yield
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.completed}/{task.total}"))
    times = (TimeElapsedColumn(), TextColumn("left:"), TimeRemainingColumn())
    with Progress(*columns, *times, console=Console(stderr=True), transient=True) as bars:
        tasks = {}

        def show(stage: str, done: int, total: int) -> None:
            name = stage.partition(",")[0]  # "relaxation, gap 1e-3" is a stage and how it stands
            if name not in tasks:
                tasks[name] = bars.add_task(stage, total=total)
            bars.update(tasks[name], description=stage, completed=done, total=total)

        with listening(show):
            yield
