"""Annealing and the genetic search: valid, repeatable, never below their start, mostly optimal."""

import numpy as np
import pytest

from certselect.errors import InvalidInput
from certselect.search import select
from certselect.search.strategies import annealing as annealing_file
from certselect.search.ties import distinct_rows

RANDOM = ["annealing", "genetic"]
QUICK = {"annealing": {"steps": 3000}, "genetic": {"population": 20, "generations": 30}}


def hard_problem(make_problem, seed, n=40, k=8, criterion="d1"):
    """Strong pair terms of both signs, where greedy searches get stuck."""
    rng = np.random.default_rng(seed)
    upper = np.triu(rng.normal(size=(n, n)), 1)
    return make_problem(rng.random(n), upper + upper.T, criterion, k)


@pytest.mark.parametrize("strategy", RANDOM)
@pytest.mark.parametrize("criterion", ["mrmr", "jmi", "mifs", "d1", "max_relevance"])
def test_valid_subset_no_worse_than_forward(random_problem, strategy, criterion):
    rng = np.random.default_rng(20)
    for seed in range(25):
        problem, twin = random_problem(rng, criterion, tied=seed % 2 == 0)
        selection = select(problem, strategy, random_state=seed, **QUICK[strategy])
        chosen = selection.indices.tolist()
        assert chosen == sorted(set(chosen))
        assert len(chosen) == problem.k
        assert set(chosen) <= set(problem.candidates.tolist())
        start = select(problem, "forward")
        assert twin.value(chosen, twin.k) >= twin.value(start.indices.tolist(), twin.k)
        assert selection.scores[0] == start.scores[-1]
        assert list(selection.scores) == sorted(selection.scores)
        assert selection.scores[-1] == pytest.approx(selection.objective, rel=1e-12, abs=1e-14)
        assert selection.status == "complete"


@pytest.mark.parametrize("strategy", RANDOM)
def test_mostly_optimal_on_small_problems(make_problem, strategy):
    """Of 20 problems of 16 features where forward misses most optima, at least 18 are solved."""
    reached = forward_reached = 0
    for seed in range(20):
        problem = hard_problem(make_problem, seed, n=16, k=6)
        best = select(problem, "exhaustive").objective
        options = {"population": 60, "generations": 40} if strategy == "genetic" else {}
        reached += select(problem, strategy, random_state=seed, **options).objective >= best - 1e-12
        forward_reached += select(problem, "forward").objective >= best - 1e-12
    assert reached >= 18
    assert forward_reached <= 10


@pytest.mark.parametrize("strategy", RANDOM)
def test_same_seed_same_answer(make_problem, strategy):
    problem = hard_problem(make_problem, 1)

    def run(random_state):
        selection = select(problem, strategy, random_state=random_state, **QUICK[strategy])
        return selection.indices.tolist(), selection.scores

    assert run(5) == run(5)
    assert run(np.int64(5)) == run(5)
    assert run(np.random.default_rng(5)) == run(5)
    assert run(np.random.RandomState(5)) == run(np.random.RandomState(5))
    assert len({run(seed)[1] for seed in range(8)}) > 1  # the seed matters
    assert len({run(None)[1] for _ in range(8)}) > 1


@pytest.mark.parametrize("strategy", RANDOM)
def test_a_generator_moves_on(make_problem, strategy):
    problem = hard_problem(make_problem, 1)
    rng = np.random.default_rng(5)
    before = rng.bit_generator.state
    select(problem, strategy, random_state=rng, **QUICK[strategy])
    assert rng.bit_generator.state != before


def test_default_steps_follow_the_size_of_the_problem(make_problem, monkeypatch):
    totals = []
    monkeypatch.setattr(annealing_file, "report", lambda stage, done, total: totals.append(total))
    monkeypatch.setattr(annealing_file, "MOST_STEPS", 30_000)
    select(hard_problem(make_problem, 0, n=9, k=3), "annealing", random_state=0)
    assert set(totals) == {20_000}
    totals.clear()
    select(hard_problem(make_problem, 0, n=20, k=6), "annealing", random_state=0)
    assert set(totals) == {250 * 6 * 14}
    totals.clear()
    select(hard_problem(make_problem, 0, n=60, k=10), "annealing", random_state=0)
    assert set(totals) == {30_000}


def test_annealing_without_heat_gets_stuck(make_problem):
    """Cold, it only climbs; with the default temperature it gets out of most of those dead ends."""
    cold = hot = 0
    for seed in range(20):
        problem = hard_problem(make_problem, seed, n=16, k=6)
        best = select(problem, "exhaustive").objective
        cold += select(problem, "annealing", random_state=0, temperature=1e-9).objective < best - 1e-12
        hot += select(problem, "annealing", random_state=0).objective < best - 1e-12
    assert cold >= 5
    assert hot <= 1


@pytest.mark.parametrize(
    ("strategy", "option", "wrong"),
    [
        ("annealing", "steps", 0),
        ("annealing", "steps", 2.5),
        ("annealing", "steps", True),
        ("genetic", "population", 1),
        ("genetic", "generations", 0),
        ("exhaustive", "max_subsets", -1),
        ("exhaustive", "max_subsets", "many"),
    ],
)
def test_counts_are_checked(make_problem, strategy, option, wrong):
    smallest = 2 if option == "population" else 1
    with pytest.raises(InvalidInput) as error:
        select(hard_problem(make_problem, 0), strategy, **{option: wrong})
    assert str(error.value) == (
        f"Got {option}={wrong!r}; expected a whole number, {smallest} or more. Pass {option} as an int."
    )


@pytest.mark.parametrize("wrong", [0, -1.0, float("nan"), float("inf"), "hot", True])
def test_temperature_is_checked(make_problem, wrong):
    with pytest.raises(InvalidInput) as error:
        select(hard_problem(make_problem, 0), "annealing", temperature=wrong)
    assert str(error.value) == (
        f"Got temperature={wrong!r}; expected a finite number above 0. Leave temperature out for the usual value."
    )


def test_distinct_rows():
    rows = np.random.default_rng(4).integers(0, 3, (300, 4))
    distinct, first = distinct_rows(rows)
    as_tuples = [tuple(row) for row in rows.tolist()]
    assert [tuple(row) for row in distinct.tolist()] == sorted(set(as_tuples))
    assert first.tolist() == [as_tuples.index(row) for row in sorted(set(as_tuples))]
