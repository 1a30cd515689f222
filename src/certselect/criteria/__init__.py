"""InformationTerms and k -> SubsetProblem: what a subset is worth."""

from certselect.criteria.constraints import Constraints
from certselect.criteria.definitions import CRITERIA, Criterion, find_criterion
from certselect.criteria.problem import SubsetProblem, subset_problem
from certselect.criteria.reduced import ReducedProblem
from certselect.criteria.rules import Rules
from certselect.criteria.statements import find_features
from certselect.criteria.units import UnitForm

__all__ = [
    "CRITERIA",
    "Constraints",
    "Criterion",
    "ReducedProblem",
    "Rules",
    "SubsetProblem",
    "UnitForm",
    "find_criterion",
    "find_features",
    "subset_problem",
]
