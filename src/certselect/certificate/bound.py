"""A number no subset exceeds, proved in floating point from Q, k, the sizes and any multipliers.

A subset is a 0/1 vector x with s'x = k: s_i table columns stand behind entry i, one
where nothing else is said. Take any d = (d_0, d_1, ..., d_n) and let t = sum(d) / (4k).
As x_i^2 = x_i and s'x = k,

    N(d) = Diag(d_1, ..., d_n) - Q - (ws' + sw'),     w_i = (d_i - t s_i) / (2k)

has  x'Nx = d'x - x'Qx - 2k w'x = kt - x'Qx: the same constant for every subset.
No subset has more than u entries, u = k where all sizes are 1. If N + hI is positive
semidefinite, 0 <= x'(N + hI)x <= kt + uh - x'Qx, that is

    x'Qx <= sum(d)/4 + u h         for every subset, whatever d is.

No solver is trusted: a poor d only needs a larger shift h. N is n x n, with no row
sums of Q in it. It is the slack matrix Diag(d) - C of the relaxation seen on its
face: with y_0 = s'x/k and y_i = 2x_i - y_0 (all of {y : a'y = 0} is reached),
y'(Diag(d) - C)y = 4 x'Nx; so the optimal d of the relaxation needs no shift.

In floating point w is rounded, so x'(N + Q)x is not quite kt but the sum over S of
t_i = d_i - 2k w_i: at most the k largest of them, or k max(t_i / s_i) where sizes
differ. The matrix A that is formed differs from N + hI by rounding, |A - N - hI| <= E
entry by entry. If Cholesky runs to completion on A, A + D is semidefinite with
|D_ij| <= c sqrt(A_ii A_jj), c some 2(n+8) 2^-53 (`cholesky`), so

    x'(N + hI)x >= - sum of E over S x S - c (sum of sqrt(A_ii) over S)^2,

and both sums are bounded over all S by their u largest terms.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.linalg import get_blas_funcs

from certselect.certificate.cholesky import factorised, hidden_part
from certselect.certificate.counting import check_sizes, unit_counts
from certselect.certificate.rounding import UNDERFLOW, UNIT, largest, order_of, round_up, sum_of_largest
from certselect.certificate.slack_matrix import slack_matrix, slack_weights
from certselect.errors import InvalidInput
from certselect.threads import SMALL, one_blas_thread

(dsymv,) = get_blas_funcs(("symv",), dtype=np.float64)

# Multipliers this far beyond the matrix cannot give a useful bound and might overflow.
LARGEST_RATIO = 1e100
# Stop refining the shift once it costs no more than this part of the bound.
SHIFT_LOSS = 1e-10
MAX_FACTORISATIONS = 12
BLOCK = 512
# Up to this size zeros are worth a factorisation too. Of more features they mean that time was too short to solve
# anything, and so it is for seconds of linear algebra.
ZEROS_UP_TO = 4000

BY_ROW_SUMS = "the k largest sums of k entries of a row"
BY_CHOLESKY = "a Cholesky factorisation of the slack matrix, its rounding errors counted"
BY_COUNTING = "there is nothing to choose"


@dataclass(frozen=True)
class ProvedBound:
    """An upper bound on x'Qx over all subsets, how it was shown, and the shift that took."""

    bound: float
    shown_by: str
    shift: float = 0.0


def upper_bound(Q: np.ndarray, k: int, multipliers: np.ndarray, sizes: np.ndarray | None = None) -> float:
    """A number no subset's x'Qx exceeds, whatever the multipliers (n+1,) are."""
    return prove_bound(Q, k, multipliers, sizes).bound


def prove_bound(Q: np.ndarray, k: int, multipliers: np.ndarray, sizes: np.ndarray | None = None) -> ProvedBound:
    """Bound x'Qx over all 0/1 vectors x with sizes'x = k (sizes all 1 if not given).

    The better of two bounds: from the multipliers by Cholesky, and from row sums alone. Of many
    features, where all multipliers are 0, the latter.
    With `sizes`, k may be 0 (nothing is chosen, which is worth 0), and where the sizes are
    seen not to add up to k the bound is -inf.
    """
    Q, d = np.asarray(Q), np.asarray(multipliers, dtype=np.float64)
    s = None if sizes is None else np.asarray(sizes)
    _check(Q, k, d, s)
    if k == 0:
        return ProvedBound(0.0, BY_COUNTING)
    counts = unit_counts(k, s)
    if counts.fewest > counts.most:
        return ProvedBound(-math.inf, BY_COUNTING)
    proved = ProvedBound(row_sum_bound(Q, k, s), BY_ROW_SUMS)
    magnitude = largest(Q)
    scale = order_of(magnitude)
    enough = counts.fewest == len(Q) or (k == 1 if s is None else bool((s == k).all()))
    enough = enough or (len(Q) > ZEROS_UP_TO and not d.any())
    if not enough and magnitude > 0.0 and np.isfinite(d).all() and np.abs(d).max() <= LARGEST_RATIO * scale:
        with one_blas_thread(len(Q) <= SMALL):
            bound, shift = _cholesky_bound(Q, k, d / scale, scale, s)
        if bound * scale < proved.bound:
            proved = ProvedBound(math.nextafter(bound * scale, math.inf), BY_CHOLESKY, shift * scale)
    return proved


def row_sum_bound(Q: np.ndarray, k: int, sizes: np.ndarray | None = None) -> float:
    """Entry i of a subset adds at most Q_ii plus the largest other entries of its row.

    Where a subset may have anything from `fewest` to `most` entries, the first `fewest`
    of them count as they are and the rest only if positive. The largest of these sums
    are a bound, counted likewise; it is exact for subsets of one entry and of all.
    """
    n = len(Q)
    fewest, most = unit_counts(k, sizes)
    rows = np.empty(n)
    with np.errstate(over="ignore", invalid="ignore"):
        for top in range(0, n, BLOCK):
            block = np.array(Q[top : top + BLOCK], dtype=np.float64)
            own = np.arange(len(block))
            on_diagonal = block[own, top + own].copy()
            block[own, top + own] = -np.inf
            if most < n:
                block.partition(sorted({n - most, n - fewest}), axis=1)
            else:
                block.sort(axis=1)
            optional = block[:, n - most + 1 : n - fewest + 1]
            np.maximum(optional, 0.0, out=optional)
            best = block[:, n - most + 1 :]
            slack = 2 * (most - 1) * UNIT * (np.abs(best).sum(axis=1) + np.abs(on_diagonal))
            rows[top : top + BLOCK] = best.sum(axis=1) + on_diagonal + slack
    if not np.isfinite(rows).all():
        return math.inf
    rows.sort()
    return round_up(np.concatenate([np.maximum(rows[n - most : n - fewest], 0.0), rows[n - fewest :]]))


def _cholesky_bound(
    Q: np.ndarray, k: int, d: np.ndarray, scale: float, sizes: np.ndarray | None
) -> tuple[float, float]:
    """(bound, shift) for Q / scale: the smallest shift found for which Cholesky runs to completion."""
    n, p, most = len(Q), d[1:], unit_counts(k, sizes).most
    w = slack_weights(d, k, sizes)
    constants = p - 2 * k * w + 4 * UNIT * (np.abs(p) + 2 * k * np.abs(w))
    if sizes is None:
        constant = sum_of_largest(constants, k)
    else:
        highest = float((constants / sizes).max())
        constant = k * (highest + 4 * UNIT * abs(highest))
    slack = slack_matrix(Q, d, w, sizes, scale=scale)
    diagonal = slack.diagonal().copy()
    # Entries of |ws' + sw'| over S x S sum to 2k times those of |w| over S; those of |Q| / scale are below 1.
    formed = 2 * k * sum_of_largest(np.abs(w), most) + sum_of_largest(np.abs(p), most) + 2.0 * most * most
    roundings = 4 if sizes is None else 5
    hidden = hidden_part(n)

    def attempt(shift: float) -> float:
        """The bound this shift proves; inf where Cholesky breaks down."""
        shifted = diagonal + shift
        if shifted.min() <= 0.0:
            return math.inf
        if factorised(slack, shifted) is None:
            return math.inf
        rounding = roundings * UNIT * (formed + most * shift)
        rounding += hidden * sum_of_largest(np.sqrt(shifted), most) ** 2 * (1 + 8 * UNIT)
        return round_up([constant, most * shift * (1 + 2 * UNIT), rounding * (1 + 8 * UNIT), UNDERFLOW])

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
        if not most * (shift - failed) > SHIFT_LOSS * abs(bound):
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


def _lowest_eigenvalue(matrix: np.ndarray) -> float:
    """An estimate from above of the smallest eigenvalue, by Lanczos; 0 where it finds none."""
    n = len(matrix)
    if n < 32:
        return float(np.linalg.eigvalsh(matrix)[0])
    # Here: loading it takes longer than a small problem.
    from scipy.sparse.linalg import ArpackError, LinearOperator, eigsh

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


def _check(Q: np.ndarray, k: int, d: np.ndarray, sizes: np.ndarray | None) -> None:
    if Q.ndim != 2 or Q.shape[0] != Q.shape[1] or not math.isfinite(largest(Q)):  # without another array as large
        raise InvalidInput(f"a matrix of shape {Q.shape}", "a finite square one", "Pass the matrix of the problem.")
    check_sizes(len(Q), k, sizes)
    if d.shape != (len(Q) + 1,):
        raise InvalidInput(
            f"multipliers of shape {d.shape}", f"({len(Q) + 1},)", "Pass one for each feature and one in front of them."
        )
