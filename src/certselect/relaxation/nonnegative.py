"""The relaxation with X >= 0 (doubly nonnegative): nearly exact, by alternating projections.

Products of 0/1 variables are nonnegative, which the plain relaxation forgets. With

    Y = [[1, x'], [x, X]],   diag(X) = x,   Y (k, -s)' = 0,   X >= 0,   X_ij = 0 for rivals,

(s the sizes of the units to choose from, 1 each as a rule) what is left of the gap to
the best subset is mostly below a thousandth. The method is the alternating direction
method of multipliers with facial reduction (Oliveira, Wolkowicz and Xu 2018): split Y = R,

    R = the part of M = Y + Z/beta that is positive semidefinite on the face Y (k, -s)' = 0,
    Z = Z + gamma beta (Y - R) = (1 - gamma) Z + gamma beta (M - R),
    Y = the point of the polytope nearest to R - (C + Z)/beta,       C = -[[0, 0], [0, Q]].

It starts from a subset x as the matrix vv', v = (1, x), and Z = 0: R then has a small rank
from the first iteration to the last, so it is kept as a factor, FF'. Q, Z and M are the only
matrices, in single precision where they are large, and an iteration passes over them once.

Z = beta (M - R) proves something whatever became of the rest: on the face y = (s'x/k, x), so

    N = -T'ZT,  T = [s'/k; I],  is semidefinite  and  x'Qx = x'(Q + N)x - x'Nx <= x'(Q + N)x,

from which `certificate.consequences` derives bounds. They need no convergence, and where N is not
quite semidefinite they count what it lacks, k times: so `positive_part` may follow the few largest eigenvalues
through the iterations of a round, but at its end has to find them all.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from certselect.clock import NO_LIMIT, Stopwatch, TimeLimit
from certselect.relaxation.arrays import CPU, Arrays
from certselect.relaxation.lanczos import lanczos
from certselect.relaxation.positive_part import PositivePart

STEPS_TO_LACK = 42  # of Lanczos, to see how far N is from semidefinite
ROUND = 25  # iterations between two looks at what they prove
# Below this size an eigendecomposition is as quick as the filter.
SMALLEST_TO_FILTER = 150
# Up to this size matrices are in double precision, and what is proved rests on an eigendecomposition.
LARGEST_IN_DOUBLE = 600
STEP = 1.6
SMALLEST_PENALTY = 1e-8
# In small problems relative residuals, primal and dual, further apart than this call for another penalty, by this
# factor, every so many iterations.
UNBALANCED = 2.0
BALANCE_EVERY = 10
BALANCE_STEP = 1.3
# In large ones rounds show what they bring: a gap that shrinks by less than this factor calls for another penalty,
# by that one.
SLOW = 0.8
BOLD_STEP = 3.0
LEAST_STEP = 1.5
BLOCK = 512


class Outlook(NamedTuple):
    """What a slack matrix is about to prove, not counting rounding: a bound, and how many units it decides."""

    bound: float
    decided: int


class _State(NamedTuple):
    """Where the iteration stood when it had proved most."""

    gap: float
    penalty: float
    Z: Any
    M: Any
    directions: Any


class Splitting:
    """The iteration's state for max x'Qx, s'x = k; Q of order one, 1 <= k < sum(s)."""

    def __init__(
        self,
        Q: np.ndarray,
        k: int,
        sizes: np.ndarray,
        never_both: np.ndarray | None = None,
        *,
        Y: Any,
        Z: Any,
        penalty: float,
        arrays: Arrays = CPU,
        directions: Any = None,
    ) -> None:
        """`never_both` marks pairs of rivals (m, m); Y, Z (None: 0) and the penalty are where to start."""
        self.arrays, self.k, self.sizes, self.penalty = arrays, k, sizes.astype(np.float64), penalty
        xp, m = arrays.xp, len(Q)
        self.dtype = np.float64 if m <= LARGEST_IN_DOUBLE else np.float32
        self.Q = xp.zeros((m + 1, m + 1), dtype=self.dtype)
        self.Q[1:, 1:] = arrays.held(Q, self.dtype)
        self.never_both = None if never_both is None else arrays.held(never_both, bool)
        normal = np.concatenate([[float(k)], -self.sizes])
        self._normal = arrays.held(normal / np.linalg.norm(normal), self.dtype)
        self._x = arrays.fetched(Y[0, 1:]).astype(np.float64)
        self.M = arrays.held(Y, self.dtype)
        self.Z = xp.zeros_like(self.M) if Z is None else arrays.held(Z, self.dtype)
        if Z is not None:
            self._add_to_matrix(1.0 / penalty)
        self._positive = PositivePart(self._product, m + 1, self.dtype, arrays)
        if directions is not None:
            self._positive.directions = arrays.held(directions, self.dtype)
        self._factor: Any = None
        self._iteration = 0
        self._took = self._last_took = 0.0  # seconds, of the latest iteration and of one that was a round's last
        self._best: _State | None = None
        self._change = BOLD_STEP
        self._learns = m > LARGEST_IN_DOUBLE

    @classmethod
    def from_subset(
        cls,
        Q: np.ndarray,
        k: int,
        sizes: np.ndarray,
        subset: np.ndarray,
        never_both: np.ndarray | None = None,
        *,
        arrays: Arrays = CPU,
    ) -> Splitting:
        """Start from a subset, as numbers x (m,) with sizes'x = k, and Z = 0."""
        v = np.concatenate([[1.0], subset])
        norm = math.sqrt(sum(arrays.by_rows(len(Q), len(Q), lambda rows: float(np.vdot(Q[rows], Q[rows])))))
        penalty = max(norm / float(v @ v), SMALLEST_PENALTY)
        single = v.astype(np.float32)
        Y = np.outer(v, v) if len(Q) <= LARGEST_IN_DOUBLE else np.outer(single, single)
        return cls(Q, k, sizes, never_both, Y=Y, Z=None, penalty=penalty, arrays=arrays)

    def restricted(
        self,
        Q: np.ndarray,
        k: int,
        sizes: np.ndarray,
        never_both: np.ndarray | None,
        kept: np.ndarray,
        taken: np.ndarray,
        arrays: Arrays,
    ) -> Splitting:
        """The same for the problem (Q, k, ...) that is left where `taken` are in for good and only `kept` are open."""
        if self._factor is not None:
            self._sweep()  # so that Y and Z are of the same moment
        xp, fetched = self.arrays.xp, self.arrays.fetched
        rows = xp.asarray(np.concatenate([[0], kept + 1]))
        Z = fetched(self.Z[rows[:, None], rows])
        Y = fetched(self.M[rows[:, None], rows]) - Z / self.dtype(self.penalty)
        if len(taken):
            # Their entries are those of y_0 from now on.
            joined = xp.zeros(len(self.Z), dtype=self.dtype)
            joined[xp.asarray(np.concatenate([[0], taken + 1]))] = 1.0
            row = self.Z @ joined
            Z[0] = Z[:, 0] = fetched(row[rows])
            Z[0, 0] = float(joined @ row)
        followed = self._positive.directions
        directions = None if followed is None else fetched(followed[rows])
        smaller = Splitting(
            Q, k, sizes, never_both, Y=Y, Z=Z, penalty=self.penalty, arrays=arrays, directions=directions
        )
        smaller._iteration = self._iteration
        if arrays is self.arrays:
            # Whatever passes over the matrices takes so much of the time that it took.
            part = (len(smaller.M) / len(self.M)) ** 2
            smaller._took, smaller._last_took = part * self._took, part * self._last_took
            smaller._positive.seconds_each = part * self._positive.seconds_each
        return smaller

    def _add_to_matrix(self, part: float) -> None:
        """M + part Z."""
        factor = self.dtype(part)

        def add(rows: slice) -> None:
            self.M[rows] += self.Z[rows] * factor

        self.arrays.by_rows(len(self.M), len(self.M), add)

    def advance(
        self, iterations: int, limit: TimeLimit = NO_LIMIT, callback: Callable[[int], None] | None = None
    ) -> None:
        """Iterate within the time limit; `callback` gets the number of iterations so far, after each.

        The last projection is a better one, so that Z proves what it can in the time that is left for it.
        """
        for left in range(iterations - 1, -1, -1):
            watch = Stopwatch()
            # One more iteration, and then the last, which takes as long as several others.
            to_come = self._took + max(self._last_took, self.least_seconds)
            last = left == 0 or limit.left <= to_come
            if self._factor is not None:
                self._sweep()
            self._project(last=last, limit=limit)
            self._iteration += 1
            if last:
                self._last_took = watch.seconds
            else:
                self._took = watch.seconds
            if callback is not None:
                callback(iterations - left)
            if last:
                return

    @property
    def least_seconds(self) -> float:
        """About how long it takes to advance by nothing but the last iteration of a round; 0 before the first."""
        return 2.0 * self._took + self._positive.seconds_to_look

    def _slack_rows(self, rows: slice) -> Any:
        """Of Z = beta (M - R)."""
        Z = self.M[rows] - self._factor[rows] @ self._factor.T
        Z *= self.dtype(self.penalty)
        return Z

    def slack(self) -> tuple[np.ndarray, np.ndarray]:
        """(N, w) for `certificate.consequences`: N nearly semidefinite, w the multipliers of s'x = k."""
        arrays, m, s = self.arrays, len(self.Q) - 1, self.sizes
        first = arrays.fetched(self._slack_rows(slice(0, 1))[0]).astype(np.float64)
        w = first[1:] / self.k + first[0] / (2.0 * self.k**2) * s
        N = np.empty((m, m))

        def fill(rows: slice) -> None:
            inner = slice(rows.start + 1, rows.stop + 1)
            N[rows] = arrays.fetched(self._slack_rows(inner)[:, 1:])
            N[rows] += np.outer(w[rows], s)
            N[rows] += np.outer(s[rows], w)

        arrays.by_rows(m, m, fill)
        for top in range(0, m, BLOCK):  # products of factors need not be symmetric in the last bit
            rows = slice(top, top + BLOCK)
            N[rows, top:] = -0.5 * (N[rows, top:] + N[top:, rows].T)
            N[top:, rows] = N[rows, top:].T
        return N, w

    def outlook(self, value: float) -> Outlook:
        """What `slack` is about to prove beside a subset of this value, where all sizes are 1 and nothing is rival."""
        xp, k, m = self.arrays.xp, self.k, len(self.Q) - 1
        first = self._slack_rows(slice(0, 1))[0]
        w = first[1:] / k + first[0] / (2.0 * k**2)
        lacking = self.lacking()

        def rows_of(rows: slice) -> Any:
            """B = Q - Z, -inf on the diagonal."""
            inner = slice(rows.start + 1, rows.stop + 1)
            B = self.Q[inner, 1:] - self._slack_rows(inner)[:, 1:]
            own = xp.arange(rows.start, rows.stop)
            return B, own - rows.start, own

        def look(rows: slice) -> Any:
            B, at, own = rows_of(rows)
            g = B[at, own] - 2.0 * k * w[rows]
            B[at, own] = -xp.inf
            best = xp.partition(B, [m - k, m - k + 1], axis=1)[:, m - k :]
            return xp.stack([g, best[:, 1], best[:, 1:].sum(axis=1)])

        g, least, sums = xp.concatenate(self.arrays.by_rows(m, m, look), axis=1)
        anywhere = float(xp.partition(g + sums, m - k)[m - k :].sum()) + lacking

        def look_in(rows: slice) -> Any:
            B, at, own = rows_of(rows)
            B[at, own] = -xp.inf
            lost = xp.maximum(B - least, 0.0)
            B *= 2.0
            B += g + sums - least
            B -= lost
            return g[rows] + xp.partition(B, m - k + 1, axis=1)[:, m - k + 1 :].sum(axis=1)

        if_in = xp.concatenate(self.arrays.by_rows(m, m, look_in)) if k > 1 else g
        return Outlook(anywhere, int((if_in + lacking < value).sum()))

    def lacking(self) -> float:
        """About how far x'Nx can be below 0 for a subset x, rather too much: N is not quite semidefinite."""
        m, F = len(self.Q) - 1, self._factor
        xp, s = self.arrays.xp, self.arrays.held(self.sizes / self.k, self.dtype)

        def product(v: Any) -> Any:
            y = xp.concatenate([(s @ v)[None], v])
            Zy = self.arrays.product(self.M, y) - F @ (F.T @ y)
            return -self.penalty * (Zy[1:] + s * Zy[0])

        values, residuals, _ = lanczos(product, m, STEPS_TO_LACK, self._iteration, self.dtype, self.arrays)
        return self.k * max(0.0, float(0.5 * residuals[0] - values[0]))

    @property
    def products(self) -> np.ndarray:
        """X (m, m): how far each pair of units is in."""
        Y = self.M[1:, 1:] - self.Z[1:, 1:] / self.dtype(self.penalty)
        return self.arrays.fetched(Y).astype(np.float64)

    @property
    def value(self) -> float:
        """<Q, X>."""
        return float(np.vdot(self.arrays.fetched(self.Q[1:, 1:]), self.products))

    @property
    def apart(self) -> float:
        """How far Y and R are from being one matrix, as a part of it."""
        Y = self.M - self.Z / self.dtype(self.penalty)
        norm = self.arrays.xp.linalg.norm
        return float(norm(Y - self._factor @ self._factor.T) / norm(Y))

    @property
    def membership(self) -> np.ndarray:
        """x: how far each unit is in."""
        return self._x

    def _sweep(self) -> None:
        """Z and Y anew from R, and M with them."""
        balance = self._iteration % BALANCE_EVERY == 0 and not self._learns
        xp, F = self.arrays.xp, self._factor
        Ft = xp.ascontiguousarray(F.T)
        beta, gamma = self.dtype(self.penalty), self.dtype(STEP)

        def pass_over(rows: slice) -> tuple[float, ...]:
            R, Z, M, Q = F[rows] @ Ft, self.Z[rows], self.M[rows], self.Q[rows]
            before = M - Z / beta if balance else None
            M -= R
            M *= gamma * beta
            Z *= 1 - gamma
            Z += M
            xp.subtract(Q, Z, out=M)
            M *= 1 / beta
            M += R
            Y = xp.clip(M, 0.0, 1.0, out=M)
            if self.never_both is not None:
                inner = slice(max(rows.start, 1), rows.stop)
                Y[inner.start - rows.start :, 1:][self.never_both[inner.start - 1 : inner.stop - 1]] = 0.0
            sums: tuple[Any, ...] = ()
            if before is not None:
                R -= before
                moved = before - Y
                sums = tuple(xp.vdot(A, A) for A in (before, Z, R, moved))
            M += Z / beta
            return sums

        sums = self.arrays.by_rows(len(self.Q), len(self.Q), pass_over)
        self._set_membership(beta)
        if balance:
            size, dual_size, primal, dual = (math.sqrt(float(sum(column))) for column in zip(*sums, strict=True))
            self._balance(primal / max(size, 1e-300), self.penalty * dual / max(dual_size, 1e-300))

    def _set_membership(self, beta: Any) -> None:
        """Row 0 and the diagonal of Y are one vector."""
        xp, F, Z, M = self.arrays.xp, self._factor, self.Z, self.M
        edge, diagonal = F[1:] @ F[0] - Z[0, 1:] / beta, xp.arange(1, len(Z))
        own = xp.einsum("ij,ij->i", F[1:], F[1:]) + (self.Q[diagonal, diagonal] - Z[diagonal, diagonal]) / beta
        wanted = self.arrays.fetched((2.0 * edge + own) / 3.0).astype(np.float64)
        self._x = nearest_membership(wanted, self.k, self.sizes)
        x = self.arrays.held(self._x, self.dtype)
        M[0, 1:] = M[1:, 0] = Z[0, 1:] / beta + x
        M[diagonal, diagonal] = Z[diagonal, diagonal] / beta + x
        M[0, 0] = Z[0, 0] / beta + 1.0

    def _balance(self, primal: float, dual: float) -> None:
        if primal > UNBALANCED * dual:
            self._set_penalty(self.penalty * BALANCE_STEP)
        elif dual > UNBALANCED * primal:
            self._set_penalty(self.penalty / BALANCE_STEP)

    def _set_penalty(self, penalty: float) -> None:
        self._add_to_matrix(1.0 / penalty - 1.0 / self.penalty)
        self.penalty = penalty

    def learn(self, gap: float) -> None:
        """Choose the penalty of the next rounds by the gap that the last ones left to the best subset known.

        Balanced residuals are not the lowest bound, and the right penalty differs by problem. So the best
        state is kept; where a round brought little, another penalty is tried, and where it lost, the best
        state comes back and the penalty goes the other way, by smaller and smaller steps. Where none of
        them helps, the iteration just goes on: on its way to the optimum its bounds go up and down.
        """
        if not self._learns or self._factor is None:
            return
        self._sweep()
        self._factor = None
        best = self._best
        if best is None or gap < best.gap or self._change == 1.0:
            slow = best is not None and gap > SLOW * best.gap
            self._best = _State(gap, self.penalty, self.Z.copy(), self.M.copy(), self._positive.directions)
            if slow:
                self._set_penalty(self.penalty * self._change)
            return
        self.Z[...], self.M[...], self.penalty = best.Z, best.M, best.penalty
        self._positive.directions, self._positive.jumped = best.directions, True
        self._change = 1.0 / self._change
        if self._change > 1.0:  # neither way was right
            self._change = math.sqrt(self._change) if self._change > LEAST_STEP else 1.0
        self._set_penalty(self.penalty * self._change)

    def _product(self, V: Any) -> Any:
        """M on the face, times V."""
        outer, a = self.arrays.xp.outer, self._normal
        W = self.arrays.product(self.M, V - outer(a, a @ V))
        W -= outer(a, a @ W)
        return W

    def _project(self, *, last: bool, limit: TimeLimit) -> None:
        """F, for which FF' is about the positive semidefinite part of M on the face."""
        if len(self.M) > (LARGEST_IN_DOUBLE if last else SMALLEST_TO_FILTER):
            self._factor = self._positive.factor(self._iteration, to_prove=last, limit=limit)
            return
        a, M, xp = self._normal, self.M, self.arrays.xp
        Ma = M @ a
        v = Ma - 0.5 * (a @ Ma) * a
        values, vectors = xp.linalg.eigh(M - xp.outer(a, v) - xp.outer(v, a))
        self._positive.follow(values, vectors, self._iteration)
        positive = values > 0.0
        self._factor = vectors[:, positive] * xp.sqrt(values[positive])


def nearest_membership(wanted: np.ndarray, k: int, sizes: np.ndarray) -> np.ndarray:
    """The x nearest to `wanted` with 0 <= x <= 1 and sizes'x = k: clip(wanted - theta sizes), by Newton's method."""
    low, high = float(((wanted - 1.0) / sizes).min()), float((wanted / sizes).max())  # all in, and none
    theta = float(sizes @ wanted - k) / float(sizes @ sizes)
    x = wanted
    for _ in range(200):
        if not low < theta < high:
            theta = 0.5 * (low + high)
        moved = wanted - theta * sizes
        x = np.clip(moved, 0.0, 1.0)
        excess = float(sizes @ x) - k
        if abs(excess) <= 1e-13 * k:
            break
        if excess > 0.0:
            low = theta
        else:
            high = theta
        free = sizes[(moved > 0.0) & (moved < 1.0)]
        theta = theta + excess / float(free @ free) if len(free) else 0.5 * (low + high)
    return x
