"""What every picture needs: axes to draw on, colours, and names that are shown as they are."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any

from certselect.errors import InvalidInput
from certselect.names import harmless, shown

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.text import Text

# Okabe and Ito's blue and orange: apart for colour-blind readers, and dark against light where colours are not printed.
DARK, LIGHT, PALE, INK = "#0072B2", "#E69F00", "#D9D9D9", "black"
_LONGEST_LABEL = 40
_LONGEST_LINE = 100  # of a title, in characters


def axes_for(ax: Axes | None, width: float, height: float) -> Axes:
    """The axes given, or those of a new figure of that size in inches.

    pyplot makes the new figure, so that notebooks show it and `pyplot.show()` opens it; where
    axes are given, pyplot is not even loaded.
    """
    try:
        if ax is not None:
            return _checked(ax)
        pyplot = import_module("matplotlib.pyplot")
    except ImportError as error:
        raise InvalidInput(
            "a plot without the package matplotlib", "an installed one", "Run: pip install certselect[plots]"
        ) from error
    return pyplot.figure(figsize=(width, height), layout="constrained").subplots()


def _checked(ax: Any) -> Axes:
    axes = import_module("matplotlib.axes").Axes
    if not isinstance(ax, axes):
        raise InvalidInput(f"ax={shown(ax)}", "matplotlib's Axes", "Pass one of those that plt.subplots() returned.")
    return ax


def label_of(name: str) -> str:
    r"""A name in one line that is not too long; what would turn or end the line is spelled out.

    >>> label_of("two\nlines, and more than there is room for beside a bar")
    'two\\nlines, and mor...m for beside a bar'
    """
    text = harmless(name)
    if len(text) <= _LONGEST_LABEL:
        return text
    half = (_LONGEST_LABEL - 3) // 2
    return f"{text[: _LONGEST_LABEL - 3 - half]}...{text[-half:]}"


def as_written(texts: Iterable[Text]) -> None:
    """Show these texts letter by letter: a name such as "cost_$" is no formula, whatever matplotlib is set to."""
    for text in texts:
        text.set_parse_math(False)
        text.set_usetex(False)


def name_rows(ax: Axes, names: Sequence[str]) -> None:
    """Feature names down the left side, the first one on top."""
    ax.set_yticks(range(len(names)), [label_of(name) for name in names])
    as_written(ax.get_yticklabels())
    ax.set_ylim(len(names) - 0.5, -0.5)
    ax.tick_params(axis="y", length=0)


def count_features(ax: Axes) -> None:
    """Numbers of features along the bottom; there are no half ones."""
    from matplotlib.ticker import MaxNLocator

    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    ax.set_xlabel("number of features")


def set_title(ax: Axes, words: str) -> None:
    """A title that is text, at the left, in as many lines as it needs."""
    as_written([ax.set_title(_in_lines(words), loc="left", fontsize="medium")])


def _in_lines(words: str) -> str:
    return textwrap.fill(words, _LONGEST_LINE, break_long_words=False, replace_whitespace=False)


def without_frame(ax: Axes) -> None:
    """Two lines fewer: what is drawn is not in a box."""
    ax.spines[["top", "right"]].set_visible(False)


def place_legend(ax: Axes, drawn: Sequence[Any], columns: int) -> None:
    """Below the label of the axis, where it covers nothing, whatever the height of the picture."""
    below = {"loc": "upper center", "bbox_to_anchor": (0.5, 0.0), "borderaxespad": 4.4}
    ax.legend(handles=drawn, ncols=columns, frameon=False, fontsize="small", **below)
