"""A progress bar on a terminal. Imported when a command works at one: `--help` and pipes need none."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta

from rich.console import Console
from rich.progress import BarColumn, Progress, ProgressColumn, Task, TextColumn
from rich.table import Column
from rich.text import Text

from certselect.names import harmless
from certselect.progress import Listener, listening

_STAGE, _BAR = 30, 16  # characters of a stage and of its bar: the whole line has room in 80

_REMEMBERED = 600.0  # seconds by whose reports the rate is told: there are steps of a minute


@contextmanager
def progress_bar() -> Iterator[None]:
    """Show the progress of whatever runs inside the block, on standard error, a terminal."""
    with bars_on(Console(stderr=True)) as bars, listening(draw_on(bars)):
        yield


class _Pace(ProgressColumn):
    """How fast the stage goes that is under way, and how long it will take."""

    def render(self, task: Task) -> Text:
        # One that came to its end early, as a relaxation does, is never finished.
        left = task.time_remaining if task.fields["under_way"] and not task.finished and task.total != 1 else None
        return Text("" if left is None else f"{task.speed:.3g}/s, {timedelta(seconds=int(left))} left")


def bars_on(console: Console) -> Progress:
    """A bar for each stage."""
    columns = (TextColumn("{task.description}", markup=False), BarColumn(bar_width=_BAR))
    counts = TextColumn("{task.completed:.0f}/{task.total:.0f}")
    how = {"console": console, "transient": True, "speed_estimate_period": _REMEMBERED}
    return Progress(*columns, counts, _Pace(Column(no_wrap=True)), **how)


def draw_on(bars: Progress) -> Listener:
    """What listens to progress and draws it; a stage that begins again starts at zero again."""
    stages = {}

    def show(stage: str, done: int, total: int) -> None:
        name = stage.partition(",")[0]  # "relaxation, gap 1e-3" is a stage and how it stands
        said = harmless(stage)[:_STAGE]
        if name not in stages:
            stages[name] = bars.add_task(said, total=total, under_way=True)
        elif done < bars.tasks[stages[name]].completed:
            bars.reset(stages[name], total=total)
        for other in stages.values():
            bars.update(other, under_way=other == stages[name])
        bars.update(stages[name], description=said, completed=done, total=total)

    return show
