"""Unit form, rules and reduced problem against a list of every subset the constraints allow."""

import math
from dataclasses import replace
from itertools import chain, combinations
from time import perf_counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naive_constraints
from certselect import SubsetProblem
from certselect.criteria import Rules
from certselect.criteria.cheapest import Choices
from certselect.errors import InvalidInput

SEEDS = st.integers(0, 2**32 - 1)
INFINITE = 10.0**9  # more than all features cost together


def random_statement(rng):
    """Constraints on up to 8 columns, which may contradict each other; costs are quarters, so that sums are exact."""
    n = int(rng.integers(1, 9))
    together_of = rng.integers(-2, 2, n) if rng.random() < 0.6 else np.full(n, -1)
    rivals_of = rng.integers(-2, 2, n) if rng.random() < 0.6 else np.full(n, -1)
    for group in (0, 1):  # columns that come together are in the same group of rivals, or in none
        members = np.flatnonzero(together_of == group)
        stated = rivals_of[members][rivals_of[members] >= 0]
        rivals_of[members] = np.where(rivals_of[members] >= 0, stated[0] if len(stated) else -1, -1)
    limited = rng.random() < 0.6
    roles = rng.random(n)
    return {
        "n": n,
        "include": np.flatnonzero(roles < rng.choice([0.0, 0.15])).tolist(),
        "exclude": np.flatnonzero(roles > rng.choice([1.0, 0.85])).tolist(),
        "together": groups_of(together_of),
        "rivals": groups_of(rivals_of),
        "costs": (rng.integers(0, 5, n) / 4).tolist() if limited else [0.0] * n,
        "budget": float(rng.integers(0, 2 * n + 1) / 4) if limited else INFINITE,
        "limited": limited,
    }


def groups_of(label):
    groups = [np.flatnonzero(label == group).tolist() for group in (0, 1)]
    return [group for group in groups if len(group) > 1]


def stated_problem(rng, statement, k):
    n = statement["n"]
    Q = rng.normal(size=(n, n))
    limits = {"costs": statement["costs"], "budget": statement["budget"]} if statement["limited"] else {}
    groups = {"all_or_none": statement["together"], "at_most_one": statement["rivals"]}
    roles = {"include": statement["include"], "exclude": statement["exclude"]}
    return SubsetProblem.from_matrix(Q + Q.T, k, feature_groups=groups, **roles, **limits)


def subsets(items):
    items = list(items)
    return chain.from_iterable(combinations(items, size) for size in range(len(items) + 1))


def feasible_problem(seed):
    """A problem, the subsets allowed at its size, and those allowed at any."""
    rng = np.random.default_rng(seed)
    while True:
        statement = random_statement(rng)
        every = naive_constraints.allowed_subsets(statement)
        if every:
            k = len(every[int(rng.integers(len(every)))])
            return rng, stated_problem(rng, statement, k), [s for s in every if len(s) == k], every, statement


@given(SEEDS)
@settings(max_examples=300, deadline=None)
def test_a_problem_is_stated_just_when_a_subset_is_allowed(seed):
    rng = np.random.default_rng(seed)
    statement = random_statement(rng)
    sizes = sorted({len(subset) for subset in naive_constraints.allowed_subsets(statement)})
    for k in range(1, statement["n"] + 1):
        if k in sizes:
            problem = stated_problem(rng, statement, k)
            assert problem.allowed_sizes == sizes
            assert [problem.of_size(size).k for size in sizes] == sizes
        else:
            with pytest.raises(InvalidInput, match=r"; expected .*\. [A-Z].*\.$"):
                stated_problem(rng, statement, k)
    if statement["limited"]:
        if sizes:
            problem = stated_problem(rng, statement, None)
            assert (problem.any_size, problem.k, problem.allowed_sizes) == (True, sizes[-1], sizes)
            assert not problem.of_size(sizes[0]).any_size
        else:
            with pytest.raises(InvalidInput, match="expected"):
                stated_problem(rng, statement, None)


@given(SEEDS)
@settings(max_examples=200, deadline=None)
def test_constraints_allow_what_was_stated(seed):
    _, problem, _, every, statement = feasible_problem(seed)
    nonempty = [subset for subset in subsets(range(statement["n"])) if subset]
    if problem.constraints is None:
        assert len(every) == len(nonempty)
        return
    assert {frozenset(subset) for subset in nonempty if problem.constraints.allows(subset)} == set(every)


@given(SEEDS)
@settings(max_examples=300, deadline=None)
def test_rules_answer_as_the_list_of_allowed_subsets_does(seed):
    rng, problem, allowed, _, _ = feasible_problem(seed)
    form, rules = problem.units, problem.units.rules
    candidates = form.candidates.tolist()
    assert form.columns(candidates) == sorted(set().union(*allowed), key=form.columns(range(len(form.members))).index)
    n_units = form.n_features
    required = set(form.columns(rules.required))
    included = () if problem.constraints is None else problem.constraints.include
    assert required == set.intersection(set(included) | required, *map(set, allowed))
    assert set(included) <= required
    for units in subsets(range(n_units)):
        columns = frozenset(form.columns(units))
        assert rules.allows(units) == (columns in allowed)
        among = np.flatnonzero(rng.random(n_units) < 0.7).tolist()
        inside = columns | required | set(form.columns(among))
        assert rules.can_complete(units) == any(columns <= subset for subset in allowed)
        assert rules.can_complete(units, among) == any(columns <= subset <= inside for subset in allowed)
        kept = np.zeros(n_units, dtype=bool)
        kept[[unit for unit in units if unit in candidates]] = True
        assert rules.contains_allowed(kept) == any(subset <= columns for subset in allowed)
        joins = [any(columns | set(form.columns([u])) <= subset for subset in allowed) for u in range(n_units)]
        assert rules.can_join(units).tolist() == joins


@given(SEEDS)
@settings(max_examples=200, deadline=None)
def test_unit_form_and_reduced_problem_value_subsets_as_the_problem_does(seed):
    _, problem, allowed, _, _ = feasible_problem(seed)
    form, reduced = problem.units, problem.reduced
    met = set()
    for positions in subsets(range(len(reduced.units))):
        x = np.zeros(len(reduced.units))
        x[list(positions)] = 1.0
        columns = problem.columns_of(positions)
        value = problem.value(columns)
        units = reduced.unit_indices(positions)
        assert sorted(form.columns(units)) == columns
        assert form.value(units) == pytest.approx(value, rel=1e-12, abs=1e-12)
        assert reduced.constant + x @ reduced.matrix @ x == pytest.approx(value, rel=1e-12, abs=1e-12)
        fits = x @ reduced.sizes == reduced.k and all(x[group].sum() <= 1 for group in reduced.rivals)
        if fits and (reduced.costs is None or x @ reduced.costs <= reduced.budget):
            met.add(frozenset(columns))
    assert met == set(allowed)
    x = np.zeros(form.n_features)
    x[reduced.unit_indices([])] = 1.0
    assert x @ form.matrix @ x == pytest.approx(reduced.constant, rel=1e-12, abs=1e-12)


@given(SEEDS)
@settings(max_examples=100, deadline=None)
def test_rows_and_matrix_of_summed_pairs_agree(seed):
    _, problem, _, _, _ = feasible_problem(seed)
    form = problem.units
    for unit in range(form.n_features):
        row, others = form.pair_row(unit), [u for u in range(form.n_features) if u != unit]
        np.testing.assert_allclose(row[others], form.pair_matrix[unit][others], rtol=1e-12, atol=1e-12)
        for other in others:
            pairs = (problem.pair_matrix[i, j] for i in form.members[unit] for j in form.members[other])
            assert row[other] == pytest.approx(math.fsum(pairs), rel=1e-12, abs=1e-12)


def test_without_constraints_nothing_is_copied():
    Q = np.eye(4)
    problem = SubsetProblem.from_matrix(Q, 2)
    assert problem.constraints is None
    assert problem.units.linear is problem.linear
    assert problem.units.pairs is problem.pairs
    assert problem.units.rules.plain
    assert [members.tolist() for members in problem.units.members] == [[0], [1], [2], [3]]
    assert problem.units.columns([3, 1]) == [3, 1]
    assert problem.reduced.matrix is problem.units.matrix
    assert problem.reduced.plain
    assert (problem.reduced.k, problem.reduced.constant, problem.reduced.costs) == (2, 0.0, None)
    fewer = SubsetProblem.from_matrix(Q, 2, exclude=[1])
    assert fewer.units.pairs is fewer.pairs
    assert fewer.units.rules.plain
    assert fewer.reduced.units.tolist() == fewer.candidates.tolist() == [0, 2, 3]
    assert fewer.reduced.plain
    included = SubsetProblem.from_matrix(Q, 2, include=[1])
    assert included.units.pairs is included.pairs
    assert included.reduced.plain
    assert not SubsetProblem.from_matrix(Q, 2, feature_groups=[[0, 1]]).reduced.plain


def test_units_are_ordered_by_their_lowest_columns():
    problem = SubsetProblem.from_matrix(np.eye(6), 3, feature_groups=[[5, 1], [3, 0]], feature_names=list("abcdef"))
    assert [members.tolist() for members in problem.units.members] == [[0, 3], [1, 5], [2], [4]]
    assert problem.units.columns([1, 0, 2]) == [1, 5, 0, 3, 2]


def test_stating_constraints_reads_no_more_pairs_than_those_inside_groups():
    class Rows:
        def __init__(self):
            self.asked = []

        def row(self, feature):
            self.asked.append(feature)
            return np.full(6, 0.5)

        def matrix(self):
            raise AssertionError("the whole matrix is not to be computed")

    made = SubsetProblem.from_matrix(np.eye(6), 3, include=[0], feature_groups=[[2, 4]], costs=[1.0] * 6, budget=4)
    rows = Rows()
    problem = replace(made, pairs=rows)
    assert problem.units.rules.inner.tolist() == [0, 0, 0.5, 0, 0]
    assert set(rows.asked) <= {2, 4}


def test_the_budget_forgives_rounding_and_no_more():
    costs = [0.1, 0.2, 0.3, 0.4]
    problem = SubsetProblem.from_matrix(np.eye(4), 2, costs=costs, budget=0.3)
    assert problem.constraints.allows([0, 1])  # 0.1 + 0.2 is a little more than 0.3 in binary
    assert problem.units.rules.allows([0, 1])
    assert problem.units.candidates.tolist() == [0, 1]
    assert not problem.constraints.allows([0, 2])


def test_many_features_are_quick_enough_to_ask_often():
    """One question at 20 000 features takes about a millisecond; the limit has room for a busy machine."""
    n, k = 20_000, 50
    rng = np.random.default_rng(0)
    costs = rng.random(n)
    rivals = tuple(np.arange(start, start + 4) for start in range(0, 8000, 4))
    sizes = np.ones(n, dtype=int)
    sizes[8000:9000] = 3
    cheapest = np.sort(np.concatenate([costs[:8000].reshape(-1, 4).min(axis=1), costs[9000:]]))[:k].sum()
    rules = Rules(sizes, np.zeros(n), (), rivals, costs, 2 * cheapest, k, np.arange(n))
    assert rules.can_complete([])
    start = perf_counter()
    answers = [rules.can_complete([unit]) for unit in range(100)]
    assert perf_counter() - start < 5.0
    assert rules.can_join(())[:100].tolist() == answers
    least = Choices(sizes, costs, rivals).least_costs(sizes == 1, k)
    assert least[k] == pytest.approx(cheapest, rel=1e-12)
