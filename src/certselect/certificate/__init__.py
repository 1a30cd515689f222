"""SubsetProblem + multipliers, or a Proof -> Certificate: the small trusted part. No solver and no file is.

Read from the top, each module rests on those before it:

1. `rounding`, `cholesky`: floating point, and what it can hide. `counting`, `rivals`, `gap`: small definitions.
2. `slack_matrix`, `bound`: any multipliers prove a number that no subset of k exceeds.
3. `lift`, `reduced_bound`: the same under constraints; what may be added to the matrix without harm.
4. `matrix_errors`, `open_problem`: what is left to decide once some units are in and some out, and how far its
   matrix is from the terms it stands for.
5. `rows`, `lanczos`, `least_slack`, `consequences`: any symmetric matrix proves a bound on all subsets that
   are left, on those with a unit and on those without it, so that units can be decided.
6. `coarse`, `twins`, `proof`: decisions one after the other, by matrices in few bits, and cases, make a proof that
   `replay` derives again.
7. `certificate`: the value of a subset beside a bound, by multipliers or by proof.
"""

from certselect.certificate.bound import ProvedBound, prove_bound, upper_bound
from certselect.certificate.certificate import (
    Certificate,
    bound_subsets,
    certificate_of,
    proof_certificate,
)
from certselect.certificate.gap import TOLERANCE, gap, tolerance
from certselect.certificate.lift import Lift
from certselect.certificate.proof import replay
from certselect.certificate.reduced_bound import prove_reduced

__all__ = [
    "TOLERANCE",
    "Certificate",
    "Lift",
    "ProvedBound",
    "bound_subsets",
    "certificate_of",
    "gap",
    "proof_certificate",
    "prove_bound",
    "prove_reduced",
    "replay",
    "tolerance",
    "upper_bound",
]
