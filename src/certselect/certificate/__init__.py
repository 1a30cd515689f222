"""SubsetProblem + multipliers, or a Proof -> Certificate: the small trusted part. No solver and no file is.

Read from the top, each module rests on those before it:

1. `rounding`, `cholesky`: floating point, and what it can hide. `counting`, `rivals`, `gap`: small definitions.
2. `slack_matrix`, `bound`: any multipliers prove a number that no subset of k exceeds.
3. `lift`, `reduced_bound`: the same under constraints; what may be added to the matrix without harm.
4. `open_problem`: what is left to decide once some units are in and some out.
5. `rows`, `least_slack`, `consequences`: any symmetric matrix proves a bound on all subsets that
   are left, on those with a unit and on those without it, so that units can be decided.
6. `twins`, `proof`: decisions one after the other, and cases, make a proof that `replay` derives again.
7. `certificate`: the value of a subset beside a bound, by multipliers or by proof.
"""

from certselect.certificate.bound import ProvedBound, prove_bound, upper_bound
from certselect.certificate.certificate import (
    Certificate,
    bound_subsets,
    certificate_of,
    lost_in_matrix,
    proof_certificate,
    replayed_bound,
)
from certselect.certificate.gap import gap
from certselect.certificate.lift import Lift
from certselect.certificate.reduced_bound import prove_reduced

__all__ = [
    "Certificate",
    "Lift",
    "ProvedBound",
    "bound_subsets",
    "certificate_of",
    "gap",
    "lost_in_matrix",
    "proof_certificate",
    "prove_bound",
    "prove_reduced",
    "replayed_bound",
    "upper_bound",
]
