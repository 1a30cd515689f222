"""Codes -> InformationTerms: what features say of the target and of each other."""

from certselect.information.information_terms import information_terms, measure_table
from certselect.information.terms import InformationTerms

__all__ = ["InformationTerms", "information_terms", "measure_table"]
