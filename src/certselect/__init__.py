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
}
__all__ = [
    "Certificate",
    "InformationTerms",
    "Relaxation",
    "Selection",
    "SubsetProblem",
    "SubsetSelector",
    "__version__",
    "certify",
    "information_terms",
    "relax",
    "select",
    "selection_path",
    "subset_problem",
    "verify",
]

if TYPE_CHECKING:
    from certselect.certificate import Certificate, verify
    from certselect.criteria import SubsetProblem, subset_problem
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
