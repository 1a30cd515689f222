"""Tables in the format that was asked for: drawn for a terminal, Markdown, or CSV for other programs."""

from __future__ import annotations

import csv
import io
import math
import re
import sys
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from certselect.cli.printing import hand_over, say, show, width
from certselect.names import harmless
from certselect.shown_numbers import at_most


class Format(StrEnum):
    """What standard output is written in."""

    TABLE = "table"
    CSV = "csv"
    JSON = "json"
    MARKDOWN = "markdown"


_BAR = 24  # characters of the longest bar
_EIGHTHS = " ▏▎▍▌▋▊▉"
_NARROWEST = 10  # characters of a column of text below which a less important column is left out
_FRAME = 3  # characters that a column takes beside its text


@dataclass(frozen=True)
class Sheet:
    """Columns of one length, each a heading and its values: text, lists of lines, numbers, None for nothing.

    Attributes
    ----------
    columns : mapping from headings to values
    stars : sequence of bool, optional
        Rows that have a star behind the number in the column `starred`.
    marked : int, optional
        The row to point at.
    bars : sequence of float, optional
        Drawn as bars that start at zero, where there is room; NaN for none.
    spare : sequence of str
        Columns that are left out of a drawing too narrow for all, the first one first.
    bounds : collection of str
        Columns of upper bounds, which people are shown rounded up: they are claims.
    lines : bool
        Whether a line is drawn between rows.
    """

    columns: Mapping[str, Sequence[Any]]
    stars: Sequence[bool] = ()
    starred: str = ""
    marked: int | None = None
    bars: Sequence[float] | None = None
    spare: Sequence[str] = ()
    bounds: Collection[str] = ()
    lines: bool = False


def print_sheet(sheet: Sheet, format: Format = Format.TABLE) -> None:
    """Print the table; not for JSON, which holds more than a table."""
    _PRINTED[format](sheet)


def _draw(sheet: Sheet) -> None:
    from rich.table import Table
    from rich.text import Text

    texts = {heading: _texts(sheet, heading) for heading in sheet.columns}
    bars = None if sheet.bars is None else _bars(sheet.bars)
    texts, bars = _fitting(texts, bars, sheet, width())
    table = Table(show_lines=sheet.lines)
    for heading, column in texts.items():
        number = _is_number(sheet.columns[heading])
        # A number in two lines is two numbers to whoever reads it.
        table.add_column(
            heading,
            justify="right" if number else "left",
            overflow="fold",
            min_width=max(map(len, column), default=0) if number else None,
        )
    if bars is not None or sheet.marked is not None:
        table.add_column("")
    for row in range(len(next(iter(sheet.columns.values())))):
        here = row == sheet.marked
        behind = ("" if bars is None else bars[row]) + (" <" if here else "")
        cells = [Text(column[row]) for column in texts.values()]  # without rich's markup: a name may be "[red]"
        extra = [Text(behind.strip())] if bars is not None or sheet.marked is not None else []
        table.add_row(*cells, *extra, style="bold" if here else None)
    show(table)


def _fitting(
    texts: dict[str, list[str]], bars: list[str] | None, sheet: Sheet, room: int
) -> tuple[dict[str, list[str]], list[str] | None]:
    """What a drawing has room for: first the bars are left out, then the spare columns, one after the other."""

    def needed() -> int:
        widths = [_least(heading, column, _is_number(sheet.columns[heading])) for heading, column in texts.items()]
        widths += [] if bars is None else [max(map(len, bars), default=0)]
        pointer = 0 if sheet.marked is None else _FRAME
        return 1 + pointer + sum(each + _FRAME for each in widths)

    if bars is not None and needed() > room:
        bars = None
    for heading in sheet.spare:
        if needed() > room:
            texts = {name: column for name, column in texts.items() if name != heading}
    return texts, bars


def _least(heading: str, column: Sequence[str], number: bool) -> int:
    """Characters that a column cannot do without."""
    longest = max(map(len, column), default=0)
    return longest if number else min(_NARROWEST, max(longest, len(heading)))


def _texts(sheet: Sheet, heading: str) -> list[str]:
    """The cells of a column as people read them."""
    texts = []
    for row, value in enumerate(sheet.columns[heading]):
        said = at_most if heading in sheet.bounds and not _is_nothing(value) else _said
        text = "\n".join(harmless(said(line)) for line in (value if isinstance(value, list) else [value]))
        if heading == sheet.starred and sheet.stars:
            text += "*" if sheet.stars[row] else " "
        texts.append(text)
    return texts


def _said(value: Any) -> str:
    """A number to four places, nothing as nothing."""
    return "" if _is_nothing(value) else f"{value:.4f}" if isinstance(value, float) else str(value)


def _is_nothing(value: Any) -> bool:
    return value is None or (isinstance(value, float) and math.isnan(value))


def _is_number(values: Sequence[Any]) -> bool:
    return any(isinstance(value, int | float) for value in values)


def _bars(lengths: Sequence[float]) -> list[str]:
    """Bars in eighths of a character; those of zero and of negative numbers are empty."""
    longest = max((length for length in lengths if math.isfinite(length)), default=0.0)
    bars = []
    for length in lengths:
        eighths = round(8 * _BAR * length / longest) if math.isfinite(length) and length > 0.0 else 0
        bars.append(("█" * (eighths // 8) + _EIGHTHS[eighths % 8]).rstrip())
    return bars


def _print_csv(sheet: Sheet) -> None:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    # A terminal would obey what a program reads as a name.
    seen = harmless if sys.stdout is not None and sys.stdout.isatty() else str
    writer.writerow(seen(heading) for heading in sheet.columns)
    for row in zip(*sheet.columns.values(), strict=True):
        writer.writerow("" if _is_nothing(value) else seen(_as_text(value)) for value in row)
    hand_over(text.getvalue())


def _as_text(value: Any) -> str:
    return "; ".join(value) if isinstance(value, list) else str(value)


def as_csv_line(values: Iterable[str]) -> str:
    """Several texts in one, from which a reader of CSV gets them back."""
    text = io.StringIO()
    csv.writer(text, lineterminator="").writerow(values)
    return text.getvalue()


def _print_markdown(sheet: Sheet) -> None:
    say("| " + " | ".join(map(in_markdown, sheet.columns)) + " |")
    say("| " + " | ".join("--:" if _is_number(values) else "---" for values in sheet.columns.values()) + " |")
    texts = [_texts(sheet, heading) for heading in sheet.columns]
    for row in zip(*texts, strict=True):
        say("| " + " | ".join(in_markdown(text.strip().replace("\n", "; ")) for text in row) + " |")
    say("")  # which ends the table


def in_markdown(text: str) -> str:
    """Text that Markdown shows as it is, on one line."""
    return re.sub(r"([\\`*_\[\]<>|&#~])", r"\\\1", harmless(text))


_PRINTED: dict[Format, Callable[[Sheet], None]] = {
    Format.TABLE: _draw,
    Format.CSV: _print_csv,
    Format.MARKDOWN: _print_markdown,
}
