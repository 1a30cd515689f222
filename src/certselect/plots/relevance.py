"""How much information features carry about the target, beside what chance alone would give them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from certselect.errors import keyword
from certselect.plots.axes import DARK, INK, PALE, axes_for, name_rows, place_legend, set_title, without_frame
from certselect.plots.drawn import result_of
from certselect.search.options import check_count

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def plot_relevance(result: Any, *, max_features: int = 20, ax: Axes | None = None) -> Axes:
    """Show how informative the chosen features are, and the best of those left out.

    A bar is I(feature; target), dark for a chosen feature. The mark on it is what chance alone
    would give the feature: a bar that does not reach beyond it says nothing by itself. A long pale
    bar is a feature that was left out although it is relevant: it repeats chosen ones
    (`plot_redundancy` and `result.explain()` say which).

    Parameters
    ----------
    result : Result or fitted selector
        One that was loaded from a file will do.
    max_features : int
        How many rows to draw at most: the chosen features, then the most relevant of the others.
    ax : matplotlib Axes, optional
        Where to draw; by default on a new figure, which is `ax.figure` of the answer.

    Returns
    -------
    matplotlib Axes
        Save it with `ax.figure.savefig("relevance.pdf")`.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from certselect import choose_subset, plot_relevance
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> ax = plot_relevance(choose_subset(X, y, 4), max_features=6)
    >>> [label.get_text() for label in ax.get_yticklabels()][:2]
    ['flavanoids', 'proline']
    """
    explanation = result_of(result).explanation
    relevance = np.array(explanation["relevance"], dtype=float)
    chance = np.array(explanation["chance"], dtype=float)
    chosen = np.array(explanation["chosen"], dtype=bool)
    rows = _rows_to_draw(relevance, chosen, check_count("max_features", max_features, 1, keyword))
    ax = axes_for(ax, 7.0, 1.3 + 0.28 * len(rows))
    places = np.arange(len(rows))
    drawn: list[Any] = []
    kinds = ((chosen[rows], DARK, "chosen"), (~chosen[rows], PALE, "left out"))
    for which, colour, words in kinds:
        if which.any():
            bars = {"color": colour, "edgecolor": INK, "linewidth": 0.5, "height": 0.7}
            drawn.append(ax.barh(places[which], relevance[rows][which], label=words, gid=words, **bars))
    known = ~np.isnan(chance[rows])
    if known.any():
        mark = {"color": INK, "markersize": 11, "markeredgewidth": 2, "linestyle": "none"}
        # White around it, so that it is seen on the dark bars too.
        around = mark | {"color": "white", "markeredgewidth": 4, "markersize": 13}
        ax.plot(chance[rows][known], places[known], "|", gid="around chance", **around)
        drawn += ax.plot(chance[rows][known], places[known], "|", label="by chance alone", gid="chance", **mark)
    name_rows(ax, [explanation["feature"][i] for i in rows])
    ax.set_xlim(left=0.0)
    ax.set_xlabel("information about the target (nats)")
    title = f"{chosen.sum()} of {len(chosen)} features chosen"
    set_title(ax, title if len(rows) == len(chosen) else f"{title}; {len(rows)} shown")
    without_frame(ax)
    place_legend(ax, drawn, columns=3)
    return ax


def _rows_to_draw(relevance: np.ndarray, chosen: np.ndarray, at_most: int) -> np.ndarray:
    """The chosen features before the others, the most relevant ones of each; in order of relevance."""
    first = np.lexsort((-relevance, ~chosen))[:at_most]
    return first[np.argsort(-relevance[first], kind="stable")]
