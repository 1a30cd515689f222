"""InformationTerms and k -> SubsetProblem: what a subset is worth."""

from certselect.criteria.definitions import CRITERIA, Criterion, find_criterion
from certselect.criteria.problem import SubsetProblem, subset_problem

__all__ = ["CRITERIA", "Criterion", "SubsetProblem", "find_criterion", "subset_problem"]
