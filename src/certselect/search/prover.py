"""Close the gap between the best subset known and the best there can be: bound, decide, shrink, distinguish cases.

One problem after the other, the one with the largest bound first, goes through

1. what the entries of the matrix show by themselves: a first bound, before any round;
2. rounds of the doubly nonnegative relaxation (`relaxation.nonnegative`), started from the best
   subset known, each of which yields a slack matrix that bounds the whole and every unit's two
   cases (`certificate.consequences`). Units that no better subset holds leave the problem, units
   that every better subset holds are taken, and the rounds go on with what is left, from where
   they stand. Of many units, a proof costs more than a round, so it waits for a good outlook;
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
from functools import partial
from typing import NamedTuple

import numpy as np

from certselect.certificate.coarse import Coarse, grain_for
from certselect.certificate.consequences import Consequences, consequences
from certselect.certificate.gap import TOLERANCE, gap
from certselect.certificate.open_problem import OpenProblem
from certselect.certificate.proof import MOST_BYTES, Decision, Proof, Step, decided, derived
from certselect.certificate.rounding import largest, order_of, round_up
from certselect.certificate.twins import twins_of
from certselect.clock import NO_LIMIT, Stopwatch, TimeLimit
from certselect.criteria.reduced import ReducedProblem
from certselect.progress import listener, report
from certselect.relaxation.arrays import CPU, Arrays
from certselect.relaxation.device import or_on_the_cpu
from certselect.relaxation.nonnegative import ROUND, Splitting
from certselect.search.cost import seconds_per_cube
from certselect.search.found import Proved
from certselect.search.hopeless import hopeless_floor
from certselect.threads import one_blas_thread, threads_for

# Rounds at rest before a case distinction, and what still counts as progress in them.
PATIENCE = 8
PROGRESS = 0.25
# In a large problem a few decided units are not worth starting anew; in a small one each is.
FEW = 0.04
SMALL = 150
# From this size on, rounds look ahead, and prove only what promises to halve the gap or to decide this part of units.
LARGE = 1000
MANY = 0.25
# Rounding the matrices of proofs may cost more there, as they take memory: so many times as much as elsewhere.
COARSER = 4.0
# What the proof from one slack matrix takes, per cube of its size, on one slow core; of large ones it is measured.
SECONDS_PER_CUBE = 8e-11
# And what the least round takes that is worth beginning, as a part of that, where none was measured yet.
FIRST_ROUND = 0.25
# A problem whose entries have become this much smaller is scaled anew.
MUCH_SMALLER = 2.0**-8


class Latest(NamedTuple):
    """What the last proof of a case showed, and what it decides."""

    step: Step
    decision: Decision
    proved: Consequences


@dataclass(eq=False)
class Case:
    """An open problem, the proof that led to it and goes on from it, and a bound on it.

    Attributes
    ----------
    splitting : Splitting or None
        The rounds, once begun.
    history : list of float
        Bounds that were proved of the present problem.
    expected : float
        What the rounds are about to prove.
    rounds : int
        Since they began.
    tightest, latest
        What is not in the proof yet: the step that gave the bound, and the last one.
    """

    problem: OpenProblem
    proof: Proof
    scale: float
    bound: float = math.inf
    splitting: Splitting | None = None
    history: list[float] = field(default_factory=list)
    expected: float = math.inf
    rounds: int = 0
    proved_at: Stopwatch | None = None
    tightest: Step | None = None
    latest: Latest | None = None


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
        arrays: Arrays = CPU,
    ) -> None:
        self.problem, self.offer, self.all_best, self.arrays = problem, offer, all_best, arrays
        self.equals: set[tuple[int, ...]] = set()
        self._know(positions, known)
        self.proof: Proof | None = Proof(floor=hopeless_floor(problem, positions))
        opened = OpenProblem.of(problem, self.proof.floor)
        self.root = Case(opened, self.proof, order_of(largest(opened.matrix)))
        self.decisions: list[Decision] = []
        self.cases: list[tuple[float, int, Case]] = []
        self.cases_seen = 0
        self.bound = math.inf
        self.finished = False
        self._left_behind = -math.inf  # no subset that was ruled out is worth more
        # What Ctrl-C interrupts: its bound counts, so there has to be one from the very start.
        self._current: Case | None = self.root
        self._limit = NO_LIMIT
        self._kept_bytes = 0
        self._seconds_per_cube = SECONDS_PER_CUBE if len(opened) < LARGE else seconds_per_cube(len(opened))
        self._take(positions)

    def run(self, *, max_seconds: float = math.inf) -> None:
        """Work until nothing better can be left, or time is up."""
        self._limit = TimeLimit.of(max_seconds)
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
        self.finished = not self.cases
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
        too_large = self.proof is None
        return Proved(self.value, self.known, self.bound, self.proof, too_large, list(self.decisions), equals)

    def _push(self, case: Case) -> None:
        heapq.heappush(self.cases, (-case.bound, self.cases_seen, case))
        self.cases_seen += 1

    def _hopeless(self, bound: float) -> bool:
        """Whether a bound rules out what is looked for.

        Half of the tie's width is left for another machine, where the bound may come out a little larger.
        """
        return bound < self.value - self.tie if self.all_best else bound <= self.value + 0.5 * self.tie

    def _go_on(self, case: Case) -> bool:
        """Report how it stands; whether there is time for more."""
        if listener():
            self._tell(case, ROUND)
        # A round that leaves no time to prove anything from it is not worth beginning.
        return self._has_time_for_round(case)

    def _tell(self, case: Case, iterations: int) -> None:
        bound = self._bound_now()
        if bound < math.inf:
            stage = f"proof, gap {100 * gap(self.value, bound):.2g} %, {len(case.problem)} features open"
            done = self.cases_seen - len(self.cases) - 1  # cases, of which this one is under way
            report(stage, ROUND * done + iterations, ROUND * self.cases_seen)

    def _work(self, case: Case) -> None:
        while not self._settled(case):
            if case.bound == math.inf:
                self._look_at_rows(case)
            elif self._advanced(case):
                with threads_for(len(case.problem)):
                    self._prove(case)
            if self._hopeless(case.bound):
                self._leave_behind(case.bound)
                self._record_last(case)
                return
            if self._replaced(case):
                return
            if not self._go_on(case):
                self._record_last(case)
                self._push(case)
                return

    def _look_at_rows(self, case: Case) -> None:
        """The bound that the entries of the matrix give by themselves."""
        m = len(case.problem)
        step = Step(Coarse.nothing(m), np.zeros(m))
        case.bound, case.tightest = derived(case.problem, step, cases=False).bound, step

    def _advanced(self, case: Case) -> bool:
        """The same as `_advance`, from the start and on the CPU where the memory of a GPU ends in the middle of it."""

        def on(arrays: Arrays) -> bool:
            if arrays is not self.arrays:
                self.arrays, case.splitting = arrays, None
            return self._advance(case)

        return or_on_the_cpu(self.arrays, on)

    def _advance(self, case: Case) -> bool:
        """Some iterations; whether what they are about to prove is worth proving."""
        if case.splitting is None:
            self._start(case)
        splitting, m = case.splitting, len(case.problem)
        assert splitting is not None
        until = self._limit.less(self._seconds_to_prove(m))
        if case.rounds:
            splitting.learn(case.expected - self.value)
        with one_blas_thread(True):  # large matrices are worked on by threads of our own
            splitting.advance(ROUND, until, partial(self._tell, case) if listener() else None)
        case.rounds += 1
        self._try(case, splitting.membership)
        if m < LARGE or case.problem.k == 1 or not case.problem.plain:
            return True
        with one_blas_thread(True):
            outlook = splitting.outlook((self.value - case.problem.constant) / case.scale)
        case.expected = outlook.bound * case.scale + case.problem.constant
        if not self._has_time_for_round(case):
            return case.expected < case.bound  # else the time that is left is of no use
        waited = case.proved_at is None or case.proved_at.seconds > self._seconds_to_prove(m)
        halved = case.expected - self.value < 0.5 * (case.bound - self.value)
        return waited and (halved or outlook.decided >= MANY * m)

    def _start(self, case: Case) -> None:
        """Begin the rounds from the best subset known, or evenly where that is not open."""
        problem, s = case.problem, case.problem.sizes
        x = np.isin(problem.positions, self.positions).astype(np.float64)
        if s @ x != problem.k:
            x = np.full(len(s), problem.k / float(s.sum()))
        case.rounds = 0
        Q, arrays = problem.matrix / case.scale, self._arrays_for(len(s))
        case.splitting = Splitting.from_subset(Q, problem.k, s, x, problem.never_both(), arrays=arrays)

    def _prove(self, case: Case) -> None:
        """Derive what the rounds show: a bound, and what is decided."""
        watch, problem, splitting, m = Stopwatch(), case.problem, case.splitting, len(case.problem)
        assert splitting is not None
        N, w = splitting.slack()
        N *= case.scale
        w *= case.scale
        twins = twins_of(problem) if m <= max(SMALL, 3 * problem.k) and not self.all_best else []
        left = min(case.bound, case.expected) - self.value
        # Rounded before anything is derived from it, so that a proof that is read again proves as much.
        coarse = Coarse.of(N, grain_for(left * (COARSER if m >= LARGE else 1.0), m, problem.k))
        del N
        proved = consequences(problem, coarse.matrix(), w, np.array(twins, dtype=np.intp).reshape(-1, 2))
        if proved.bound < case.bound:
            case.bound, case.tightest = proved.bound, Step(coarse, w)
        if m < LARGE:
            case.expected = proved.bound
        case.history.append(proved.bound)  # not the best so far: the rounds begin by losing what was known
        case.latest = Latest(*self._step(problem, coarse, w, proved, twins), proved)
        case.proved_at = Stopwatch()
        if m >= LARGE:  # below, other costs than factorisations prevail
            self._seconds_per_cube = watch.seconds / m**3

    def _replaced(self, case: Case) -> bool:
        """Shrink the problem by what the last proof decided, or replace the case by two, if that is due."""
        if case.latest is None:
            return False
        step = case.latest.step
        enough = 1 if len(case.problem) <= SMALL else FEW * len(case.problem)
        if len(step.out) + len(step.into) + len(step.twins) >= enough:
            self._decide(case, case.latest)
        elif self._at_rest(case):
            self._distinguish(case, step, case.latest.proved)
            return True
        return False

    def _seconds_to_prove(self, m: int) -> float:
        return self._seconds_per_cube * m**3

    def _has_time_for_round(self, case: Case) -> bool:
        """Whether another round, if a short one, and a proof from it fit into the time that is left."""
        proof = self._seconds_to_prove(len(case.problem))
        least = FIRST_ROUND * proof if case.splitting is None else case.splitting.least_seconds
        return least + proof < self._limit.left

    def _arrays_for(self, m: int) -> Arrays:
        return self.arrays if m >= LARGE else CPU

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

    def _step(
        self, problem: OpenProblem, N: Coarse, w: np.ndarray, proved: Consequences, twins: list[tuple[int, int]]
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
        """Write down what shows the bound; nothing follows, so what the last step decides is of no use."""
        step = case.tightest or (None if case.latest is None else case.latest.step)
        if step is not None:
            self._record(case, [step])

    def _record(self, case: Case, steps: list[Step]) -> None:
        self._kept_bytes += sum(step.N.nbytes for step in steps)
        if self._kept_bytes > MOST_BYTES:
            self.proof = None
        kept = [] if self.proof is None else steps
        # In one go: steps that Ctrl-C lost or doubled would leave a proof that does not show its bound.
        case.proof.steps, case.tightest, case.latest = [*case.proof.steps, *kept], None, None

    def _with_tightest(self, case: Case, step: Step) -> list[Step]:
        """A step that something follows, after the one that gave the bound."""
        return [step] if case.tightest is None or case.tightest.N is step.N else [case.tightest, step]

    def _decide(self, case: Case, latest: Latest) -> None:
        step, steps = latest.step, self._with_tightest(case, latest.step)
        if len(step.N) >= LARGE:
            # Their matrices take memory, and what goes on from here soon proves more than the tightest did.
            steps, case.bound = [step], latest.proved.bound
        self._record(case, steps)
        before = case.problem
        self._leave_behind(min(case.bound, latest.decision.highest))
        if case is self.root:  # not within a case: this holds for all better subsets
            self.decisions.append(latest.decision)
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
        Q, never_both, arrays = after.matrix / case.scale, after.never_both(), self._arrays_for(len(after))
        case.rounds = 0
        case.splitting = splitting.restricted(Q, after.k, after.sizes, never_both, kept, taken, arrays)

    def _at_rest(self, case: Case) -> bool:
        """Whether the last rounds brought too little to wait for more."""
        if len(case.history) <= PATIENCE:
            return False
        aim = self.value - self.tie if self.all_best else self.value  # what a bound has to come down to
        return case.history[-1] - aim >= (1.0 - PROGRESS) * (case.history[-1 - PATIENCE] - aim)

    def _distinguish(self, case: Case, step: Step, proved: Consequences) -> None:
        """Two cases instead of one: the unit in, the unit out."""
        self._record(case, self._with_tightest(case, Step(step.N, step.w)))
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
