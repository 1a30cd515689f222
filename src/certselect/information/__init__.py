"""Codes -> InformationTerms: the information of features about the target and about each other."""

from certselect.information.derived import PairTerm
from certselect.information.information_terms import information_terms, measure_table
from certselect.information.joint_information import JointInformation, joint_information
from certselect.information.measure import Measure
from certselect.information.registry import find_measure, list_measures, register_measure
from certselect.information.terms import InformationTerms

__all__ = [
    "InformationTerms",
    "JointInformation",
    "Measure",
    "PairTerm",
    "find_measure",
    "information_terms",
    "joint_information",
    "list_measures",
    "measure_table",
    "register_measure",
]
