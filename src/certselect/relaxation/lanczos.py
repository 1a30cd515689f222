"""Eigenvalues at the ends of a spectrum by Lanczos's method, where `arrays` computes: estimates that prove nothing.

A step costs one product, or two triangular solves and one product: O(n^2).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.linalg import get_lapack_funcs

from certselect.relaxation.arrays import Arrays

(dstev,) = get_lapack_funcs(("stev",), dtype=np.float64)

MAX_STEPS = 30
FIRST_LOOK = 5
# An estimate this close (relative to the eigenvalue) is enough: the caller keeps
# a larger distance from the boundary anyway and tests the point it reaches.
PRECISION = 0.03
NO_DIRECTION_LEFT = 1e-13


def lanczos(
    product: Callable[[Any], Any], size: int, steps: int, seed: int, dtype: Any, arrays: Arrays
) -> tuple[np.ndarray, np.ndarray, Any]:
    """Ritz values, ascending, their residuals, and their vectors, from a random start."""
    xp, steps = arrays.xp, min(steps, size)
    basis = xp.zeros((size, steps), dtype=dtype)
    inside = np.zeros((steps, steps))
    v = arrays.held(np.random.default_rng(seed).standard_normal(size), dtype)
    length = float(xp.linalg.norm(v))
    for step in range(steps):
        basis[:, step] = v / dtype(length)
        v = product(basis[:, step])
        parts = basis[:, : step + 1].T @ v
        v = v - basis[:, : step + 1] @ parts
        v -= basis[:, : step + 1] @ (basis[:, : step + 1].T @ v)
        inside[step, step] = float(parts[-1])
        length = float(xp.linalg.norm(v))
        if not length > 1e-6 * abs(inside[0, 0]) or step == steps - 1:
            steps = step + 1
            break
        inside[step + 1, step] = inside[step, step + 1] = length
    values, turn = np.linalg.eigh(inside[:steps, :steps])
    return values, length * np.abs(turn[-1]), basis[:, :steps] @ arrays.held(turn, dtype)


def longest_step(L: Any, product: Callable[[Any], Any], first: Any, at_most: float, arrays: Arrays) -> float:
    """A cautious estimate, no more than `at_most`, of the largest t for which LL' + tD stays semidefinite.

    L is a factor made ready for vectors; `product` multiplies one by D; `first` is any vector with a part in every
    direction. The estimate lowers Lanczos's eigenvalue by its residual, which
    makes it too short rather than too long, though it proves nothing.
    """
    main: list[float] = []
    off: list[float] = []
    xp = arrays.xp
    v, before = first / xp.linalg.norm(first), xp.zeros(len(first))
    norm = lowest = residual = 0.0
    for step in range(1, MAX_STEPS + 1):
        w = arrays.half_solve(L, product(arrays.half_solve_transposed(L, v)))
        main.append(float(v @ w))
        w -= main[-1] * v + norm * before
        norm = float(xp.linalg.norm(w))
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
