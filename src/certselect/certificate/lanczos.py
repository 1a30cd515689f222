"""The lowest eigenvalue of a symmetric matrix, about: where to begin looking for a shift that makes it semidefinite.

Nothing that is proved rests on it.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import eigh_tridiagonal

STEPS = 40


def lowest_eigenvalue(matrix: np.ndarray, down: float = 1.0) -> tuple[float, float]:
    """An estimate from above, by a few products, for `down` times a matrix, which brings it to order one; its residual.

    There is an eigenvalue within the residual of the estimate, if not the lowest.
    """
    m = len(matrix)
    basis = np.zeros((min(STEPS, m), m))
    diagonal, beside, step = np.zeros(len(basis)), np.zeros(len(basis)), 0
    v = np.random.default_rng(0).standard_normal(m)
    v /= np.linalg.norm(v)
    for step in range(len(basis)):
        basis[step] = v
        product = matrix @ (down * v)
        diagonal[step] = v @ product
        for _ in range(2):  # once is not enough to keep the basis orthogonal
            product -= basis[: step + 1].T @ (basis[: step + 1] @ product)
        beside[step] = np.linalg.norm(product)
        if not beside[step] > 1e-12 * abs(diagonal[: step + 1]).max():
            break  # all of the space it can reach
        v = product / beside[step]
    values, vectors = eigh_tridiagonal(diagonal[: step + 1], beside[:step])
    return float(values[0]), float(beside[step] * abs(vectors[-1, 0]))
