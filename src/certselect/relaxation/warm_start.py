"""From the answer for one size to a start for the next, strictly inside the new face.

Drop features at random from every subset of size k until k' < k are left: feature
i stays with probability q = k'/k, a pair with q2 = k'(k'-1) / (k(k-1)). On the
moments x_i = (1 + Y_0i)/2 and X_ij = (1 + Y_0i + Y_0j + Y_ij)/4 that is

    x' = q x,     X'_ij = q2 X_ij,     X'_ii = q x_i,

linear, so it needs no subsets, only Y; X' = q2 X + (q - q2) Diag(x) stays positive
semidefinite, and X'e = k'x' keeps it on the new face. Adding features is dropping
them from the complement. A little of the uniform average pulls it off the boundary.
Entries of unlike sizes cannot be dropped like that: there only the last step is done.
"""

from __future__ import annotations

import numpy as np

from certselect.relaxation.face import inside_face

# Measured on real data (k to k + 1, 20 iterations cold): 0.02 leaves 8 to 12 iterations, 0.3 leaves 10 to 19.
PULL = 0.02


def carried_over(Y: np.ndarray, k: int, new_k: int, sizes: np.ndarray | None = None) -> np.ndarray:
    """The primal matrix of size k made into an interior one of size new_k, 1 <= new_k <= n - 1 (Fortran order).

    With `sizes`, new_k is k.
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
