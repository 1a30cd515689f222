"""Rivals, budgets, groups and included features in the relaxation: valid, and worth the trouble."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from certselect import SubsetProblem
from certselect.certificate import bound_subsets
from certselect.relaxation import Iterate, Status, relax, solve
from certselect.relaxation.lifted import MAX_SOLVES, rival_pairs
from relaxation.made_constraints import made_problem
from relaxation.made_problems import best_value, redundancy_like


@settings(max_examples=120, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_never_below_the_best_allowed_subset(seed: int) -> None:
    problem, allowed = made_problem(seed)
    answer = relax(problem)
    best = max(problem.value(subset) for subset in allowed)
    size = problem.k**2 * np.abs(problem.matrix).max()
    assert answer.dual_value >= best - 1e-10 * size
    assert answer.k == problem.reduced.k
    assert len(answer.multipliers) == len(problem.reduced.matrix) + 1
    if answer.lift is not None:
        answer.lift.check(problem.reduced)
    proved = bound_subsets(problem, answer.multipliers, answer.lift)
    assert proved.bound >= best
    if proved.shift == 0.0:
        assert proved.bound <= answer.dual_value + 1e-6 * size


@pytest.mark.parametrize("seed", range(4))
def test_rivals_make_it_tighter(seed: int) -> None:
    Q = redundancy_like(16, 5, seed)
    ranked = np.argsort(-np.diag(Q)).tolist()
    rivals = [ranked[0:4], ranked[4:7], ranked[7:9]]
    problem = SubsetProblem.from_matrix(Q, 5, feature_groups={"at_most_one": rivals})
    answer, ignoring = relax(problem), solve(Q, 5)
    assert answer.status is Status.SOLVED
    assert answer.lift is not None
    assert answer.lift.price == 0.0
    forbidden = Q.copy()
    for group in rivals:
        inside = np.ix_(group, group)
        forbidden[inside] = np.where(np.eye(len(group)) > 0, Q[inside], -100.0)
    best = best_value(forbidden, 5)
    assert best - 1e-9 <= answer.dual_value
    assert answer.dual_value - best < 0.5 * (ignoring.dual_value - best)


@pytest.mark.parametrize("seed", range(4))
def test_a_budget_makes_it_tighter(seed: int) -> None:
    Q, costs = redundancy_like(14, 5, seed), np.random.default_rng(seed).random(14)
    problem = SubsetProblem.from_matrix(Q, 5, costs=costs, budget=1.3)
    answer, ignoring = relax(problem), solve(Q, 5)
    assert answer.status is Status.SOLVED
    assert answer.lift is not None
    assert answer.lift.price > 0.0
    assert answer.lift.pairs is None
    assert answer.dual_value < ignoring.dual_value - 0.02 * abs(ignoring.dual_value)


def test_the_price_is_nearly_the_best_one() -> None:
    Q, costs = redundancy_like(14, 5, 0), np.random.default_rng(0).random(14)
    answer = relax(SubsetProblem.from_matrix(Q, 5, costs=costs, budget=1.3))
    others = (solve(Q - price * np.diag(costs), 5).dual_value + price * 1.3 for price in np.linspace(0, 3, 61))
    assert answer.dual_value <= min(others) * (1 + 2e-4)


def test_a_budget_that_does_not_bind_costs_nothing() -> None:
    Q = redundancy_like(20, 5, 0)
    problem = SubsetProblem.from_matrix(Q, 5, costs=np.ones(20), budget=5.0)
    answer = relax(problem)
    assert answer.lift is None
    np.testing.assert_array_equal(answer.multipliers, solve(Q, 5).multipliers)


def test_included_features_are_counted_in_and_solved_without() -> None:
    Q = redundancy_like(15, 6, 1)
    answer = relax(SubsetProblem.from_matrix(Q, 6, include=[2, 9]))
    rest = [i for i in range(15) if i not in (2, 9)]
    folded = Q[np.ix_(rest, rest)] + 2 * np.diag(Q[np.ix_(rest, [2, 9])].sum(axis=1))
    assert answer.k == 4
    assert answer.dual_value == pytest.approx(solve(folded, 4).dual_value + Q[np.ix_([2, 9], [2, 9])].sum(), rel=1e-6)


def test_groups_are_entries_of_their_size() -> None:
    problem = SubsetProblem.from_matrix(redundancy_like(12, 6, 1), 6, feature_groups=[[0, 5, 7], [1, 2]])
    answer = relax(problem)
    np.testing.assert_array_equal(answer.sizes, problem.reduced.sizes)
    assert answer.membership @ problem.reduced.sizes == pytest.approx(6)


def test_everything_decided_needs_no_solver() -> None:
    Q = redundancy_like(6, 3, 0)
    problem = SubsetProblem.from_matrix(Q, 3, include=[0, 1, 4])
    answer = relax(problem)
    assert answer.dual_value == pytest.approx(problem.value([0, 1, 4]))
    assert bound_subsets(problem, answer.multipliers).bound == pytest.approx(problem.value([0, 1, 4]), rel=1e-12)


def test_only_pairs_of_rivals_are_lifted() -> None:
    problem = SubsetProblem.from_matrix(redundancy_like(9, 3, 0), 3, feature_groups={"at_most_one": [[1, 4, 8]]})
    pairs = rival_pairs(problem.reduced)
    rivals = np.zeros((9, 9), dtype=bool)
    rivals[np.ix_([1, 4, 8], [1, 4, 8])] = True
    np.fill_diagonal(rivals, False)
    assert (pairs[~rivals] == 0.0).all()
    assert (pairs[rivals] < 0.0).all()


def test_every_iterate_carries_a_bound_and_they_only_get_better() -> None:
    costs = np.random.default_rng(1).random(14)
    problem = SubsetProblem.from_matrix(
        redundancy_like(14, 5, 1), 5, costs=costs, budget=1.3, feature_groups={"at_most_one": [[0, 1, 2]]}
    )
    seen: list[Iterate] = []
    answer = relax(problem, callback=seen.append)
    bounds = [iterate.dual_value for iterate in seen]
    assert bounds == sorted(bounds, reverse=True)
    assert [iterate.iteration for iterate in seen] == sorted(iterate.iteration for iterate in seen)
    for iterate in seen:
        proved = bound_subsets(problem, iterate.multipliers, iterate.lift)
        assert answer.primal_value - 1e-6 <= proved.bound <= iterate.dual_value * (1 + 1e-8)
    assert seen[-1].dual_value == answer.dual_value


def test_time_is_shared_by_all_prices() -> None:
    costs = np.random.default_rng(1).random(30)
    problem = SubsetProblem.from_matrix(redundancy_like(30, 9, 1), 9, costs=costs, budget=2.0)
    answer = relax(problem, max_seconds=0.0)
    assert answer.status is Status.STOPPED_BY_TIME
    assert answer.iterations == 0
    assert np.isfinite(answer.dual_value)


def test_a_price_takes_few_solves(monkeypatch: pytest.MonkeyPatch) -> None:
    solved = []

    def counted(*arguments, **options):
        solved.append(1)
        return solve(*arguments, **options)

    monkeypatch.setattr("certselect.relaxation.lifted.solve", counted)
    for seed in range(5):
        solved.clear()
        costs = np.random.default_rng(seed).random(30)
        relax(SubsetProblem.from_matrix(redundancy_like(30, 9, seed), 9, costs=costs, budget=2.5))
        assert 2 <= len(solved) <= MAX_SOLVES


def test_a_warm_start_that_does_not_fit_is_not_used() -> None:
    Q = redundancy_like(12, 5, 0)
    problem = SubsetProblem.from_matrix(Q, 5, include=[3])
    cold, warm = relax(problem), relax(problem, warm_start=solve(Q, 5))
    np.testing.assert_array_equal(cold.multipliers, warm.multipliers)
    nearby = relax(SubsetProblem.from_matrix(Q, 6, include=[3]), warm_start=cold)
    assert nearby.status is Status.SOLVED


def test_low_rank_takes_constraints_too() -> None:
    costs = np.random.default_rng(2).random(40)
    groups = {"all_or_none": [[0, 1], [2, 3, 4]], "at_most_one": [[10, 11, 12], [20, 21]]}
    problem = SubsetProblem.from_matrix(redundancy_like(40, 9, 2), 9, feature_groups=groups, costs=costs, budget=2.5)
    answer, reference = relax(problem, "low_rank"), relax(problem)
    assert answer.dual_value == pytest.approx(reference.dual_value, rel=5e-3)
    proved = bound_subsets(problem, answer.multipliers, answer.lift)
    assert proved.bound == pytest.approx(reference.dual_value, rel=5e-3)
