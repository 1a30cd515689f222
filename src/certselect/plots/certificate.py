"""What is proven about a subset, as a bar."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from certselect.plots.axes import DARK, INK, as_written, axes_for, place_legend, set_title, without_frame
from certselect.plots.drawn import result_of
from certselect.search import Selection
from certselect.shown_numbers import at_most, nats

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def plot_certificate(result: Any, *, ax: Axes | None = None) -> Axes:
    """Show how far the subset can be from the best one.

    The bar is the value of the subset. The black line is the bound, which no allowed subset
    exceeds; what is hatched between them is what a better subset could still gain. Where they
    meet, the subset is the best one.

    Parameters
    ----------
    result : Result, Selection or fitted selector
        One that was loaded from a file will do.
    ax : matplotlib Axes, optional
        Where to draw; by default on a new figure, which is `ax.figure` of the answer.

    Returns
    -------
    matplotlib Axes
        Save it with `ax.figure.savefig("certificate.pdf")`.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from certselect import choose_subset, plot_certificate
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> ax = plot_certificate(choose_subset(X, y, 4, strategy="exact"))
    >>> ax.get_title(loc="left")
    'Proven optimal: no other 4 of the 13 columns score higher.'
    """
    selection = result if isinstance(result, Selection) else result_of(result).selection
    value, bound = selection.objective, selection.upper_bound
    ax = axes_for(ax, 7.0, 1.9)
    label = f"value of {'this feature' if selection.k == 1 else 'these features'}: {nats(value)}"
    drawn: list[Any] = [ax.barh(0, value, height=0.5, color=DARK, label=label, gid="value")]
    if not np.isnan(bound):
        between = {"facecolor": "white", "edgecolor": INK, "hatch": "////", "linewidth": 0}
        label = "a better subset could lie here"
        drawn.append(ax.barh(0, bound - value, left=value, height=0.5, label=label, gid="between", **between))
        label = f"bound: {at_most(bound)}"
        drawn += ax.plot([bound, bound], [-0.4, 0.4], color=INK, linewidth=2, label=label, gid="bound")
    ax.set_yticks([])
    ax.set_ylim(-0.6, 0.6)
    ends = [0.0, value, value if np.isnan(bound) else bound]
    beyond = 0.05 * (max(ends) - min(ends)) or 1.0
    ax.set_xlim(min(ends) - beyond * (min(ends) < 0.0), max(ends) + beyond)
    as_written([ax.xaxis.set_label_text(f"{selection.criterion} (nats)")])
    set_title(ax, selection.about_bound())
    without_frame(ax)
    ax.spines["left"].set_visible(False)
    ax.axvline(0.0, color=INK, linewidth=1, gid="zero")
    place_legend(ax, drawn, columns=3)
    return ax
