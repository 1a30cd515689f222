"""How often each feature was chosen again on other samples."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from certselect.errors import InvalidInput, keyword
from certselect.evaluation import SelectionStability
from certselect.names import shown
from certselect.plots.axes import DARK, INK, axes_for, name_rows, place_legend, set_title, without_frame
from certselect.search.options import check_count

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def plot_stability(found: SelectionStability, *, max_features: int = 20, ax: Axes | None = None) -> Axes:
    """Show which features would be chosen again from another sample.

    A bar is the share of the resamples a feature was chosen on; the dashed line is what choosing as many
    features at random would give each.

    Parameters
    ----------
    found : SelectionStability
        From `selection_stability`.
    max_features : int
        How many features to draw at most, the most frequent first. Those never chosen are not drawn.
    ax : matplotlib Axes, optional
        Where to draw; by default on a new figure, which is `ax.figure` of the answer.

    Returns
    -------
    matplotlib Axes
        Save it with `ax.figure.savefig("stability.pdf")`.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from certselect import plot_stability, selection_stability
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> ax = plot_stability(selection_stability(X, y, 4, n_resamples=10, random_state=0))
    >>> ax.get_xlabel()
    'share of 10 resamples on which the feature was chosen'
    """
    if not isinstance(found, SelectionStability) or found.n_resamples == 0:
        raise InvalidInput(f"{shown(found)} to draw", "one resample or more", "Pass what selection_stability returned.")
    at_most = check_count("max_features", max_features, 1, keyword)
    frequencies = found.frequencies
    rows = np.argsort(-frequencies, kind="stable")[: min(at_most, np.count_nonzero(frequencies))]
    ax = axes_for(ax, 7.0, 1.4 + 0.28 * len(rows))
    ax.barh(range(len(rows)), frequencies[rows], height=0.7, color=DARK, edgecolor=INK, linewidth=0.5, gid="frequency")
    ax.axvline(frequencies.mean(), color="white", linewidth=4, gid="around random")  # to be seen on the bars
    dashes = {"color": INK, "linestyle": "--", "linewidth": 1.5}
    line = ax.axvline(frequencies.mean(), label="if features were chosen at random", gid="random", **dashes)
    name_rows(ax, [found.feature_names[i] for i in rows])
    ax.set_xlim(0.0, 1.0)
    ax.set_xlabel(f"share of {found.n_resamples} resamples on which the feature was chosen")
    index = found.stability
    interval = f"{100 * index.confidence:g} % interval {index.lower:.2f} to {index.upper:.2f}"
    set_title(ax, f"Stability {index.index:.2f} ({interval})")
    without_frame(ax)
    place_legend(ax, [line], columns=1)
    return ax
