"""Parts of a page that a script writes, between two comments that mark its place."""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Iterable, Sequence
from pathlib import Path


def wrapped(text: str, indent: str = "") -> str:
    return textwrap.fill(text, 120, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)


def table(head: Sequence[str], lines: Iterable[Sequence[str]], left: int) -> str:
    aligned = ["---"] * left + ["---:"] * (len(head) - left)
    return "\n".join(f"| {' | '.join(cells)} |" for cells in (head, aligned, *lines))


def replace_section(page: Path, text: str, begin: str, end: str) -> None:
    """Put a text, which brings the two marks along, where the page has them."""
    before, found_begin, rest = page.read_text().partition(begin)
    _, found_end, after = rest.partition(end)
    if not (found_begin and found_end):
        sys.exit(f"{page.name} has no place for the tables: it needs the lines {begin!r} and {end!r}")
    page.write_text(before + text + after)
