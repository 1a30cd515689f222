"""Pictures of a comparison: the critical-difference diagram and box plots of paired differences."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from certselect.evaluation import AlgorithmComparison
from certselect.plots.axes import as_written, axes_for, label_of
from certselect.settings.checks import check_probability
from certselect.shown_numbers import p_words

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.patches import Patch

DIFFERENT, NOT_DIFFERENT = "limegreen", "lightgrey"
LINE_GAP = 0.5  # between the bars of groups
NAME_GAP = 1.0  # between the lines of names


def critical_difference_diagram(
    comparison: AlgorithmComparison, *, alpha: float = 0.05, ax: Axes | None = None
) -> Axes:
    """Show which algorithms rank best, and which differences are not significant.

    Algorithms are placed at their mean ranks, the best on the left. A thick bar joins those that
    do not differ significantly; the bar above the scale shows the critical difference (Demsar 2006).

    Parameters
    ----------
    comparison : AlgorithmComparison
        From `compare_algorithms`.
    alpha : float
        Significance level.
    ax : matplotlib Axes, optional
        Where to draw; by default on a new figure, which is `ax.figure` of the answer.

    Returns
    -------
    matplotlib Axes
        Save it with `ax.figure.savefig("ranks.pdf")`.

    Examples
    --------
    >>> from certselect import compare_algorithms, critical_difference_diagram
    >>> comparison = compare_algorithms([[0.9, 0.8, 0.5]] * 8, names=["exact", "greedy", "random"])
    >>> ax = critical_difference_diagram(comparison)
    >>> [text.get_text() for text in ax.texts]
    ['CD = 1.17', '1', '2', '3', 'exact', 'greedy', 'random']
    """
    check_probability("alpha", alpha, 0.05)
    ranks = comparison.mean_ranks
    order = sorted(ranks, key=lambda name: ranks[name])
    groups = indistinguishable_groups(comparison, alpha)
    ax = axes_for(ax, 8.0, 1.4 + 0.3 * len(order))
    _draw_scale(ax, len(order), comparison.critical_difference(alpha))
    overhang = 0.01 * len(order)
    for level, group in enumerate(groups, start=1):
        ends = [ranks[group[0]] - overhang, ranks[group[-1]] + overhang]
        ax.plot(ends, [-LINE_GAP * level] * 2, color="black", linewidth=4, solid_capstyle="butt", gid="group")
    # The better half goes out to the left, the other to the right: the innermost names lowest, so that no lines cross.
    first_level = LINE_GAP * len(groups) + NAME_GAP
    half = (len(order) + 1) // 2
    left, right = (order[:half], 0.8, "right"), (order[: half - 1 : -1], len(order) + 0.2, "left")
    for names, edge, side in (left, right):
        for place, name in enumerate(names):
            y = -first_level - NAME_GAP * place
            ax.plot([ranks[name], ranks[name], edge], [0.0, y, y], color="black", linewidth=1, gid="algorithm")
            start = edge + (overhang if side == "left" else -overhang)
            as_written([ax.text(start, y, label_of(name), ha=side, va="center")])
    ax.set_xlim(0.5, len(order) + 0.5)
    ax.set_ylim(-first_level - NAME_GAP * half, 2.2)
    ax.set_axis_off()
    return ax


def difference_box_plots(comparison: AlgorithmComparison, *, alpha: float = 0.05, ax: Axes | None = None) -> Axes:
    """Show by how much each algorithm beats each other one over the data sets.

    One box for each pair: the differences of their scores, data set by data set. Green boxes are
    pairs that differ significantly; the legend gives the p-values. This is the paper's picture of
    a comparison, where p = 0.078 is green: that takes alpha = 0.1.

    Parameters
    ----------
    comparison : AlgorithmComparison
        From `compare_algorithms`.
    alpha : float
        Significance level.
    ax : matplotlib Axes, optional
        Where to draw; by default on a new figure, which is `ax.figure` of the answer.

    Returns
    -------
    matplotlib Axes
        Save it with `ax.figure.savefig("differences.pdf")`.

    Examples
    --------
    >>> from certselect import compare_algorithms, difference_box_plots
    >>> comparison = compare_algorithms([[0.9, 0.8, 0.5]] * 8, names=["exact", "greedy", "random"])
    >>> ax = difference_box_plots(comparison)
    >>> [label.get_text() for label in ax.get_xticklabels()]
    ['exact - greedy', 'exact - random', 'greedy - random']
    """
    check_probability("alpha", alpha, 0.05)
    column = {name: comparison.scores[:, place] for place, name in enumerate(comparison.names)}
    pairs = list(comparison.pairwise)
    labels = [f"{label_of(one)} - {label_of(other)}" for one, other in pairs]
    ax = axes_for(ax, 2.0 + 1.6 * len(pairs), 4.8)
    boxes = []
    for place, (pair, label) in enumerate(zip(pairs, labels, strict=True)):
        pvalue = comparison.pairwise[pair]
        box = _draw_box(ax, place, column[pair[0]] - column[pair[1]], DIFFERENT if pvalue <= alpha else NOT_DIFFERENT)
        boxes.append((box, f"{label}: {p_words(pvalue, alpha)}"))
    ax.set_xticks(range(len(pairs)), labels)
    as_written(ax.get_xticklabels())
    ax.set_xlim(-0.5, len(pairs) - 0.5)
    ax.axhline(0.0, color="tab:blue", linewidth=1, zorder=0)
    ax.set_ylabel("difference of scores")
    _add_legend(ax, boxes)
    return ax


def indistinguishable_groups(comparison: AlgorithmComparison, alpha: float = 0.05) -> list[tuple[str, ...]]:
    """Largest groups of algorithms, best first, of which no two differ significantly.

    Examples
    --------
    >>> from certselect.evaluation import compare_algorithms
    >>> comparison = compare_algorithms([[0.9, 0.8, 0.5]] * 8, names=["exact", "greedy", "random"])
    >>> indistinguishable_groups(comparison)
    [('exact', 'greedy'), ('greedy', 'random')]
    """
    order = sorted(comparison.names, key=lambda name: comparison.mean_ranks[name])
    groups: list[tuple[str, ...]] = []
    reached = 0
    for start, first in enumerate(order):
        # The p-value falls with the distance of the mean ranks, so a group is an interval of them.
        end = start + 1
        while end < len(order) and comparison.pairwise[first, order[end]] > alpha:
            end += 1
        if end - start > 1 and end > reached:
            groups.append(tuple(order[start:end]))
            reached = end
    return groups


def _draw_scale(ax: Axes, highest: int, critical_difference: float) -> None:
    """Ranks 1 to the highest, and above them how long a significant difference is."""
    black = {"color": "black", "linewidth": 1}
    ax.plot([1, 1 + critical_difference], [1.5, 1.5], gid="critical difference", **black)
    ax.text(1 + critical_difference / 2, 1.6, f"CD = {critical_difference:.2f}", ha="center", va="bottom")
    ax.plot([1, highest], [0, 0], gid="scale", **black)
    for rank in range(1, highest + 1):
        ax.plot([rank, rank], [0.0, 0.2], gid="tick", **black)
        ax.text(rank, 0.3, str(rank), ha="center", va="bottom")


def _add_legend(ax: Axes, boxes: list[tuple[Patch, str]]) -> None:
    """Texts are set afterwards: matplotlib leaves out labels that begin with an underscore."""
    legend = ax.legend([box for box, _ in boxes], [" "] * len(boxes))
    for text, (_, words) in zip(legend.get_texts(), boxes, strict=True):
        text.set_text(words)
    as_written(legend.get_texts())


def _draw_box(ax: Axes, place: int, values: np.ndarray, colour: str) -> Patch:
    """Quartiles and median, whiskers to the last values within 1.5 interquartile ranges, the rest as circles.

    Axes.boxplot reads every setting of matplotlib, which loads pyplot and settles the backend of the whole process.
    """
    low, median, high = np.percentile(values, [25, 50, 75])
    reach = 1.5 * (high - low)
    near = (values >= low - reach) & (values <= high + reach)
    for inner, outer in ((low, values[near].min()), (high, values[near].max())):
        ax.plot([place, place], [inner, outer], color="black", linewidth=1, gid="whisker")
        ax.plot([place - 0.1, place + 0.1], [outer, outer], color="black", linewidth=1, gid="cap")
    ax.plot([place - 0.2, place + 0.2], [median, median], color="black", linewidth=1.5, zorder=3, gid="median")
    beyond = values[~near]
    ax.plot([place] * len(beyond), beyond, "o", color="black", fillstyle="none", gid="outliers")
    corners = ax.fill([place - 0.2, place + 0.2, place + 0.2, place - 0.2], [low, low, high, high])
    corners[0].set(facecolor=colour, edgecolor="black", zorder=2)
    return corners[0]
