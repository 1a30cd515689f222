"""The geometry every solver here shares: the objective, the face, its closed-form interior, starts inside it.

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

from typing import Any

import numpy as np

from certselect.relaxation.arrays import CPU, Arrays

# Measured on real data (k to k + 1, 20 iterations cold): 0.02 leaves 8 to 12 iterations, 0.3 leaves 10 to 19.
PULL = 0.02


def lifted_objective(Q: np.ndarray) -> np.ndarray:
    """C = [[e'Qe, (Qe)'], [Qe, Q]], for which <C, yy'> = 4 x'Qx (float64, Fortran order)."""
    size = len(Q) + 1
    C = np.empty((size, size), order="F")
    row_sums = Q.sum(axis=1, dtype=np.float64)
    C[1:, 1:] = Q
    C[0, 1:] = C[1:, 0] = row_sums
    C[0, 0] = row_sums.sum()
    return C


def objective_on_face(Q: np.ndarray, normal: np.ndarray, ones: np.ndarray, arrays: Arrays = CPU) -> Any:
    """PCP for C = T'QT, T = [e, I], with e = `ones` (what it has become where copies are merged), for dense algebra.

    C has entries as large as e'Qe, of which P leaves next to nothing where k is small: subtracting would leave
    rounding errors alone. But TP = [u, I - ta'] with t = a_0 e + a and u = e - a_0 t = e |a|^2 - a_0 a, where a is now
    without its entry a_0, and u is small as it stands.
    """
    a_0, a = float(normal[0]), np.concatenate([[0.0], normal[1:]])
    e = np.concatenate([[0.0], ones])
    t, u = a_0 * e + a, e * float(a @ a) - a_0 * a
    K = arrays.xp.zeros((len(normal), len(normal)), order=arrays.order)
    K[1:, 1:] = arrays.at_hand(Q)
    Qt, Qu = (arrays.fetched(arrays.times(K, arrays.at_hand(vector))) for vector in (t, u))
    arrays.subtract_both(K, arrays.at_hand(a), arrays.at_hand(Qt - 0.5 * float(t @ Qt) * a))
    K[0, 1:] = K[1:, 0] = arrays.at_hand(Qu - float(t @ Qu) * a)[1:]
    K[0, 0] = float(u @ Qu)
    return K


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


def project(M: Any, normal: Any, arrays: Arrays) -> None:
    """Replace the symmetric M by PMP, in place: a rank-two change."""
    arrays.subtract_both(M, normal, half_shift(arrays.times(M, normal), normal))


def half_shift(Ma: Any, normal: Any) -> Any:
    """The v for which PMP = M - av' - va', given Ma."""
    return Ma - 0.5 * (normal @ Ma) * normal


def dual_slack(d: Any, K: Any, normal: Any, out: Any, arrays: Arrays) -> None:
    """P Diag(d) P - K + aa' into the lower triangle of `out`, K = PCP: what a Cholesky tests."""
    arrays.xp.negative(K, out=out)
    arrays.diagonal(out)[:] += d
    arrays.subtract_lower(out, normal, half_shift(d * normal, normal) - 0.5 * normal)


def uniform_average(n: int, k: int, arrays: Arrays = CPU) -> Any:
    """The average of yy' over all k-subsets, 1 <= k <= n - 1: strictly inside the face."""
    c = 2 * k - n
    Y = arrays.xp.full((n + 1, n + 1), (c * c - n) / (n * (n - 1)), order=arrays.order)
    Y[0, :] = Y[:, 0] = c / n
    arrays.diagonal(Y)[:] = 1.0
    return Y


def inside_face(n: int, k: int, sizes: np.ndarray | None = None, arrays: Arrays = CPU) -> Any:
    """A matrix strictly inside the face, 1 <= k <= sum(s) - 1: the uniform average where all sizes are 1.

    Otherwise every entry is in with probability q = k / sum(s), with the covariance
    n/(n-1) q(1-q) (I - ss'/|s|^2), which keeps s'x = k. Its diagonal is not quite 1.
    """
    if sizes is None:
        return uniform_average(n, k, arrays)
    s = sizes.astype(np.float64)
    q = k / float(s.sum())
    spread = 4.0 * n / (n - 1) * q * (1.0 - q)
    Y = arrays.xp.full((n + 1, n + 1), (2.0 * q - 1.0) ** 2, order=arrays.order)
    Y[0, :] = Y[:, 0] = 2.0 * q - 1.0
    Y[0, 0] = 1.0
    there = arrays.at_hand(s)
    Y[1:, 1:] -= there[:, None] * (there * (spread / float(s @ s)))
    arrays.diagonal(Y)[1:] += spread
    return Y


def carried_over(Y: np.ndarray, k: int, new_k: int, sizes: np.ndarray | None = None) -> np.ndarray:
    """The primal matrix of size k made into an interior one of size new_k, 1 <= new_k <= n - 1 (Fortran order).

    With `sizes`, new_k is k.

    Drop features at random from every subset of size k until k' < k are left: feature
    i stays with probability q = k'/k, a pair with q2 = k'(k'-1) / (k(k-1)). On the
    moments x_i = (1 + Y_0i)/2 and X_ij = (1 + Y_0i + Y_0j + Y_ij)/4 that is

        x' = q x,     X'_ij = q2 X_ij,     X'_ii = q x_i,

    linear, so it needs no subsets, only Y; X' = q2 X + (q - q2) Diag(x) stays positive
    semidefinite, and X'e = k'x' keeps it on the new face. Adding features is dropping
    them from the complement. A little of the uniform average pulls it off the boundary.
    Entries of unlike sizes cannot be dropped like that: there only the last step is done.
    """
    n = len(Y) - 1
    flip = -1.0 if new_k > k else 1.0
    moved = np.array(Y, order="F")
    moved[0, 1:] *= flip
    moved[1:, 0] *= flip
    if new_k != k:
        before, after = (k, new_k) if new_k < k else (n - k, n - new_k)
        _drop_at_random(moved, before, after)
    moved[0, 1:] *= flip
    moved[1:, 0] *= flip
    moved *= 1.0 - PULL
    moved += PULL * inside_face(n, new_k, sizes)
    return moved


def _drop_at_random(Y: np.ndarray, before: int, after: int) -> None:
    stays = after / before
    pair_stays = stays * (after - 1) / (before - 1)
    x = 0.5 * (1.0 + Y[0, 1:])
    kept = stays * x
    inside = Y[1:, 1:]
    # 4 X' - 2 x' - 2 x'' + 1 with 4 X = Y_ij + 2 x_i + 2 x_j - 1.
    inside *= pair_stays
    rest = 2.0 * (pair_stays * x - kept)
    inside += rest + rest[:, None] + (1.0 - pair_stays)
    np.fill_diagonal(inside, 1.0)
    Y[0, 1:] = Y[1:, 0] = 2.0 * kept - 1.0
