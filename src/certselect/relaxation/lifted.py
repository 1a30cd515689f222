"""The relaxation of a problem with rivals and a budget: those enter the matrix by a `Lift`.

Rivals are never chosen together, so the entry of a pair of them may be anything; it is
made so negative that choosing both hardly pays in the relaxation either. A budget gets
a price mu: the bound for Q - mu Diag(costs), plus mu budget, holds for every mu >= 0 and
is convex in it, with slope budget - costs'x(mu). Where the relaxed x at mu = 0 costs too
much, the tangents at a price too low and one too high meet at the next one to try:
for a convex function that is often piecewise linear, as the relaxation is often exact.

`method="nonnegative"` goes on from there to the doubly nonnegative relaxation, as far as the caller asks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from certselect.certificate.lift import Lift
from certselect.certificate.rivals import never_both, rival_numbers
from certselect.certificate.rounding import largest, order_of
from certselect.certificate.rows import Rows
from certselect.clock import Stopwatch, TimeLimit
from certselect.criteria.problem import SubsetProblem
from certselect.criteria.reduced import ReducedProblem
from certselect.criteria.units import UnitProblem
from certselect.errors import InvalidInput, option
from certselect.progress import listener, report
from certselect.relaxation.arrays import Arrays
from certselect.relaxation.device import arrays_for, or_on_the_cpu
from certselect.relaxation.face import unit_normal
from certselect.relaxation.nonnegative import ROUND, Splitting
from certselect.relaxation.result import Callback, Iterate, Relaxation, Status
from certselect.relaxation.solve import MAX_ITERATIONS, METHODS, chosen_method, solve
from certselect.threads import one_blas_thread

NONNEGATIVE = "nonnegative"
# What the interior-point method holds at a time.
MATRICES = 10.0
# The entry of two rivals, as a part of what both are worth alone. Measured on 16 features, k = 5, three or four
# groups of rivals, redundancy-like (gap to the best allowed subset, entries left as they are: 4 to 13 %): 0.2 leaves
# 0.1 to 0.8 %, 0.25 leaves 0.2 to 0.3 %, 0.5 leaves 0.7 to 1.2 %, 1 leaves 5 to 11 %.
RIVAL_PART = 0.25
MAX_SOLVES = 8
# Stop the search for a price once another one could lower the bound by no more than this part of it.
PRICE_LOSS = 1e-4
# How close to the ends of its bracket the next price may come, as a part of the bracket.
SAFEGUARD = 0.02
# What costs no more than this part above the budget needs no price.
COST_ROUNDING = 1e-6
GROWTH = 4.0
# Iterations of the doubly nonnegative relaxation.
MAX_TIGHTENING = 5000
# The value of its X means something once it nearly is positive semidefinite.
CLOSE = 1e-3


def relax(
    problem: SubsetProblem | UnitProblem,
    method: str = "auto",
    *,
    tol: float | None = None,
    max_seconds: float | None = None,
    max_iterations: int | None = None,
    warm_start: Relaxation | None = None,
    callback: Callback | None = None,
    incumbent: float | None = None,
) -> Relaxation:
    """Bound "which k features are worth most together?" by its semidefinite relaxation.

    Solves eq_20 of the paper for `problem.reduced`: without constraints, entry i >= 1 of
    the answer is `problem.candidates[i - 1]`. Parameters are those of `solve`; a warm
    start that does not fit a constrained problem is not used. With a budget several
    relaxations are solved, `max_seconds` together.

    `method="nonnegative"` goes on from there to the doubly nonnegative relaxation, which
    on real data is nearly exact: it stops once its bound is within `tol` (1e-4 if not
    given) of `incumbent`, the value of a known subset, or else of its own primal value.
    What its bound rests on is in `Relaxation.slack`.

    It is computed on a GPU where there is one and the problem is large enough to gain, unless a block
    `with on_device("cpu")` is around it; `Relaxation.computed_on` says where it was.
    """
    if method not in (*METHODS, NONNEGATIVE):
        raise InvalidInput(
            option("method", method), " or ".join(map(repr, (*METHODS, NONNEGATIVE))), "Choose one of these."
        )
    problem.check_room_for_pairs()
    reduced, limit = problem.reduced, TimeLimit.of(max_seconds)
    if method == NONNEGATIVE:
        plain = relax(problem, max_seconds=max_seconds, warm_start=warm_start, callback=callback)
        return _nonnegative(problem, plain, tol, limit, max_iterations, callback, incumbent)
    most = max_iterations or MAX_ITERATIONS.get(chosen_method(method, reduced.matrix, reduced.sizes), 0)

    def told(iterate: Iterate) -> None:
        # Prices have their iterations each, and share one bar.
        if listener():
            report(f"relaxation, gap {iterate.gap:.1e}", min(iterate.iteration, most), most)
        if callback is not None:
            callback(iterate)

    if warm_start is not None and len(warm_start.multipliers) != len(reduced.matrix) + 1:
        warm_start = None

    def on(arrays: Arrays) -> Relaxation:
        options: dict[str, Any] = {"tol": tol, "max_iterations": max_iterations, "arrays": arrays}
        if reduced.plain and not reduced.required:
            options.update(max_seconds=limit.left, warm_start=warm_start, callback=told)
            return solve(reduced.matrix, reduced.k, method, **options)
        return _Lifted(reduced, method, options, limit, told).solve(warm_start)

    arrays, computed_on = arrays_for(len(reduced.matrix), MATRICES, limit.left)
    return replace(or_on_the_cpu(arrays, on), computed_on=computed_on)


def _nonnegative(
    problem: SubsetProblem | UnitProblem,
    plain: Relaxation,
    tol: float | None,
    limit: TimeLimit,
    max_iterations: int | None,
    callback: Callback | None,
    incumbent: float | None,
) -> Relaxation:
    most = max_iterations or MAX_TIGHTENING

    def told(iterate: Iterate) -> None:
        if listener():
            report(f"nonnegative relaxation, gap {iterate.gap:.1e}", iterate.iteration, most)
        if callback is not None:
            callback(iterate)

    return _tightened(
        problem.reduced,
        plain,
        tol=1e-4 if tol is None else tol,
        limit=limit,
        max_iterations=most,
        incumbent=incumbent,
        callback=told,
    )


@dataclass(frozen=True)
class _Tried:
    """What came of a price: the relaxation, and how far its x is above the budget."""

    price: float
    answer: Relaxation
    excess: float


class _Lifted:
    """A reduced problem relaxed at one price after another."""

    def __init__(
        self,
        problem: ReducedProblem,
        method: str,
        options: dict[str, Any],
        limit: TimeLimit,
        callback: Callback,
    ) -> None:
        self.problem, self.method, self.options, self.callback = problem, method, options, callback
        self.limit = limit
        self.pairs = rival_pairs(problem)
        self.iterations = 0
        self.best: Iterate | None = None

    def solve(self, warm_start: Relaxation | None) -> Relaxation:
        """The relaxation at the price that gives the lowest bound of those tried."""
        watch, cut_short = Stopwatch(), False
        tried = [self._at(0.0, warm_start)]
        if tried[0].excess > COST_ROUNDING * self.problem.budget:
            for price in _prices(tried, self.problem):
                cut_short = self.limit.over
                if cut_short:
                    break
                tried.append(self._at(price, tried[-1].answer))
        answer = min((one.answer for one in tried), key=lambda answer: answer.dual_value)
        status = Status.STOPPED_BY_TIME if cut_short else answer.status
        return replace(answer, iterations=self.iterations, seconds=watch.seconds, status=status)

    def _at(self, price: float, warm_start: Relaxation | None) -> _Tried:
        problem, before = self.problem, self.iterations
        lift = None if self.pairs is None and price == 0.0 else Lift(self.pairs, price)
        offset = problem.constant + Lift(price=price).paid(problem)

        def told(iterate: Iterate) -> None:
            self.iterations = before + iterate.iteration
            here = replace(
                iterate,
                iteration=self.iterations,
                primal_value=iterate.primal_value + offset,
                dual_value=iterate.dual_value + offset,
                lift=lift,
            )
            # A new price starts far from its optimum: what a caller keeps is the best so far.
            if self.best is None or here.dual_value <= self.best.dual_value:
                self.best = here
            self.callback(replace(self.best, iteration=self.iterations))

        answer = solve(
            problem.matrix if lift is None else lift.matrix(problem),
            problem.k,
            self.method,
            sizes=problem.sizes,
            max_seconds=self.limit.left,
            warm_start=warm_start,
            callback=told,
            **self.options,
        )
        answer = replace(
            answer,
            primal_value=answer.primal_value + offset,
            dual_value=answer.dual_value + offset,
            lift=lift,
        )
        cost = 0.0 if problem.costs is None else float(problem.costs @ answer.membership)
        return _Tried(price, answer, cost - problem.budget)


def rival_pairs(problem: ReducedProblem) -> np.ndarray | None:
    """What to add to Q so that two rivals do not pay together (float32, as files keep it); None without rivals."""
    if not problem.rivals:
        return None
    pairs = np.zeros(problem.matrix.shape, dtype=np.float32)
    for group in problem.rivals:
        inside = problem.matrix[np.ix_(group, group)].astype(np.float64)
        worth = np.abs(inside.diagonal())
        added = np.minimum(-RIVAL_PART * (worth[:, None] + worth) - inside, 0.0)
        np.fill_diagonal(added, 0.0)
        added = np.maximum(0.5 * (added + added.T), np.finfo(np.float32).min)  # any entry is safe between rivals
        pairs[np.ix_(group, group)] = added
    return pairs


def _prices(tried: list[_Tried], problem: ReducedProblem) -> Iterator[float]:
    """The prices to try after 0, where x cost too much; reads what became of the last from the end of `tried`."""
    low, high = tried[0], None
    # Half of what a unit of the budget buys is worth.
    guess = 0.5 * abs(low.answer.dual_value - problem.constant) / (problem.budget + low.excess)
    while len(tried) < MAX_SOLVES:
        if high is None:
            price = low.price * GROWTH or guess or 1.0
        else:
            price, lowest = _meeting(low, high)
            best = min(low.answer.dual_value, high.answer.dual_value)
            if best - lowest <= PRICE_LOSS * abs(best):
                return
        yield price
        if tried[-1].excess > 0.0:
            low = tried[-1]
        else:
            high = tried[-1]


def _meeting(low: _Tried, high: _Tried) -> tuple[float, float]:
    """(price, bound) where the tangents at two prices meet: no price in between gives a lower bound."""
    apart = high.price - low.price
    fall = low.answer.dual_value - high.answer.dual_value
    step = (fall - high.excess * apart) / (low.excess - high.excess)
    # A relaxation is not solved exactly, and its tangents may meet outside; well inside is where more is learnt.
    step = min(max(step, SAFEGUARD * apart), (1.0 - SAFEGUARD) * apart)
    return low.price + step, low.answer.dual_value - low.excess * step


def _tightened(
    problem: ReducedProblem,
    plain: Relaxation,
    *,
    tol: float,
    limit: TimeLimit,
    max_iterations: int,
    incumbent: float | None,
    callback: Callable[[Iterate], None],
) -> Relaxation:
    """Add X >= 0 to a solved plain relaxation.

    Stops once the bound is within `tol` of `incumbent`, the value of a known subset; without
    one, of the value that the relaxed X itself comes to.
    """
    watch = Stopwatch()
    if plain.method == "closed_form":
        return replace(plain, method="nonnegative")
    # Rivals are out of the polytope altogether here: of the lift only the price is needed.
    lift = Lift(price=0.0 if plain.lift is None else plain.lift.price)
    Q, offset = lift.matrix(problem), problem.constant + lift.paid(problem)
    scale = order_of(largest(Q))
    Q /= scale
    rivals = never_both(rival_numbers(problem.rivals, len(Q)))
    x = _rounded(plain.membership, problem)
    splitting = Splitting.from_subset(Q, problem.k, problem.sizes, x, rivals)
    below = offset + scale * float(x @ Q @ x)
    best, slack, iterations = plain.dual_value, None, 0
    primal, status = plain.primal_value, Status.STOPPED_BY_ITERATIONS
    while iterations < max_iterations:
        with one_blas_thread(True):  # large matrices are worked on by threads of our own
            splitting.advance(ROUND, limit)
        iterations += ROUND
        N, w = splitting.slack()
        # About what `certificate.consequences` derives, less the rounding it counts.
        rows = Rows.of(Q, N, w, problem.k, problem.sizes, rivals).anywhere()
        bound = offset + scale * (rows + splitting.lacking())
        primal = offset + scale * splitting.value
        if bound < best:
            best, slack = bound, (N * scale, w * scale)
        callback(Iterate(iterations, plain.multipliers, primal, best, plain.lift, slack))
        aim = primal if incumbent is None else incumbent
        if best - aim <= tol * abs(aim) and (incumbent is not None or splitting.apart <= CLOSE):
            status = Status.SOLVED
            break
        splitting.learn(bound - below)
        if limit.over:
            status = Status.STOPPED_BY_TIME
            break
    x = splitting.membership
    signs = np.empty((len(Q) + 1, len(Q) + 1))
    signs[1:, 1:] = 4.0 * splitting.products - 2.0 * (x + x[:, None]) + 1.0
    signs[0, 1:] = signs[1:, 0] = 2.0 * x - 1.0
    np.fill_diagonal(signs, 1.0)
    normal = unit_normal(len(Q), problem.k, problem.sizes)
    return replace(
        plain,
        primal_value=primal,
        dual_value=best,
        diagonal_residual=0.0,
        face_residual=float(np.abs(signs @ normal).max()),
        iterations=iterations,
        seconds=plain.seconds + watch.seconds,
        status=status,
        method="nonnegative",
        dense=signs,
        factor=None,
        slack=slack,
    )


def _rounded(membership: np.ndarray, problem: ReducedProblem) -> np.ndarray:
    """A subset, the likeliest by these memberships, where any units make one; else the memberships themselves."""
    if not problem.plain:
        return membership
    x = np.zeros(len(membership))
    x[np.argsort(-membership, kind="stable")[: problem.k]] = 1.0
    return x
