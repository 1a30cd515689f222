"""Progress on a terminal: stage, rate and time left, from zero."""

import io

import pytest
from rich.cells import cell_len
from rich.console import Console

from certselect.cli.progress_bar import bars_on, draw_on


@pytest.fixture
def bars():
    """Bars whose clock is set by hand, and the lines they draw in 80 columns."""
    made = bars_on(Console(file=io.StringIO(), force_terminal=True, color_system=None, width=80))
    made.clock = 0.0
    made.get_time = lambda: made.clock
    return made


def drawn(bars):
    console = Console(file=io.StringIO(), width=80, color_system=None)
    console.print(bars.make_tasks_table(bars.tasks))
    lines = console.file.getvalue().splitlines()
    assert all(cell_len(line) <= 80 for line in lines)
    return [" ".join(line.replace("━", "").replace("╸", "").split()) for line in lines]


def at(bars, show, seconds, *reported):
    bars.clock = seconds
    show(*reported)
    return drawn(bars)


def test_stage_rate_and_time_left(bars):
    show = draw_on(bars)
    assert at(bars, show, 0.0, "annealing", 0, 100) == ["annealing 0/100"]
    assert at(bars, show, 1.0, "annealing", 10, 100) == ["annealing 10/100"], "one report is no rate"
    assert at(bars, show, 2.0, "annealing", 20, 100) == ["annealing 20/100 10/s, 0:00:08 left"]
    assert at(bars, show, 10.0, "annealing", 100, 100) == ["annealing 100/100"]


def test_a_stage_that_begins_again_starts_at_zero(bars):
    show = draw_on(bars)
    for second, done in enumerate((0, 2, 4)):
        at(bars, show, second, "forward", done, 4)
    assert at(bars, show, 9.0, "forward", 0, 8) == ["forward 0/8"]
    assert bars.tasks[0].completed == 0
    assert not bars.tasks[0].finished
    assert at(bars, show, 10.0, "forward", 1, 8) == ["forward 1/8"]
    assert at(bars, show, 12.0, "forward", 2, 8) == ["forward 2/8 0.5/s, 0:00:12 left"]


def test_what_a_stage_left_behind_has_no_pace(bars):
    show = draw_on(bars)
    at(bars, show, 0.0, "relaxation, gap 1e-1", 0, 100)
    at(bars, show, 1.0, "relaxation, gap 1e-2", 5, 100)
    assert at(bars, show, 2.0, "relaxation, gap 1e-3", 10, 100) == ["relaxation, gap 1e-3 10/100 5/s, 0:00:18 left"]
    assert at(bars, show, 3.0, "rounding", 0, 4) == ["relaxation, gap 1e-3 10/100", "rounding 0/4"]


def test_long_and_hostile_stages_fit(bars):
    show = draw_on(bars)
    for second in range(4):
        lines = at(bars, show, 100.0 * second, "x\x1b[2J[red]" * 20, second, 10**5)
    assert lines[0].startswith(r"x\x1b[2J[red]x\x1b[2J[red]x\x1")
    assert lines[0].endswith("left")
