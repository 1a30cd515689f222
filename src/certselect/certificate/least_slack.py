"""The least x'Nx can be over 0/1 vectors x of k columns, proved in floating point for any symmetric N.

Let M be N with a little more on its diagonal, so that Cholesky shows M to be positive
semidefinite (see `cholesky` for its rounding). A subset of u units then has

    x'Nx >= x'Mx - u max(M_ii - N_ii) >= - u max(M_ii - N_ii),

and more where M is far from singular: by the Cauchy-Schwarz inequality in its inner
product, x'Mx >= (x'Mz)^2 / z'Mz for every vector z. With z = H (alpha e_i + beta s), H
about the inverse of M, and r = Mz - (alpha e_i + beta s) what H lacks of being it,

    x'Mz = alpha x_i + beta k + x'r,
    z'Mz = alpha^2 H_ii + 2 alpha beta (Hs)_i + beta^2 s'Hs + z'r.

The alpha and beta chosen here make this the least v'Mv of all real v with v_i given and
s'v = k; but it holds for any, and r is bounded from M and H as they are.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import get_lapack_funcs

from certselect.certificate.cholesky import factorised, hidden_part
from certselect.certificate.rounding import UNIT, largest

(dpotri,) = get_lapack_funcs(("potri",), dtype=np.float64)

# Pivots below this part of the largest entry: the inverse would be made of rounding errors.
SINGULAR = 1e-11
# So that there is one where everything is about to underflow.
SMALLEST_SHIFT = 1e-290
# Below this part of its terms, the determinant for alpha and beta would be.
PARALLEL = 1e-9


class LeastSlack:
    """Lower bounds on x'Nx over 0/1 vectors x with s'x = k, so at most `most` ones; entries of N are of order one."""

    def __init__(self, N: np.ndarray, sizes: np.ndarray, k: int, most: int) -> None:
        self.k, self.most = k, most
        M, inverse = _semidefinite(N)
        self.shift_cost = most * float((M.diagonal() - N.diagonal()).max()) * (1.0 + 4.0 * UNIT)
        self.anywhere = -self.shift_cost
        self._usable = inverse is not None
        if inverse is not None:
            with np.errstate(all="ignore"):  # an inverse that overflows proves nothing, which `_proved` sees
                self._measure(M, inverse, sizes.astype(np.float64))
                self.anywhere = self._anywhere()

    def _measure(self, M: np.ndarray, inverse: np.ndarray, s: np.ndarray) -> None:
        """What the bounds need to know of the inverse, and how far it is from being one."""
        m = len(M)
        self._rounding = 16.0 * m * UNIT
        self._own = inverse.diagonal().copy()
        self._along = inverse @ s
        self._total = float(s @ self._along)
        size = np.abs(inverse)
        self._reach = size.sum(axis=0)
        self._reach_along = float(self._reach @ s)
        self._columns = float(s.sum())
        residual = M @ inverse
        residual[np.diag_indices_from(residual)] -= 1.0
        # Rounding hides less than this of a column of the residual, by the lengths of rows and columns multiplied.
        longest = float(np.sqrt(np.einsum("ij,ij->i", M, M)).max())
        hidden = 2.0 * (m + 8) * UNIT * longest * np.sqrt(np.einsum("ij,ij->i", inverse, inverse))
        along = np.abs(residual @ s).max()
        np.abs(residual, out=residual)
        self._off = residual.max(axis=0) + hidden
        self._off_along = float(along + 2.0 * (hidden @ s) + self._rounding * (residual @ s).max())

    def _anywhere(self) -> float:
        if not self._total > 0.0:
            return -self.shift_cost
        beta, nothing = np.array([self.k / self._total]), np.zeros(1)
        return float(self._proved(nothing, beta, beta * self.k, beta**2 * self._total, nothing, nothing)[0])

    def where(self, entry: float) -> np.ndarray:
        """Of x with x_i = entry, for each i; an array of length one where it is the same for all."""
        if not self._usable:
            return np.full(1, self.anywhere)
        own, along, total = self._own, self._along, self._total
        with np.errstate(all="ignore"):
            determinant = own * total - along**2
            safe = determinant > PARALLEL * own * abs(total)
            determinant = np.where(safe, determinant, 1.0)
            alpha = (total * entry - along * self.k) / determinant
            beta = (own * self.k - along * entry) / determinant
            squared = alpha**2 * own + 2.0 * alpha * beta * along + beta**2 * total
            proved = self._proved(alpha, beta, alpha * entry + beta * self.k, squared, self._off, self._reach)
        return np.where(safe, np.maximum(proved, self.anywhere), self.anywhere)

    def _proved(
        self,
        alpha: np.ndarray,
        beta: np.ndarray,
        product: np.ndarray,
        squared: np.ndarray,
        off: np.ndarray,
        reach: np.ndarray,
    ) -> np.ndarray:
        """(x'Mz)^2 / z'Mz less the shift, given both for r = 0: the residual and rounding are counted here."""
        residual = np.abs(alpha) * off + np.abs(beta) * self._off_along  # the largest |r_j|
        length = np.abs(alpha) * reach + np.abs(beta) * self._reach_along  # the sum of all |z_j|
        weight = np.abs(alpha) + np.abs(beta) * self._columns
        product = product - (1.0 + self._rounding) * (self.most * residual + self._rounding * weight * (1.0 + self.k))
        squared = np.abs(squared) + (1.0 + self._rounding) * length * (residual + self._rounding * weight)
        proved = np.maximum(product, 0.0) ** 2 / squared * (1.0 - self._rounding)
        return np.where(np.isfinite(proved), proved, 0.0) - self.shift_cost


def _semidefinite(N: np.ndarray) -> tuple[np.ndarray, np.ndarray | None]:
    """N with a little more on its diagonal, so that it is semidefinite beyond doubt, and about the inverse of that."""
    m = len(N)
    scale = largest(N)
    if scale == 0.0:
        return N, None
    shift = max(m * UNIT * scale, SMALLEST_SHIFT)
    while True:  # row sums stay below m scale, so a shift of twice that is enough
        diagonal = N.diagonal() + shift
        factor = factorised(N, diagonal)
        if factor is not None:
            break
        shift = 8.0 * shift
    # R'R = M + D, |D_ij| <= g sqrt(M_ii M_jj): no eigenvalue of D is beyond g trace(M). Then one rounding of M_ii.
    M = np.array(N)
    np.fill_diagonal(M, diagonal + (hidden_part(m) * float(diagonal.sum()) + 4 * UNIT * diagonal.max()))
    if factor.diagonal().min() ** 2 < SINGULAR * scale or dpotri(factor, lower=1, overwrite_c=1)[1] != 0:
        return M, None
    inverse = np.tril(factor)
    return M, inverse + np.tril(factor, -1).T
