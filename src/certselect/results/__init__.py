"""Table and settings -> Result: what was found, kept in files, checked against its table and explained."""

from certselect.results.choosing import choose_subset
from certselect.results.files import load_result
from certselect.results.provenance import Provenance
from certselect.results.result import Result
from certselect.results.size_choice import SizeChoice
from certselect.results.verifying import Verification, verify

__all__ = ["Provenance", "Result", "SizeChoice", "Verification", "choose_subset", "load_result", "verify"]
