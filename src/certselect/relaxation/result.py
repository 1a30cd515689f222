"""What a relaxation hands on: a primal matrix, multipliers, and how the solver ended."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from functools import cached_property

import numpy as np

from certselect.certificate.gap import gap
from certselect.certificate.lift import Lift


class Status(Enum):
    """How a solver ended; only SOLVED promises the tolerance that was asked for."""

    SOLVED = "solved"
    NEARLY_SOLVED = "nearly solved"
    STOPPED_BY_TIME = "stopped by time"
    STOPPED_BY_ITERATIONS = "stopped by iterations"
    NUMERICAL_TROUBLE = "numerical trouble"


@dataclass(frozen=True, eq=False)
class Relaxation:
    """The semidefinite relaxation of "choose k of n", solved as far as `status` says.

    Of a constrained problem it is that of its reduced form (`SubsetProblem.reduced`),
    lifted by `lift`: entry i >= 1 stands for the unit at position i - 1 there.

    With y_0 = 1 and y_i = 2 x_i - 1, every k-subset is a matrix Y = yy' with unit
    diagonal and Y a = 0, a = (2k - n, -1, ..., -1); the relaxation keeps those and
    positive semidefiniteness, drops rank one, and maximises <C, Y> / 4, where

        C = [[e'Qe, (Qe)'], [Qe, Q]]      so that  <C, yy'> = 4 x'Qx.

    Where entries count for `sizes` s, a = (2k - sum(s), -s_1, ..., -s_n).

    Attributes
    ----------
    factor : ndarray (n+1, rank) or None
        V with Y = VV', from solvers that never form Y.
    multipliers : ndarray (n+1,)
        d, one for each unit diagonal entry. Where Diag(d) - C is positive
        semidefinite on {y : a'y = 0}, sum(d) / 4 bounds every k-subset; the face
        needs no multiplier of its own. Any d gives a bound: see `certificate`.
    primal_value, dual_value : float
        <C, Y> / 4 and sum(d) / 4, in units of the criterion x'Qx. The first is
        corrected to first order for what Y lacks of feasibility. Both include what
        included features are worth and what the lift's price makes of the budget.
    diagonal_residual, face_residual : float
        Largest |Y_ii - 1|, and largest |(Y a)_i| with a of unit length.
    sizes : ndarray of int (n,) or None
        What each entry counts for; None where that is 1.
    lift : Lift or None
        How rivals and a budget entered Q: the bound is one for Q lifted by it.
    computed_on : str
        Which device was used or missed, in a sentence; empty where no GPU was in question.
    slack : (ndarray (n, n), ndarray (n,)) or None
        Of the method "nonnegative": N and w, from which `certificate.consequences` proves
        its bound; None where it did not get below that of the multipliers.
    """

    k: int
    multipliers: np.ndarray
    primal_value: float
    dual_value: float
    diagonal_residual: float
    face_residual: float
    iterations: int
    seconds: float
    status: Status
    method: str
    dense: np.ndarray | None = None
    factor: np.ndarray | None = None
    sizes: np.ndarray | None = None
    lift: Lift | None = None
    slack: tuple[np.ndarray, np.ndarray] | None = None
    computed_on: str = ""

    @cached_property
    def matrix(self) -> np.ndarray:
        """Y, (n+1, n+1), formed from the factor when first asked for where a factor is what there is."""
        if self.dense is not None:
            return self.dense
        if self.factor is None:
            raise ValueError("a Relaxation holds a dense matrix or a factor; this one holds neither")
        return self.factor @ self.factor.T

    @property
    def membership(self) -> np.ndarray:
        """x (n,): how far each entry is in, 0 to 1."""
        cosines = self.matrix[0, 1:] if self.factor is None else self.factor[1:] @ self.factor[0]
        return 0.5 * (1.0 + cosines)

    @property
    def gap(self) -> float:
        """(dual - primal) / |primal|: 0 when both are 0, inf when only the primal is."""
        return gap(self.primal_value, self.dual_value)


@dataclass(frozen=True, eq=False)
class Iterate:
    """Where a solver stands after an iteration: what a caller keeps in case of Ctrl-C."""

    iteration: int
    multipliers: np.ndarray
    primal_value: float
    dual_value: float
    lift: Lift | None = None
    slack: tuple[np.ndarray, np.ndarray] | None = None

    @property
    def gap(self) -> float:
        """As of a `Relaxation`."""
        return gap(self.primal_value, self.dual_value)


Callback = Callable[[Iterate], None]
