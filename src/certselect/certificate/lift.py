"""Lift: what rivals and a budget add to the matrix, so that a bound that knows of neither still heeds them."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from certselect.certificate.rivals import never_both, rival_numbers
from certselect.criteria.reduced import ReducedProblem
from certselect.errors import InvalidInput


@dataclass(frozen=True, eq=False)
class Lift:
    """A matrix A with x'Ax >= 0 for every allowed subset x of a reduced problem.

    Then x'Qx <= x'(Q + A)x, and a bound for Q + A is one for Q. Two kinds of A are safe:

    - `pairs`: x_i x_j is 0 or 1, so entries of 0 or more do no harm; and two rivals are
      never both chosen, so theirs may be anything.
    - `price` mu >= 0 on the budget: mu (budget - costs'x) is 0 or more.

    Attributes
    ----------
    pairs : ndarray (m, m) or None
        Symmetric, zero on the diagonal, 0 or more except between rivals.
    price : float
        0 or more; 0 where there is no budget.
    """

    pairs: np.ndarray | None = None
    price: float = 0.0

    def check(self, problem: ReducedProblem) -> None:
        """Refuse a lift that proves nothing about this problem, naming the first entry that is wrong."""
        if not (math.isfinite(self.price) and self.price >= 0.0):
            raise InvalidInput(f"a price of {self.price}", "a finite number, 0 or more", "Lift by another price.")
        if self.price > 0.0 and problem.costs is None:
            raise InvalidInput(f"a price of {self.price} without a budget", "0", "Leave the price out.")
        if self.pairs is not None:
            self._check_pairs(self.pairs, problem)

    @staticmethod
    def _check_pairs(pairs: np.ndarray, problem: ReducedProblem) -> None:
        m = len(problem.matrix)
        if pairs.shape != (m, m) or pairs.dtype.kind != "f":
            got = f"a lift of shape {pairs.shape} and type {pairs.dtype}"
            raise InvalidInput(got, f"floats of shape {(m, m)}", "Lift every pair of the reduced problem.")
        wrong = ~np.isfinite(pairs)
        expected = "finite entries"
        if not wrong.any():
            wrong, expected = pairs != pairs.T, "as much on the other side of the diagonal"
        if not wrong.any():
            wrong, expected = np.diag(pairs.diagonal() != 0.0), "0 on the diagonal"
        if not wrong.any():
            wrong, expected = pairs < 0.0, "0 or more, but between rivals"
            between = never_both(rival_numbers(problem.rivals, m))
            if between is not None:
                wrong[between] = False
        if wrong.any():
            i, j = (int(place) for place in np.unravel_index(int(wrong.argmax()), wrong.shape))
            raise InvalidInput(f"a lift of {pairs[i, j]} at entry ({i}, {j})", expected, "Lift by another matrix.")

    def matrix(self, problem: ReducedProblem) -> np.ndarray:
        """Q + pairs - price Diag(costs), each entry rounded to double precision after each operation."""
        lifted = problem.matrix.astype(np.float64)
        # What overflows is refused by whoever uses the matrix.
        with np.errstate(over="ignore", invalid="ignore"):
            if self.pairs is not None:
                lifted += self.pairs
            if problem.costs is not None and self.price > 0.0:
                np.fill_diagonal(lifted, lifted.diagonal() - self.price * problem.costs)
        return lifted

    def paid(self, problem: ReducedProblem) -> float:
        """price budget: what a bound for the lifted matrix has to have added."""
        return self.price * problem.budget if self.price > 0.0 else 0.0

    def in_single(self) -> Lift:
        """The same with pairs rounded to float32, as files keep them; rounding leaves every sign as it is."""
        if self.pairs is None or self.pairs.dtype == np.float32:
            return self
        with np.errstate(over="ignore", under="ignore"):
            return Lift(self.pairs.astype(np.float32), self.price)
