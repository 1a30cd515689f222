"""The relaxation by a primal-dual interior-point method made for a unit diagonal.

On the face (see `face`) the pair of problems is, with K = PCP,

    maximise <K, Y>   subject to  diag(Y) = e,  Y psd on the face,
    minimise sum(d)   subject to  Z = P Diag(d) P - K psd on the face.

Both have interior points at hand, so every iterate is feasible on both sides and
every d along the way gives a bound. The direction is that of Helmberg, Rendl,
Vanderbei and Wolkowicz (1996): linearise ZY = mu I as

    dY = mu G - Y - sym(G Diag(dd) Y),      G = Z^-1 on the face,

and ask for diag(dY) = e - diag(Y): the multipliers' step solves the Schur system

    (G o Y) dd = mu diag(G) - e             (o: entry by entry).

Mehrotra's predictor (mu = 0) measures how much the gap can fall at once, sets mu
from that, and adds sym(G Diag(dd_p) dY_p) as second-order correction.

Copies (see `copies`) are merged first. A class of m > 1 of them has diag(Y) + s = m with
a slack s >= 0, and z = d - apart >= 0 in the dual. The full matrix has m - 1 eigenvalues
there, so zs = (m - 1) mu keeps to the path that Y would take unmerged; s adds
s/z to the Schur matrix's diagonal and (m - 1) mu/z to the right-hand side, m for e.

Work of an iteration, with N = n + 1: three Cholesky factorisations (Y, Z, Schur)
and one inverse from a factor, N^3/3 each but for the inverse's 2N^3/3; two matrix
products of 2N^3; some thirty passes over N x N entries. Step lengths by Lanczos.
All products go through SciPy's BLAS: NumPy carries another copy of the library,
whose waiting threads would compete for the same cores.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np
from scipy.linalg import get_blas_funcs, get_lapack_funcs

from certselect.relaxation.copies import Copies
from certselect.relaxation.face import diagonal, dual_slack, inner, project
from certselect.relaxation.programme import Programme
from certselect.relaxation.result import Callback, Iterate, Relaxation, Status
from certselect.relaxation.step_length import longest_step

dgemm, dsymv, dsyr = get_blas_funcs(("gemm", "symv", "syr"), dtype=np.float64)
dpotrf, dpotri, dpotrs = get_lapack_funcs(("potrf", "potri", "potrs"), dtype=np.float64)

SHORTEST_STEP = 1e-4
MAX_FRUITLESS = 6
# What diag(Y) may still miss of e when sizes differ: then the start misses it, and steps make it good.
DIAGONAL_MISS = 1e-7
# A stop before the tolerance still counts as nearly solved within this factor of it.
NEARLY = 1e3
BLOCK = 128
ABOVE = ~np.tri(BLOCK, dtype=bool)


@dataclass
class _Point:
    """An iterate: Y and its factor, s, d, and the factor of its slack Z (both with aa' added)."""

    Y: np.ndarray
    Y_factor: np.ndarray
    s: np.ndarray
    d: np.ndarray
    Z_factor: np.ndarray

    def gap(self, of: Programme) -> float:
        """<Z, Y> + z's, which is what the dual value is above the primal one."""
        z = self.d[of.several] - of.apart
        return float(self.d @ diagonal(self.Y)) - inner(of.K, self.Y) + float(z @ self.s)

    def diagonal_miss(self, of: Programme) -> float:
        """What an entry of the unmerged diagonal misses of 1 at most."""
        filled = diagonal(self.Y).copy()
        filled[of.several] += self.s
        return float(np.abs(filled / of.counts - 1.0).max())


class _Stalled(Exception):
    """No further progress in floating point."""


def interior_point(
    Q: np.ndarray,
    k: int,
    *,
    floor: float,
    tol: float,
    max_seconds: float,
    max_iterations: int,
    sizes: np.ndarray | None = None,
    copies: Copies | None = None,
    callback: Callback | None = None,
    start: tuple[np.ndarray, np.ndarray] | None = None,
) -> Relaxation:
    """Solve to (dual - primal) <= tol * max(|primal|, floor), for 1 <= k <= sum(sizes) - 1 and Q of order one.

    `start` is a pair (Y, d), Y strictly inside the face; `Programme.inside` and 0 if not given.
    `copies` of Q are merged; with `sizes` there must be none.
    """
    began = time.perf_counter()
    programme = Programme.of(Q, k, sizes, copies)
    point = _starting_point(programme, start)
    work = [np.empty_like(programme.K) for _ in range(5)]
    first = np.random.default_rng(0).standard_normal(len(programme.K))

    best_d, best_gap = point.d, np.inf
    status, iteration, fruitless = Status.STOPPED_BY_ITERATIONS, 0, 0
    primal = dual = longest = 0.0
    while True:
        iteration_began = time.perf_counter()
        gap = point.gap(programme)
        if point.d @ programme.counts <= best_d @ programme.counts:
            best_d = point.d
        dual = float(best_d @ programme.counts)
        # <Z, Y> rather than <K, Y>: corrects for what diag(Y) misses of e.
        primal = float(point.d @ programme.counts) - gap
        if callback is not None:
            callback(Iterate(iteration, programme.unmerged_multipliers(best_d), primal / 4, dual / 4))
        feasible = sizes is None or point.diagonal_miss(programme) <= DIAGONAL_MISS
        if feasible and dual - primal <= tol * max(abs(primal), 4 * floor):
            status = Status.SOLVED
            break
        fruitless = 0 if gap < 0.9 * best_gap else fruitless + 1
        best_gap = min(gap, best_gap)
        if iteration >= max_iterations:
            break
        # What would end behind the limit is not begun.
        if time.perf_counter() - began + longest >= max_seconds:
            status = Status.STOPPED_BY_TIME
            break
        try:
            if fruitless > MAX_FRUITLESS:
                raise _Stalled
            _advance(point, programme, gap, work, first)
        except _Stalled:
            close = feasible and dual - primal <= NEARLY * tol * max(abs(primal), 4 * floor)
            status = Status.NEARLY_SOLVED if close else Status.NUMERICAL_TROUBLE
            break
        iteration += 1
        longest = max(longest, time.perf_counter() - iteration_began)

    return Relaxation(
        k=k,
        multipliers=programme.unmerged_multipliers(best_d),
        primal_value=primal / 4,
        dual_value=dual / 4,
        diagonal_residual=point.diagonal_miss(programme),
        face_residual=float(np.abs(dsymv(1.0, point.Y, programme.normal, lower=1)).max()),
        iterations=iteration,
        seconds=time.perf_counter() - began,
        status=status,
        method="interior_point",
        dense=programme.unmerged_matrix(point.Y, point.s),
    )


def _starting_point(programme: Programme, start: tuple[np.ndarray, np.ndarray] | None) -> _Point:
    """The pair given (else one inside the face and 0), d raised evenly until its slack is well inside."""
    K, normal, several = programme.K, programme.normal, programme.several
    Y, d = (programme.inside(), np.zeros(len(K))) if start is None else programme.merged(*start)
    Y_factor, Z_factor = np.empty_like(K), np.empty_like(K)
    s = (programme.counts - diagonal(Y))[several]
    if not (s > 0.0).all() or not _factor_primal(Y, normal, Y_factor):
        Y = programme.inside()
        s = (programme.counts - diagonal(Y))[several]
        _factor_primal(Y, normal, Y_factor)
    d = d + max(_lacking(d, K, normal), float((programme.apart - d[several]).max(initial=-np.inf)))
    margin = max(0.1 * float(np.mean(d - diagonal(K))), 1e-6 * float(np.abs(K).max()))
    d += margin
    while not _factor_dual(d, programme, Z_factor):
        margin *= 2.0
        d += margin
    return _Point(Y, Y_factor, s, d, Z_factor)


def _lacking(d: np.ndarray, K: np.ndarray, normal: np.ndarray) -> float:
    """About what Z needs to be added to, evenly, to become semidefinite; by Lanczos.

    With S = I the longest step along Z is -1 over its smallest eigenvalue.
    """
    Z = np.empty_like(K)
    dual_slack(d, K, normal, Z)
    first = np.random.default_rng(1).standard_normal(len(K))
    longest = 1e3 * len(K) / max(float(np.linalg.norm(K)), 1e-300)
    identity = np.eye(len(K), order="F")
    return 1.0 / longest_step(identity, lambda v: dsymv(1.0, Z, v, lower=1), first, longest)


def _factor_primal(Y: np.ndarray, normal: np.ndarray, out: np.ndarray) -> bool:
    np.copyto(out, Y)
    dsyr(1.0, normal, a=out, lower=1, overwrite_a=1)
    return dpotrf(out, lower=1, clean=0, overwrite_a=1)[1] == 0


def _factor_dual(d: np.ndarray, programme: Programme, out: np.ndarray) -> bool:
    if not (d[programme.several] > programme.apart).all():
        return False
    dual_slack(d, programme.K, programme.normal, out)
    return dpotrf(out, lower=1, clean=0, overwrite_a=1)[1] == 0


def _advance(point: _Point, programme: Programme, gap: float, work: list[np.ndarray], first: np.ndarray) -> None:
    """One predictor-corrector iteration, in place."""
    G, schur, scaled, dY, product = work
    K, normal, several = programme.K, programme.normal, programme.several
    Y, s, d = point.Y, point.s, point.d
    z = d[several] - programme.apart
    mu = gap / (float(programme.counts.sum()) - 1.0)

    _inverse_on_face(point.Z_factor, normal, G)
    _factor_schur(G, Y, several, s / z, schur)
    centre = diagonal(G).copy()
    centre[several] += programme.multiplicity / z

    def solve(rhs: np.ndarray) -> np.ndarray:
        step = dpotrs(schur, rhs, lower=1)[0]
        if not np.isfinite(step).all():
            raise _Stalled
        return step

    def steps(ds: np.ndarray, dd: np.ndarray, keep: float) -> tuple[float, float]:
        """Primal and dual step: the fraction `keep` of the way to the boundary, at most 1."""

        def slack_product(v: np.ndarray) -> np.ndarray:
            w = dd * (v - (normal @ v) * normal)
            return w - (normal @ w) * normal

        primal = longest_step(point.Y_factor, lambda v: dsymv(1.0, dY, v, lower=1), first, 1.0 / keep)
        dual = longest_step(point.Z_factor, slack_product, first, 1.0 / keep)
        return keep * min(primal, _to_zero(s, ds)), keep * min(dual, _to_zero(z, dd[several]))

    # Predictor: straight at the optimum.
    dd_p = solve(-programme.counts)
    ds_p = -s - s / z * dd_p[several]
    np.multiply(Y, dd_p[:, None], out=scaled)
    _minus_symmetric_product(G, scaled, product, dY)
    dY -= Y
    # G grows like 1/mu: unless what rounding put off the face is removed each time, it ends the progress early.
    project(dY, normal)
    primal_p, dual_p = steps(ds_p, dd_p, 1.0)
    primal_change = float(d @ diagonal(dY)) - inner(K, dY) + float(z @ ds_p)
    dual_change = float(dd_p @ diagonal(Y)) + float(dd_p[several] @ s)
    gap_p = gap + dual_p * dual_change + primal_p * primal_change
    shortest = min(primal_p, dual_p)
    exponent = max(1.2, 3.0 * shortest**2)
    mu_next = mu * max(min(1.0, max(gap_p, 0.0) / gap) ** exponent, 1e-6)

    # Corrector: towards mu_next on the central path, with the predictor's second-order term.
    scaled_p = np.multiply(dY, dd_p[:, None], out=dY)
    second_order = np.einsum("ji,ji->i", G, dY)
    of_slacks = dd_p[several] * ds_p / z
    second_order[several] += of_slacks
    dd = solve(mu_next * centre - programme.counts - second_order)
    ds = mu_next * programme.multiplicity / z - s - of_slacks - s / z * dd[several]
    np.multiply(Y, dd[:, None], out=scaled)
    scaled += scaled_p
    _minus_symmetric_product(G, scaled, product, dY)
    dY -= Y
    G *= mu_next
    dY += G
    project(dY, normal)
    primal_step, dual_step = steps(ds, dd, 0.9 + 0.09 * shortest)
    _move(point, programme, (dY, ds, dd), primal_step, dual_step, spare=(scaled, G))


def _to_zero(values: np.ndarray, change: np.ndarray) -> float:
    """The largest t for which values + t change stay >= 0."""
    falling = change < 0.0
    return float((values[falling] / -change[falling]).min(initial=np.inf))


def _move(
    point: _Point,
    programme: Programme,
    direction: tuple[np.ndarray, np.ndarray, np.ndarray],
    primal_step: float,
    dual_step: float,
    spare: tuple[np.ndarray, np.ndarray],
) -> None:
    """Take both steps, shortened until Cholesky agrees; no step at all on both sides is a stall."""
    trial, factor = spare
    dY, ds, dd = direction
    moved = False
    while primal_step > SHORTEST_STEP:
        np.multiply(dY, primal_step, out=trial)
        trial += point.Y
        if _factor_primal(trial, programme.normal, factor):
            np.copyto(point.Y, trial)
            project(point.Y, programme.normal)
            np.copyto(point.Y_factor, factor)
            point.s = point.s + primal_step * ds
            moved = True
            break
        primal_step *= 0.8
    while dual_step > SHORTEST_STEP:
        d = point.d + dual_step * dd
        if _factor_dual(d, programme, factor):
            point.d = d
            np.copyto(point.Z_factor, factor)
            moved = True
            break
        dual_step *= 0.8
    if not moved:
        raise _Stalled


def _inverse_on_face(factor: np.ndarray, normal: np.ndarray, out: np.ndarray) -> None:
    """(LL')^-1 - aa', both triangles: the inverse on the face of what was factored with aa' added."""
    np.copyto(out, factor)
    if dpotri(out, lower=1, overwrite_c=1)[1] != 0:
        raise _Stalled
    dsyr(-1.0, normal, a=out, lower=1, overwrite_a=1)
    for top in range(0, len(out), BLOCK):
        bottom = top + BLOCK
        out[top:bottom, bottom:] = out[bottom:, top:bottom].T
        corner = out[top:bottom, top:bottom]
        np.copyto(corner, corner.T.copy(), where=ABOVE[: len(corner), : len(corner)])
    project(out, normal)


def _factor_schur(G: np.ndarray, Y: np.ndarray, several: np.ndarray, ratios: np.ndarray, out: np.ndarray) -> None:
    """Cholesky of the Schur matrix G o Y + ratios, with the smallest ridge that lets it through.

    Degenerate optima make it numerically singular near the end; the ridge bends the
    direction a little, the step lengths stay safe.
    """
    for ridge in (0.0, 1e-15, 1e-13, 1e-11, 1e-9):
        np.multiply(G, Y, out=out)
        diagonal(out)[several] += ratios
        diagonal(out)[:] *= 1.0 + ridge
        if dpotrf(out, lower=1, clean=0, overwrite_a=1)[1] == 0:
            return
    raise _Stalled


def _minus_symmetric_product(A: np.ndarray, B: np.ndarray, product: np.ndarray, out: np.ndarray) -> None:
    """-(AB + B'A)/2 for symmetric A, into `out`; `product` is scratch."""
    dgemm(-0.5, A, B, c=product, overwrite_c=1)
    # By blocks: a transpose read across a whole matrix misses the cache at every entry.
    for left in range(0, len(A), BLOCK):
        right = left + BLOCK
        for top in range(0, len(A), BLOCK):
            bottom = top + BLOCK
            np.add(product[top:bottom, left:right], product[left:right, top:bottom].T, out=out[top:bottom, left:right])
