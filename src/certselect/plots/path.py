"""Value and bound of the subset of every size."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from certselect.errors import InvalidInput
from certselect.evaluation import ValueCurve
from certselect.names import shown
from certselect.plots.axes import DARK, INK, PALE, as_written, axes_for, count_features, place_legend, without_frame
from certselect.search import Selection
from certselect.search.selection import PROVEN_OPTIMAL

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def plot_path(path: ValueCurve | Sequence[Selection], *, ax: Axes | None = None) -> Axes:
    """Show what subsets of each size are worth, and the most that any subset of that size can be worth.

    A full circle is a subset that is proven optimal, an empty one a subset that is not. The grey area
    reaches up to the bound: no subset of that size lies above it.

    Parameters
    ----------
    path : ValueCurve or sequence of Selection
        From `value_curve` or `selection_path`; sizes may come in any order.
    ax : matplotlib Axes, optional
        Where to draw; by default on a new figure, which is `ax.figure` of the answer.

    Returns
    -------
    matplotlib Axes
        Save it with `ax.figure.savefig("path.pdf")`.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from certselect import information_terms, plot_path, value_curve
    >>> terms = information_terms(*load_wine(return_X_y=True))
    >>> ax = plot_path(value_curve(terms, range(1, 9)))
    >>> ax.get_xlabel(), ax.get_ylabel()
    ('number of features', 'distinct (nats)')
    """
    selections = sorted(_selections(path), key=lambda selection: selection.k)
    sizes = [selection.k for selection in selections]
    values = np.array([selection.objective for selection in selections])
    bounds = np.array([selection.upper_bound for selection in selections])
    proven = np.array([selection.status == PROVEN_OPTIMAL for selection in selections])
    ax = axes_for(ax, 6.4, 4.0)
    drawn: list[Any] = []
    if not np.isnan(bounds).all():
        drawn += ax.plot(
            sizes, bounds, "--", color=INK, linewidth=1, label="bound: no subset is worth more", gid="bound"
        )
        grey = {"color": PALE, "linewidth": 0, "gid": "between"}
        drawn.append(ax.fill_between(sizes, values, bounds, label="a better subset could lie here", **grey))
    ax.plot(sizes, values, color=DARK, linewidth=1.5, gid="value")
    for which, fill, words in ((proven, "full", "found, proven optimal"), (~proven, "none", "found")):
        if which.any():
            at = np.array(sizes)[which]
            circles = {"color": DARK, "fillstyle": fill, "markersize": 5}
            drawn += ax.plot(at, values[which], "o", label=words, gid=words, **circles)
    count_features(ax)
    as_written([ax.yaxis.set_label_text(f"{selections[0].criterion} (nats)")])
    without_frame(ax)
    place_legend(ax, drawn, columns=2)
    return ax


def _selections(path: ValueCurve | Sequence[Selection]) -> Sequence[Selection]:
    listed = path.selections if isinstance(path, ValueCurve) else path
    if isinstance(listed, Sequence) and listed and all(isinstance(each, Selection) for each in listed):
        return listed
    raise InvalidInput(
        f"{shown(path)} to draw", "the subsets of one size or more", "Pass what value_curve or selection_path returned."
    )
