"""A subset's value beside a bound on every subset of its size."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from certselect.certificate.bound import ProvedBound
from certselect.certificate.gap import gap
from certselect.certificate.lift import Lift
from certselect.certificate.matrix_errors import lost_in_matrix
from certselect.certificate.proof import Proof
from certselect.certificate.reduced_bound import prove_reduced
from certselect.certificate.rounding import round_up
from certselect.criteria.problem import SubsetProblem
from certselect.errors import InvalidInput

BY_PROOF = "slack matrices, decided features and case distinctions"


@dataclass(frozen=True, eq=False)
class Certificate:
    """How far from the best possible subset this one can be.

    Attributes
    ----------
    value : float
        x'Qx of the subset.
    bound : float
        No allowed subset of k features is worth more.
    multipliers : ndarray (n+1,) or None
        d, from which `bound` can be proved again; n counts the candidates, or the
        positions of the reduced problem where there are constraints.
    shown_by : str
        How the bound was proved, in words.
    lift : Lift or None
        How rivals and a budget entered the proof.
    proof : Proof or None
        Of a tight bound, in place of multipliers: `replay` checks it.
    known : float
        Subsets worth no more than this are what the proof does not look at; NaN without one.
    proof_too_large : bool
        Whether a search proved more than these multipliers do, by a proof that grew too large to keep.
    """

    value: float
    bound: float
    multipliers: np.ndarray | None
    shown_by: str
    lift: Lift | None = None
    proof: Proof | None = None
    known: float = math.nan
    proof_too_large: bool = False

    @property
    def gap(self) -> float:
        """(bound - value) / |value|: 0 when both are 0, inf when only the value is."""
        return gap(self.value, self.bound)


def certificate_of(
    problem: SubsetProblem, indices: Iterable[int], multipliers: np.ndarray, lift: Lift | None = None
) -> Certificate:
    """Value the subset, bound all allowed subsets, from the problem, the multipliers and the lift alone.

    `indices` count the table's columns; `multipliers` (m+1,) follow the order of
    `problem.reduced` after the first entry: that of `problem.candidates` where there are
    no constraints. The lift is used as files keep it, so that its bound can be proved again.
    """
    chosen = _allowed(problem, indices)
    stored = None if lift is None else lift.in_single()
    proved = bound_subsets(problem, multipliers, stored)
    value = problem.value(chosen)
    # Rounded to the nearest, the value may be half a unit above the sum it stands for, and the bound below it.
    bound = max(proved.bound, value)
    return Certificate(value, bound, np.asarray(multipliers), proved.shown_by, stored)


def proof_certificate(
    problem: SubsetProblem, indices: Iterable[int], bound: float, known: float, proof: Proof | None
) -> Certificate:
    """The same from a proof that shows `bound` and does not look at subsets worth no more than `known`.

    The bound is not derived again here: whoever made the proof derived it (see `prover`),
    and `replay` does whenever it is asked to.
    """
    return Certificate(problem.value(_allowed(problem, indices)), bound, None, BY_PROOF, None, proof, known)


def _allowed(problem: SubsetProblem, indices: Iterable[int]) -> list[int]:
    """The indices, ascending, if the problem allows that subset."""
    chosen = problem.check_indices(indices)
    if len(chosen) != problem.k or not np.isin(chosen, problem.candidates).all():
        raise InvalidInput(
            f"indices {chosen}",
            f"{problem.k} of the problem's candidates",
            "Certify a subset of the problem's own size that avoids constant and excluded features.",
        )
    if problem.constraints is not None and not problem.constraints.allows(chosen):
        raise InvalidInput(
            f"indices {chosen}, which the constraints do not allow",
            "a subset they allow",
            "Certify a subset that was selected for this problem.",
        )
    return chosen


def bound_subsets(problem: SubsetProblem, multipliers: np.ndarray, lift: Lift | None = None) -> ProvedBound:
    """Bound what any subset the problem allows is worth, as `problem.value` values it."""
    if np.any(multipliers):
        problem.check_room_for_pairs()  # zeros prove by row sums, for which Q may be on disk
    proved = prove_reduced(problem.reduced, multipliers, lift)
    return replace(proved, bound=round_up([proved.bound, lost_in_matrix(problem.units, lift)]))
