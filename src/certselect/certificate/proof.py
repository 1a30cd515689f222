"""A proof that no subset is worth more than a bound: slack matrices, what they decide, and cases.

Each step of a proof gives (N, w) for the units that are still open, and says which of them
it decides: no subset better than the answer holds these, none is without those, and of
these twins (units that can be exchanged for each other without any change) never both.
`replay` derives all that again from the problem (see `consequences`) and believes nothing
else. A proof may end with a case distinction on one unit, each case with a proof of its own.
Where few subsets are left, each is valued.

Why dropping twins is safe: take a better subset with one dropped. It does not hold the kept
one too, so exchange the two; the value stays. As no unit is both kept and dropped, that ends
with a better subset that holds none of those dropped.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from typing import NamedTuple

import numpy as np

from certselect.certificate.coarse import Coarse
from certselect.certificate.consequences import Consequences, consequences
from certselect.certificate.open_problem import OpenProblem
from certselect.certificate.twins import interchangeable
from certselect.criteria.reduced import ReducedProblem
from certselect.errors import InvalidInput
from certselect.memory import check_room_for_pairs

REMEDY = "Prove it again."
# What the matrices of a proof that is kept or read may take.
MOST_BYTES = 1 << 28


@dataclass(frozen=True, eq=False)
class Step:
    """A slack matrix and what it decides; units count the problem that is open at that point.

    Attributes
    ----------
    N : Coarse (m, m)
    w : ndarray (m,)
    out, into : tuple of int
        Units no better subset holds, and units every better subset holds.
    twins : tuple of (int, int)
        Pairs (kept, dropped) of interchangeable units that no better subset holds both of.
    """

    N: Coarse
    w: np.ndarray
    out: tuple[int, ...] = ()
    into: tuple[int, ...] = ()
    twins: tuple[tuple[int, int], ...] = ()

    @property
    def decides(self) -> bool:
        return bool(self.out or self.into or self.twins)


@dataclass(eq=False)
class Proof:
    """Steps one after the other, then nothing more or two cases: `unit` in, and `unit` out.

    It is about the problem whose entries below `floor` are raised to it (of its cases, only the floor of the first
    part counts).
    """

    steps: list[Step] = field(default_factory=list)
    unit: int = -1
    case_in: Proof | None = None
    case_out: Proof | None = None
    floor: float = -math.inf

    @property
    def cases(self) -> tuple[Proof, ...]:
        """The two cases, `unit` in and `unit` out, or none."""
        return () if self.case_in is None or self.case_out is None else (self.case_in, self.case_out)

    def parts(self) -> Iterator[Proof]:
        """This proof, then all parts of its first case, then all of its second, however deep they go."""
        waiting: list[Proof] = [self]
        while waiting:
            part = waiting.pop()
            yield part
            waiting.extend(reversed(part.cases))

    @property
    def nbytes(self) -> int:
        """What its matrices take."""
        return sum(step.N.nbytes for part in self.parts() for step in part.steps)


class Decision(NamedTuple):
    """What a step says of all subsets, not of those in one case only.

    `out` and `into` hold (position, bound): no subset that holds the unit, or that does without it, is worth more.
    """

    out: tuple[tuple[int, float], ...]
    into: tuple[tuple[int, float], ...]
    joined: tuple[float, ...]  # bounds on what holds both of the twins of which one was dropped

    @classmethod
    def of(cls, problem: OpenProblem, step: Step, proved: Consequences, joined: Iterable[float]) -> Decision:
        places = problem.positions
        return cls(
            tuple((int(places[unit]), float(proved.if_in[unit])) for unit in step.out),
            tuple((int(places[unit]), float(proved.if_out[unit])) for unit in step.into),
            tuple(joined),
        )

    @property
    def highest(self) -> float:
        """No subset that these decisions leave behind is worth more."""
        return max((*(bound for _, bound in (*self.out, *self.into)), *self.joined), default=-math.inf)


def certain(decisions: Iterable[Decision], value: float) -> tuple[set[int], set[int]]:
    """Positions in every subset worth at least `value`, and in none of them.

    A decision that left such a subset behind is one about better subsets only, and so are those after it.
    """
    into: set[int] = set()
    out: set[int] = set()
    for decision in decisions:
        into.update(position for position, bound in decision.into if bound < value)
        out.update(position for position, bound in decision.out if bound < value)
        if decision.joined or decision.highest >= value:
            break
    return into, out


class Replayed(NamedTuple):
    """What follows from a proof: no allowed subset is worth more than `bound`, and `decisions` on all of them."""

    bound: float
    decisions: list[Decision]


def replay(problem: ReducedProblem, known: float, proof: Proof) -> Replayed:
    """What follows from a proof, for which subsets worth no more than `known` need no looking at.

    A step that claims more than it proves is an error that says which.
    """
    if math.isnan(known):
        raise InvalidInput("a value that is not a number", "that of an allowed subset", "Value the subset again.")
    if not proof.floor <= 0.0:
        raise InvalidInput(f"a proof with a floor of {proof.floor}", "0 or less", REMEDY)
    check_room_for_pairs(len(problem.matrix), problem.matrix.itemsize)
    lengths, decisions = _lengths(proof), []
    worst = -math.inf
    waiting: list[tuple[Callable[[], OpenProblem], Proof, float]] = [
        (partial(OpenProblem.of, problem, proof.floor), proof, math.inf)
    ]
    while waiting:
        opened, part, bound = waiting.pop()
        if bound <= known:
            worst = max(worst, bound)
            continue
        rest = _after_steps(opened(), known, part, bound)
        worst = max(worst, rest.left_behind)
        if part is proof:
            decisions = rest.decisions
        if rest.problem is None or not part.cases:
            worst = max(worst, rest.bound)
            continue
        unit, open_problem, last = part.unit, rest.problem, rest.last
        if not _is_unit(unit, open_problem):
            raise InvalidInput(f"a proof by cases on unit {unit!r:.40}", f"0 to {len(open_problem) - 1}", REMEDY)
        alone = np.arange(len(open_problem)) == unit
        ways = [partial(open_problem.with_unit, unit), partial(open_problem.without, alone)]
        each = [math.inf, math.inf] if last is None else [float(last.if_in[unit]), float(last.if_out[unit])]
        pending = [(way, case, min(rest.bound, own)) for way, case, own in zip(ways, part.cases, each, strict=True)]
        # The shorter case first: the problem both come from is then needed no longer than the longer one is open.
        waiting.extend(sorted(pending, key=lambda case: -lengths[id(case[1])]))
    return Replayed(worst, decisions)


def _lengths(proof: Proof) -> dict[int, int]:
    """How many parts each part of a proof has."""
    lengths: dict[int, int] = {}
    for part in reversed(list(proof.parts())):
        lengths[id(part)] = 1 + sum(lengths[id(case)] for case in part.cases)
    return lengths


class _Rest(NamedTuple):
    """What is open after the steps of a part (None: nothing), and bounds on that and on what they left behind."""

    problem: OpenProblem | None
    bound: float
    left_behind: float
    last: Consequences | None  # what is known of the units that are open
    decisions: list[Decision]


def _after_steps(open_problem: OpenProblem, known: float, proof: Proof, bound: float) -> _Rest:
    last: Consequences | None = None
    left_behind, decisions = -math.inf, []
    for number, step in enumerate(proof.steps):
        listed = open_problem.listed()
        if listed is not None:
            return _Rest(None, min(bound, listed.bound), left_behind, None, decisions)
        if bound <= known:
            return _Rest(None, bound, left_behind, None, decisions)
        proved = derived(open_problem, step)
        bound = min(bound, proved.bound)
        for name, wrong in _overclaims(open_problem, step, proved, known):
            raise InvalidInput(f"a proof whose step {number} calls {wrong} {name}", "what its matrix proves", REMEDY)
        decisions.append(Decision.of(open_problem, step, proved, proved.if_both.tolist()))
        left_behind = max(left_behind, min(bound, decisions[-1].highest))
        last = None if step.decides else proved
        open_problem = decided(open_problem, step)
    listed = open_problem.listed()
    if listed is not None:
        return _Rest(None, min(bound, listed.bound), left_behind, None, decisions)
    return _Rest(open_problem, bound, left_behind, last, decisions)


def derived(problem: OpenProblem, step: Step, *, cases: bool = True) -> Consequences:
    """What the step's matrix proves, if it is of the form a step has to have; `cases` as for `consequences`."""
    m, N, w = len(problem), step.N, step.w
    if len(N) != m or w.shape != (m,) or w.dtype != np.float64:
        got = f"a proof step with a matrix of {len(N)} units and weights of shape {w.shape} ({w.dtype})"
        raise InvalidInput(got, f"{m}, and {(m,)} (float64)", REMEDY)
    if not (np.isfinite(N.diagonal).all() and np.isfinite(w).all()):
        raise InvalidInput("a proof step whose numbers are not finite", "any other", REMEDY)
    named = [*step.out, *step.into, *(unit for pair in step.twins for unit in pair)]
    strange = [unit for unit in named if not _is_unit(unit, problem)]
    if strange:
        raise InvalidInput(f"a proof step about unit {strange[0]!r:.40}", f"units from 0 to {m - 1}", REMEDY)
    if any(len(pair) != 2 or pair[0] == pair[1] for pair in step.twins):
        raise InvalidInput("a proof step with twins that are not two units", "pairs", REMEDY)
    if {kept for kept, _ in step.twins} & {dropped for _, dropped in step.twins}:
        raise InvalidInput("a proof step that drops a unit it keeps", "twins either kept or dropped", REMEDY)
    pairs = np.array(step.twins, dtype=np.intp).reshape(-1, 2)
    return consequences(problem, N.matrix(), w, pairs, cases=cases)


def _is_unit(unit: object, problem: OpenProblem) -> bool:
    return isinstance(unit, int | np.integer) and not isinstance(unit, bool) and 0 <= int(unit) < len(problem)


def decided(problem: OpenProblem, step: Step) -> OpenProblem:
    """The problem that is open after a step."""
    out = np.zeros(len(problem), dtype=bool)
    out[list(step.out)] = True
    out[[dropped for _, dropped in step.twins]] = True
    into = problem.positions[sorted(set(step.into))]
    problem = problem.without(out)
    for position in into:
        place = np.flatnonzero(problem.positions == position)
        if len(place) == 0:
            return replace(problem, k=-1)  # it fits in nowhere any more, so no better subset is left
        problem = problem.with_unit(int(place[0]))
    return problem


def _overclaims(
    problem: OpenProblem, step: Step, proved: Consequences, known: float
) -> Iterator[tuple[str, list[int]]]:
    """What a step says and does not prove."""
    claims = [
        ("outside every better subset", step.out, proved.if_in),
        ("inside every better subset", step.into, proved.if_out),
    ]
    for name, units, bounds in claims:
        wrong = [unit for unit in units if not bounds[unit] <= known]
        if wrong:
            yield name, wrong
    for pair, bound in zip(step.twins, proved.if_both.tolist(), strict=True):
        if not bound <= known or not interchangeable(problem, *pair):
            yield "twins of which one is enough", list(pair)
