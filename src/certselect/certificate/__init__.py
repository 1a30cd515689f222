"""SubsetProblem + multipliers -> Certificate: a bound proved without trusting any solver."""

from certselect.certificate.bound import ProvedBound, prove_bound, upper_bound
from certselect.certificate.certificate import Certificate, certify
from certselect.certificate.verify import Verification, verify

__all__ = ["Certificate", "ProvedBound", "Verification", "certify", "prove_bound", "upper_bound", "verify"]
