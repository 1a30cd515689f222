"""Close the gap between the best subset known and the best there can be: bound, decide, shrink, distinguish cases.

One problem after the other, the one with the largest bound first, goes through

1. the plain relaxation (the first problem only): often it decides most units at once;
2. rounds of the doubly nonnegative one (`relaxation.nonnegative`), each of which yields a
   slack matrix that bounds the whole and every unit's two cases (`certificate.consequences`).
   Units that no better subset holds leave the problem, units that every better subset holds
   are taken, and the rounds go on with what is left, from where they stand;
3. where that comes to rest, a case distinction on the unit whose two cases promise most.

Where few subsets are left, each is valued. Whatever is decided is written down as a `Proof`, which
`certificate.replay` checks; it leaves out what is worth at most half the tolerance more than the best
subset known, so that ties need not be told apart.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable
from dataclasses import dataclass, field
from time import perf_counter

import numpy as np

from certselect.certificate.consequences import Consequences, consequences
from certselect.certificate.gap import TOLERANCE, gap
from certselect.certificate.open_problem import OpenProblem
from certselect.certificate.proof import MOST_NUMBERS, Decision, Proof, Step, decided
from certselect.certificate.rounding import largest, order_of, round_up
from certselect.certificate.slack_matrix import slack_matrix, slack_weights
from certselect.certificate.twins import twins_of
from certselect.criteria.reduced import ReducedProblem
from certselect.progress import report
from certselect.relaxation.nonnegative import ROUND, Splitting
from certselect.relaxation.result import Iterate
from certselect.relaxation.solve import MAX_ITERATIONS, solve
from certselect.search.hopeless import hopeless_floor
from certselect.search.proved import Proved
from certselect.threads import one_blas_thread

# Rounds at rest before a case distinction, and what still counts as progress in them.
PATIENCE = 8
PROGRESS = 0.25
# In a large problem a few decided units are not worth starting anew; in a small one each is.
FEW = 0.04
SMALL = 150
# For the relaxation that was begun just in time.
LEAST_SECONDS = 1e-3
# A problem whose entries have become this much smaller is scaled anew.
MUCH_SMALLER = 2.0**-8
# Up to this size threads cost more than they bring, and much more where others use the cores too.
ONE_THREAD = 600


@dataclass(eq=False)
class Case:
    """An open problem, the proof that led to it and goes on from it, and a bound on it."""

    problem: OpenProblem
    proof: Proof
    scale: float
    bound: float = math.inf
    splitting: Splitting | None = None
    history: list[float] = field(default_factory=list)
    # What is not in the proof yet: the step that gave the bound, and the last one.
    tightest: Step | None = None
    last: Step | None = None


class Prover:
    """Prove how good the best subset of a reduced problem can be, and find better ones on the way.

    `offer` is asked for a subset (positions) near a membership (m,), or None if it has
    nothing new. Up to `all_best` subsets as good as the best are looked for too and kept in
    `equals`. What is worth no more than `known` is not looked at.
    """

    def __init__(
        self,
        problem: ReducedProblem,
        positions: list[int],
        *,
        offer: Callable[[np.ndarray], list[int] | None],
        all_best: int = 0,
        known: float = -math.inf,
    ) -> None:
        self.problem, self.offer, self.all_best = problem, offer, all_best
        self.equals: set[tuple[int, ...]] = set()
        self._know(positions, known)
        self.proof: Proof | None = Proof(floor=hopeless_floor(problem, positions))
        opened = OpenProblem.of(problem, self.proof.floor)
        self.root = Case(opened, self.proof, order_of(largest(opened.matrix)))
        self.decisions: list[Decision] = []
        self.cases: list[tuple[float, int, Case]] = []
        self.cases_seen = 0
        self.bound = math.inf
        self._left_behind = -math.inf  # no subset that was ruled out is worth more
        # What Ctrl-C interrupts: its bound counts, so there has to be one from the very start.
        self._current: Case | None = self.root
        self._deadline = math.inf
        self._kept_numbers = 0
        self._take(positions)

    def run(self, *, max_seconds: float = math.inf) -> None:
        """Work until nothing better can be left, or time is up."""
        self._deadline = perf_counter() + max_seconds
        self._push(self.root)
        while self.cases:
            case = self._current = self.cases[0][2]  # before it is taken out: Ctrl-C may come in between
            heapq.heappop(self.cases)
            if self._hopeless(case.bound):
                self._leave_behind(case.bound)
                continue
            if not self._go_on(case):
                if case.bound == math.inf and not self._settled(case):
                    self._look_at_rows(case)  # a bound that costs little is better than none
                self._push(case)
                break
            self._work(case)
        self._current = None
        self.bound = self._bound_now()

    def _know(self, positions: list[int], value: float = -math.inf) -> None:
        """Take a subset for the best known; and its value, or a larger one that is known anyway."""
        terms = self.problem.terms(positions)
        tie = 0.5 * TOLERANCE * math.fsum(map(abs, terms))
        worth, at_least = max(math.fsum(terms), value), max(round_up(terms), value)
        # In one go: Ctrl-C must not leave the one of these without the others.
        self.positions, self.value, self.tie, self._at_least = positions, worth, tie, at_least

    @property
    def known(self) -> float:
        """A subset worth no more than this is no better than the best one found."""
        return self.value + self.tie

    def _leave_behind(self, bound: float) -> None:
        self._left_behind = max(self._left_behind, bound)

    def _bound_now(self) -> float:
        bounds = [case.bound for _, _, case in self.cases]
        if self._current is not None:
            bounds.append(self._current.bound)
        return max([self._at_least, self._left_behind, *bounds])

    def interrupted(self) -> None:
        """Take stock after Ctrl-C."""
        if self._current is not None:
            self._record_last(self._current)
        self.bound = self._bound_now()

    def proved(self) -> Proved:
        """Everything known by now."""
        equals = [self.problem.unit_indices(positions) for positions in sorted(self.equals)]
        return Proved(self.value, self.known, self.bound, self.proof, list(self.decisions), equals)

    def _push(self, case: Case) -> None:
        heapq.heappush(self.cases, (-case.bound, self.cases_seen, case))
        self.cases_seen += 1

    def _hopeless(self, bound: float) -> bool:
        """Whether a bound rules out what is looked for.

        Half of the tie's width is left for another machine, where the bound may come out a little larger.
        """
        return bound < self.value - self.tie if self.all_best else bound <= self.value + 0.5 * self.tie

    def _go_on(self, case: Case) -> bool:
        """Tell how it stands; whether there is time for more."""
        bound = self._bound_now()
        if bound < math.inf:
            left = gap(self.value, bound)
            stage = f"proof, gap {100 * left:.2g} %, {len(case.problem)} features open"
            report(stage, self.cases_seen - len(self.cases), self.cases_seen)
        return perf_counter() < self._deadline

    def _work(self, case: Case) -> None:
        while True:
            if self._settled(case):
                return
            with one_blas_thread(len(case.problem) <= ONE_THREAD):
                N, w, twins, proved = self._round(case)
            if proved.bound < case.bound:
                case.bound, case.tightest = proved.bound, Step(N, w)
            case.history.append(proved.bound)  # not the best so far: the rounds begin by losing what was known
            step, decision = self._step(case.problem, N, w, proved, twins)
            case.last = step
            if self._hopeless(case.bound):
                self._leave_behind(case.bound)
                self._record(case, step)
                return
            enough = 1 if len(case.problem) <= SMALL else FEW * len(case.problem)
            if len(step.out) + len(step.into) + len(step.twins) >= enough:
                self._decide(case, step, decision)
            elif self._at_rest(case):
                self._distinguish(case, step, proved)
                return
            if not self._go_on(case):
                self._record_last(case)
                self._push(case)
                return

    def _look_at_rows(self, case: Case) -> None:
        """The bound that the entries of the matrix give by themselves."""
        m = len(case.problem)
        step = Step(np.zeros((m, m)), np.zeros(m))
        case.bound, case.tightest = consequences(case.problem, step.N, step.w).bound, step
        self._record(case, step)

    def _round(self, case: Case) -> tuple[np.ndarray, np.ndarray, list[tuple[int, int]], Consequences]:
        """Some iterations, and what they prove."""
        if case.splitting is None:
            N, w = self._plain(case)
        else:
            case.splitting.advance(ROUND, self._deadline)
            N, w = (part * case.scale for part in case.splitting.slack())
            self._try(case, case.splitting.membership)
        small = len(case.problem) <= max(SMALL, 3 * case.problem.k)
        twins = twins_of(case.problem) if small and not self.all_best else []
        return N, w, twins, consequences(case.problem, N, w, np.array(twins, dtype=np.intp).reshape(-1, 2))

    def _settled(self, case: Case) -> bool:
        """Value what is left if that is quick."""
        listed = case.problem.listed()
        if listed is None:
            return False
        if listed.best is not None:
            self._take(listed.best)
        close = np.flatnonzero(listed.at_most >= self.value - self.tie) if self.all_best else []
        for row in close:
            chosen = case.problem.positions[listed.subsets[row]].tolist()
            self._take(sorted([*case.problem.taken, *chosen]))
        case.bound = listed.bound
        self._leave_behind(listed.bound)
        return True

    def _take(self, positions: list[int]) -> None:
        """A subset was found: it may be better than the best, or as good."""
        value = math.fsum(self.problem.terms(positions))
        if value > self.known:
            self.equals.clear()  # first: what is known after it has no such equals
            self._know(positions)
        if len(self.equals) < self.all_best and value >= self.value - self.tie:
            self.equals.add(tuple(positions))
            if len(self.equals) == self.all_best:
                self.all_best = 0  # enough of them: from here on only better ones count

    def _try(self, case: Case, membership: np.ndarray) -> None:
        whole = np.zeros(len(self.problem.matrix))
        whole[case.problem.positions] = membership
        whole[list(case.problem.taken)] = 1.0
        found = self.offer(whole)
        if found is not None:
            self._take(found)

    def _plain(self, case: Case) -> tuple[np.ndarray, np.ndarray]:
        """(N, w) of the plain relaxation; the rounds then start from it."""
        problem, k, s = case.problem, case.problem.k, case.problem.sizes
        Q = problem.matrix / case.scale
        left = max(self._deadline - perf_counter(), LEAST_SECONDS)

        def told(iterate: Iterate) -> None:
            report(f"relaxation, gap {iterate.gap:.1e}", iterate.iteration, MAX_ITERATIONS["interior_point"])

        sizes = None if (s == 1).all() else s
        answer = solve(Q, k, "interior_point", tol=1e-5, max_seconds=left, sizes=sizes, callback=told)
        d = answer.multipliers
        w = slack_weights(d, k, s)
        N = slack_matrix(Q, d, w, s)
        case.splitting = Splitting.from_plain(Q, k, s, answer.matrix, d, problem.never_both())
        self._try(case, case.splitting.membership)
        return N * case.scale, w * case.scale

    def _step(
        self, problem: OpenProblem, N: np.ndarray, w: np.ndarray, proved: Consequences, twins: list[tuple[int, int]]
    ) -> tuple[Step, Decision]:
        out = tuple(np.flatnonzero([self._hopeless(bound) for bound in proved.if_in.tolist()]).tolist())
        into = tuple(np.flatnonzero([self._hopeless(bound) for bound in proved.if_out.tolist()]).tolist())
        gone = set(out)
        joined = {
            pair: bound
            for pair, bound in zip(twins, proved.if_both.tolist(), strict=True)
            if self._hopeless(bound) and not gone & set(pair)
        }
        step = Step(N, w, out, into, tuple(joined))
        return step, Decision.of(problem, step, proved, joined.values())

    def _record_last(self, case: Case) -> None:
        step = case.tightest if case.last is None else case.last
        if step is not None:
            self._record(case, step)

    def _record(self, case: Case, step: Step) -> None:
        steps = [step] if case.tightest is None or case.tightest.N is step.N else [case.tightest, step]
        self._kept_numbers += sum(each.N.size for each in steps)
        if self._kept_numbers > MOST_NUMBERS:
            self.proof = None
        kept = [] if self.proof is None else steps
        # In one go: steps that Ctrl-C lost or doubled would leave a proof that does not show its bound.
        case.proof.steps, case.tightest, case.last = [*case.proof.steps, *kept], None, None

    def _decide(self, case: Case, step: Step, decision: Decision) -> None:
        self._record(case, step)
        before = case.problem
        self._leave_behind(min(case.bound, decision.highest))
        if case is self.root:  # not within a case: this holds for all better subsets
            self.decisions.append(decision)
        case.problem = decided(before, step)
        case.history.clear()
        self._continue(case, before, case.splitting)

    def _continue(self, case: Case, before: OpenProblem, splitting: Splitting | None) -> None:
        """Go on with a smaller problem from where the rounds stood, or from the start if it is much smaller."""
        after = case.problem
        if splitting is None or len(after) == 0 or after.k <= 0:
            return
        scale = order_of(largest(after.matrix))
        if scale < MUCH_SMALLER * case.scale:
            case.scale, case.splitting = scale, None
            return
        kept = np.flatnonzero(np.isin(before.positions, after.positions))
        taken = np.flatnonzero(np.isin(before.positions, after.taken))
        Y, Z = splitting.restricted(kept, taken)
        Q = after.matrix / case.scale
        case.splitting = Splitting(Q, after.k, after.sizes, after.never_both(), Y=Y, Z=Z, penalty=splitting.penalty)

    def _at_rest(self, case: Case) -> bool:
        """Whether the last rounds brought too little to wait for more."""
        if len(case.history) <= PATIENCE:
            return False
        aim = self.value - self.tie if self.all_best else self.value  # what a bound has to come down to
        return case.history[-1] - aim >= (1.0 - PROGRESS) * (case.history[-1 - PATIENCE] - aim)

    def _distinguish(self, case: Case, step: Step, proved: Consequences) -> None:
        """Two cases instead of one: the unit in, the unit out."""
        self._record(case, Step(step.N, step.w))
        gains = np.minimum(case.bound - proved.if_in, case.bound - proved.if_out)
        unit = int(np.argmax(gains))
        out = np.zeros(len(case.problem), dtype=bool)
        out[unit] = True
        before, splitting = case.problem, case.splitting
        case.proof.unit, case.proof.case_in, case.proof.case_out = unit, Proof(), Proof()
        ways = [
            (before.with_unit(unit), case.proof.case_in, proved.if_in[unit]),
            (before.without(out), case.proof.case_out, proved.if_out[unit]),
        ]
        for after, proof, bound in ways:
            child = Case(after, proof, case.scale, min(case.bound, float(bound)))
            self._continue(child, before, splitting)
            self._push(child)
