"""How far one may go: the largest t with S + tD positive semidefinite, S = LL'.

That is -1 over the smallest eigenvalue of L^-1 D L^-T (any t if it is not
negative). A few Lanczos steps find it: each costs two triangular solves and one
product, all O(n^2), where one more Cholesky would cost O(n^3).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.linalg import get_blas_funcs, get_lapack_funcs

(dtrsv,) = get_blas_funcs(("trsv",), dtype=np.float64)
(dstev,) = get_lapack_funcs(("stev",), dtype=np.float64)

MAX_STEPS = 30
FIRST_LOOK = 5
# An estimate this close (relative to the eigenvalue) is enough: the caller keeps
# a larger distance from the boundary anyway and tests the point it reaches.
PRECISION = 0.03
NO_DIRECTION_LEFT = 1e-13


def longest_step(
    L: np.ndarray, product: Callable[[np.ndarray], np.ndarray], first: np.ndarray, at_most: float
) -> float:
    """A cautious estimate, no more than `at_most`, of the largest t for which LL' + tD stays semidefinite.

    `product` multiplies a vector by D; `first` is any vector with a part in every
    direction. The estimate lowers Lanczos's eigenvalue by its residual, which
    makes it too short rather than too long, though it proves nothing.
    """
    main: list[float] = []
    off: list[float] = []
    v, before = first / np.linalg.norm(first), np.zeros(len(first))
    norm = lowest = residual = 0.0
    for step in range(1, MAX_STEPS + 1):
        w = dtrsv(L, product(dtrsv(L, v, lower=1, trans=1)), lower=1)
        main.append(float(v @ w))
        w -= main[-1] * v + norm * before
        norm = float(np.linalg.norm(w))
        if step >= FIRST_LOOK or norm <= NO_DIRECTION_LEFT * abs(main[0]):
            values, vectors, _ = dstev(main, off or [0.0])
            lowest, residual = float(values[0]), abs(norm * float(vectors[-1, 0]))
            # Known well enough, or so far inside that the cap decides.
            if residual <= PRECISION * max(-lowest, 0.3 / at_most):
                break
        off.append(norm)
        v, before = w / norm, v
    slope = residual - lowest
    return at_most if slope * at_most <= 1.0 else 1.0 / slope
