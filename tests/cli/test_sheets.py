"""Tables in exact text: what they say, and that they fit where they are printed."""

import csv
import io
import math

import pytest
from rich.cells import cell_len

from certselect.cli.sheets import Format, Sheet, in_markdown, print_sheet

NAMES = [
    "a_name_without_any_space_that_goes_on_and_on_" + "x" * 80,
    "数据" * 30,
    "\u05d0\u05d1\u05d2 \u0627\u0644\u0639",
    "e\u202egnp.exe",
    "new\nline\ttab",
    "\x1b[31mred\x1b[2J",
    "[red]b[/red]",
    "e\u0301\u0301\u0301",
    "",
]


@pytest.fixture
def printed(monkeypatch, capsys):
    def run(sheet, format=Format.TABLE, columns=80):
        monkeypatch.setenv("COLUMNS", str(columns))
        print_sheet(sheet, format)
        return capsys.readouterr().out

    return run


SIZES = Sheet({"k": [1, 2, 10], "value": [0.5, 1.0, math.nan]}, marked=1, bars=[0.5, 1.0, math.nan])


def test_a_table_in_exact_text(printed):
    assert printed(SIZES) == (
        "┏━━━━┳━━━━━━━━┳━━━━━━━━━━━━━━━━━━━━━━━━━━━━┓\n"
        "┃  k ┃  value ┃                            ┃\n"
        "┡━━━━╇━━━━━━━━╇━━━━━━━━━━━━━━━━━━━━━━━━━━━━┩\n"
        "│  1 │ 0.5000 │ ████████████               │\n"
        "│  2 │ 1.0000 │ ████████████████████████ < │\n"
        "│ 10 │        │                            │\n"
        "└────┴────────┴────────────────────────────┘\n"
    )


def test_bars_give_way_where_there_is_no_room(printed):
    assert printed(SIZES, columns=30) == (
        "┏━━━━┳━━━━━━━━┳━━━┓\n"
        "┃  k ┃  value ┃   ┃\n"
        "┡━━━━╇━━━━━━━━╇━━━┩\n"
        "│  1 │ 0.5000 │   │\n"
        "│  2 │ 1.0000 │ < │\n"
        "│ 10 │        │   │\n"
        "└────┴────────┴───┘\n"
    )


def test_csv_and_markdown_in_exact_text(printed):
    sheet = Sheet(
        {"feature": ["a,b", 'say "x"', "p|q"], "value": [1 / 3, None, 2.0], "options": [["x=1", "y=2"], [], ["z"]]},
        stars=[True, False, False],
        starred="value",
    )
    assert printed(sheet, Format.CSV) == (
        'feature,value,options\n"a,b",0.3333333333333333,x=1; y=2\n"say ""x""",,\np|q,2.0,z\n'
    )
    assert printed(sheet, Format.MARKDOWN) == (
        "| feature | value | options |\n"
        "| --- | --: | --- |\n"
        "| a,b | 0.3333\\* | x=1; y=2 |\n"
        '| say "x" |  |  |\n'
        "| p\\|q | 2.0000 | z |\n"
        "\n"
    )


@pytest.mark.parametrize(
    ("lengths", "eighths"),
    [
        ([4.0, 2.0, 1.0], [192, 96, 48]),
        ([0.90, 0.91], [190, 192]),  # not from 0.90: a bar is as long as its number
        ([-1.0, 0.0, 1.0], [0, 0, 192]),
        ([-2.0, -1.0], [0, 0]),
        ([math.nan, 3.0, math.inf], [0, 192, 0]),
        ([0.0, 0.0], [0, 0]),
        ([], []),
    ],
)
def test_bars_start_at_zero(printed, lengths, eighths):
    drawn = printed(Sheet({"k": list(range(len(lengths)))}, bars=lengths)).splitlines()
    bars = [line.split("│")[2].strip() for line in drawn if line.startswith("│")]
    assert [8 * bar.count("█") + "_▏▎▍▌▋▊▉".find(bar.replace("█", "") or "_") for bar in bars] == eighths


@pytest.mark.parametrize("columns", [40, 60, 80, 200])
def test_any_name_fits_and_stays_text(printed, columns):
    values = [0.1234] * len(NAMES)
    sheet = Sheet(
        {"feature": NAMES, "relevance": values, "chance": values, "shares most with": NAMES[::-1], "value": values},
        spare=("shares most with", "chance"),
    )
    lines = printed(sheet, columns=columns).splitlines()
    assert len({cell_len(line) for line in lines}) == 1
    assert cell_len(lines[0]) <= columns
    assert all(line.isprintable() for line in lines)
    assert len([line for line in lines if "0.1234" in line]) == len(NAMES)
    assert ("shares" in lines[1] + lines[2]) == (columns > 40)


def test_csv_keeps_names_as_they_are_but_not_on_a_terminal(printed, monkeypatch):
    sheet = Sheet({"feature": NAMES, "value": [1.0] * len(NAMES)})
    rows = list(csv.reader(io.StringIO(printed(sheet, Format.CSV))))
    assert [row[0] for row in rows[1:]] == NAMES
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    assert "\x1b" not in printed(sheet, Format.CSV)


def test_markdown_shows_any_name_as_text(printed):
    drawn = printed(Sheet({"feature": NAMES}), Format.MARKDOWN)
    assert drawn.count("\n") == len(NAMES) + 3
    assert all(line.isprintable() for line in drawn.split("\n"))
    assert in_markdown("<script>alert(1)</script> *a* [b](c) & `d` | #e") == (
        r"\<script\>alert(1)\</script\> \*a\* \[b\](c) \& \`d\` \| \#e"
    )


def test_bounds_are_rounded_up_where_people_read_them(printed):
    sheet = Sheet({"value": [0.54081, 0.5], "at most": [0.54081, math.nan]}, bounds=["at most"])
    assert "0.5409" in printed(sheet)
    assert "0.5408" in printed(sheet)
    assert "| 0.5408 | 0.5409 |" in printed(sheet, Format.MARKDOWN)
    assert "0.54081,0.54081" in printed(sheet, Format.CSV)
    assert "–" not in printed(sheet)  # noqa: RUF001 (the dash of what is unknown)
