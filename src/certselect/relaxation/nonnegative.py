"""The relaxation with X >= 0 (doubly nonnegative): nearly exact, by alternating projections.

Products of 0/1 variables are nonnegative, which the plain relaxation forgets. With

    Y = [[1, x'], [x, X]],   diag(X) = x,   Y (k, -s)' = 0,   X >= 0,   X_ij = 0 for rivals,

(s the sizes of the units to choose from, 1 each as a rule) what is left of the gap to
the best subset is mostly below a thousandth. The method is the alternating direction
method of multipliers with facial reduction (Oliveira, Wolkowicz and Xu 2018): split Y = R,

    R = the part of Y + Z/beta that is positive semidefinite on the face Y (k, -s)' = 0,
    Z = Z + beta (Y - R),                  which leaves -Z semidefinite on the face,
    Y = the point of the polytope nearest to R - (C + Z)/beta,       C = -[[0, 0], [0, Q]].

Each Z proves something whatever became of the rest: on the face y = (s'x/k, x), so

    N = -T'ZT,  T = [s'/k; I],  is semidefinite  and  x'Qx = x'(Q + N)x - x'Nx <= x'(Q + N)x,

from which `certificate.consequences` derives bounds. They need no convergence, so neither
do the projections: between two exact ones the positive part is followed by a Chebyshev
filter on the last known eigenvectors (Zhou, Saad, Tiago and Chelikowsky 2006), which
costs a few thin products instead of an eigendecomposition.
"""

from __future__ import annotations

import math
import time

import numpy as np

from certselect.certificate.slack_matrix import slack_weights

ROUND = 25  # iterations between two looks at what they prove
# Below this size, or with more positive directions than this part, an eigendecomposition is as quick as the filter.
SMALLEST_TO_FILTER = 150
LARGEST_PART = 0.25
FILTER_DEGREE = 8
SPARE_DIRECTIONS = 8
BALANCE_EVERY = 10
# Relative residuals, primal and dual, further apart than this call for another penalty, by this factor.
UNBALANCED = 2.0
PENALTY_STEP = 1.3
SMALLEST_PENALTY = 1e-4


class Splitting:
    """The iteration's state for max x'Qx, s'x = k; Q of order one, 1 <= k < sum(s)."""

    def __init__(
        self,
        Q: np.ndarray,
        k: int,
        sizes: np.ndarray,
        never_both: np.ndarray | None = None,
        *,
        Y: np.ndarray,
        Z: np.ndarray,
        penalty: float | None = None,
    ) -> None:
        """`never_both` marks pairs of rivals (m, m); Y and Z are where to start (see `from_plain`).

        The penalty that makes most of a start is the ratio of its dual to its primal size.
        """
        self.Q, self.k, self.sizes, self.never_both = Q, k, sizes.astype(np.float64), never_both
        normal = np.concatenate([[float(k)], -self.sizes])
        self._normal = normal / np.linalg.norm(normal)
        self.Y, self.Z = Y, Z
        self.penalty = penalty or max(float(np.linalg.norm(Z) / np.linalg.norm(Y)), SMALLEST_PENALTY)
        self._R = np.zeros_like(Y)
        self._directions: np.ndarray | None = None
        self._lowest = 0.0
        self._iteration = 0
        self._exact_seconds = 0.0

    @classmethod
    def from_plain(
        cls,
        Q: np.ndarray,
        k: int,
        sizes: np.ndarray,
        signs: np.ndarray,
        d: np.ndarray,
        never_both: np.ndarray | None = None,
    ) -> Splitting:
        """Start from the plain relaxation's matrix (in signs y = 2x - 1) and multipliers d."""
        Y = np.empty(signs.shape)
        Y[1:, 1:] = 0.25 * (1.0 + signs[0, 1:] + signs[0, 1:, None] + signs[1:, 1:])
        Y[0, 0] = 1.0
        Y[0, 1:] = Y[1:, 0] = 0.5 * (1.0 + signs[0, 1:])
        Z = np.zeros_like(Y)
        Z[1:, 1:] = Q
        Z[1:, 1:][np.diag_indices(len(Q))] -= d[1:]
        Z[0, 1:] = Z[1:, 0] = k * slack_weights(d, k, sizes)
        return cls(Q, k, sizes, never_both, Y=Y, Z=Z)

    def advance(self, iterations: int, deadline: float = math.inf) -> None:
        """Iterate, no longer than to the deadline; the last projection is exact, so that Z then proves what it can."""
        for left in range(iterations - 1, -1, -1):
            # An exact projection is still to come, which takes the longest.
            last = left == 0 or time.perf_counter() + self._exact_seconds >= deadline
            if self._iteration:
                self._to_polytope()
            self._project(exact=last)
            self._iteration += 1
            if last:
                return

    def slack(self) -> tuple[np.ndarray, np.ndarray]:
        """(N, w) for `certificate.consequences`: N semidefinite but for rounding, w the multipliers of s'x = k."""
        Z, s = self.Z, self.sizes
        w = Z[0, 1:] / self.k + Z[0, 0] / (2.0 * self.k**2) * s
        N = -Z[1:, 1:] - np.outer(w, s) - np.outer(s, w)
        return 0.5 * (N + N.T), w

    @property
    def membership(self) -> np.ndarray:
        """x: how far each unit is in."""
        return self.Y[0, 1:]

    def restricted(self, kept: np.ndarray, taken: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Y and Z for the problem in which `taken` are in for good and only `kept` (positions) are open."""
        Z = self.Z.copy() if len(taken) else self.Z
        for position in taken:
            # Its entry is that of y_0 from now on.
            Z[0] += Z[position + 1]
            Z[:, 0] += Z[:, position + 1]
        rows = np.concatenate([[0], kept + 1])
        return np.ascontiguousarray(self.Y[np.ix_(rows, rows)]), np.ascontiguousarray(Z[np.ix_(rows, rows)])

    def _to_polytope(self) -> None:
        """Y = the nearest point of the polytope to R - (C + Z)/beta."""
        Y = np.multiply(self.Z, -1.0 / self.penalty)
        Y += self._R
        Y[1:, 1:] += self.Q / self.penalty
        diagonal = np.arange(1, len(Y))
        wanted = (2.0 * Y[0, 1:] + Y[diagonal, diagonal]) / 3.0
        np.clip(Y, 0.0, 1.0, out=Y)
        if self.never_both is not None:
            Y[1:, 1:][self.never_both] = 0.0
        x = nearest_membership(wanted, self.k, self.sizes)
        Y[0, 1:] = Y[1:, 0] = Y[diagonal, diagonal] = x
        Y[0, 0] = 1.0
        if self._iteration % BALANCE_EVERY == 0:
            self._balance(Y)
        self.Y = Y

    def _balance(self, Y: np.ndarray) -> None:
        primal = float(np.linalg.norm(Y - self._R) / np.linalg.norm(Y))
        dual = self.penalty * float(np.linalg.norm(Y - self.Y)) / max(float(np.linalg.norm(self.Z)), 1e-300)
        if primal > UNBALANCED * dual:
            self.penalty *= PENALTY_STEP
        elif dual > UNBALANCED * primal:
            self.penalty /= PENALTY_STEP

    def _project(self, *, exact: bool) -> None:
        """R = the positive semidefinite part of Y + Z/beta on the face, and Z = Z + beta (Y - R)."""
        M = self.Z / self.penalty
        M += self.Y
        Ma = M @ self._normal
        v = Ma - 0.5 * (self._normal @ Ma) * self._normal
        M -= np.outer(self._normal, v)
        M -= np.outer(v, self._normal)
        found = None if exact else self._filtered(M)
        if found is None:
            began = time.perf_counter()
            values, vectors = np.linalg.eigh(M)
            self._exact_seconds = time.perf_counter() - began
            self._lowest = float(values[0])
            first = int(np.searchsorted(values, 0.0, side="right"))
            self._directions = vectors[:, max(0, first - SPARE_DIRECTIONS) :]
            values, vectors = values[first:], vectors[:, first:]
        else:
            values, vectors = found
        scaled = vectors * np.sqrt(values)
        self._R = scaled @ scaled.T
        self.Z += self.penalty * (self.Y - self._R)

    def _filtered(self, M: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
        """The positive eigenpairs of M, from the last ones; None where that would not pay or not be safe."""
        V = self._directions
        if V is None or len(M) < SMALLEST_TO_FILTER or V.shape[1] > LARGEST_PART * len(M):
            return None
        # On [lowest, 0] the Chebyshev polynomial stays within 1; above, it grows fast.
        centre = 0.6 * self._lowest
        before, now = V, (M @ V - centre * V) / -centre
        for _ in range(FILTER_DEGREE - 1):
            before, now = now, 2.0 * (M @ now - centre * now) / -centre - before
        basis, _ = np.linalg.qr(now)
        values, turn = np.linalg.eigh(basis.T @ (M @ basis))
        if values[0] > 0.0:
            return None  # there may be more positive directions than were followed
        self._directions = basis @ turn
        positive = values > 0.0
        return values[positive], self._directions[:, positive]


def nearest_membership(wanted: np.ndarray, k: int, sizes: np.ndarray) -> np.ndarray:
    """The x nearest to `wanted` with 0 <= x <= 1 and sizes'x = k: clip(wanted - theta sizes), by Newton's method."""
    low, high = -np.inf, np.inf
    theta = float(sizes @ wanted - k) / float(sizes @ sizes)
    x = wanted
    for _ in range(100):
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
        theta += excess / float(free @ free) if len(free) else np.sign(excess) * 0.1
        if not low < theta < high and np.isfinite(low) and np.isfinite(high):
            theta = 0.5 * (low + high)
    return x
