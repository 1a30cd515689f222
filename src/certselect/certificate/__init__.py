"""SubsetProblem + multipliers -> Certificate: a bound proved without trusting any solver."""

from certselect.certificate.bound import ProvedBound, prove_bound, upper_bound
from certselect.certificate.certificate import (
    Certificate,
    bound_subsets,
    certificate_of,
    lost_in_matrix,
    proof_certificate,
    replayed_bound,
)
from certselect.certificate.lift_text import lift_as_json
from certselect.certificate.proof_text import proof_as_json
from certselect.certificate.reduced_bound import prove_reduced
from certselect.certificate.verify import Verification, verify
from certselect.criteria.lift import Lift

__all__ = [
    "Certificate",
    "Lift",
    "ProvedBound",
    "Verification",
    "bound_subsets",
    "certificate_of",
    "lift_as_json",
    "lost_in_matrix",
    "proof_as_json",
    "proof_certificate",
    "prove_bound",
    "prove_reduced",
    "replayed_bound",
    "upper_bound",
    "verify",
]
