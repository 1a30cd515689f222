"""Results in files: what `certselect select --json` wrote, read without trusting it and checked against its table."""

from certselect.results.lift_text import lift_as_json
from certselect.results.proof_text import proof_as_json
from certselect.results.verify import Verification, verify

__all__ = ["Verification", "lift_as_json", "proof_as_json", "verify"]
