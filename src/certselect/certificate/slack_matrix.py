"""The slack matrix of multipliers d, and the weights w that make it the same constant for every subset.

    N = Diag(d_1, ..., d_n) - Q - (ws' + sw'),     w_i = (d_i - t s_i) / (2k),     t = sum(d) / (4k).

`bound` derives what it proves; the relaxation's solvers make a d for which N is semidefinite.
"""

from __future__ import annotations

import math

import numpy as np

BLOCK = 512


def slack_weights(d: np.ndarray, k: int, sizes: np.ndarray | None = None) -> np.ndarray:
    """w (n,) of multipliers d (n+1,); sizes s all 1 if not given."""
    each = math.fsum(d) / (8.0 * k * k)
    return d[1:] / (2 * k) - (each if sizes is None else each * sizes)


def slack_matrix(
    Q: np.ndarray, d: np.ndarray, w: np.ndarray, sizes: np.ndarray | None = None, *, scale: float = 1.0
) -> np.ndarray:
    """Diag(d_1, ...) - Q/scale - (ws' + sw'), exactly symmetric, Fortran order.

    At most three roundings per term, one more with sizes.
    """
    n = len(Q)
    slack = np.empty((n, n), order="F")
    for left in range(0, n, BLOCK):
        right = left + BLOCK
        # Only x'Qx counts, so what Q lacks of symmetry is averaged away.
        columns = Q[:, left:right].astype(np.float64) / scale
        rows = Q[left:right, :].astype(np.float64) / scale
        mean = 0.5 * columns + 0.5 * rows.T
        if sizes is None:
            beside = w[:, None] + w[left:right]
        else:
            beside = np.outer(w, sizes[left:right]) + np.outer(sizes, w[left:right])
        np.subtract(-mean, beside, out=slack[:, left:right])
    np.fill_diagonal(slack, d[1:] + slack.diagonal())
    return slack
