"""Choose features by mutual information, exactly and fast.

>>> import certselect  # loads nothing heavy: each name below is imported when first used
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

__version__ = "0.1.0"

# name -> the room it lives in
_ROOMS = {
    "SubsetSelector": "certselect.selectors",
    "information_terms": "certselect.information",
    "InformationTerms": "certselect.information",
    "subset_problem": "certselect.criteria",
    "SubsetProblem": "certselect.criteria",
    "select": "certselect.search",
    "selection_path": "certselect.search",
    "certify": "certselect.search",
    "relax": "certselect.relaxation",
    "Relaxation": "certselect.relaxation",
    "Certificate": "certselect.certificate",
    "verify": "certselect.certificate",
    "Selection": "certselect.search",
    "AlgorithmComparison": "certselect.evaluation",
    "SelectionStability": "certselect.evaluation",
    "compare_algorithms": "certselect.evaluation",
    "critical_difference_diagram": "certselect.evaluation",
    "difference_box_plots": "certselect.evaluation",
    "path_overlaps": "certselect.evaluation",
    "selection_stability": "certselect.evaluation",
    "similarity_ratios": "certselect.evaluation",
    "stability_index": "certselect.evaluation",
    "StabilityIndex": "certselect.evaluation",
}
__all__ = [
    "AlgorithmComparison",
    "Certificate",
    "InformationTerms",
    "Relaxation",
    "Selection",
    "SelectionStability",
    "StabilityIndex",
    "SubsetProblem",
    "SubsetSelector",
    "__version__",
    "certify",
    "compare_algorithms",
    "critical_difference_diagram",
    "difference_box_plots",
    "information_terms",
    "path_overlaps",
    "relax",
    "select",
    "selection_path",
    "selection_stability",
    "similarity_ratios",
    "stability_index",
    "subset_problem",
    "verify",
]

if TYPE_CHECKING:
    from certselect.certificate import Certificate, verify
    from certselect.criteria import SubsetProblem, subset_problem
    from certselect.evaluation import (
        AlgorithmComparison,
        SelectionStability,
        StabilityIndex,
        compare_algorithms,
        critical_difference_diagram,
        difference_box_plots,
        path_overlaps,
        selection_stability,
        similarity_ratios,
        stability_index,
    )
    from certselect.information import InformationTerms, information_terms
    from certselect.relaxation import Relaxation, relax
    from certselect.search import Selection, certify, select, selection_path
    from certselect.selectors import SubsetSelector


def __getattr__(name: str) -> object:
    if name in _ROOMS:
        return getattr(import_module(_ROOMS[name]), name)
    raise AttributeError(f"module 'certselect' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
