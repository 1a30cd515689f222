"""Proofs: what is replayed is never below the best subset, however a proof was come by or corrupted."""

from __future__ import annotations

import copy
import inspect
import sys
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from certificate.made_reduced import allowed, made_reduced, nothing_listed, value
from certselect.certificate.coarse import Coarse
from certselect.certificate.consequences import consequences
from certselect.certificate.open_problem import OpenProblem
from certselect.certificate.proof import Proof, Step, replay
from certselect.certificate.twins import interchangeable
from certselect.criteria.reduced import ReducedProblem
from certselect.errors import InvalidInput
from certselect.search.prover import Prover

seeds = st.integers(0, 2**32 - 1)


def replayed(problem: ReducedProblem, known: float, proof: Proof) -> float:
    return replay(problem, known, proof).bound


def plain(Q: np.ndarray, k: int) -> ReducedProblem:
    m = len(Q)
    return ReducedProblem(Q, k, 0.0, np.ones(m, dtype=int), (), None, np.inf, np.arange(m), ())


def proved_by_search(problem: ReducedProblem, rng: np.random.Generator) -> tuple[float, Proof, Fraction]:
    """What counts as known, a proof that goes with it, and the exact optimum."""
    subsets = allowed(problem)
    worths = {subset: value(problem, subset) for subset in subsets}
    start = max(subsets, key=lambda subset: worths[subset])
    if rng.random() < 0.3:
        start = subsets[int(rng.integers(len(subsets)))]
    prover = Prover(problem, sorted(start), offer=lambda membership: None)
    prover.run(max_seconds=10.0)
    assert prover.proof is not None
    return prover.known, prover.proof, max(worths.values())


@settings(max_examples=60, deadline=None)
@given(seeds, st.booleans())
def test_a_proof_found_by_search_proves_the_optimum(seed: int, twins: bool) -> None:
    problem, rng = made_reduced(seed, most=7, twins=twins), np.random.default_rng(seed)
    with nothing_listed():
        known, proof, optimum = proved_by_search(problem, rng)
        bound = replayed(problem, known, proof)
    size = float(np.abs(problem.matrix).max()) * problem.k**2 + abs(problem.constant)
    assert Fraction(bound) >= optimum
    assert bound <= float(optimum) + 1e-11 * max(size, 1.0)


def corrupted(proof: Proof, rng: np.random.Generator) -> Proof:
    """The proof with one or two things changed, which may make it wrong, ill-formed or merely weaker."""
    proof = copy.deepcopy(proof)
    for _ in range(rng.integers(1, 3)):
        parts = list(proof.parts())
        part = parts[int(rng.integers(len(parts)))]
        if rng.random() < 0.2 or not part.steps:
            corrupt_cases(part, proof, rng)
        else:
            place = int(rng.integers(len(part.steps)))
            part.steps[place] = corrupt_step(part.steps[place], rng)
            if rng.random() < 0.1:
                part.steps.insert(0, part.steps[place])
    return proof


def corrupt_cases(part: Proof, whole: Proof, rng: np.random.Generator) -> None:
    kind = rng.integers(6)
    if kind == 0:
        part.unit = int(rng.integers(-2, 9))
    elif kind == 1:
        part.case_in, part.case_out = part.case_out, part.case_in
    elif kind == 2:
        part.case_in = Proof()
    elif kind == 3:
        part.case_out = None
    elif kind == 4:
        part.steps = part.steps[1:]
    else:
        part.unit, part.case_in, part.case_out = int(rng.integers(3)), Proof(), copy.deepcopy(whole)


def corrupt_step(step: Step, rng: np.random.Generator) -> Step:
    m = len(step.w)
    if m == 0:
        return step
    N, w = step.N.matrix(), step.w.copy()
    units = tuple(rng.integers(-1, m + 1, int(rng.integers(0, m + 1))).tolist())
    pairs: Any = tuple((int(a), int(b)) for a, b in rng.integers(0, m, (int(rng.integers(1, 4)), 2)))
    i, j = rng.integers(0, m, 2)
    kind = rng.integers(12)
    if kind == 0:
        N[i, j] = N[j, i] = N[i, j] + rng.standard_normal() * 10.0 ** rng.integers(-3, 4)
    if kind == 1:
        return replace(step, N=replace(step.N, grain=step.N.grain * 2.0 ** rng.integers(-3, 30)))
    if kind == 2:
        N[i, i] = rng.choice([np.nan, np.inf, -np.inf, 1e300])
    if kind == 3:
        w[i] = rng.choice([np.nan, np.inf, 1e300, 0.0, rng.standard_normal()])
    if kind == 4:
        N, w = N[1:, 1:], w[1:]
    if kind == 5:
        return replace(step, out=units)
    if kind == 6:
        return replace(step, into=units)
    if kind == 7:
        return replace(step, twins=pairs)
    if kind == 8:
        return replace(step, out=step.into, into=step.out)
    if kind == 9:
        return replace(step, twins=tuple((b, a) for a, b in step.twins))
    if kind == 10:
        return replace(step, into=step.into * 2, out=step.out * 2)
    if kind == 11:
        return replace(step, twins=step.twins + tuple((b, a) for a, b in step.twins))
    return replace(step, N=Coarse.of(N), w=w)


@settings(max_examples=80, deadline=None)
@given(seeds, st.booleans())
def test_a_corrupted_proof_is_refused_or_still_true(seed: int, twins: bool) -> None:
    problem, rng = made_reduced(seed, most=7, twins=twins), np.random.default_rng(seed)
    with nothing_listed():
        known, proof, optimum = proved_by_search(problem, rng)
        for _ in range(10):
            try:
                bound = replayed(problem, known, corrupted(proof, rng))
            except InvalidInput:
                continue
            assert bound == np.inf or Fraction(bound) >= optimum


@settings(max_examples=150, deadline=None)
@given(seeds)
def test_steps_that_claim_all_they_prove_never_lose_the_optimum(seed: int) -> None:
    """Random matrices, every claim they allow, twins among them, against the value of a random subset."""
    problem, rng = made_reduced(seed, most=7, twins=True), np.random.default_rng(seed)
    subsets = allowed(problem)
    known = float(value(problem, subsets[int(rng.integers(len(subsets)))]))
    opened = OpenProblem.of(problem)
    m = len(opened)
    if m == 0 or opened.k == 0:
        return
    G = rng.standard_normal((m, m)) * max(float(np.abs(opened.matrix).max()), 1e-3)
    coarse, w = Coarse.of((0.0 if rng.random() < 0.5 else 1.0) * (G + G.T)), np.zeros(m)
    pairs = [(i, j) for i in range(m) for j in range(i + 1, m) if interchangeable(opened, i, j)]
    proved = consequences(opened, coarse.matrix(), w, np.array(pairs, dtype=np.intp).reshape(-1, 2))
    twins: list[tuple[int, int]] = []
    for pair, bound in zip(pairs, proved.if_both.tolist(), strict=True):
        kept, dropped = {kept for kept, _ in twins}, {dropped for _, dropped in twins}
        if bound <= known and pair[0] not in dropped and pair[1] not in kept:
            twins.append(pair)
    out = tuple(np.flatnonzero(proved.if_in <= known).tolist())
    into = tuple(np.flatnonzero(proved.if_out <= known).tolist())
    best = max(value(problem, subset) for subset in subsets)
    # Once by what is left when it is listed, once by the bound of the step alone.
    proof = Proof([Step(coarse, w, out, into, tuple(twins))])
    with nothing_listed():
        assert Fraction(replayed(problem, known, proof)) >= best
    assert Fraction(replayed(problem, known, proof)) >= best


def three_of_six() -> tuple[ReducedProblem, float]:
    """Worth 6, 5, 4, 3, 2, 2: the best three are worth 15, and the last two are twins."""
    return plain(np.diag([6.0, 5.0, 4.0, 3.0, 2.0, 2.0]), 3), 15.0


def nothing(m: int) -> tuple[Coarse, np.ndarray]:
    return Coarse.of(np.zeros((m, m))), np.zeros(m)


NOTHING = nothing(6)


def test_what_a_step_proves_is_accepted() -> None:
    problem, known = three_of_six()
    with nothing_listed():
        # The margin for rounding keeps the optimum from being proved by a bound alone.
        assert 15.0 < replayed(problem, known, Proof([Step(*NOTHING)])) < 15.0 + 1e-11
        step = Step(*NOTHING, out=(3, 4, 5), into=(0, 1, 2))
        assert replayed(problem, known, Proof([step])) < 15.0 + 1e-11
        assert replayed(problem, 16.0, Proof()) == np.inf
        assert replayed(problem, known, Proof([Step(*NOTHING, twins=((4, 5),))])) < 15.0 + 1e-11


@pytest.mark.parametrize(
    "claims",
    [
        {"out": (0,)},
        {"into": (3,)},
        {"out": (6,)},
        {"out": (-1,)},
        {"into": (10**30,)},
        {"into": (True,)},
        {"out": (1.0,)},
        {"twins": ((0, 1),)},
        {"twins": ((4, 4),)},
        {"twins": ((4, 5), (5, 4))},
        {"twins": ((4, 9),)},
        {"twins": ((3, 4),)},
        {"twins": ((4, 5, 5),)},
    ],
)
def test_what_a_step_does_not_prove_is_refused(claims: dict[str, Any]) -> None:
    problem, known = three_of_six()
    with nothing_listed(), pytest.raises(InvalidInput, match="Prove it again"):
        replayed(problem, known, Proof([Step(*NOTHING, **claims)]))


def test_twins_that_a_better_subset_holds_both_of_are_refused() -> None:
    problem = plain(np.diag([6.0, 5.0, 5.0, 1.0, 1.0, 1.0]), 3)
    with nothing_listed():
        with pytest.raises(InvalidInput, match="twins of which one is enough"):
            replayed(problem, 15.0, Proof([Step(*NOTHING, twins=((1, 2),))]))
        assert replayed(problem, 15.0, Proof([Step(*NOTHING, twins=((3, 4), (3, 5)))])) < 16.0 + 1e-11


@pytest.mark.parametrize(
    "step",
    [
        Step(nothing(5)[0], np.zeros(6)),
        Step(nothing(6)[0], np.zeros(5)),
        Step(nothing(6)[0], np.zeros(6, dtype=np.float32)),
        Step(nothing(6)[0], np.zeros((6, 1))),
        Step(Coarse.of(np.diag([0.0, 0.0, np.nan, 0.0, 0.0, 0.0])), np.zeros(6)),
        Step(Coarse.of(np.full((6, 6), np.inf)), np.zeros(6)),
        Step(nothing(6)[0], np.full(6, np.nan)),
    ],
)
def test_a_step_of_another_form_is_refused(step: Step) -> None:
    problem, known = three_of_six()
    with nothing_listed(), pytest.raises(InvalidInput, match="a proof step"):
        replayed(problem, known, Proof([step]))


def test_a_unit_named_twice_is_taken_once() -> None:
    """A second look for it must not read as "it fits in nowhere"."""
    problem = plain(np.diag([6.0, 5.0, 5.0, 5.0, 4.0, 4.0]), 3)
    with nothing_listed():
        assert replayed(problem, 15.5, Proof([Step(*NOTHING, into=(0, 0))])) >= 16.0
    assert replayed(problem, 15.5, Proof([Step(*NOTHING, into=(0, 0))])) >= 16.0


def test_cases_go_on_from_what_the_last_step_said_of_their_unit() -> None:
    problem, _ = three_of_six()
    cases = Proof([Step(*NOTHING)], 0, Proof(), Proof())
    with nothing_listed():
        # With unit 0 out only 12 is left; with it in, 15. Both are below a value of 16.
        assert 15.0 < replayed(problem, 11.0, cases) < 15.0 + 1e-11
        assert 15.0 < replayed(problem, 15.5, cases) < 15.0 + 1e-11
        closed = Proof([Step(*NOTHING)], 0, Proof(), Proof([Step(*nothing(5))]))
        assert 15.0 < replayed(problem, 11.0, closed) < 15.0 + 1e-11


def test_cases_after_a_step_that_decides_count_the_units_it_leaves() -> None:
    """After unit 0 is out, unit 0 is the one worth 6: nothing the step said of the old one closes its cases."""
    problem = plain(np.diag([2.0, 6.0, 5.0, 4.0, 3.0, 2.0]), 3)
    without = Proof([Step(*nothing(4))])
    proof = Proof([Step(*NOTHING, out=(0,))], 0, Proof(), without)
    with nothing_listed():
        assert 15.0 <= replayed(problem, 13.5, proof) <= 15.0 + 1e-11


@pytest.mark.parametrize("unit", [-1, 6, 10**30, True])
def test_cases_on_a_unit_that_is_not_open_are_refused(unit: int) -> None:
    problem, known = three_of_six()
    with nothing_listed(), pytest.raises(InvalidInput, match="by cases on unit"):
        replayed(problem, known, Proof([], unit, Proof(), Proof()))


def test_a_value_that_is_no_number_is_refused() -> None:
    with pytest.raises(InvalidInput, match="not a number"):
        replayed(three_of_six()[0], float("nan"), Proof())


def test_cases_may_go_deeper_than_python_can_call() -> None:
    depth = 150
    whole = part = Proof()
    for _ in range(depth):
        part.unit, part.case_in, part.case_out = 0, Proof(), Proof()
        part = part.case_out
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(len(inspect.stack()) + 60)
    try:
        with nothing_listed():
            bound = replayed(plain(np.eye(depth + 4), 2), 2.0, whole)
        parts, taken = sum(1 for _ in whole.parts()), whole.nbytes
    finally:
        sys.setrecursionlimit(limit)
    assert bound == np.inf
    assert (parts, taken) == (2 * depth + 1, 0)


def test_nothing_to_prove_needs_no_proof() -> None:
    everything = plain(np.ones((3, 3)), 3)
    assert 9.0 <= replayed(everything, 9.0, Proof()) <= 9.0 + 1e-12
    empty = plain(np.zeros((0, 0)), 0)
    assert 0.0 <= replayed(empty, 0.0, Proof()) <= 1e-300
    required = ReducedProblem(np.zeros((0, 0)), 0, 7.0, np.zeros(0, int), (), None, np.inf, np.zeros(0, int), (1, 2))
    assert 7.0 <= replayed(required, 7.0, Proof()) <= 7.0 + 1e-13
    impossible = plain(np.ones((2, 2)), 3)
    assert replayed(impossible, -np.inf, Proof()) == -np.inf


def test_cases_nobody_can_be_in_are_closed() -> None:
    """Units 0 and 1 are rivals, so unit 2 is in; after one of them, or without both, nothing is left to choose."""
    problem = ReducedProblem(np.eye(3), 2, 0.0, np.ones(3, int), (np.array([0, 1]),), None, np.inf, np.arange(3), ())
    last = Proof([], 0, Proof(), Proof())  # on unit 2, the only one left: in ends it, and out nothing is left
    with nothing_listed():
        assert replayed(problem, 2.0, Proof([], 0, last, Proof())) == np.inf
        bound = replayed(problem, 2.0, Proof([], 0, last, Proof([], 0, last, last)))
    assert 2.0 <= bound <= 2.0 + 1e-12
