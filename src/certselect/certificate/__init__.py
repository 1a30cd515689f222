"""SubsetProblem + multipliers -> Certificate: a bound proved without trusting any solver."""

from certselect.certificate.bound import ProvedBound, prove_bound, upper_bound
from certselect.certificate.certificate import Certificate, certificate_of
from certselect.certificate.verify import Verification, verify

__all__ = ["Certificate", "ProvedBound", "Verification", "certificate_of", "prove_bound", "upper_bound", "verify"]
