"""Numbers along the sizes as a table with bars that a person can read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from rich.table import Table
from rich.text import Text

from certselect.cli.printing import cell, show

if TYPE_CHECKING:
    from certselect.selectors.size_scores import SizeScores

_BAR = 24  # characters of the longest bar
_EIGHTHS = " ▏▎▍▌▋▊▉"


def print_size_table(
    sizes: Sequence[int] | np.ndarray,
    columns: Mapping[str, Sequence[str]],
    lengths: Sequence[float] | np.ndarray,
    *,
    marked: int | None = None,
) -> None:
    """Print a row for each size: what `columns` say, and a bar between the smallest and the largest length.

    Parameters
    ----------
    columns : dict from headings to one text for each size
    lengths : numbers, NaN for no bar
    marked : int, optional
        The size to point at.
    """
    table = Table()
    table.add_column("k", justify="right")
    for heading in columns:
        table.add_column(heading, justify="left" if heading == "feature" else "right", overflow="fold")
    table.add_column("")
    for row, bar in enumerate(_bars(np.asarray(lengths, dtype=np.float64))):
        here = int(sizes[row]) == marked
        texts = [cell(texts[row]) for texts in columns.values()]
        table.add_row(f"{sizes[row]}", *texts, Text(bar + (" <" if here else "")), style="bold" if here else None)
    show(table)


def print_combinations(combinations: Sequence[SizeScores], places: Sequence[int], *, marked: int) -> None:
    """Print a row for each combination of settings: the size that is chosen for it, its mean score and its error."""
    table = Table()
    for name in combinations[0].settings:
        table.add_column(name, overflow="fold")
    for heading in ("k", "mean score", "+-", ""):
        table.add_column(heading, justify="right")
    for number, (scores, place) in enumerate(zip(combinations, places, strict=True)):
        here, mean, error = number == marked, scores.mean[place], scores.standard_error[place]
        said = [str(scores.sizes[place]), f"{mean:.4f}", f"{error:.4f}"] if np.isfinite(mean) else ["", "", ""]
        settings = [cell(str(value)) for value in scores.settings.values()]
        table.add_row(*settings, *said, Text("<" if here else ""), style="bold" if here else None)
    show(table)


def _bars(lengths: np.ndarray) -> list[str]:
    """Bars in eighths of a character; the smallest number's is empty, as differences are what is to be seen."""
    known = lengths[np.isfinite(lengths)]
    if not len(known) or known.max() == known.min():
        return ["" for _ in lengths]
    bars = []
    for length in lengths:
        eighths = 0 if np.isnan(length) else round(8 * _BAR * (length - known.min()) / (known.max() - known.min()))
        bars.append(("█" * (eighths // 8) + _EIGHTHS[eighths % 8]).rstrip())
    return bars
