"""A number no k-subset exceeds, proved in floating point from Q, k and any multipliers.

Take any d = (d_0, d_1, ..., d_n) and let t = sum(d) / (4k). For a 0/1 vector x
with k ones, x_i^2 = x_i and e'x = k, so

    N(d) = Diag(d_1, ..., d_n) - Q - (we' + ew'),     w_i = d_i / (2k) - t / (2k)

has  x'N x = d'x - x'Qx - 2k w'x = kt - x'Qx: the same constant for every subset.
If N + sI is positive semidefinite, 0 <= x'(N + sI)x = kt + ks - x'Qx, that is

    x'Qx <= sum(d)/4 + k s         for every k-subset, whatever d is.

No solver is trusted: a poor d only needs a larger shift s. N is n x n, with no row
sums of Q in it. It is the slack matrix Diag(d) - C of the relaxation seen on its
face: with y_0 = e'x/k and y_i = 2x_i - y_0 (all of {y : a'y = 0} is reached),
y'(Diag(d) - C)y = 4 x'Nx; so the optimal d of the relaxation needs no shift.

In floating point w is rounded, so the constant differs from one i to the next:
t_i = d_i - 2k w_i, and the k largest of them take the place of kt. The matrix A
that is formed differs from N + sI by rounding, |A - N - sI| <= E entry by entry.
If Cholesky runs to completion on A, its factor satisfies R'R = A + D with
|D_ij| <= g/(1-g) sqrt(A_ii A_jj), g = (n+1)u/(1-(n+1)u) (Higham, Accuracy and
Stability, Theorem 10.3; Rump, Verification of positive definiteness, 2006), so

    x'(N + sI)x >= - sum of E over S x S - g/(1-g) (sum of sqrt(A_ii) over S)^2,

and both sums are bounded over all S by their k largest terms. This presumes BLAS
that sums in any order but does not use Strassen-like products; g is doubled for
those that multiply by rounded reciprocals instead of dividing.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.linalg import get_blas_funcs, get_lapack_funcs
from scipy.sparse.linalg import ArpackError, LinearOperator, eigsh

from certselect.errors import InvalidInput

(dsymv,) = get_blas_funcs(("symv",), dtype=np.float64)
(dpotrf,) = get_lapack_funcs(("potrf",), dtype=np.float64)

UNIT = 2.0**-53
# On numbers of order one, all underflow there can be in a bound stays far below this.
UNDERFLOW = 1e-280
# Multipliers this far beyond the matrix cannot give a useful bound and might overflow.
LARGEST_RATIO = 1e100
# Stop refining the shift once it costs no more than this part of the bound.
SHIFT_LOSS = 1e-10
MAX_FACTORISATIONS = 12
BLOCK = 512

BY_ROW_SUMS = "the k largest sums of k entries of a row"
BY_CHOLESKY = "a Cholesky factorisation of the slack matrix, its rounding errors counted"


@dataclass(frozen=True)
class ProvedBound:
    """An upper bound on x'Qx over all k-subsets, how it was shown, and the shift that took."""

    bound: float
    shown_by: str
    shift: float = 0.0


def upper_bound(Q: np.ndarray, k: int, multipliers: np.ndarray) -> float:
    """A number no k-subset's x'Qx exceeds, whatever the multipliers (n+1,) are."""
    return prove_bound(Q, k, multipliers).bound


def prove_bound(Q: np.ndarray, k: int, multipliers: np.ndarray) -> ProvedBound:
    """The better of two bounds: from the multipliers by Cholesky, and from row sums alone."""
    Q, d = np.asarray(Q), np.asarray(multipliers, dtype=np.float64)
    _check(Q, k, d)
    proved = ProvedBound(row_sum_bound(Q, k), BY_ROW_SUMS)
    largest = max(float(Q.max()), -float(Q.min()))
    # A power of two brings Q to order one; short of underflow that is exact.
    scale = 2.0 ** min(math.frexp(largest)[1], 1023)
    if 1 < k < len(Q) and largest > 0.0 and np.isfinite(d).all() and np.abs(d).max() <= LARGEST_RATIO * scale:
        bound, shift = _cholesky_bound(Q, k, d / scale, scale)
        if bound * scale < proved.bound:
            proved = ProvedBound(math.nextafter(bound * scale, math.inf), BY_CHOLESKY, shift * scale)
    return proved


def row_sum_bound(Q: np.ndarray, k: int) -> float:
    """Feature i of a subset adds at most Q_ii plus the k-1 largest other entries of its row.

    The k largest of these are a bound; it is exact for k = 1 and k = n.
    """
    n = len(Q)
    rows = np.empty(n)
    with np.errstate(over="ignore", invalid="ignore"):
        for top in range(0, n, BLOCK):
            block = np.array(Q[top : top + BLOCK], dtype=np.float64)
            own = np.arange(len(block))
            on_diagonal = block[own, top + own].copy()
            block[own, top + own] = -np.inf
            if k < n:
                block.partition(n - k, axis=1)
            else:
                block.sort(axis=1)
            best = block[:, n - k + 1 :]
            slack = 2 * (k - 1) * UNIT * (np.abs(best).sum(axis=1) + np.abs(on_diagonal))
            rows[top : top + BLOCK] = best.sum(axis=1) + on_diagonal + slack
    if not np.isfinite(rows).all():
        return math.inf
    return _sum_of_largest(rows, k)


def _cholesky_bound(Q: np.ndarray, k: int, d: np.ndarray, scale: float) -> tuple[float, float]:
    """(bound, shift) for Q / scale: the smallest shift found for which Cholesky runs to completion."""
    n, p = len(Q), d[1:]
    w = p / (2 * k) - math.fsum(d) / (8.0 * k * k)
    constants = p - 2 * k * w + 4 * UNIT * (np.abs(p) + 2 * k * np.abs(w))
    constant = _sum_of_largest(constants, k)
    slack = _slack_matrix(Q, p, w, scale)
    diagonal = slack.diagonal().copy()
    formed = 2 * k * _sum_of_largest(np.abs(w), k) + _sum_of_largest(np.abs(p), k) + 2.0 * k * k
    doubled = 2 * (n + 8) * UNIT

    def attempt(shift: float) -> float:
        """The bound this shift proves; inf where Cholesky breaks down."""
        shifted = diagonal + shift
        if shifted.min() <= 0.0:
            return math.inf
        factor = np.array(slack, order="F")
        np.fill_diagonal(factor, shifted)
        if dpotrf(factor, lower=1, clean=0, overwrite_a=1)[1] != 0:
            return math.inf
        rounding = 4 * UNIT * (formed + k * shift)
        rounding += doubled / (1 - 2 * doubled) * _sum_of_largest(np.sqrt(shifted), k) ** 2 * (1 + 8 * UNIT)
        return _round_up([constant, k * shift * (1 + 2 * UNIT), rounding * (1 + 8 * UNIT), UNDERFLOW])

    bound = attempt(0.0)
    if bound < math.inf:
        return bound, 0.0
    # A Rayleigh quotient: no smaller shift can do. What comes above it is the loss.
    least = max(0.0, -_lowest_eigenvalue(slack))
    magnitude = float(np.abs(diagonal).max()) + least
    shift, margin = least, n * UNIT * magnitude
    failed = least
    for _ in range(MAX_FACTORISATIONS):
        shift = least + margin
        bound = attempt(shift)
        if bound < math.inf:
            break
        failed, margin = shift, 8 * margin
    # Sums of absolute values in a row bound every eigenvalue.
    else:
        shift = float(np.abs(slack).sum(axis=1).max()) * 1.01
        bound = attempt(shift)
    for _ in range(MAX_FACTORISATIONS):
        if not k * (shift - failed) > SHIFT_LOSS * abs(bound):
            break
        middle = least + math.sqrt(max(failed - least, margin / 64) * (shift - least))
        if not failed < middle < shift:
            break
        trial = attempt(middle)
        if trial < bound:
            bound, shift = trial, middle
        else:
            failed = middle
    return bound, shift


def _slack_matrix(Q: np.ndarray, p: np.ndarray, w: np.ndarray, scale: float) -> np.ndarray:
    """Diag(p) - Q/scale - (we' + ew'), Fortran order; each entry passes at most three roundings per term."""
    n = len(Q)
    slack = np.empty((n, n), order="F")
    for left in range(0, n, BLOCK):
        right = left + BLOCK
        # Only x'Qx counts, so what Q lacks of symmetry is averaged away.
        columns = Q[:, left:right].astype(np.float64) / scale
        rows = Q[left:right, :].astype(np.float64) / scale
        mean = 0.5 * columns + 0.5 * rows.T
        np.subtract(-mean, w[:, None] + w[left:right], out=slack[:, left:right])
    np.fill_diagonal(slack, p + slack.diagonal())
    return slack


def _lowest_eigenvalue(matrix: np.ndarray) -> float:
    """An estimate from above of the smallest eigenvalue, by Lanczos; 0 where it finds none."""
    n = len(matrix)
    if n < 32:
        return float(np.linalg.eigvalsh(matrix)[0])

    def product(v: np.ndarray) -> np.ndarray:
        return dsymv(1.0, matrix, v.ravel(), lower=1)

    operator = LinearOperator((n, n), matvec=product, dtype=np.float64)  # type: ignore[call-arg]
    first = np.random.default_rng(0).standard_normal(n)
    try:
        options = {"ncv": min(n, 48), "tol": 1e-7, "maxiter": 100, "return_eigenvectors": False}
        values = eigsh(operator, k=1, which="SA", v0=first, **options)
    except ArpackError as stopped:
        values = getattr(stopped, "eigenvalues", ())
    return float(min(values, default=0.0))


def _sum_of_largest(values: np.ndarray, k: int) -> float:
    """At least the sum of the k largest."""
    return _round_up(np.partition(values, len(values) - k)[len(values) - k :])


def _round_up(terms: np.ndarray | list[float]) -> float:
    """The smallest float that is at least the exact sum."""
    total = math.fsum(terms)
    # fsum rounds once, so the sign of what it left over is exact.
    return total if math.fsum([*terms, -total]) <= 0.0 else math.nextafter(total, math.inf)


def _check(Q: np.ndarray, k: int, d: np.ndarray) -> None:
    if Q.ndim != 2 or Q.shape[0] != Q.shape[1] or len(Q) == 0 or not np.isfinite(Q).all():
        raise InvalidInput(f"a matrix of shape {Q.shape}", "a finite square one", "Pass the matrix of the problem.")
    if not 1 <= k <= len(Q):
        raise InvalidInput(f"k={k}", f"1 to {len(Q)}", "Choose a size the matrix has subsets of.")
    if d.shape != (len(Q) + 1,):
        raise InvalidInput(
            f"multipliers of shape {d.shape}", f"({len(Q) + 1},)", "Pass one for each feature and one in front of them."
        )
