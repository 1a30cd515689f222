"""Open problems: after any decisions, exactly the allowed subsets that agree with them are left, at the same values."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from certificate.made_reduced import allowed, made_reduced, value
from certselect.certificate.open_problem import OpenProblem
from certselect.criteria.reduced import ReducedProblem

seeds = st.integers(0, 2**32 - 1)


def plain(Q: np.ndarray, k: int) -> ReducedProblem:
    m = len(Q)
    return ReducedProblem(Q, k, 0.0, np.ones(m, dtype=int), (), None, np.inf, np.arange(m), ())


@settings(max_examples=300, deadline=None)
@given(seeds)
def test_decisions_leave_the_subsets_that_agree_with_them_at_their_values(seed: int) -> None:
    problem, rng = made_reduced(seed), np.random.default_rng(seed)
    opened, left = OpenProblem.of(problem), allowed(problem)
    for _ in range(rng.integers(0, 4)):
        if len(opened) == 0:
            break
        unit = int(rng.integers(len(opened)))
        position = int(opened.positions[unit])
        if rng.random() < 0.5:
            opened = opened.with_unit(unit)
            left = [subset for subset in left if position in subset]
        else:
            opened = opened.without(np.arange(len(opened)) == unit)
            left = [subset for subset in left if position not in subset]
    assert opened.infeasible == (not left)
    listed = opened.listed()
    assert listed is not None
    if not left:
        assert listed.bound == -np.inf
        assert listed.best is None
        return
    rows = opened.all_subsets()
    assert rows is not None
    found = [frozenset([*opened.taken, *opened.positions[row].tolist()]) for row in rows]
    assert sorted(map(sorted, found)) == sorted(map(sorted, left))
    size = float(np.abs(problem.matrix).max()) * problem.k**2 + abs(problem.constant)
    assert np.array_equal(listed.subsets, rows)
    for subset, worth in zip(found, listed.at_most.tolist(), strict=True):
        assert (
            0 <= Fraction(worth) - value(problem, subset) <= 2 * Fraction(opened.lost) + Fraction(1e-13 * size + 1e-300)
        )
    highest = max(value(problem, subset) for subset in left)
    assert highest <= Fraction(listed.bound)
    assert float(listed.bound) == pytest.approx(float(highest), rel=2**-51, abs=1e-300)
    assert listed.best is not None
    assert float(value(problem, frozenset(listed.best))) == float(highest)
    if not opened.plain:
        assert set(opened.positions.tolist()) | set(opened.taken) == frozenset().union(*left, opened.taken)
    assert np.array_equal(opened.matrix, opened.matrix.T)
    assert opened.most_units >= max(len(subset) - len(opened.taken) for subset in left)


@settings(max_examples=100, deadline=None)
@given(seeds)
def test_rivals_are_seen_pair_by_pair(seed: int) -> None:
    problem = made_reduced(seed)
    opened = OpenProblem.of(problem)
    never = opened.never_both()
    pairs = {(int(i), int(j)) for group in problem.rivals for i in group for j in group if i != j}
    for a, i in enumerate(opened.positions.tolist()):
        for b, j in enumerate(opened.positions.tolist()):
            assert (never is not None and bool(never[a, b])) == ((i, j) in pairs)


def test_nothing_to_choose_and_nothing_at_all() -> None:
    assert bound_by_listing(plain(np.zeros((0, 0)), 0)) == 0.0
    assert bound_by_listing(plain(np.zeros((0, 0)), 1)) == -np.inf
    assert bound_by_listing(plain(np.eye(3), 4)) == -np.inf
    assert bound_by_listing(plain(np.eye(3), 3)) == 3.0
    required = ReducedProblem(np.ones((2, 2)), 0, 7.0, np.array([1, 2]), (), None, np.inf, np.arange(2), (0, 3))
    assert bound_by_listing(required) == 7.0


def bound_by_listing(problem: ReducedProblem) -> float:
    listed = OpenProblem.of(problem).listed()
    assert listed is not None
    return listed.bound


def test_many_subsets_are_not_listed() -> None:
    assert OpenProblem.of(plain(np.eye(40), 20)).all_subsets() is None
    rows = OpenProblem.of(plain(np.eye(40), 2)).all_subsets()
    assert rows is not None
    assert rows.shape == (780, 40)
    mixed = ReducedProblem(
        np.eye(40), 3, 0.0, np.full(40, 1) + (np.arange(40) % 2), (), None, np.inf, np.arange(40), ()
    )
    assert OpenProblem.of(mixed).all_subsets() is None


def test_units_too_large_for_what_is_left_leave_without_a_budget_too() -> None:
    sizes = np.array([1, 1, 2, 3])
    problem = ReducedProblem(np.eye(4), 3, 0.0, sizes, (), None, np.inf, np.arange(4), ())
    opened = OpenProblem.of(problem).with_unit(2)
    assert opened.positions.tolist() == [0, 1]
    assert opened.with_unit(0).positions.tolist() == [1]  # all of size one: any k of them are allowed
    assert opened.with_unit(0).k == 0


def test_a_budget_spent_to_the_last_cent_by_inexact_costs_is_no_obstacle() -> None:
    costs = np.full(10, 0.1)
    problem = ReducedProblem(np.eye(10), 10, 0.0, np.ones(10, dtype=int), (), costs, 1.0, np.arange(10), ())
    opened = OpenProblem.of(problem)
    for _ in range(10):
        opened = opened.with_unit(0)
    assert not opened.infeasible
    assert opened.taken == tuple(range(10))


def test_decisions_leave_the_reduced_problem_as_it_is() -> None:
    """Nothing decided, the matrix is the reduced problem's own: what is decided must not show in that."""
    A = np.random.default_rng(0).standard_normal((6, 6))
    Q = A + A.T
    before = Q.copy()
    opened = OpenProblem.of(plain(Q, 3))
    assert np.shares_memory(opened.matrix, Q)
    opened.with_unit(0).with_unit(1).without(np.array([True, False, False, False]))
    raised = OpenProblem.of(plain(Q, 3), -0.5)
    assert raised.matrix.min() == -0.5
    assert np.array_equal(Q, before)
