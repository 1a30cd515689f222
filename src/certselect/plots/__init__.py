"""Pictures of results, paths, stability and comparisons, by matplotlib (the extra `certselect[plots]`).

Every function takes `ax=` and returns the axes. Colours can be told apart in greyscale and by
colour-blind readers, names of features are shown as they are written, and no setting of matplotlib
is changed. Axes that are given are all that is touched; without them pyplot makes a figure.
"""

from certselect.plots.certificate import plot_certificate
from certselect.plots.comparison import critical_difference_diagram, difference_box_plots
from certselect.plots.display import SelectionDisplay
from certselect.plots.path import plot_path
from certselect.plots.redundancy import plot_redundancy
from certselect.plots.relevance import plot_relevance
from certselect.plots.sizes import plot_sizes
from certselect.plots.stability import plot_stability

__all__ = [
    "SelectionDisplay",
    "critical_difference_diagram",
    "difference_box_plots",
    "plot_certificate",
    "plot_path",
    "plot_redundancy",
    "plot_relevance",
    "plot_sizes",
    "plot_stability",
]
