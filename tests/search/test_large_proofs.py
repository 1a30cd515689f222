"""Proofs of many features, made small: single precision, filters, looks ahead and coarse matrices on a few columns."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from certselect import SubsetProblem, certify, information_terms, select, subset_problem
from certselect.certificate import open_problem
from certselect.certificate.proof import replay
from certselect.errors import InvalidInput, render
from certselect.relaxation import nonnegative, positive_part
from certselect.relaxation.device import on_device
from certselect.search import cost, prover
from certselect.search.strategies.exact import prover_for


@pytest.fixture
def as_if_large(monkeypatch):
    monkeypatch.setattr(open_problem, "MOST_LISTED", 10)
    monkeypatch.setattr(open_problem, "MOST_MASKED", 3)
    monkeypatch.setattr(prover, "LARGE", 9)
    monkeypatch.setattr(prover, "SMALL", 5)
    monkeypatch.setattr(nonnegative, "LARGEST_IN_DOUBLE", 4)
    monkeypatch.setattr(nonnegative, "SMALLEST_TO_FILTER", 6)
    monkeypatch.setattr(positive_part, "FIRST_DIRECTIONS", 6)
    monkeypatch.setattr(positive_part, "SPARE_DIRECTIONS", 3)


def gene_like(seed: int, n: int, rows: int = 40) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    y = np.arange(rows) % 3
    factors = rng.integers(0, 3, (rows, max(2, n // 4)))
    X = factors[:, rng.integers(0, factors.shape[1], n)]
    X = np.where(rng.random((rows, n)) < 0.4, rng.integers(0, 3, (rows, n)), X)
    X[:, ::5] = np.where(rng.random((rows, len(range(0, n, 5)))) < 0.5, y[:, None], X[:, ::5])
    X[:3] = np.arange(3)[:, None]
    return X, y


@pytest.mark.usefixtures("as_if_large")
@pytest.mark.parametrize("criterion", ["mrmr", "jmi"])
@pytest.mark.parametrize("seed", range(6))
def test_what_is_proven_is_the_best(seed: int, criterion: str) -> None:
    terms = information_terms(*gene_like(seed, 16), integers="levels", measure="plugin", correction="none")
    problem = subset_problem(terms, 4, criterion)
    answer = select(problem, "exact")
    assert answer.status == "proven optimal"
    assert answer.objective == pytest.approx(select(problem, "exhaustive").objective, rel=1e-12)
    assert answer.certificate is not None
    assert answer.certificate.proof is not None
    replayed = replay(problem.reduced, answer.certificate.known, answer.certificate.proof)
    assert replayed.bound <= answer.upper_bound


@pytest.mark.usefixtures("as_if_large")
@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**31), st.integers(10, 14), st.integers(1, 6), st.sampled_from([1e-9, 1.0, 1e12]))
def test_no_subset_is_worth_more_than_what_is_proven(seed: int, n: int, k: int, scale: float) -> None:
    rng = np.random.default_rng(seed)
    Q = rng.standard_normal((n, n)) * scale
    problem = SubsetProblem.from_matrix(0.5 * (Q + Q.T), k)
    best = select(problem, "exhaustive").objective
    answer = select(problem, "exact", max_seconds=5)
    assert answer.upper_bound >= best
    assert answer.status != "proven optimal" or answer.objective == pytest.approx(best, rel=1e-11, abs=1e-11 * scale)


def test_a_first_bound_comes_before_any_round() -> None:
    problem = SubsetProblem.from_matrix(np.diag(np.arange(1.0, 60.0)) - 0.01, 5)
    ready = prover_for(problem.units, list(range(5)))
    ready.run(max_seconds=0.0)
    assert ready.value <= ready.bound < math.inf


@pytest.mark.usefixtures("as_if_large")
def test_a_proof_too_large_to_keep_leaves_a_bound_that_can_be_derived(monkeypatch) -> None:
    monkeypatch.setattr(prover, "MOST_BYTES", 10)
    terms = information_terms(*gene_like(1, 16), integers="levels", measure="plugin", correction="none")
    problem = subset_problem(terms, 4, "jmi")
    answer = select(problem, "exact")
    assert answer.status == "proven optimal"
    assert answer.certificate is not None
    assert answer.certificate.proof is None
    assert answer.certificate.proof_too_large
    assert answer.certificate.multipliers is not None
    assert answer.upper_bound <= answer.certificate.bound < math.inf
    assert certify(problem, answer).upper_bound == answer.certificate.bound


def test_rounds_that_lose_go_back_and_try_another_penalty() -> None:
    Q = np.diag(np.linspace(1.0, 0.1, 20)).astype(float)
    subset = (np.arange(20) < 4).astype(float)
    rounds = nonnegative.Splitting.from_subset(Q, 4, np.ones(20, dtype=int), subset)
    rounds._learns, rounds._iteration = True, 100  # as in problems of thousands of units, once residuals are balanced
    rounds.advance(5)
    rounds.learn(1.0)
    kept, penalty = rounds.M.copy(), rounds.penalty
    rounds.advance(5)
    rounds.learn(2.0)
    assert rounds.penalty == pytest.approx(penalty / nonnegative.BOLD_STEP)
    assert np.allclose(rounds.M - rounds.Z / rounds.penalty, kept - rounds.Z / penalty)
    rounds.advance(5)
    rounds.learn(0.9)  # better, though not by much: on in this direction
    assert rounds.penalty == pytest.approx(penalty / nonnegative.BOLD_STEP**2)


def test_memberships_are_found_however_far_off_the_wanted_ones_are() -> None:
    wanted = np.array([1e6, -1e6, 5.0, 0.3, -2e5])
    x = nonnegative.nearest_membership(wanted, 3, np.array([1.0, 2.0, 1.0, 1.0, 1.0]))
    assert x @ [1, 2, 1, 1, 1] == pytest.approx(3)


def test_the_cost_of_a_bound_grows_with_the_features_and_is_told(monkeypatch) -> None:
    monkeypatch.setattr(cost, "_timed", lambda work: 1e-3)
    assert cost.seconds_for_bound(4000) > 4 * cost.seconds_for_bound(2000)
    assert cost.seconds_for_bound(16000) > 4 * cost.seconds_for_bound(8000)
    # The same time for twice the corner is eight times the speed.
    assert cost.seconds_per_cube(cost.LARGE) == pytest.approx(cost.seconds_per_cube(cost.LARGE - 1) / 8)
    said = render(cost.cost_of_a_bound(2000))
    assert said.startswith("A bound, by certify='tight' or strategy='exact', would take about ")
    assert cost._in_words(7.4) == "7 seconds"
    assert cost._in_words(170.0) == "3 minutes"
    monkeypatch.setattr(cost, "has_room_for_proof", lambda n: False)
    assert cost.cost_of_a_bound(2000) == "This machine has too little memory for a bound on 2000 features."


def test_a_device_nobody_has_is_refused() -> None:
    problem = SubsetProblem.from_matrix(np.diag([3.0, 2.0, 1.0]), 2)
    with pytest.raises(InvalidInput, match="device='tpu'"):
        select(problem, device="tpu")
    with pytest.raises(InvalidInput, match="device='tpu'"), on_device("tpu"):
        pass
    assert select(problem, device="cpu").computed_on == ""


@pytest.mark.usefixtures("as_if_large")
@pytest.mark.parametrize("ties", [False, True])
def test_one_feature_of_many(ties: bool) -> None:
    Q = np.random.default_rng(0).standard_normal((12, 12))
    answer = select(SubsetProblem.from_matrix(0.5 * (Q + Q.T), 1), "exact", ties=ties)
    assert answer.status == "proven optimal"
    assert answer.indices.tolist() == [int(np.argmax(Q.diagonal()))]


def test_a_list_of_ties_that_time_ended_is_said_to_be() -> None:
    """All 658008 subsets are worth the same: no time suffices to list ten thousand of them one case after the other."""
    problem = SubsetProblem.from_matrix(np.ones((40, 40)), 5)
    answer = select(problem, "exact", ties=True, max_ties=10000, max_seconds=0.5)
    assert len(answer.ties) < 10000
    assert answer.out_of_time
    assert not select(problem, "exact", ties=True, max_ties=2).out_of_time


@pytest.mark.usefixtures("as_if_large")
@pytest.mark.parametrize("seed", range(4))
def test_at_the_time_limit_the_tightest_bound_is_kept_and_shown(seed: int, monkeypatch) -> None:
    rng = np.random.default_rng(seed)
    Q = rng.standard_normal((25, 25))
    problem = SubsetProblem.from_matrix(0.5 * (Q + Q.T), 4)
    ready = prover_for(problem.units, list(range(4)))
    proved: list[float] = []
    before = prover.Prover._prove

    def noted(self, case):
        before(self, case)
        proved.append(case.latest.proved.bound)
        if len(proved) == 3:
            self._deadline = -math.inf

    monkeypatch.setattr(prover.Prover, "_prove", noted)
    ready.run()
    assert ready.proof is not None
    assert replay(problem.reduced, ready.known, ready.proof).bound <= ready.bound


@pytest.mark.usefixtures("as_if_large")
@pytest.mark.parametrize(("promised", "proofs"), [(-math.inf, 1), (math.inf, 0)])
def test_where_time_ends_a_proof_is_made_if_it_promises_anything(monkeypatch, promised: float, proofs: int) -> None:
    """After one round there is no time for another, though for a proof: one that brings nothing is not begun."""
    Q = np.random.default_rng(0).standard_normal((25, 25))
    ready = prover_for(SubsetProblem.from_matrix(0.5 * (Q + Q.T), 4).units, list(range(4)))
    made: list[float] = []
    before = prover.Prover._prove

    def noted(self, case):
        before(self, case)
        made.append(case.bound)

    monkeypatch.setattr("certselect.clock.perf_counter", lambda: 0.0)
    monkeypatch.setattr(prover.Prover, "_prove", noted)
    monkeypatch.setattr(nonnegative.Splitting, "outlook", lambda self, value: nonnegative.Outlook(promised, 0))
    monkeypatch.setattr(nonnegative.Splitting, "least_seconds", 1e6)
    ready.run(max_seconds=100.0)
    assert ready.root.rounds == 1
    assert len(made) == proofs
    assert not ready.finished


@pytest.mark.usefixtures("as_if_large")
def test_without_time_for_a_round_none_is_begun(monkeypatch) -> None:
    Q = np.random.default_rng(0).standard_normal((25, 25))
    ready = prover_for(SubsetProblem.from_matrix(0.5 * (Q + Q.T), 4).units, list(range(4)))
    monkeypatch.setattr("certselect.clock.perf_counter", lambda: 0.0)
    monkeypatch.setattr(ready, "_seconds_to_prove", lambda m: 90.0)
    ready.run(max_seconds=100.0)
    assert ready.root.splitting is None
    assert ready.value <= ready.bound < math.inf
