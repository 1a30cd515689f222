"""The relaxation for many features: a factor Y = VV' of rank about sqrt(2n), never an n x n Y.

With rows v_0, ..., v_n of unit length and V'a = 0 the problem is to maximise

    f(V) = <Q, XX'>,      x_i = (v_i + v_0) / 2      (gradient G = CV, CV = 2 [sum of QX; QX]),

on a smooth manifold; at rank sqrt(2n) its local maxima are, as a rule, global
(Burer and Monteiro 2005; Boumal, Voroninski and Bandeira 2016). Both constraints
are kept exactly, by r x r systems that cost little beside the product QX:

- the tangent part of G is U = G - Diag(d)V - a m', with m from
  (|a|^2 I - V' Diag(a^2) V) m = G'a - V'(a o diag(GV')),  d_i = v_i . (G_i - a_i m);
- a step leaves the manifold and comes back by v_i <- (v_i - a_i m) / |v_i - a_i m|,
  with m by Newton's method, whose matrix is the same one.

The ascent is a limited-memory BFGS method preconditioned by the diagonal of the slack
matrix. The d above are the multipliers in closed form: where U = 0, sum(d)/4 = f,
so f + k max(0, -lambda_min(N(d))) is a bound (`certificate` derives N) and its
distance to f the true gap, whatever local maximum this is. Lanczos estimates
lambda_min when f has come to rest; the multipliers handed on are shifted by it.
(Where sizes s differ, lambda_min is that of N against Diag(s): x'Diag(s)x = k.)

Dense algebra goes through NumPy alone, so that one pool of threads serves it all; or through CuPy on a
GPU, where Q and everything of n rows stay (see `arrays`), while r x r systems are solved beside it.

Copies are not merged here: their classes would have rows of any length up to sqrt(m), with an s of its
own each (see `copies`), which is another manifold. Where few classes are left, the interior-point method is quicker.
"""

from __future__ import annotations

import inspect
import math
from collections import deque
from collections.abc import Iterator
from typing import Any

import numpy as np

from certselect.clock import Stopwatch, TimeLimit
from certselect.relaxation.arrays import CPU, Arrays
from certselect.relaxation.face import face_normal, unit_normal
from certselect.relaxation.result import Callback, Iterate, Relaxation, Status

MEMORY = 10
# Look at the bound once f has gained less than this part of the tolerance in REST iterations.
AT_REST = 0.1
REST = 10
# What a singular r x r system (a rank-one optimum) is given to stay solvable.
RIDGE = 1e-13
NEARLY_ONE_SUBSET = 0.99
LONGEST_THROW = 3.0


class OffManifold(Exception):
    """No start was found from which both constraints can be met."""


def low_rank(
    Q: np.ndarray,
    k: int,
    *,
    floor: float,
    tol: float,
    limit: TimeLimit,
    max_iterations: int,
    sizes: np.ndarray | None = None,
    callback: Callback | None = None,
    start: np.ndarray | None = None,
    arrays: Arrays = CPU,
) -> Relaxation:
    """Solve to bound - f <= tol * max(|f|, floor), for 1 <= k <= sum(sizes) - 1 and Q of order one (float32 will do).

    `start` is the factor of a neighbouring problem's answer; a greedy one if not given. Raises `OffManifold`
    where a few entries of unlike sizes leave a factor no room. `arrays` is where to compute.
    """
    watch = Stopwatch()
    n = len(Q)
    s = np.ones(n) if sizes is None else sizes.astype(np.float64)
    ascent = _Ascent(Q, k, s, start, arrays)
    best_d, best_dual = arrays.fetched(ascent.d), math.inf
    status, iteration, rest = Status.STOPPED_BY_ITERATIONS, 0, AT_REST
    values: deque[float] = deque([-math.inf] * REST, maxlen=REST)
    while True:
        accuracy = tol * max(abs(ascent.value), floor)
        moving = iteration < max_iterations and not limit.over and not ascent.stuck
        if not moving or ascent.value - values[0] <= rest * accuracy:
            for d in ascent.multipliers():
                shift = _needed_shift(ascent.Q, k, s, d, accuracy / k, arrays)
                if ascent.value + k * shift < best_dual:
                    best_dual = ascent.value + k * shift
                    best_d = d + shift * np.concatenate([[1.0], s])
                    best_d[0] += (4 * k - s.sum() - 1) * shift
                if k * shift <= accuracy:
                    break
            rest /= 4
        if callback is not None:
            callback(Iterate(iteration, best_d.copy(), ascent.value, best_dual))
        if best_dual - ascent.value <= accuracy:
            status = Status.SOLVED
        elif ascent.stuck:
            close = best_dual - ascent.value <= 100 * accuracy
            status = Status.NEARLY_SOLVED if close else Status.NUMERICAL_TROUBLE
        elif limit.over:
            status = Status.STOPPED_BY_TIME
        elif moving:
            values.append(ascent.value)
            ascent.step()
            iteration += 1
            continue
        break

    V = arrays.fetched(ascent.V)
    return Relaxation(
        k=k,
        multipliers=best_d,
        primal_value=ascent.value,
        dual_value=best_dual,
        diagonal_residual=float(np.abs(np.einsum("ij,ij->i", V, V) - 1.0).max()),
        face_residual=float(np.abs(V @ (V.T @ unit_normal(n, k, sizes))).max()),
        iterations=iteration,
        seconds=watch.seconds,
        status=status,
        method="low_rank",
        factor=V,
    )


class _Ascent:
    """The point V, its value and multipliers, and the memory of the last steps; all of it where `arrays` computes."""

    def __init__(self, Q: np.ndarray, k: int, s: np.ndarray, start: np.ndarray | None, arrays: Arrays) -> None:
        n = len(Q)
        self.arrays, self.xp = arrays, arrays.xp
        self.Q, self.stuck = arrays.at_hand(Q), False
        self.a = arrays.at_hand(face_normal(n, k, s))
        self.C_diagonal = arrays.at_hand(np.concatenate([[Q.sum(dtype=np.float64)], Q.diagonal().astype(np.float64)]))
        self.pairs: deque[tuple[Any, Any, float]] = deque(maxlen=MEMORY)
        V = None if start is None else self._return(arrays.at_hand(start))
        if V is None:
            V = self._return(arrays.at_hand(_greedy_start(Q, k, s, math.isqrt(2 * n) + 2)))
        if V is None:
            raise OffManifold
        self._arrive(V, *self._value_and_gradient(V))

    def multipliers(self) -> Iterator[np.ndarray]:
        """d; then, where all rows are nearly +-v_0 (one subset), d with the freedom that leaves used well.

        There m is free along v_0: d_i + s y_i and d_0 - s a_0, y_i = v_i . v_0, serve for any s.
        Give the features in the subset and those outside the same least slack d_i - Q_ii.
        """
        fetched = self.arrays.fetched
        d = fetched(self.d)
        yield d
        y = fetched(self.V[1:] @ self.V[0])
        if np.abs(y).min() > NEARLY_ONE_SUBSET:
            slack = d[1:] - fetched(self.C_diagonal)[1:]
            s = 0.5 * float(slack[y < 0.0].min() - slack[y > 0.0].min())
            d = d.copy()
            d[1:] += s * y
            d[0] -= s * float(self.a[0])
            yield d

    def step(self) -> None:
        """One quasi-Newton step uphill; `stuck` when no step goes up."""
        xp = self.xp
        direction = self._tangent(self._direction())
        slope = 0.5 * self._inner(self.uphill, direction)
        steepest = 0.5 * self._inner(self.uphill, self.uphill)
        if not slope > 1e-10 * math.sqrt(steepest * self._inner(direction, direction)):
            self.pairs.clear()
            direction, slope = self.uphill, steepest
        # While the curvature is still being learnt, no row is thrown further than a few times its length.
        length = min(1.0, LONGEST_THROW / max(float(xp.linalg.norm(direction, axis=1).max()), 1e-300))
        for _ in range(30):
            V = self._return(self.V + length * direction)
            if V is not None:
                value, G = self._value_and_gradient(V)
                if value >= self.value + 1e-4 * length * slope:
                    break
            length *= 0.4
        else:
            self.stuck = not self.pairs
            self.pairs.clear()
            return
        before = self.uphill
        self._arrive(V, value, G)
        moved = self._tangent(length * direction)
        change = self._tangent(before) - self.uphill
        curvature = self._inner(moved, change)
        if curvature > 1e-12 * float(xp.linalg.norm(moved)) * float(xp.linalg.norm(change)):
            self.pairs.append((moved, change, 1.0 / curvature))

    def _inner(self, A: Any, B: Any) -> float:
        return float(self.xp.vdot(A, B))

    def _direction(self) -> Any:
        """The inverse-Hessian estimate times the gradient, by the usual two loops."""
        xp, direction = self.xp, self.uphill.copy()
        coefficients = []
        for moved, change, inverse in reversed(self.pairs):
            coefficients.append(inverse * self._inner(moved, direction))
            direction -= coefficients[-1] * change
        scale = xp.maximum(self.d - self.C_diagonal, 0.0)
        scale[0] = scale.max()
        scale += 0.05 * xp.median(scale[1:]) + 1e-12 * (1.0 + scale[0])
        direction /= scale[:, None]
        if self.pairs:
            moved, change, inverse = self.pairs[-1]
            direction /= inverse * self._inner(change, change / scale[:, None])
        for (moved, change, inverse), coefficient in zip(self.pairs, reversed(coefficients), strict=True):
            direction += (coefficient - inverse * self._inner(change, direction)) * moved
        return direction

    def _value_and_gradient(self, V: Any) -> tuple[float, Any]:
        xp = self.xp
        X = 0.5 * (V[1:] + V[0])
        QX = (self.Q @ X.astype(self.Q.dtype, copy=False)).astype(np.float64, copy=False)
        G = xp.empty_like(V)
        xp.multiply(QX, 2.0, out=G[1:])
        G[0] = G[1:].sum(axis=0)
        return self._inner(QX, X), G

    def _arrive(self, V: Any, value: float, G: Any) -> None:
        self.V, self.value = V, value
        self.system = self._system(V, self.a**2)
        self.uphill, self.d = self._split(G)

    def _tangent(self, M: Any) -> Any:
        return self._split(M)[0]

    def _split(self, M: Any) -> tuple[Any, Any]:
        """M less its normal part, and the d of that part: M = U + Diag(d)V + am'."""
        along = self.xp.einsum("ij,ij->i", M, self.V)
        m = self._solved(self.system, M.T @ self.a - self.V.T @ (self.a * along))
        d = along - self.a * (self.V @ m)
        U = M - d[:, None] * self.V
        U -= self.a[:, None] * m
        return U, d

    def _return(self, V: Any) -> Any:
        """The point of the manifold near V, by Newton's method on m; None where it does not settle."""
        xp = self.xp
        m = xp.zeros(V.shape[1])
        target = 1e-12 * float(xp.linalg.norm(self.a))
        for _ in range(25):
            W = V - self.a[:, None] * m
            lengths = xp.linalg.norm(W, axis=1)
            if not float(lengths.min()) > 0.0 or not float(lengths.max()) < 1e6:
                return None
            W /= lengths[:, None]
            off_face = W.T @ self.a
            if float(abs(off_face).max()) <= target:
                return W
            m += self._solved(self._system(W, self.a**2 / lengths), off_face)
        return None

    def _system(self, V: Any, weight: Any) -> np.ndarray:
        """sum of weight_i (I - v_i v_i'), r x r."""
        system = self.arrays.fetched(-(V * weight[:, None]).T @ V)
        system[np.diag_indices_from(system)] += float(weight.sum()) * (1.0 + RIDGE)
        return system

    def _solved(self, system: np.ndarray, rhs: Any) -> Any:
        """As small as it is, solved beside the rest."""
        return self.arrays.at_hand(np.linalg.solve(system, self.arrays.fetched(rhs)))


def _greedy_start(Q: np.ndarray, k: int, s: np.ndarray, rank: int) -> np.ndarray:
    """Half way from the uniform average to a greedy subset, random in all other directions.

    From the average alone, many features and small k cost most of the work before
    the first features stand out.
    """
    n = len(Q)
    gains = Q.diagonal().astype(np.float64)
    membership = np.full(n, 0.5 * k / s.sum())
    left = float(k)
    while left > 0.0:
        gains[s > left] = -np.inf
        best = int(np.argmax(gains / s))
        if gains[best] == -np.inf:
            break
        membership[best] += 0.5
        left -= s[best]
        gains += 2.0 * Q[best]
        gains[best] = -np.inf
    cosines = np.concatenate([[1.0], 2.0 * membership - 1.0])
    V = np.random.default_rng(0).standard_normal((n + 1, rank))
    V[:, 0] = 0.0
    V *= (np.sqrt(np.maximum(1.0 - cosines**2, 0.0)) / np.linalg.norm(V, axis=1))[:, None]
    V[:, 0] = cosines
    return V


def _needed_shift(Q: Any, k: int, s: np.ndarray, d: np.ndarray, accuracy: float, arrays: Arrays) -> float:
    """About the least h >= 0 with N(d) + h Diag(s) semidefinite, rather too much, to a part of `accuracy`.

    Lanczos measures errors relative to the eigenvalue, so a multiple of `accuracy` is
    added to the matrix: an eigenvalue near 0 would take for ever.
    """
    n, p, root = len(Q), d[1:], np.sqrt(s)
    w = p / (2 * k) - s * (d.sum() / (8.0 * k * k))
    offset, precision = 4.0 * accuracy, 0.02

    def product(v: np.ndarray) -> np.ndarray:
        v = v.ravel() / root
        Qv = arrays.fetched(Q @ arrays.at_hand(v.astype(Q.dtype, copy=False)))
        return ((p + offset * s) * v - Qv - w * (s * v).sum() - s * (w @ v)) / root

    first = np.random.default_rng(0).standard_normal(n)
    if n < 64:
        lowest = float(np.linalg.eigvalsh(np.column_stack([product(column) for column in np.eye(n)]))[0])
    else:
        # Here: loading it takes longer than a small problem.
        from scipy.sparse.linalg import ArpackError, LinearOperator, eigsh

        # From SciPy 1.17 on, Lanczos draws from a generator of its own where it is given none: two runs would differ.
        seed = {"rng": 0} if "rng" in inspect.signature(eigsh).parameters else {}
        operator = LinearOperator((n, n), matvec=product, dtype=np.float64)  # type: ignore[call-arg]
        options = {"ncv": 40, "maxiter": 100, "tol": precision, "return_eigenvectors": False, **seed}
        try:
            lowest = float(eigsh(operator, k=1, which="SA", v0=first, **options)[0])
        except ArpackError:
            # Not settled within thousands of products: an unconverged value proves nothing.
            return math.inf
    return max(0.0, offset - lowest + precision * abs(lowest))
