"""Markdown for the page: tables, and phrases that numbers decide."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

MISSING = "-"  # not measured, or not printed


def table(head: Sequence[str], lines: Iterable[Sequence[str]], left: int = 1) -> str:
    """A table whose first `left` columns are words and the others numbers."""
    rule = ["---"] * left + ["---:"] * (len(head) - left)
    return "\n".join(f"| {' | '.join(cells)} |" for cells in (head, rule, *lines))


def number(value: float | None, digits: int = 1) -> str:
    return MISSING if value is None else f"{value:.{digits}f}"


def difference(ours: float | None, printed: float | None, digits: int = 1) -> str:
    """With its sign; a difference that rounds to 0 has none."""
    if ours is None or printed is None:
        return MISSING
    text = f"{ours - printed:+.{digits}f}"
    return text.lstrip("+-") if float(text) == 0.0 else text


def listed(names: Sequence[str]) -> str:
    """a, b and c."""
    return ", ".join(names[:-1]) + (" and " if len(names) > 1 else "") + names[-1] if names else "none"


def not_yet(experiment: str) -> str:
    return f"No results are kept yet: run `python -m experiments {experiment}`."
