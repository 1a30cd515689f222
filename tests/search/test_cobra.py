"""COBRA: valid, repeatable, mostly optimal, and never without an answer after Ctrl-C."""

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

import naive_search
from certselect.clock import TimeLimit
from certselect.criteria import SubsetProblem
from certselect.errors import InvalidInput
from certselect.progress import listening
from certselect.relaxation import relax
from certselect.search.found import Found
from certselect.search.strategies import cobra as cobra_module
from certselect.search.strategies.cobra import cobra
from certselect.search.strategies.exhaustive import exhaustive
from certselect.search.strategies.forward import forward

CRITERIA = ["mrmr", "jmi", "mifs", "d1", "max_relevance"]


def run(problem, seed=0, **options):
    found = Found()
    cobra(problem.units, found, np.random.default_rng(seed), **options)
    return found


def hard_problem(make_problem, seed, n=16, k=6, criterion="d1"):
    """Strong pair terms of both signs, where greedy searches get stuck."""
    rng = np.random.default_rng(seed)
    upper = np.triu(rng.normal(size=(n, n)), 1)
    return make_problem(rng.random(n), upper + upper.T, criterion, k)


@pytest.mark.parametrize("criterion", CRITERIA)
def test_valid_subset_with_multipliers(random_problem, criterion):
    rng = np.random.default_rng(41)
    for seed in range(12):
        problem, twin = random_problem(rng, criterion, tied=seed % 2 == 0)
        found = run(problem, seed, draws=50)
        assert found.indices == sorted(set(found.indices))
        assert len(found.indices) == problem.k
        assert set(found.indices) <= set(problem.candidates.tolist())
        assert found.scores == sorted(found.scores)
        assert found.scores[-1] == pytest.approx(float(twin.value(found.indices, twin.k)), rel=1e-12, abs=1e-14)
        assert found.evidence.multipliers is found.evidence.relaxation.multipliers
        best = float(naive_search.exhaustive(twin)[1])
        assert found.scores[-1] <= best + 1e-12
        assert found.evidence.relaxation.dual_value >= best - 1e-5 * max(1.0, abs(best))
        assert found.any_size is False


def test_mostly_optimal_on_small_problems(make_problem):
    """Of 20 problems of 16 features where forward misses most optima, at least 18 are solved."""
    reached = forward_reached = 0
    for seed in range(20):
        problem = hard_problem(make_problem, seed)
        best, greedy = Found(), Found()
        exhaustive(problem.units, best, np.random.default_rng(0))
        forward(problem.units, greedy, np.random.default_rng(0))
        reached += run(problem, seed).scores[-1] >= best.scores[-1] - 1e-12
        forward_reached += greedy.scores[-1] >= best.scores[-1] - 1e-12
    assert reached >= 18
    assert forward_reached <= 10


def test_same_seed_same_answer(make_problem):
    problem = hard_problem(make_problem, 1, n=40, k=8)

    def answer(seed, **options):
        found = run(problem, seed, draws=20, **options)
        return found.indices, found.scores

    assert answer(5) == answer(5)
    assert len({tuple(answer(seed)[0]) for seed in range(8)}) > 1


@pytest.mark.parametrize("criterion", ["mrmr", "d1"])
def test_the_number_of_threads_does_not_matter(make_problem, criterion):
    for seed in range(5):
        problem = hard_problem(make_problem, seed, n=60, k=10, criterion=criterion)
        answers = []
        for threads in (1, 2):
            with threadpool_limits(threads, "blas"):
                answers.append(run(problem, seed, draws=100).indices)
        assert answers[0] == answers[1]


def test_more_draws_are_no_worse(make_problem):
    """The first draws of many are those of few."""
    for seed in range(5):
        problem = hard_problem(make_problem, seed, n=40, k=8)
        few, many = (run(problem, seed, draws=draws).scores[-1] for draws in (5, 300))
        assert many >= few - 1e-12


def test_the_answer_is_a_rounded_subset_not_the_forward_selection(make_problem):
    """One draw, often worse than forward: the paper's method has no greedy start."""
    worse = 0
    for seed in range(20):
        problem = hard_problem(make_problem, seed, criterion="mrmr")
        greedy = Found()
        forward(problem.units, greedy, np.random.default_rng(0))
        worse += run(problem, seed, draws=1).scores[-1] < greedy.scores[-1] - 1e-12
    assert worse >= 1


def test_without_repair_the_best_draw_has_its_own_size(make_problem):
    sizes = set()
    for seed in range(8):
        problem = hard_problem(make_problem, seed, n=30, k=4, criterion="mifs")
        found = run(problem, seed, draws=200, repair=False)
        sizes.add(len(found.indices))
        assert found.any_size is True
        assert found.indices
        assert found.scores[-1] == pytest.approx(problem.value(found.indices), rel=1e-12)
        # A single one of its draws would not have been better.
        assert run(problem, seed, draws=1, repair=False).scores[-1] <= found.scores[-1]
    assert sizes != {4}


@pytest.mark.parametrize("stage", ["relaxation", "rounding"])
def test_ctrl_c_leaves_a_subset_and_multipliers(make_problem, stage):
    problem = hard_problem(make_problem, 3)

    def interrupt(current, done, total):
        if current.startswith(stage) and done >= 2:
            raise KeyboardInterrupt

    found = Found()
    with listening(interrupt), pytest.raises(KeyboardInterrupt):
        cobra(problem.units, found, np.random.default_rng(0))
    assert len(found.indices) == problem.k
    assert found.evidence.multipliers.shape == (17,)
    assert np.isfinite(found.evidence.multipliers).all()
    assert found.scores[-1] == pytest.approx(problem.value(found.indices), rel=1e-12)
    assert (found.evidence.relaxation is None) == (stage == "relaxation")


def test_ctrl_c_while_pair_terms_are_computed(make_problem):
    rng = np.random.default_rng(0)
    upper = np.triu(rng.normal(size=(12, 12)), 1)
    lengths = []
    for call in (1, 3, 5):  # four rows by the forward selection, then the matrix
        problem = make_problem(rng.random(12), upper + upper.T, "d1", 5, interrupt_at=call)
        found = Found()
        with pytest.raises(KeyboardInterrupt):
            cobra(problem.units, found, rng)
        lengths.append(len(found.indices))
        assert found.evidence.relaxation is None
    assert lengths == [1, 3, 5]


def test_stopped_early_there_is_still_an_answer(make_problem, monkeypatch):
    problem = hard_problem(make_problem, 2, n=40, k=8)
    found = Found(limit=TimeLimit.of(60.0))

    def stopped(problem, method, *, max_seconds, **options):
        assert 0.0 < max_seconds <= 45.0  # the rest is for rounding
        return relax(problem, method, max_seconds=0.0, **options)

    monkeypatch.setattr(cobra_module, "relax", stopped)
    cobra(problem.units, found, np.random.default_rng(0))
    assert found.evidence.relaxation.status.value == "stopped by time"
    assert found.cut_short
    assert len(found.indices) == 8
    assert np.isfinite(found.evidence.multipliers).all()


def test_options_reach_the_relaxation(make_problem):
    problem = hard_problem(make_problem, 2, n=30, k=5)
    assert run(problem, method="low_rank", draws=10).evidence.relaxation.method == "low_rank"
    loose, tight = (run(problem, tol=tol, draws=10).evidence.relaxation for tol in (1e-1, 1e-7))
    assert loose.iterations < tight.iterations
    warm = run(problem, warm_start=relax(hard_problem(make_problem, 2, n=30, k=6)), draws=10)
    assert warm.evidence.relaxation.dual_value == pytest.approx(tight.dual_value, rel=1e-5)


@pytest.mark.parametrize("k", [1, 2, 5, 6])
def test_degenerate_matrices(k):
    rng = np.random.default_rng(50)
    one = rng.random((6, 6))
    one = one + one.T
    duplicated = one[:3, :3][np.ix_([0, 0, 1, 1, 2, 2], [0, 0, 1, 1, 2, 2])]
    low_rank = np.outer(one[0], one[0])
    for Q in (np.zeros((6, 6)), np.eye(6), -np.ones((6, 6)), duplicated, low_rank):
        problem = SubsetProblem.from_matrix(Q, k)
        best = Found()
        exhaustive(problem.units, best, rng)
        found = run(problem, draws=200)
        assert found.scores[-1] == pytest.approx(best.scores[-1], rel=1e-9, abs=1e-12)
    # All subsets are equal: the first of those drawn, which are most of them.
    assert run(SubsetProblem.from_matrix(np.zeros((6, 6)), k), draws=2000).indices == list(range(k))


@pytest.mark.parametrize("scale", [1e-12, 1e12])
def test_scales_do_not_matter(make_problem, scale):
    rng = np.random.default_rng(51)
    upper = np.triu(rng.normal(size=(14, 14)), 1)
    linear = rng.random(14)
    plain = run(make_problem(linear, upper + upper.T, "d1", 5))
    scaled = run(make_problem(scale * linear, scale * (upper + upper.T), "d1", 5))
    assert scaled.indices == plain.indices
    assert scaled.scores[-1] == pytest.approx(scale * plain.scores[-1], rel=1e-9)


def test_one_feature():
    found = run(SubsetProblem.from_matrix(np.array([[2.0]]), 1))
    assert (found.indices, found.scores) == ([0], [2.0])


@pytest.mark.parametrize(("option", "wrong"), [("draws", 0), ("draws", 2.5), ("tol", 0.0)])
def test_options_are_checked(make_problem, option, wrong):
    with pytest.raises(InvalidInput) as error:
        run(hard_problem(make_problem, 0), **{option: wrong})
    assert str(error.value).startswith(f"Got {option}={wrong!r}; expected")
