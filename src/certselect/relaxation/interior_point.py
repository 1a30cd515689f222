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

Copies (see `programme`) are merged first. A class of m > 1 of them has diag(Y) + s = m with
a slack s >= 0, and z = d - apart >= 0 in the dual. The full matrix has m - 1 eigenvalues
there, so zs = (m - 1) mu keeps to the path that Y would take unmerged; s adds
s/z to the Schur matrix's diagonal and (m - 1) mu/z to the right-hand side, m for e.

Work of an iteration, with N = n + 1: three Cholesky factorisations (Y, Z, Schur)
and one inverse from a factor, N^3/3 each but for the inverse's 2N^3/3; two solves with N
right-hand sides, 2N^3 each (4N^3 on a GPU); some thirty passes over N x N entries. Step lengths by Lanczos.
On a GPU (see `arrays`) the factors of Y and Z are inverted, N^3 each, for Lanczos's sake.
Memory: nine N x N matrices in double precision, and on a GPU two more for a moment.
Matrices are where `arrays` computes; vectors of N entries are NumPy's, and travel.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from certselect.clock import Stopwatch, TimeLimit
from certselect.relaxation.arrays import CPU, Arrays
from certselect.relaxation.face import dual_slack, project
from certselect.relaxation.lanczos import longest_step
from certselect.relaxation.programme import Copies, Programme
from certselect.relaxation.result import Callback, Iterate, Relaxation, Status

SHORTEST_STEP = 1e-4
MAX_FRUITLESS = 6
# What diag(Y) may still miss of e when sizes differ: then the start misses it, and steps make it good.
DIAGONAL_MISS = 1e-7
# A stop before the tolerance still counts as nearly solved within this factor of it.
NEARLY = 1e3


@dataclass
class _Point:
    """An iterate: Y and its factor, s, d, and the factor of its slack Z (both with aa' added, ready for vectors)."""

    Y: Any
    Y_factor: Any
    s: np.ndarray
    d: np.ndarray
    Z_factor: Any

    def gap(self, of: Programme) -> float:
        """<Z, Y> + z's, which is what the dual value is above the primal one."""
        z = self.d[of.several] - of.apart
        return float(self.d @ _diagonal(self.Y, of)) - of.arrays.inner(of.K, self.Y) + float(z @ self.s)

    def diagonal_miss(self, of: Programme) -> float:
        """What an entry of the unmerged diagonal misses of 1 at most."""
        filled = _diagonal(self.Y, of)
        filled[of.several] += self.s
        return float(np.abs(filled / of.counts - 1.0).max())


class _Stalled(Exception):
    """No further progress in floating point."""


def _diagonal(M: Any, programme: Programme) -> np.ndarray:
    """A copy of the diagonal, as NumPy's."""
    arrays = programme.arrays
    return arrays.fetched(arrays.diagonal(M).copy())


def interior_point(
    Q: np.ndarray,
    k: int,
    *,
    floor: float,
    tol: float,
    limit: TimeLimit,
    max_iterations: int,
    sizes: np.ndarray | None = None,
    copies: Copies | None = None,
    callback: Callback | None = None,
    start: tuple[np.ndarray, np.ndarray] | None = None,
    arrays: Arrays = CPU,
) -> Relaxation:
    """Solve to (dual - primal) <= tol * max(|primal|, floor), for 1 <= k <= sum(sizes) - 1 and Q of order one.

    `start` is a pair (Y, d), Y strictly inside the face; `Programme.inside` and 0 if not given.
    `copies` of Q (and of one size) are merged. `arrays` is where to compute.
    """
    watch = Stopwatch()
    programme = Programme.of(Q, k, sizes, copies, arrays)
    point = _starting_point(programme, start)
    work = [arrays.xp.empty_like(programme.K) for _ in range(5)]
    first = arrays.at_hand(np.random.default_rng(0).standard_normal(len(programme.K)))

    best_d, best_gap = point.d, np.inf
    status, iteration, fruitless = Status.STOPPED_BY_ITERATIONS, 0, 0
    primal = dual = 0.0
    longest = watch.seconds  # the start, which takes about as long as an iteration
    while True:
        iteration_watch = Stopwatch()
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
        if longest >= limit.left:
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
        longest = max(longest, iteration_watch.seconds)

    return Relaxation(
        k=k,
        multipliers=programme.unmerged_multipliers(best_d),
        primal_value=primal / 4,
        dual_value=dual / 4,
        diagonal_residual=point.diagonal_miss(programme),
        face_residual=float(abs(arrays.times(point.Y, arrays.at_hand(programme.normal))).max()),
        iterations=iteration,
        seconds=watch.seconds,
        status=status,
        method="interior_point",
        dense=programme.unmerged_matrix(point.Y, point.s),
    )


def _starting_point(programme: Programme, start: tuple[np.ndarray, np.ndarray] | None) -> _Point:
    """The pair given (else one inside the face and 0), d raised evenly until its slack is well inside."""
    xp, K, several = programme.arrays.xp, programme.K, programme.several
    Y_factor, Z_factor = xp.empty_like(K), xp.empty_like(K)
    d = np.zeros(len(K)) if start is None else programme.merged_multipliers(start[1])
    Y, s = programme.inside() if start is None else programme.merged_matrix(start[0])
    if not (s > 0.0).all() or not _factor_primal(Y, programme, Y_factor):
        Y, s = programme.inside()
        _factor_primal(Y, programme, Y_factor)
    d = d + max(_lacking(d, programme), float((programme.apart - d[several]).max(initial=-np.inf)))
    margin = max(0.1 * float(np.mean(d - _diagonal(K, programme))), 1e-6 * max(float(K.max()), -float(K.min())))
    d += margin
    while not _factor_dual(d, programme, Z_factor):
        margin *= 2.0
        d += margin
    for factor in (Y_factor, Z_factor):
        programme.arrays.ready_for_vectors(factor)
    return _Point(Y, Y_factor, s, d, Z_factor)


def _lacking(d: np.ndarray, programme: Programme) -> float:
    """About what Z needs to be added to, evenly, to become semidefinite; by Lanczos.

    With S = I the longest step along Z is -1 over its smallest eigenvalue.
    """
    arrays, K = programme.arrays, programme.K
    Z = arrays.xp.empty_like(K)
    dual_slack(arrays.at_hand(d), K, arrays.at_hand(programme.normal), Z, arrays)
    first = arrays.at_hand(np.random.default_rng(1).standard_normal(len(K)))
    longest = 1e3 * len(K) / max(float(arrays.xp.linalg.norm(K)), 1e-300)
    identity = arrays.xp.zeros_like(K)
    arrays.diagonal(identity)[:] = 1.0
    return 1.0 / longest_step(identity, lambda v: arrays.times(Z, v), first, longest, arrays)


def _factor_primal(Y: Any, programme: Programme, out: Any) -> bool:
    arrays = programme.arrays
    arrays.xp.copyto(out, Y)
    arrays.add_square(out, arrays.at_hand(programme.normal))
    return arrays.factor(out)


def _factor_dual(d: np.ndarray, programme: Programme, out: Any) -> bool:
    if not (d[programme.several] > programme.apart).all():
        return False
    arrays = programme.arrays
    dual_slack(arrays.at_hand(d), programme.K, arrays.at_hand(programme.normal), out, arrays)
    return arrays.factor(out)


def _advance(point: _Point, programme: Programme, gap: float, work: list[Any], first: Any) -> None:
    """One predictor-corrector iteration, in place."""
    G, schur, scaled, dY, solved = work
    arrays, K, several = programme.arrays, programme.K, programme.several
    xp, normal = arrays.xp, arrays.at_hand(programme.normal)
    Y, s, d = point.Y, point.s, point.d
    z = d[several] - programme.apart
    mu = gap / (float(programme.counts.sum()) - 1.0)

    _inverse_on_face(point.Z_factor, normal, G, arrays)
    ratios = np.zeros(len(d))
    ratios[several] = s / z
    _factor_schur(G, Y, arrays.at_hand(ratios), schur, arrays)
    centre = _diagonal(G, programme)
    centre[several] += programme.multiplicity / z

    def solve(rhs: np.ndarray) -> np.ndarray:
        step = arrays.fetched(arrays.solve(schur, arrays.at_hand(rhs)))
        if not np.isfinite(step).all():
            raise _Stalled
        return step

    def steps(ds: np.ndarray, dd: np.ndarray, keep: float) -> tuple[float, float]:
        """Primal and dual step: the fraction `keep` of the way to the boundary, at most 1."""
        change = arrays.at_hand(dd)

        def slack_product(v: Any) -> Any:
            w = change * (v - (normal @ v) * normal)
            return w - (normal @ w) * normal

        primal = longest_step(point.Y_factor, lambda v: arrays.times(dY, v), first, 1.0 / keep, arrays)
        dual = longest_step(point.Z_factor, slack_product, first, 1.0 / keep, arrays)
        return keep * min(primal, _to_zero(s, ds)), keep * min(dual, _to_zero(z, dd[several]))

    # Predictor: straight at the optimum.
    dd_p = solve(-programme.counts)
    ds_p = -s - s / z * dd_p[several]
    by_rows = arrays.at_hand(dd_p)[:, None]
    xp.multiply(Y, by_rows, out=scaled)
    # Ga = 0, so this changes nothing but rounding: where k is a small part of n, dd_0 is thousands of times as large
    # as the others, a is nearly the first unit vector, and what dd_0 brings would cancel in the product only.
    arrays.remove_from_columns(scaled, normal)
    # Not by a product with G, which is as large as N/mu along one direction there, and would spread the rounding
    # errors of that one over all: solving leaves them where Y is large too and they do no harm.
    arrays.minus_symmetric_solve(point.Z_factor, scaled, solved, dY)
    dY -= Y
    # G grows like 1/mu: unless what rounding put off the face is removed each time, it ends the progress early.
    project(dY, normal, arrays)
    primal_p, dual_p = steps(ds_p, dd_p, 1.0)
    primal_change = float(d @ _diagonal(dY, programme)) - arrays.inner(K, dY) + float(z @ ds_p)
    dual_change = float(dd_p @ _diagonal(Y, programme)) + float(dd_p[several] @ s)
    gap_p = gap + dual_p * dual_change + primal_p * primal_change
    shortest = min(primal_p, dual_p)
    exponent = max(1.2, 3.0 * shortest**2)
    mu_next = mu * max(min(1.0, max(gap_p, 0.0) / gap) ** exponent, 1e-6)

    # Corrector: towards mu_next on the central path, with the predictor's second-order term.
    scaled_p = xp.multiply(dY, by_rows, out=dY)
    arrays.remove_from_columns(scaled_p, normal)
    second_order = arrays.fetched(arrays.column_products(G, dY))
    of_slacks = dd_p[several] * ds_p / z
    second_order[several] += of_slacks
    dd = solve(mu_next * centre - programme.counts - second_order)
    ds = mu_next * programme.multiplicity / z - s - of_slacks - s / z * dd[several]
    xp.multiply(Y, arrays.at_hand(dd)[:, None], out=scaled)
    arrays.remove_from_columns(scaled, normal)
    scaled += scaled_p
    arrays.minus_symmetric_solve(point.Z_factor, scaled, solved, dY)
    dY -= Y
    G *= mu_next
    dY += G
    project(dY, normal, arrays)
    primal_step, dual_step = steps(ds, dd, 0.9 + 0.09 * shortest)
    _move(point, programme, (dY, ds, dd), primal_step, dual_step, spare=(scaled, G))


def _to_zero(values: np.ndarray, change: np.ndarray) -> float:
    """The largest t for which values + t change stay >= 0."""
    falling = change < 0.0
    return float((values[falling] / -change[falling]).min(initial=np.inf))


def _move(
    point: _Point,
    programme: Programme,
    direction: tuple[Any, np.ndarray, np.ndarray],
    primal_step: float,
    dual_step: float,
    spare: tuple[Any, Any],
) -> None:
    """Take both steps, shortened until Cholesky agrees; no step at all on both sides is a stall."""
    arrays = programme.arrays
    trial, factor = spare
    dY, ds, dd = direction
    moved = False
    while primal_step > SHORTEST_STEP:
        arrays.xp.multiply(dY, primal_step, out=trial)
        trial += point.Y
        if _factor_primal(trial, programme, factor):
            arrays.xp.copyto(point.Y, trial)
            project(point.Y, arrays.at_hand(programme.normal), arrays)
            arrays.ready_for_vectors(factor)
            arrays.xp.copyto(point.Y_factor, factor)
            point.s = point.s + primal_step * ds
            moved = True
            break
        primal_step *= 0.8
    while dual_step > SHORTEST_STEP:
        d = point.d + dual_step * dd
        if _factor_dual(d, programme, factor):
            point.d = d
            arrays.ready_for_vectors(factor)
            arrays.xp.copyto(point.Z_factor, factor)
            moved = True
            break
        dual_step *= 0.8
    if not moved:
        raise _Stalled


def _inverse_on_face(factor: Any, normal: Any, out: Any, arrays: Arrays) -> None:
    """(LL')^-1 - aa': the inverse on the face of what was factored with aa' added."""
    if not arrays.inverse(factor, out):
        raise _Stalled
    project(out, normal, arrays)  # which takes aa' away too


def _factor_schur(G: Any, Y: Any, ratios: Any, out: Any, arrays: Arrays) -> None:
    """Cholesky of the Schur matrix G o Y + Diag(ratios), with the smallest ridge that lets it through.

    Degenerate optima make it numerically singular near the end; the ridge bends the
    direction a little, the step lengths stay safe.
    """
    for ridge in (0.0, 1e-15, 1e-13, 1e-11, 1e-9):
        arrays.xp.multiply(G, Y, out=out)
        diagonal = arrays.diagonal(out)
        diagonal += ratios
        diagonal *= 1.0 + ridge
        if arrays.factor(out):
            return
    raise _Stalled
