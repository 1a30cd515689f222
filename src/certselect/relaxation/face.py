"""The geometry every solver here shares: the objective, the face, its closed-form interior.

A k-subset is a sign vector y = (1, 2x - 1) of length N = n + 1 that satisfies
a'y = 0 with a = (2k - n, -1, ..., -1). The paper's two sum constraints (eq_20)
say a'Ya = 0, hence Y a = 0 for Y positive semidefinite: no feasible Y is positive
definite, and a solver that takes eq_20 as written crawls. On the face {Y a = 0}
everything is regular again: the average of yy' over all k-subsets is strictly
inside it. With the unit vector a and P = I - aa', a matrix on the face is PMP,
and adding aa' makes it an ordinary positive definite matrix for LAPACK:

    (PMP + aa')^-1 = (PMP)^+ + aa'.

Where entry i stands for s_i features (a group that comes in whole) the subsets are
those with s'x = k, and a = (2k - sum(s), -s_1, ..., -s_n).
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import get_blas_funcs

ddot, dger, dsymv, dsyr2 = get_blas_funcs(("dot", "ger", "symv", "syr2"), dtype=np.float64)


def lifted_objective(Q: np.ndarray) -> np.ndarray:
    """C = [[e'Qe, (Qe)'], [Qe, Q]], for which <C, yy'> = 4 x'Qx (float64, Fortran order)."""
    size = len(Q) + 1
    C = np.empty((size, size), order="F")
    row_sums = Q.sum(axis=1, dtype=np.float64)
    C[1:, 1:] = Q
    C[0, 1:] = C[1:, 0] = row_sums
    C[0, 0] = row_sums.sum()
    return C


def face_normal(n: int, k: int, sizes: np.ndarray | None = None) -> np.ndarray:
    """a = (2k - sum(s), -s_1, ..., -s_n); sizes s all 1 if not given."""
    normal = np.full(n + 1, -1.0)
    if sizes is not None:
        normal[1:] = -sizes
    normal[0] = 2 * k + normal[1:].sum()
    return normal


def unit_normal(n: int, k: int, sizes: np.ndarray | None = None) -> np.ndarray:
    """a / |a|."""
    normal = face_normal(n, k, sizes)
    return normal / np.linalg.norm(normal)


def project(M: np.ndarray, normal: np.ndarray) -> None:
    """Replace the symmetric M (Fortran order) by PMP, in place: a rank-two change."""
    v = half_shift(dsymv(1.0, M, normal, lower=1), normal)
    dger(-1.0, normal, v, a=M, overwrite_a=1)
    dger(-1.0, v, normal, a=M, overwrite_a=1)


def half_shift(Ma: np.ndarray, normal: np.ndarray) -> np.ndarray:
    """The v for which PMP = M - av' - va', given Ma."""
    return Ma - 0.5 * (normal @ Ma) * normal


def dual_slack(d: np.ndarray, K: np.ndarray, normal: np.ndarray, out: np.ndarray) -> None:
    """P Diag(d) P - K + aa' into the lower triangle of `out`, K = PCP: what a Cholesky tests."""
    np.negative(K, out=out)
    diagonal(out)[:] += d
    v = half_shift(d * normal, normal) - 0.5 * normal
    dsyr2(-1.0, normal, v, a=out, lower=1, overwrite_a=1)


def uniform_average(n: int, k: int) -> np.ndarray:
    """The average of yy' over all k-subsets, 1 <= k <= n - 1: strictly inside the face."""
    c = 2 * k - n
    Y = np.full((n + 1, n + 1), (c * c - n) / (n * (n - 1)), order="F")
    Y[0, :] = Y[:, 0] = c / n
    np.fill_diagonal(Y, 1.0)
    return Y


def inside_face(n: int, k: int, sizes: np.ndarray | None = None) -> np.ndarray:
    """A matrix strictly inside the face, 1 <= k <= sum(s) - 1: the uniform average where all sizes are 1.

    Otherwise every entry is in with probability q = k / sum(s), with the covariance
    n/(n-1) q(1-q) (I - ss'/|s|^2), which keeps s'x = k. Its diagonal is not quite 1.
    """
    if sizes is None:
        return uniform_average(n, k)
    s = sizes.astype(np.float64)
    q = k / float(s.sum())
    spread = 4.0 * n / (n - 1) * q * (1.0 - q)
    Y = np.full((n + 1, n + 1), (2.0 * q - 1.0) ** 2, order="F")
    Y[0, :] = Y[:, 0] = 2.0 * q - 1.0
    Y[0, 0] = 1.0
    Y[1:, 1:] -= np.outer(s, s * (spread / float(s @ s)))
    diagonal(Y)[1:] += spread
    return Y


def diagonal(M: np.ndarray) -> np.ndarray:
    """A writable view of the diagonal of a contiguous matrix."""
    return M.ravel(order="K")[:: len(M) + 1]


def inner(A: np.ndarray, B: np.ndarray) -> float:
    """<A, B> of two matrices stored alike, without a temporary."""
    return float(ddot(A.ravel(order="K"), B.ravel(order="K")))
