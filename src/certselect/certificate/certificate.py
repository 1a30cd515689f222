"""A subset's value beside a bound on every subset of its size."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from certselect.certificate.bound import prove_bound
from certselect.criteria.problem import SubsetProblem
from certselect.errors import InvalidInput


@dataclass(frozen=True, eq=False)
class Certificate:
    """How far from the best possible subset this one can be.

    Attributes
    ----------
    value : float
        x'Qx of the subset.
    bound : float
        No k-subset of the candidates is worth more.
    multipliers : ndarray (n+1,)
        d, from which `bound` can be proved again; n counts the candidates.
    shown_by : str
        How the bound was proved, in words.
    """

    value: float
    bound: float
    multipliers: np.ndarray
    shown_by: str

    @property
    def gap(self) -> float:
        """(bound - value) / |value|: 0 when both are 0, inf when only the value is."""
        if self.value == 0.0:
            return 0.0 if self.bound == 0.0 else math.inf
        return (self.bound - self.value) / abs(self.value)


def certificate_of(problem: SubsetProblem, indices: Iterable[int], multipliers: np.ndarray) -> Certificate:
    """Value the subset, bound all subsets, from the problem and the multipliers alone.

    `indices` count the table's columns; `multipliers` (n+1,) follow the order of
    `problem.candidates` after the first entry.
    """
    chosen = problem.check_indices(indices)
    if len(chosen) != problem.k or not np.isin(chosen, problem.candidates).all():
        raise InvalidInput(
            f"indices {chosen}",
            f"{problem.k} of the problem's candidates",
            "Certify a subset of the problem's own size that avoids constant features.",
        )
    Q = problem.candidate_matrix
    proved = prove_bound(Q, problem.k, multipliers)
    bound = proved.bound + _stored_in_single(Q, problem.k)
    return Certificate(problem.value(chosen), bound, np.asarray(multipliers), proved.shown_by)


def _stored_in_single(Q: np.ndarray, k: int) -> float:
    """What rounding Q to float32 can have taken from a subset's value: half a unit of each of its entries."""
    if Q.dtype != np.float32:
        return 0.0
    return float(k) * k * float(np.abs(Q).max()) * 2.0**-23
