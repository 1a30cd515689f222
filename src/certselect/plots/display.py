"""SelectionDisplay: the pictures of a result by scikit-learn's convention for displays."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from certselect.names import find_name
from certselect.plots.certificate import plot_certificate
from certselect.plots.drawn import result_of
from certselect.plots.redundancy import plot_redundancy
from certselect.plots.relevance import plot_relevance
from certselect.plots.sizes import plot_sizes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_KINDS: dict[str, Callable[..., Axes]] = {
    "relevance": plot_relevance,
    "redundancy": plot_redundancy,
    "certificate": plot_certificate,
    "sizes": plot_sizes,
}


class SelectionDisplay:
    """Pictures of a result, as scikit-learn's displays are made and used.

    Make one with `from_result`; `plot` draws again, on other axes or another picture.

    Parameters
    ----------
    result : Result or fitted selector

    Attributes
    ----------
    result : Result
    ax_ : matplotlib Axes
        What was drawn on last.
    figure_ : matplotlib Figure
        The figure of these axes.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from certselect import SelectionDisplay, SubsetSelector
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> display = SelectionDisplay.from_result(SubsetSelector(4).fit(X, y))
    >>> display.ax_.get_title(loc="left")
    '4 of 13 features chosen'
    >>> display.plot("certificate").ax_.get_xlabel()
    'distinct (nats)'
    """

    ax_: Axes
    figure_: Any

    def __init__(self, result: Any) -> None:
        self.result = result_of(result)

    @classmethod
    def from_result(
        cls, result: Any, kind: str = "relevance", *, ax: Axes | None = None, **options: Any
    ) -> SelectionDisplay:
        """Draw a result.

        Parameters
        ----------
        result : Result or fitted selector
        kind, ax, **options
            As for `plot`.
        """
        return cls(result).plot(kind, ax=ax, **options)

    def plot(self, kind: str = "relevance", *, ax: Axes | None = None, **options: Any) -> SelectionDisplay:
        """Draw one of the pictures.

        Parameters
        ----------
        kind : {"relevance", "redundancy", "certificate", "sizes"}
            `plot_relevance`, `plot_redundancy`, `plot_certificate` or `plot_sizes`.
        ax : matplotlib Axes, optional
            Where to draw; by default on a new figure.
        **options
            Those of that function.
        """
        self.ax_ = _KINDS[find_name("kind", kind, _KINDS)](self.result, ax=ax, **options)
        self.figure_ = self.ax_.figure
        return self
