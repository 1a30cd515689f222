"""InformationTerms and k -> SubsetProblem: what a subset is worth."""

from certselect.criteria.column_constraints import ColumnConstraints
from certselect.criteria.definitions import CRITERIA, Criterion, SameWeight, averaged
from certselect.criteria.known import find_criterion, list_criteria, register_criterion
from certselect.criteria.problem import SubsetProblem, subset_problem, unsized_problem
from certselect.criteria.reduced import ReducedProblem
from certselect.criteria.rules import Rules
from certselect.criteria.statements import find_features, for_part_of_rows
from certselect.criteria.stepwise import STEPWISE, StepwiseCriterion
from certselect.criteria.units import UnitProblem

__all__ = [
    "CRITERIA",
    "STEPWISE",
    "ColumnConstraints",
    "Criterion",
    "ReducedProblem",
    "Rules",
    "SameWeight",
    "StepwiseCriterion",
    "SubsetProblem",
    "UnitProblem",
    "averaged",
    "find_criterion",
    "find_features",
    "for_part_of_rows",
    "list_criteria",
    "register_criterion",
    "subset_problem",
    "unsized_problem",
]
