"""SubsetProblem -> Selection: one search strategy per file behind one record."""

from certselect.search.certified import certify
from certselect.search.found import Evidence, Found
from certselect.search.registry import find_strategy, list_strategies, register_strategy
from certselect.search.select import select, selection_path
from certselect.search.selection import Selection
from certselect.search.strategy import Nested, Strategy

__all__ = [
    "Evidence",
    "Found",
    "Nested",
    "Selection",
    "Strategy",
    "certify",
    "find_strategy",
    "list_strategies",
    "register_strategy",
    "select",
    "selection_path",
]
