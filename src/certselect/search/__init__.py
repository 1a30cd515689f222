"""SubsetProblem -> Selection: one search strategy per file behind one protocol."""

from certselect.search.certified import certify
from certselect.search.path import selection_path
from certselect.search.select import STRATEGIES, find_strategy, select
from certselect.search.selection import Selection

__all__ = ["STRATEGIES", "Selection", "certify", "find_strategy", "select", "selection_path"]
