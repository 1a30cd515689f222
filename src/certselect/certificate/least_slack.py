"""The least x'Nx can be over 0/1 vectors x of k columns, proved in floating point for any symmetric N.

Let M be N with a little more on its diagonal, so that Cholesky shows M - LL' to be positive semidefinite, L the lower
triangular matrix of floating-point numbers that it returns (see `cholesky` for its rounding). A subset of u units
then has

    x'Nx >= x'LL'x - u max(M_ii - N_ii) >= - u max(M_ii - N_ii),

and more where M is far from singular: by the Cauchy-Schwarz inequality, x'LL'x >= (y'L'x)^2 / y'y for every vector y.
With Y about the inverse of L, t about Ys, y = alpha Y_i + beta t (Y_i a column), and P = LY - I and r = Lt - s what
they lack of being that,

    y'L'x = alpha x_i + beta k + alpha x'P_i + beta x'r,
    y'y   = alpha^2 |Y_i|^2 + 2 alpha beta Y_i't + beta^2 |t|^2.

The alpha and beta chosen here make this the least v'Mv of all real v with v_i given and s'v = k; but it holds for any,
and P and r are bounded from L, Y and t as they are. Both triangular matrices together take twice the time of the
factorisation. Beside N they are the only matrices of its size.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.linalg import get_lapack_funcs

from certselect.certificate.cholesky import factorised, hidden_part
from certselect.certificate.lanczos import lowest_eigenvalue
from certselect.certificate.rounding import UNIT, largest

(dtrtri,) = get_lapack_funcs(("trtri",), dtype=np.float64)

# Pivots below this part of the largest entry: the inverse would be made of rounding errors.
SINGULAR = 1e-11
# So that there is one where everything is about to underflow.
SMALLEST_SHIFT = 1e-290
# Below this part of its terms, the determinant for alpha and beta would be.
PARALLEL = 1e-9
# By this part of its residual an estimate of the lowest eigenvalue is too large, as a rule (mostly 0.28 to 0.45 on
# slack matrices); and where to begin if nothing negative was seen.
STILL_TO_COME = 0.3
LEAST_OF_RESIDUAL = 0.05
# By so much a shift that was not enough is raised: what is too much of it makes every bound worse.
GROWTH = 1.25
# Rows and columns of a product that are looked at at a time.
BLOCK = 512


class LeastSlack:
    """Lower bounds on down x'Nx over 0/1 vectors x with s'x = k, so at most `most` ones.

    `down` is a power of two that brings the entries of N to order one.
    """

    def __init__(self, N: np.ndarray, sizes: np.ndarray, k: int, most: int, *, down: float = 1.0) -> None:
        self.k, self.most = k, most
        diagonal, L = _semidefinite(N, down)
        self.shift_cost = most * float((diagonal - down * N.diagonal()).max()) * (1.0 + 4.0 * UNIT)
        self.anywhere = -self.shift_cost
        inverse = None if L is None else _inverse(L, down * largest(N))
        self._usable = L is not None and inverse is not None
        if L is not None and inverse is not None:
            with np.errstate(all="ignore"):  # an inverse that overflows proves nothing, which `_proved` sees
                self._measure(L, inverse, math.sqrt(float(diagonal.max())), sizes.astype(np.float64))
                self.anywhere = self._anywhere()

    def _measure(self, L: np.ndarray, Y: np.ndarray, longest: float, s: np.ndarray) -> None:
        """What the bounds need to know of Y and t, and how far they are from what they should be.

        No row of L is longer than `longest`.
        """
        m = len(L)
        self._rounding = 16.0 * m * UNIT
        t = Y @ s
        self._own, self._along, self._total = np.einsum("ij,ij->i", Y.T, Y.T), Y.T @ t, float(t @ t)
        # Rounding hides less than this of an entry of a product with L, by the length of the other vector.
        hidden = 2.0 * (m + 8) * UNIT * longest
        self._off = _largest_of_columns(L, Y) + hidden * np.sqrt(self._own)
        self._off_along = float(np.abs(L @ t - s).max()) + hidden * math.sqrt(self._total)

    def _anywhere(self) -> float:
        if not self._total > 0.0:
            return -self.shift_cost
        beta, nothing = np.array([self.k / self._total]), np.zeros(1)
        return float(self._proved(nothing, beta, beta * self.k, nothing, nothing, nothing)[0])

    def where(self, entry: float) -> np.ndarray:
        """Of x with x_i = entry, for each i; an array of length one where it is the same for all."""
        if not self._usable:
            return np.full(1, self.anywhere)
        own, along, total = self._own, self._along, self._total
        with np.errstate(all="ignore"):
            determinant = own * total - along**2
            safe = determinant > PARALLEL * own * total
            determinant = np.where(safe, determinant, 1.0)
            alpha = (total * entry - along * self.k) / determinant
            beta = (own * self.k - along * entry) / determinant
            proved = self._proved(alpha, beta, alpha * entry + beta * self.k, own, along, self._off)
        return np.where(safe, np.maximum(proved, self.anywhere), self.anywhere)

    def _proved(
        self,
        alpha: np.ndarray,
        beta: np.ndarray,
        product: np.ndarray,
        own: np.ndarray,
        along: np.ndarray,
        off: np.ndarray,
    ) -> np.ndarray:
        """(y'L'x)^2 / y'y less the shift, given y'L'x for P = 0 and r = 0: these and rounding are counted here."""
        squared = alpha**2 * own + 2.0 * alpha * beta * along + beta**2 * self._total
        length = np.abs(alpha) * np.sqrt(own) + np.abs(beta) * math.sqrt(self._total)  # at least that of y
        lost = self.most * (np.abs(alpha) * off + np.abs(beta) * self._off_along)
        lost += self._rounding * (lost + np.abs(alpha) + np.abs(beta) * self.k)
        squared = np.abs(squared) + self._rounding * length**2
        proved = np.maximum(product - lost, 0.0) ** 2 / squared * (1.0 - self._rounding)
        return np.where(np.isfinite(proved), proved, 0.0) - self.shift_cost


def _semidefinite(N: np.ndarray, down: float) -> tuple[np.ndarray, np.ndarray | None]:
    """The diagonal of M, and L (None where everything is 0), such that M - LL' is semidefinite, for N times `down`."""
    m, own = len(N), down * N.diagonal()
    scale = down * largest(N)
    if scale == 0.0:
        return own, None
    shift = max(m * UNIT * scale, SMALLEST_SHIFT)
    factor = factorised(N, own + shift, down)
    if factor is None:
        lowest, residual = lowest_eigenvalue(N, down)
        shift = max(shift, -1.02 * (lowest - STILL_TO_COME * residual), LEAST_OF_RESIDUAL * residual)
        factor = factorised(N, own + shift, down)
    while factor is None:  # row sums stay below m scale, so a shift of twice that is enough
        shift = GROWTH * shift
        factor = factorised(N, own + shift, down)
    # LL' = A + D, |D_ij| <= g sqrt(A_ii A_jj): no eigenvalue of D is beyond g trace(A). Then one rounding of M_ii.
    diagonal = own + shift
    return diagonal + (hidden_part(m) * float(diagonal.sum()) + 4 * UNIT * diagonal.max()), factor


def _inverse(L: np.ndarray, scale: float) -> np.ndarray | None:
    """About the inverse of a factor, lower triangular too; None where it is about singular."""
    if L.diagonal().min() ** 2 < SINGULAR * scale:
        return None
    inverse, wrong = dtrtri(L, lower=1)
    return None if wrong else inverse


def _largest_of_columns(L: np.ndarray, Y: np.ndarray) -> np.ndarray:
    """The largest absolute value in each column of LY - I, of two lower triangular matrices: a sixth of a product."""
    m, found = len(L), np.zeros(len(L))
    for left in range(0, m, BLOCK):
        right = min(left + BLOCK, m)
        for top in range(left, m, BLOCK):
            bottom = min(top + BLOCK, m)
            part = L[top:bottom, left:bottom] @ Y[left:bottom, left:right]
            if top == left:
                np.fill_diagonal(part, part.diagonal() - 1.0)
            found[left:right] = np.maximum(found[left:right], np.abs(part).max(axis=0))
    return found
