"""Cholesky as a proof of semidefiniteness: a factorisation that runs to completion, and what its rounding can hide.

If it completes on A (n x n), its factor satisfies R'R = A + D with |D_ij| <= g/(1-g) sqrt(A_ii A_jj),
g = (n+1)v/(1-(n+1)v), v = 2^-53 (Higham, Accuracy and Stability, Theorem 10.3; Rump, Verification
of positive definiteness, 2006). This presumes BLAS that sums in any order but does not use
Strassen-like products; g is doubled for those that multiply by rounded reciprocals instead of dividing.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import get_lapack_funcs

from certselect.certificate.rounding import UNIT

(dpotrf,) = get_lapack_funcs(("potrf",), dtype=np.float64)


def factorised(matrix: np.ndarray, diagonal: np.ndarray, down: float = 1.0) -> np.ndarray | None:
    """R', lower triangular, of a symmetric matrix times `down`, a power of two, with this diagonal in place of its own.

    None where it breaks down. The factor is the only copy that is made.
    """
    factor = np.empty(matrix.shape, order="F")
    np.multiply(matrix if matrix.flags.f_contiguous else matrix.T, down, out=factor)
    np.fill_diagonal(factor, diagonal)
    return factor if dpotrf(factor, lower=1, clean=1, overwrite_a=1)[1] == 0 else None


def hidden_part(n: int) -> float:
    """The part of sqrt(A_ii A_jj) by which A_ij may differ from what was factorised, at most."""
    doubled = 2 * (n + 8) * UNIT
    return doubled / (1 - 2 * doubled)
