"""How well a classifier or a regressor does with every number of features."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from certselect.errors import InvalidInput
from certselect.plots.axes import (
    DARK,
    INK,
    LIGHT,
    PALE,
    as_written,
    axes_for,
    count_features,
    label_of,
    place_legend,
    set_title,
    without_frame,
)
from certselect.plots.drawn import result_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def plot_sizes(result: Any, *, ax: Axes | None = None) -> Axes:
    """Show the cross-validated score of every size, and the size that was chosen by it.

    The line is the mean over the splits, the grey area one standard error around it. Where several
    combinations of settings were tried, the others are thin lines.

    Parameters
    ----------
    result : fitted SubsetSelectorCV, or its `result_`
        One that was loaded from a file will do.
    ax : matplotlib Axes, optional
        Where to draw; by default on a new figure, which is `ax.figure` of the answer.

    Returns
    -------
    matplotlib Axes
        Save it with `ax.figure.savefig("sizes.pdf")`.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> from certselect import SubsetSelectorCV, plot_sizes
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> ax = plot_sizes(SubsetSelectorCV(KNeighborsClassifier(), sizes=4).fit(X, y))
    >>> ax.get_title(loc="left")
    '2 features chosen for KNeighborsClassifier()'
    """
    found = result_of(result)
    choice = found.choice
    if choice is None:
        raise InvalidInput(
            "a result whose size was not chosen by a classifier or a regressor",
            "that of a SubsetSelectorCV",
            "Use plot_path for values over sizes.",
        )
    ax = axes_for(ax, 6.4, 4.0)
    means, errors = _finite(choice.mean_scores), _finite(choice.standard_errors)
    line = {"color": DARK, "markersize": 4, "linewidth": 1.5}
    drawn: list[Any] = ax.plot(choice.sizes, means, "o-", label="mean over the splits", gid="mean", **line)
    grey = {"color": PALE, "linewidth": 0, "zorder": 0, "gid": "error"}
    drawn.append(ax.fill_between(choice.sizes, means - errors, means + errors, label="one standard error", **grey))
    k = found.selection.k
    drawn.append(ax.axvline(k, color=INK, linestyle="--", linewidth=1.5, label="chosen", gid="chosen"))
    others = [each for place, each in enumerate(choice.combinations) if place != choice.chosen]
    thin = {"color": LIGHT, "linewidth": 1, "zorder": 1, "gid": "other"}
    lines = [ax.plot(choice.sizes, _finite(other.mean_scores), **thin)[0] for other in others]
    if lines:
        lines[0].set_label("other settings tried")
        drawn.append(lines[0])
    count_features(ax)
    as_written([ax.yaxis.set_label_text(choice.scoring)])
    estimator = label_of(" ".join(choice.estimator.split()))  # pipelines write themselves in several lines
    set_title(ax, f"{k} {'feature' if k == 1 else 'features'} chosen for {estimator}")
    without_frame(ax)
    place_legend(ax, drawn, columns=2)
    return ax


def _finite(scores: np.ndarray) -> np.ndarray:
    """Infinite scores have no place on an axis."""
    return np.where(np.isfinite(scores), scores, np.nan)
