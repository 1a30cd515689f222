"""The positive part of a large symmetric matrix that changes little from one look to the next.

Its positive eigenvalues are few, so their eigenvectors are followed: a Chebyshev polynomial of the matrix
(Zhou, Saad, Tiago and Chelikowsky 2006) raises what they have of positive directions above all else, a few thin
products instead of an eigendecomposition. The polynomial stays within 1 where the spectrum is negative and
grows fast above, which goes wrong at both ends. The few eigenvalues that lie far below all others would make
the interval long and the polynomial weak; the few that lie far above would be raised until the others drown in
their rounding errors. Both kinds are kept out of it, the latter have a weaker one of their own, and
all come together again before eigenvalues are taken: each is known only about, and holds a little of the others.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from certselect.clock import NO_LIMIT, Stopwatch, TimeLimit
from certselect.relaxation.arrays import Arrays
from certselect.relaxation.lanczos import lanczos

FILTER_DEGREE = 4
# What is proved from a projection that left out a positive direction pays for it.
DEGREE_TO_PROVE = 48
SPARE_DIRECTIONS = 8
FIRST_DIRECTIONS = 24
# Directions that are followed, at most: early ones are many, small, and soon gone.
MOST_DIRECTIONS = 400
LANCZOS_STEPS = 14
LOOK_DOWN_EVERY = 10
# A filter that raises one direction further than this above the others would drown those in its rounding errors.
MOST_RAISED = 1e3
# One that is not among those held apart may be raised much further still, and must not overflow.
RESCALE_EVERY = 2
# New directions are added for a proof until less than this part of them finds positive eigenvalues.
LEAST_FOUND = 0.25


class _Plan(NamedTuple):
    """How many directions a filter raises by which degree: most of them together, the highest apart and by less."""

    together: int
    degree: int
    apart: int
    weaker: int

    @property
    def products(self) -> int:
        """Of the matrix with one direction, those for eigenvalues included."""
        return self.together * (self.degree + 1) + self.apart * (self.weaker + 1)


class PositivePart:
    """The directions that are followed in a matrix (m, m), which is known by its products `product(V)` alone.

    Attributes
    ----------
    directions : array (m, d) or None
        About the eigenvectors of positive eigenvalues and some more, ascending; new ones first.
    jumped : bool
        Whether the matrix has changed more than from one look to the next, so nothing is known of its lower end.
    seconds_each : float
        What a product with one direction took in the last filter, all it does beside products included; 0 before.
    """

    def __init__(self, product: Callable[[Any], Any], size: int, dtype: Any, arrays: Arrays) -> None:
        self._product, self._size, self._dtype, self._arrays = product, size, dtype, arrays
        self.directions: Any = None
        self.jumped = True
        # Where the spectrum ends, but for the few directions far down.
        self._lowest, self._highest = -1.0, 1.0
        self._far_down: Any = None
        self._above = np.zeros(0)  # the positive eigenvalues at the last look, ascending
        self.seconds_each = 0.0

    def factor(self, look: int, *, to_prove: bool = False, limit: TimeLimit = NO_LIMIT) -> Any:
        """F (m, r), for which FF' is about the positive part; `look` counts the calls.

        To prove something, directions are looked for once at least, and again for as long as the time limit allows.
        """
        if to_prove or look < LOOK_DOWN_EVERY or look % LOOK_DOWN_EVERY == 0 or self.jumped:
            self._look_down(look)
        if self.directions is None or self.directions.shape[1] < SPARE_DIRECTIONS:
            self._follow_new(FIRST_DIRECTIONS, look)
        if to_prove:
            values, vectors = self._all_found(look, limit)
        else:
            values, vectors = self._filtered(FILTER_DEGREE)
        self.follow(values, vectors, look)
        positive = values > 0.0
        return vectors[:, positive] * self._arrays.xp.sqrt(values[positive])

    def _all_found(self, look: int, limit: TimeLimit) -> tuple[Any, Any]:
        """The eigenpairs of all positive eigenvalues, but for the smallest: as long as new directions find some.

        Where time ends first, what was found by then: a proof pays for the rest.
        """
        while True:
            before, added = len(self._above), self._to_add
            self._follow_new(min(added, MOST_DIRECTIONS - self.directions.shape[1]), look)
            values, vectors = self._filtered(DEGREE_TO_PROVE)
            if len(values) >= MOST_DIRECTIONS or int((values > 0.0).sum()) - before < LEAST_FOUND * added:
                return values, vectors
            self.directions, self._above = vectors, self._positive(values)
            if self.seconds_to_look > limit.left:
                return values, vectors

    @property
    def _to_add(self) -> int:
        return max(len(self._above) // 2, SPARE_DIRECTIONS)

    @property
    def seconds_to_look(self) -> float:
        """About how long it takes to look once for all that is positive, rather too much; 0 before the first filter."""
        followed = self._to_add + (0 if self.directions is None else self.directions.shape[1])
        return self.seconds_each * self._planned(DEGREE_TO_PROVE, min(followed, MOST_DIRECTIONS)).products

    def _positive(self, values: Any) -> np.ndarray:
        return self._arrays.fetched(values[values > 0.0]).astype(np.float64)

    def follow(self, values: Any, vectors: Any, look: int) -> None:
        """Go on with these eigenvectors: the positive ones and some beside them, more where all were positive."""
        n_positive = int((values > 0.0).sum())
        wanted = min(n_positive + SPARE_DIRECTIONS, MOST_DIRECTIONS)
        self.directions = vectors[:, max(0, len(values) - wanted) :]
        self._above = self._positive(values)
        if n_positive > len(values) - SPARE_DIRECTIONS // 2:
            more = max(SPARE_DIRECTIONS, n_positive // 4)
            self._follow_new(min(more, MOST_DIRECTIONS - self.directions.shape[1]), look)

    def _follow_new(self, count: int, look: int) -> None:
        """Random directions beside those that are followed."""
        if self.directions is not None and count <= 0:
            return
        new = np.random.default_rng(look).standard_normal((self._size, count)) / math.sqrt(self._size)
        held = self._arrays.held(new, self._dtype)
        joined = self._arrays.xp.concatenate
        self.directions = held if self.directions is None else joined([held, self.directions], axis=1)

    def _look_down(self, look: int) -> None:
        """Where the spectrum ends below, but for the few directions far below all others."""
        values, residuals, vectors = lanczos(
            lambda v: self._product(v[:, None])[:, 0], self._size, LANCZOS_STEPS, look, self._dtype, self._arrays
        )
        settled = residuals <= 0.01 * np.abs(values)
        count = int(np.argmin(settled)) if values[0] < 0.0 else 0
        self._far_down = vectors[:, :count]
        self._lowest = 1.05 * float(values[count] - residuals[count])
        self._lowest = min(self._lowest, -1e-4 * abs(float(values[-1])), -1e-6)
        self._highest = float(values[-1])
        self.jumped = False

    def _planned(self, degree: int, followed: int) -> _Plan:
        cosh = math.cosh(math.log(2.0 * MOST_RAISED) / degree)
        raised_too_far = int((self._above > 0.5 * (1.0 - cosh) * self._lowest).sum())
        # Of these the highest decides; one product at least turns them towards what the matrix has become.
        reach = math.acosh(1.0 - 2.0 * max(self._highest, 1e-6) / self._lowest)
        weaker = max(1, min(degree, int(math.log(2.0 * MOST_RAISED) / reach)))
        apart = min(raised_too_far, followed)  # fewer are there after a step back
        return _Plan(followed - apart, degree if raised_too_far else weaker, apart, weaker)

    def _filtered(self, degree: int) -> tuple[Any, Any]:
        """About the positive eigenpairs and some of the others, ascending, from the directions that are followed."""
        watch, xp, V, low = Stopwatch(), self._arrays.xp, self.directions, self._far_down
        plan = self._planned(degree, V.shape[1])
        parts, split = [low], plan.together
        if split:
            kept_out = xp.concatenate([low, V[:, split:]], axis=1)
            parts.append(self._raised(V[:, :split], plan.degree, kept_out))
        if plan.apart:
            parts.append(self._raised(V[:, split:], plan.weaker, low))
        basis, _ = xp.linalg.qr(xp.concatenate(parts, axis=1))
        inside = basis.T @ self._product(basis)
        values, turn = xp.linalg.eigh(0.5 * (inside + inside.T))
        vectors, below = basis @ turn, low.shape[1]
        self._highest, self._far_down = float(values[-1]), vectors[:, :below]
        self.jumped = float(values[below]) < self._lowest  # then the filter let through what lies below
        self.seconds_each = watch.seconds / plan.products
        return values[below:], vectors[:, below:]

    def _raised(self, V: Any, degree: int, kept_out: Any) -> Any:
        """The Chebyshev polynomial of this degree on [lowest, 0] of the matrix, times V; columns of order one."""
        V = V - kept_out @ (kept_out.T @ V)
        centre = 0.5 * self._lowest
        before, now = V, self._shifted(V, centre, -1.0 / centre, kept_out)
        for step in range(1, degree):
            after = self._shifted(now, centre, -2.0 / centre, kept_out)
            after -= before
            before, now = now, after
            if step % RESCALE_EVERY == 0:
                self._to_order_one(before, now)
        self._to_order_one(now, now)
        return now

    def _to_order_one(self, beside: Any, V: Any) -> None:
        """Columns of V and those beside them divided by the largest entry in V, which may be near overflow."""
        xp = self._arrays.xp
        largest = xp.abs(V).max(axis=0)
        largest = xp.where(largest > 0.0, largest, self._dtype(1.0))
        if beside is not V:
            beside /= largest
        V /= largest

    def _shifted(self, V: Any, centre: float, factor: float, kept_out: Any) -> Any:
        """factor (M - centre) V, apart from what is kept out."""
        W = self._product(V)
        if kept_out.shape[1]:
            W -= kept_out @ (kept_out.T @ W)
        W -= self._dtype(centre) * V
        W *= self._dtype(factor)
        return W
