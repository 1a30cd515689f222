"""The doubly nonnegative relaxation: bounds that hold and are close, on the face, with rivals, sizes and budgets."""

import itertools
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from certselect import SubsetProblem, relax, select
from certselect.certificate.rows import Rows
from certselect.clock import TimeLimit
from certselect.relaxation import Status, positive_part, solve
from certselect.relaxation import nonnegative as module
from certselect.relaxation.arrays import CPU, Arrays
from certselect.relaxation.nonnegative import Splitting, nearest_membership


def redundancy_like(seed, n, k):
    rng = np.random.default_rng(seed)
    A = rng.random((n, n))
    Q = -(A + A.T) / (2 * (k - 1))
    np.fill_diagonal(Q, rng.random(n))
    return Q


@given(
    st.integers(0, 2**31),
    st.integers(1, 12),
    st.booleans(),
)
@settings(max_examples=100, deadline=None)
def test_nearest_membership_is_the_nearest(seed, m, lumps):
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 4, m).astype(float) if lumps else np.ones(m)
    k = int(rng.integers(1, int(sizes.sum()) + 1))
    wanted = 2.0 * rng.standard_normal(m)
    x = nearest_membership(wanted, k, sizes)
    assert sizes @ x == pytest.approx(k, abs=1e-9)
    assert ((x >= 0.0) & (x <= 1.0)).all()
    # No allowed direction leads closer: e_i / s_i - e_j / s_j, where both can move.
    for i, j in itertools.permutations(range(m), 2):
        if x[i] < 1.0 and x[j] > 0.0:
            slope = (x[i] - wanted[i]) / sizes[i] - (x[j] - wanted[j]) / sizes[j]
            assert slope >= -1e-7


@pytest.mark.parametrize("seed", range(8))
def test_bound_holds_and_is_closer_than_the_plain_one(seed):
    k = 5
    problem = SubsetProblem.from_matrix(redundancy_like(seed, 16, k), k)
    best = select(problem, "exhaustive").objective
    plain = relax(problem)
    tight = relax(problem, method="nonnegative", tol=1e-6, max_iterations=2000)
    assert best - 1e-9 <= tight.dual_value <= plain.dual_value + 1e-9
    assert tight.dual_value - best <= 0.5 * (plain.dual_value - best) + 1e-6
    assert tight.method == "nonnegative"


def test_stops_at_the_wanted_gap_to_the_incumbent():
    k = 6
    problem = SubsetProblem.from_matrix(redundancy_like(3, 40, k), k)
    value = select(problem, "forward", polish=True).objective
    far = relax(problem, method="nonnegative", tol=1e-9, max_iterations=600)
    left = (far.dual_value - value) / value
    loose = relax(problem, method="nonnegative", tol=2.0 * left, incumbent=value)
    close = relax(problem, method="nonnegative", tol=1.05 * left, incumbent=value)
    assert loose.status is close.status is Status.SOLVED
    assert close.dual_value - value <= 1.05 * left * value
    assert loose.iterations < close.iterations


def test_every_iterate_bounds():
    k = 4
    Q = redundancy_like(1, 12, k)
    problem = SubsetProblem.from_matrix(Q, k)
    best = select(problem, "exhaustive").objective
    bounds = []

    def look(iterate):
        bounds.append(iterate.dual_value)
        if iterate.slack is not None:
            N, w = iterate.slack
            assert np.linalg.eigvalsh(N)[0] >= -1e-9
            assert Rows.of(Q, N, w, k, np.ones(12, dtype=int), None).anywhere() == pytest.approx(
                iterate.dual_value, abs=1e-9
            )

    relax(problem, method="nonnegative", tol=1e-9, max_iterations=200, callback=look)
    assert min(bounds) >= best - 1e-9
    assert bounds[-1] == min(bounds)


@pytest.mark.parametrize(
    "stated",
    [
        {"feature_groups": {"at_most_one": [[0, 1, 2], [5, 6]]}},
        {"feature_groups": [[0, 3], [4, 5, 6]]},
        {"include": [2], "exclude": [0]},
        {"costs": [3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8], "budget": 14},
    ],
)
def test_with_constraints(stated):
    for seed in range(4):
        problem = SubsetProblem.from_matrix(redundancy_like(seed, 12, 4), 4, **stated)
        best = select(problem, "exhaustive").objective
        tight = relax(problem, method="nonnegative", tol=1e-6, max_iterations=1000)
        assert tight.dual_value >= best - 1e-9
        assert tight.dual_value <= relax(problem).dual_value + 1e-9
        # With a budget a single price bridges the gap only in part.
        assert tight.dual_value - best <= (0.25 if "costs" in stated else 0.1) * abs(best)
        x = tight.membership
        assert problem.reduced.sizes @ x == pytest.approx(problem.reduced.k, abs=1e-6)


def test_following_eigenvectors_gives_what_decompositions_give(monkeypatch):
    k = 12
    Q = redundancy_like(5, 220, k)
    answer = solve(Q, k, tol=1e-5)
    sizes, subset = np.ones(220, dtype=int), np.zeros(220)
    subset[np.argsort(-answer.membership)[:k]] = 1.0
    bounds = []
    for smallest in (150, 10**9):
        monkeypatch.setattr(module, "SMALLEST_TO_FILTER", smallest)
        splitting = Splitting.from_subset(Q, k, sizes, subset)
        for _ in range(4):
            splitting.advance(50)
        N, w = splitting.slack()
        # After the last, exact projection the slack is semidefinite whatever came before.
        assert np.linalg.eigvalsh(N)[0] >= -1e-10 * np.abs(N).max()
        bounds.append(Rows.of(Q, N, w, k, sizes, None).anywhere())
    assert bounds[0] == pytest.approx(bounds[1], rel=0.02)
    assert bounds[0] < answer.dual_value


def test_closed_forms_need_no_rounds():
    problem = SubsetProblem.from_matrix(np.diag([1.0, 2.0]), 2)
    assert relax(problem, method="nonnegative").dual_value == pytest.approx(3.0)


def test_cobra_rounds_the_nonnegative_relaxation():
    k = 5
    problem = SubsetProblem.from_matrix(redundancy_like(2, 20, k), k)
    answer = select(problem, "cobra", method="nonnegative", random_state=0)
    best = select(problem, "exact").objective
    assert answer.objective == pytest.approx(best, rel=0.02)


@pytest.fixture
def ticking(monkeypatch):
    """A clock that goes on by a second for each product with one direction, and arrays whose products move it."""
    clock = SimpleNamespace(now=0.0)
    monkeypatch.setattr("certselect.clock.perf_counter", lambda: clock.now)
    monkeypatch.setattr(module, "LARGEST_IN_DOUBLE", 100)  # as of thousands of units

    class Ticking(Arrays):
        def product(self, M, V):
            clock.now += 1.0 if V.ndim == 1 else V.shape[1]
            return super().product(M, V)

    return clock, Ticking()


def started(arrays, n=160, k=6):
    subset = (np.arange(n) < k).astype(float)
    return Splitting.from_subset(redundancy_like(7, n, k), k, np.ones(n, dtype=int), subset, arrays=arrays)


LEAST = 30 * (positive_part.DEGREE_TO_PROVE + 1)  # one look, at some directions more than the first


def test_rounds_keep_to_the_time_limit(ticking):
    """Only where there is no time for the least that something can be proved from, a round ends later, by that much."""
    clock, arrays = ticking
    told = []
    whole = started(arrays)
    whole.advance(25)
    unlimited, done = clock.now, []
    for seconds in np.linspace(0.0, unlimited, 9):
        clock.now, rounds = 0.0, started(arrays)
        told.clear()
        rounds.advance(25, TimeLimit.of(float(seconds)), told.append)
        assert clock.now <= max(1.2 * seconds, LEAST)  # what is to come is reckoned by what was before
        done.append(len(told))
    assert done == sorted(done)
    assert done[0] == 1
    assert done[-2] > 15


def test_a_smaller_problem_takes_a_part_of_the_time(ticking):
    _, arrays = ticking
    rounds = started(arrays)
    rounds.advance(5)
    n, left = 160, 80
    Q, kept = redundancy_like(7, n, 6)[:left, :left], np.arange(left)
    assert rounds.least_seconds > 0.0
    for place, known in ((arrays, True), (CPU, False)):
        smaller = rounds.restricted(Q, 6, np.ones(left, dtype=int), None, kept, np.empty(0, dtype=int), place)
        assert (smaller.least_seconds > 0.0) == known
        assert smaller.least_seconds < 0.5 * rounds.least_seconds
