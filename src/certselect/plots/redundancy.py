"""What the chosen features have in common, as a heat map."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from certselect.errors import InvalidInput, keyword
from certselect.plots.axes import as_written, axes_for, label_of, name_rows, set_title
from certselect.plots.drawn import result_of
from certselect.results import Result
from certselect.results.shared_parts import by_similarity, shared_parts
from certselect.results.shared_parts import runners_up as runners_up_of
from certselect.search.options import check_count
from certselect.shown_numbers import percent

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_NUMBERS_UP_TO = 15  # features: beyond, the numbers would be too small to read
_BRIGHT = 0.5  # a share above which the cell is dark and its number white


def plot_redundancy(result: Any, *, runners_up: int = 0, max_features: int = 40, ax: Axes | None = None) -> Axes:
    """Show which features say the same.

    The cell of two features is how much of the information of one the other carries as well, 0 to
    100 %, the larger of both ways (see `InformationTerms.shared_part`). Features that share much stand
    side by side. The names of features that were left out are slanted.

    Parameters
    ----------
    result : Result or fitted selector
        One that was loaded from a file knows no table: `result.with_table` brings it back.
    runners_up : int
        How many features that were left out to show as well: those whose exchange would lose least, or the
        most relevant ones where constraints decide on exchanges.
    max_features : int
        How many features to draw at most; of the chosen ones then the most relevant.
    ax : matplotlib Axes, optional
        Where to draw; by default on a new figure, which is `ax.figure` of the answer.

    Returns
    -------
    matplotlib Axes
        Save it with `ax.figure.savefig("redundancy.pdf")`.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from certselect import choose_subset, plot_redundancy
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> ax = plot_redundancy(choose_subset(X, y, 4), runners_up=2)
    >>> len(ax.get_yticklabels())
    6
    """
    found = result_of(result)
    if found.terms is None:
        raise InvalidInput(
            "a result that was read from a file, which knows no pairs of features",
            "one beside its table",
            "Pass result.with_table(X, y), which measures the table again and checks the result.",
        )
    terms = found.terms
    shown = _features_to_draw(
        found, check_count("runners_up", runners_up, 0, keyword), check_count("max_features", max_features, 1, keyword)
    )
    share = shared_parts(terms, shown)
    order = by_similarity(share)
    shown, share = shown[order], share[np.ix_(order, order)]
    np.fill_diagonal(share, np.nan)
    ax = axes_for(ax, 3.6 + 0.34 * len(shown), 2.6 + 0.3 * len(shown))
    image = ax.imshow(share, cmap="Blues", vmin=0.0, vmax=1.0, aspect="equal", interpolation="nearest", gid="share")
    ax.patch.set(facecolor="white", hatch="/////", edgecolor="0.7")  # seen in the cells without a share: the diagonal
    names = [terms.feature_names[i] for i in shown]
    name_rows(ax, names)
    ax.set_xticks(range(len(names)), [label_of(name) for name in names], rotation=90)
    as_written(ax.get_xticklabels())
    ax.tick_params(axis="x", length=0)
    for i, labels in enumerate(zip(ax.get_xticklabels(), ax.get_yticklabels(), strict=True)):
        for label in labels:
            label.set_fontstyle("normal" if shown[i] in found.indices else "italic")
    if len(shown) <= _NUMBERS_UP_TO:
        _write_numbers(ax, share)
    bar = ax.figure.colorbar(image, ax=ax, shrink=0.8, label="information in common")
    bar.ax.yaxis.set_major_formatter(lambda part, _: f"{100 * part:.0f} %")
    drawn = np.isin(shown, found.indices).sum()
    if drawn < len(found.indices):
        set_title(ax, f"{drawn} of {len(found.indices)} chosen features shown")
    return ax


def _features_to_draw(result: Result, left_out: int, at_most: int) -> np.ndarray:
    relevance = np.array(result.explanation["relevance"])[result.indices]
    chosen = result.indices[np.argsort(-relevance, kind="stable")]
    return np.array([*chosen, *runners_up_of(result, left_out)])[:at_most]


def _write_numbers(ax: Axes, share: np.ndarray) -> None:
    for (row, column), part in np.ndenumerate(share):
        if row != column:
            colour = "white" if part > _BRIGHT else "black"
            ax.text(
                column, row, percent(part).removesuffix(" %"), ha="center", va="center", color=colour, fontsize="small"
            )
