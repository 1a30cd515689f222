"""Every strategy under constraints: allowed answers, equal to exact twins where the search is deterministic."""

import itertools
import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import naive_rules
from certselect.criteria import ColumnConstraints, SubsetProblem, find_criterion
from certselect.criteria.column_constraints import BUDGET_ROUNDING
from certselect.errors import InvalidInput
from certselect.progress import listening
from certselect.search import Strategy, list_strategies, register_strategy, registry, select
from certselect.search.draws import repair_subsets
from certselect.search.found import Found
from certselect.search.polish import polish
from certselect.search.strategies import backward as backward_file
from certselect.search.strategies import exhaustive as exhaustive_file
from certselect.search.strategies.exhaustive import _Choice
from certselect.search.ties import value_scale
from naive_search import NaiveProblem

CRITERIA = ["mrmr", "jmi", "mifs", "d1", "max_relevance"]
STRATEGIES = list(list_strategies())
SEQUENTIAL = ["relevance", "forward", "backward", "floating"]
QUICK = {
    "annealing": {"steps": 600},
    "genetic": {"population": 8, "generations": 6},
    "cobra": {"draws": 20},
    "soss": {"draws": 20},
}


class NoOwnTerms:
    """Pair terms over a matrix; a feature's term with itself is arbitrary, so it is NaN here."""

    def __init__(self, matrix):
        self.given = np.array(matrix, dtype=float)
        np.fill_diagonal(self.given, np.nan)

    def row(self, feature):
        return self.given[feature]

    def matrix(self):
        return self.given


@st.composite
def constrained(draw, largest=10, criteria=CRITERIA, *, priced=False):
    """A problem of up to `largest` columns with random constraints that allow something, and its twin.

    Terms are multiples of 1/64, so that many subsets tie and costs sum exactly.
    """
    n = draw(st.integers(2, largest))
    small = st.integers(-2, 4)
    linear = draw(st.lists(st.integers(0, 5), min_size=n, max_size=n))
    upper = draw(st.lists(small, min_size=n * (n - 1) // 2, max_size=n * (n - 1) // 2))
    order = draw(st.permutations(range(n)))
    together, cut = [], 0
    for length in draw(st.lists(st.integers(2, 3), max_size=2)):
        if cut + length <= n:
            together.append(sorted(order[cut : cut + length]))
        cut += length
    singles = list(order[cut:])
    members = [draw(st.sampled_from(group)) for group in together] + singles
    members = list(draw(st.permutations(members)))
    rivals, cut = [], 0
    for length in draw(st.lists(st.integers(2, 3), max_size=2)):
        if cut + length <= len(members):
            rivals.append(sorted(members[cut : cut + length]))
        cut += length
    if together and draw(st.booleans()) and draw(st.booleans()):
        # Two columns of one unit are rivals: it can never be chosen.
        free = [group for group in together if not any(set(group) & set(others) for others in rivals)]
        rivals.extend(group[:2] for group in free[:1])
    include = sorted(draw(st.sets(st.integers(0, n - 1), max_size=2)))
    exclude = sorted(draw(st.sets(st.integers(0, n - 1), max_size=1)) - set(include))
    prices = st.lists(st.integers(0, 5), min_size=n, max_size=n)
    costs = draw(prices if priced else st.none() | prices)
    budget = draw(st.integers(0, 15)) + sum(costs[i] for i in include) if costs else 0
    criterion = draw(st.sampled_from(criteria))
    candidates = [i for i in range(n) if i not in exclude]
    twin = naive_rules.NaiveRules(
        NaiveProblem(
            [Fraction(value, 64) for value in linear],
            {pair: Fraction(value, 64) for pair, value in zip(_pairs(n), upper, strict=True)},
            criterion,
            Fraction(3, 4),
            0,
            candidates,
        ),
        include,
        together,
        rivals,
        None if costs is None else [Fraction(cost) for cost in costs],
        Fraction(budget),
    )
    assume(twin.allowed_sizes)
    twin.columns.k = draw(st.sampled_from(twin.allowed_sizes))
    return problem_of(twin, exclude), twin


def _pairs(n):
    return [(i, j) for i in range(n) for j in range(i + 1, n)]


def problem_of(twin, exclude):
    columns = twin.columns
    n = len(columns.linear)
    matrix = np.zeros((n, n))
    for (i, j), value in columns.pair.items():
        matrix[i, j] = matrix[j, i] = float(value)
    found = find_criterion(columns.criterion, beta=0.75 if columns.criterion == "mifs" else None)
    stated = ColumnConstraints(
        include=tuple(twin.include),
        exclude=tuple(exclude),
        together=tuple(map(tuple, twin.together)),
        rivals=tuple(map(tuple, twin.rivals)),
        costs=None if twin.costs is None else np.array([float(cost) for cost in twin.costs]),
        budget=float("inf") if twin.costs is None else float(twin.budget),
    )
    return SubsetProblem(
        np.array([float(value) for value in columns.linear]),
        NoOwnTerms(matrix) if found.pair is not None else None,
        found,
        columns.k,
        tuple(f"X{i + 1}" for i in range(n)),
        np.array(columns.candidates),
        stated,
    )


def assert_allowed(selection, problem, twin):
    chosen = selection.indices.tolist()
    assert len(set(chosen)) == len(chosen) == problem.k == selection.k
    assert problem.constraints.allows(chosen)
    assert twin.is_allowed(chosen)
    assert set(twin.include) <= set(chosen)
    assert selection.names == tuple(f"X{i + 1}" for i in chosen)
    assert selection.dropped == ()
    excluding = len(twin.columns.candidates) < len(twin.columns.linear)
    limited = bool(twin.include or twin.together or twin.rivals) or twin.costs is not None
    assert selection.constrained == (excluding or limited)
    assert selection.objective == pytest.approx(float(twin.columns.value(chosen, problem.k)), rel=1e-12, abs=1e-14)


@settings(max_examples=120, deadline=None)
@given(case=constrained(), strategy=st.sampled_from(STRATEGIES), polished=st.booleans())
def test_every_answer_is_allowed(case, strategy, polished):
    problem, twin = case
    selection = select(problem, strategy, random_state=0, polish=polished, **QUICK.get(strategy, {}))
    assert_allowed(selection, problem, twin)
    best = float(naive_rules.exhaustive(twin)[1])
    assert selection.objective <= best + 1e-12
    if strategy == "cobra":
        assert selection.upper_bound >= best - 1e-9


@pytest.mark.parametrize("strategy", ["annealing", "genetic", "cobra", "soss", "qpfs"])
@settings(max_examples=25, deadline=None)
@given(case=constrained())
def test_unordered_answers_are_ascending_repeatable_and_allowed(strategy, case):
    problem, twin = case
    one, other = (select(problem, strategy, random_state=3, **QUICK.get(strategy, {})) for _ in range(2))
    assert_allowed(one, problem, twin)
    assert one.indices.tolist() == other.indices.tolist()
    assert one.scores == other.scores
    assert one.scores[-1] == pytest.approx(one.objective, rel=1e-12, abs=1e-14)
    if strategy != "qpfs":
        assert one.indices.tolist() == sorted(one.indices)
        assert list(one.scores) == sorted(one.scores)
    if strategy in ("annealing", "genetic"):
        assert one.objective >= select(problem, "forward").objective - 1e-12


@pytest.mark.parametrize("strategy", SEQUENTIAL)
@settings(max_examples=80, deadline=None)
@given(case=constrained())
def test_sequential_search_equals_its_twin(strategy, case):
    problem, twin = case
    indices, scores = getattr(naive_rules, strategy)(twin)
    selection = select(problem, strategy)
    assert selection.indices.tolist() == indices
    assert selection.scores == pytest.approx([float(score) for score in scores], rel=1e-12, abs=1e-14)
    assert selection.status == "complete"


@settings(max_examples=120, deadline=None)
@given(case=constrained(), at_once=st.sampled_from([1, 3, 1 << 14]))
def test_exhaustive_equals_brute_force(case, at_once):
    problem, twin = case
    indices, value = naive_rules.exhaustive(twin)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(exhaustive_file, "SUBSETS_AT_ONCE", at_once)
        selection = select(problem, "exhaustive")
    assert selection.indices.tolist() == indices
    assert selection.scores[-1] == pytest.approx(float(value), rel=1e-12, abs=1e-14)
    assert selection.status == "proven optimal"
    assert 0.0 <= selection.upper_bound - selection.objective <= selection.tolerance
    only = problem.domain.only_choice
    assert selection.statement.startswith("The only possible choice: " if only else "Proven optimal: no other ")
    assert only or not problem.domain.constrained or " the constraints score" in selection.statement


@settings(max_examples=80, deadline=None)
@given(case=constrained(), data=st.data())
def test_polish_equals_its_twin(case, data):
    problem, twin = case
    start = sorted(data.draw(st.sampled_from(sorted(map(sorted, twin.allowed)))))
    found = Found([twin.units.index(unit) for unit in start])
    polish(problem.units, found)
    units, scores = naive_rules.polish(twin, start)
    assert problem.units.columns(found.indices) == naive_rules.flat(units)
    assert found.scores == pytest.approx([float(score) for score in scores], rel=1e-12, abs=1e-14)


@settings(max_examples=80, deadline=None)
@given(case=constrained(), seed=st.integers(0, 100))
def test_repair_equals_its_twin(case, seed):
    problem, twin = case
    searched, reduced = problem.units, problem.reduced
    assume(len(reduced.units))
    rng = np.random.default_rng(seed)
    drawn = rng.random((6, len(reduced.units))) < rng.choice([0.0, 0.2, 0.5, 0.8, 1.0], size=(6, 1))
    repaired = repair_subsets(searched, drawn, scale=value_scale(searched))
    for before, after in zip(drawn, repaired, strict=True):
        units = [twin.units[unit] for unit in reduced.units[before]]
        assert problem.columns_of(np.flatnonzero(after)) == naive_rules.repair(twin, units)
        # By itself a draw is repaired as it is among others.
        assert repair_subsets(searched, before[None], scale=value_scale(searched)).tolist() == [after.tolist()]


@settings(max_examples=60, deadline=None)
@given(case=constrained(), strategy=st.sampled_from(STRATEGIES), at=st.integers(1, 12))
def test_ctrl_c_leaves_an_allowed_subset(case, strategy, at):
    problem, twin = case
    reports = []

    def press(stage, done, total):
        reports.append(stage)
        if len(reports) == at:
            raise KeyboardInterrupt

    with pytest.MonkeyPatch.context() as patch, listening(press):
        patch.setattr(backward_file, "REPORT_EVERY", 1)
        patch.setattr(exhaustive_file, "SUBSETS_AT_ONCE", 2)
        selection = select(problem, strategy, random_state=0, **QUICK.get(strategy, {}))
    assert_allowed(selection, problem, twin)
    assert (selection.status == "interrupted") == (len(reports) >= at)


@settings(max_examples=40, deadline=None)
@given(case=constrained())
def test_a_search_that_found_nothing_yet_gives_the_most_relevant(case):
    problem, twin = case

    def asleep(problem, found, rng, /):
        raise KeyboardInterrupt

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(registry._registry, "_registered", {})
        register_strategy(Strategy("asleep", asleep, "sleeps"))
        selection = select(problem, "asleep")
    assert_allowed(selection, problem, twin)
    assert selection.status == "interrupted"
    assert sorted(selection.indices) == sorted(naive_rules.relevance(twin)[0])


@pytest.mark.parametrize("strategy", ["forward", "exhaustive"])
@settings(max_examples=30, deadline=None)
@given(case=constrained(priced=True))
def test_any_size_is_the_best_of_all_sizes(strategy, case):
    one_size, twin = case
    problem = replace(one_size, k=twin.allowed_sizes[-1], any_size=True)
    selection = select(problem, strategy)
    each = [select(problem.of_size(k), strategy) for k in twin.allowed_sizes]
    best = max(other.objective for other in each)
    assert selection.objective == pytest.approx(best, rel=1e-12, abs=1e-14)
    assert selection.k == len(selection.indices)
    assert selection.k == min(other.k for other in each if other.objective >= best - 1e-13)
    assert twin.is_allowed(selection.indices.tolist())
    assert selection.certificate is None
    assert selection.any_size
    if strategy == "forward":
        assert np.isnan(selection.upper_bound)
        assert np.isnan(selection.gap)
        assert selection.statement == ""
    else:
        assert selection.status == "proven optimal"
        assert 0.0 <= selection.upper_bound - selection.objective <= selection.tolerance
        assert selection.statement.startswith("Proven optimal: no other subset of the ")
        assert selection.statement.endswith(" that respects the constraints scores higher.")


def test_any_size_is_bounded_over_all_sizes():
    problem = SubsetProblem.from_matrix(
        random_matrix(5, 9), None, include=[2], feature_groups=[[0, 1]], costs=[1.0, 1, 2, 1, 2, 1, 2, 1, 1], budget=6.0
    )
    best = select(problem, "exhaustive")
    assert len(problem.allowed_sizes) > 2
    for strategy, certify in (("cobra", False), ("forward", True)):
        selection = select(problem, strategy, random_state=0, certify=certify)
        assert selection.upper_bound >= best.objective - 1e-9
        each = [select(problem.of_size(k), strategy, random_state=0, certify=certify) for k in problem.allowed_sizes]
        assert selection.upper_bound == pytest.approx(max(one.upper_bound for one in each), rel=1e-3)
        assert selection.gap == pytest.approx((selection.upper_bound - selection.objective) / selection.objective)
        assert selection.certificate is None
        assert set(selection.seconds) == ({"search", "certificate"} | ({"relaxation"} if certify else set()))


def random_matrix(seed, n):
    Q = np.random.default_rng(seed).normal(size=(n, n))
    return (Q + Q.T) / 2


@pytest.mark.parametrize("strategy", ["annealing", "genetic", "cobra"])
def test_random_strategies_find_the_best_subset_of_most_small_problems(strategy):
    """Groups, rivals and a budget, 14 columns: 20 problems of which forward solves at most 12."""
    reached = forward_reached = 0
    for seed in range(20):
        problem = SubsetProblem.from_matrix(
            random_matrix(seed, 14),
            6,
            include=[13],
            feature_groups={"all_or_none": [[0, 1], [2, 3, 4]], "at_most_one": [[5, 6, 7], [0, 8]]},
            costs={i: 1.0 + i % 3 for i in range(14)},
            budget=12.0,
        )
        best = select(problem, "exhaustive").objective
        options = {"annealing": {}, "genetic": {"population": 60, "generations": 40}, "cobra": {}}[strategy]
        reached += select(problem, strategy, random_state=seed, **options).objective >= best - 1e-12
        forward_reached += select(problem, "forward").objective >= best - 1e-12
    assert reached >= 17
    assert forward_reached <= 12


def test_annealing_gets_from_single_columns_to_a_group_and_back():
    """The forward selection holds two single columns; only a group of two is worth more, and the other way round."""
    Q = np.diag([0.0, 0.0, 2.0, 1.0, 1.0])
    Q[0, 1] = Q[1, 0] = 1.9
    to_group = SubsetProblem.from_matrix(Q, 3, feature_groups=[[0, 1], [3, 4]])
    assert select(to_group, "annealing", random_state=0, steps=2000).indices.tolist() == [0, 1, 2]
    assert select(to_group, "genetic", random_state=0, generations=20).indices.tolist() == [0, 1, 2]


def test_what_is_required_alone_may_be_the_answer():
    problem = SubsetProblem.from_matrix(random_matrix(0, 5), 2, include=[1, 3])
    for strategy in STRATEGIES:
        selection = select(problem, strategy, random_state=0, polish=True, **QUICK.get(strategy, {}))
        assert sorted(selection.indices) == [1, 3], strategy
    assert select(problem, "forward", certify=True).upper_bound == pytest.approx(problem.value([1, 3]), rel=1e-6)


def test_exclusion_alone_is_the_ordinary_search_on_fewer_candidates():
    Q = random_matrix(1, 9)
    left = [0, 1, 3, 4, 5, 7, 8]
    excluded = SubsetProblem.from_matrix(Q, 3, exclude=[2, 6])
    smaller = SubsetProblem.from_matrix(Q[np.ix_(left, left)], 3)
    for strategy in STRATEGIES:
        options = QUICK.get(strategy, {})
        one = select(excluded, strategy, random_state=0, **options)
        other = select(smaller, strategy, random_state=0, **options)
        assert one.indices.tolist() == [left[i] for i in other.indices], strategy
        assert one.scores == pytest.approx(other.scores, rel=1e-12)
        assert one.dropped == ()


def test_order_of_choice_lists_a_groups_columns_together():
    Q = np.diag([3.0, 2.0, 1.0, 3.0, 2.5])
    problem = SubsetProblem.from_matrix(Q, 4, feature_groups=[[0, 3]], include=[2])
    assert select(problem, "forward").indices.tolist() == [2, 0, 3, 4]
    assert select(problem, "relevance").indices.tolist() == [2, 0, 3, 4]
    assert select(problem, "backward").indices.tolist() == [0, 2, 3, 4]


def test_exhaustive_counts_what_it_must_enumerate():
    Q = np.zeros((12, 12))
    one_group = SubsetProblem.from_matrix(Q, 4, feature_groups=[[0, 1, 2]], include=[11])
    # Three of 8 single columns, or the group: 56 + 1.
    assert select(one_group, "exhaustive", max_subsets=57).indices.tolist() == [0, 1, 2, 11]
    with pytest.raises(InvalidInput, match=r"57 subsets of 4 out of 10 candidates.*max_subsets=56"):
        select(one_group, "exhaustive", max_subsets=56)
    included = SubsetProblem.from_matrix(Q, 4, include=[3, 11])
    assert select(included, "exhaustive", max_subsets=45).indices.tolist() == [0, 1, 3, 11]
    with pytest.raises(InvalidInput, match=r"45 subsets of 4 out of 12 candidates"):
        select(included, "exhaustive", max_subsets=44)


def listed_by_exhaustive(problem):
    """The subsets of columns that an exhaustive search values, sorted."""
    choice = _Choice(problem.units)
    whole = [choice.units(column) for parts in choice.whole_subsets() for column in parts.members.T]
    return sorted(sorted(problem.units.columns(units)) for units in whole)


def test_exhaustive_lists_the_sets_of_a_total_size_once_and_without_recursion():
    many = SubsetProblem.from_matrix(np.eye(1030), 1030, feature_groups=[[0, 1]])
    assert listed_by_exhaustive(many) == [list(range(1030))]
    # The same with a budget, where no sets are left out instead.
    many = SubsetProblem.from_matrix(np.eye(1030), 1030, feature_groups=[[0, 1]], costs=[1.0] * 1030, budget=1030.0)
    assert listed_by_exhaustive(many) == [list(range(1030))]
    assert select(many, "exhaustive").scores == (1030.0,)
    # Units of 1, 2, 1 and 3 columns.
    few = SubsetProblem.from_matrix(np.zeros((7, 7)), 3, feature_groups=[[1, 2], [4, 5, 6]])
    assert listed_by_exhaustive(few) == [[0, 1, 2], [1, 2, 3], [4, 5, 6]]
    with pytest.raises(InvalidInput, match="which the groups cannot add up to"):
        SubsetProblem.from_matrix(np.zeros((4, 4)), 3, feature_groups=[[0, 1], [2, 3]])
    nothing_left = SubsetProblem.from_matrix(np.eye(4), 2, include=[1, 3])
    assert listed_by_exhaustive(nothing_left) == [[1, 3]]


@pytest.mark.parametrize("k", range(1, 10))
def test_exhaustive_lists_each_subset_once_whether_it_takes_or_leaves(k):
    Q = random_matrix(4, 9)
    for stated in ({}, {"include": [2]}, {"exclude": [0, 5]}, {"costs": [0.0] * 9, "budget": 0.0}):
        if k > 7 and "exclude" in stated:
            continue
        problem = SubsetProblem.from_matrix(Q, k, **stated)
        subsets = [list(s) for s in itertools.combinations(range(9), k) if _holds(s, stated)]
        assert listed_by_exhaustive(problem) == subsets
        best = max(subsets, key=problem.value)
        selection = select(problem, "exhaustive")
        assert selection.indices.tolist() == best
        assert selection.scores[-1] == pytest.approx(problem.value(best), rel=1e-12, abs=1e-13)


def _holds(subset, stated):
    return set(stated.get("include", ())) <= set(subset) and not set(stated.get("exclude", ())) & set(subset)


def test_cobra_without_repair_needs_rules_that_draws_respect():
    Q = random_matrix(2, 8)
    included = SubsetProblem.from_matrix(Q, 3, include=[5])
    assert 5 in select(included, "cobra", random_state=0, repair=False).indices
    grouped = SubsetProblem.from_matrix(Q, 3, feature_groups=[[0, 1]])
    with pytest.raises(InvalidInput) as error:
        select(grouped, "cobra", repair=False)
    assert str(error.value) == (
        "Got repair=False with feature_groups or costs; "
        "expected repair=True: a subset as it was drawn need not respect them. Leave repair out."
    )


def test_interrupted_any_size_keeps_the_best_so_far():
    problem = SubsetProblem.from_matrix(random_matrix(3, 8), None, costs=[1.0] * 8, budget=5.0)
    pressed = []

    def press(stage, done, total):
        pressed.append((stage, total))
        if (stage, total) == ("forward", 3):
            raise KeyboardInterrupt

    with listening(press):
        selection = select(problem, "forward", certify=True)
    assert pressed[-1] == ("forward", 3)  # larger sizes are not searched any more
    assert selection.status == "interrupted"
    assert problem.constraints.allows(selection.indices)
    assert np.isnan(selection.upper_bound)


@pytest.mark.parametrize("strategy", ["exhaustive", "exact"])
def test_no_subset_at_the_edge_of_the_budget_is_overlooked(strategy):
    """Costs add up differently in another order: what is allowed is within every bound all the same."""
    for seed in range(60):
        rng = np.random.default_rng(seed)
        costs, Q = rng.random(8), random_matrix(seed, 8)
        edge = rng.choice(8, 4, replace=False)
        budget = math.fsum(costs[edge]) / (1.0 + 0.5 * BUDGET_ROUNDING)
        for _ in range(int(rng.integers(0, 4))):
            budget = math.nextafter(budget, math.inf)
        problem = SubsetProblem.from_matrix(Q, 4, costs=costs, budget=budget)
        allowed = [s for s in itertools.combinations(range(8), 4) if problem.constraints.allows(s)]
        answer = select(problem, strategy)
        assert answer.upper_bound >= max(map(problem.value, allowed))
        assert tuple(sorted(answer.indices.tolist())) in allowed
