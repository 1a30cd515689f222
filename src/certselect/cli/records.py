"""Strategies and criteria as tables that a person can read."""

from __future__ import annotations

from collections.abc import Iterable

from rich.table import Table
from rich.text import Text

from certselect.cli.printing import cell, show


def print_records(headings: Iterable[str], rows: Iterable[Iterable[str]]) -> None:
    """Print a table with a row for each record."""
    table = Table(show_lines=True)
    for heading in headings:
        table.add_column(heading, overflow="fold")
    for row in rows:
        table.add_row(*(Text("\n").join(map(cell, text.split("\n"))) for text in row))
    show(table)
