"""Draws have the right law, repairs and choices equal their exact twins, nothing hangs on batches."""

import math
from fractions import Fraction

import numpy as np
import pytest

import naive_rounding
import naive_search
from certselect.criteria import SubsetProblem
from certselect.progress import listening
from certselect.relaxation import solve
from certselect.search import draws as module
from certselect.search.draws import (
    draw_subsets,
    factor_of,
    repair_subsets,
    round_draws,
    start_from_forward,
    subset_values,
)
from certselect.search.found import Found
from certselect.search.ties import value_scale

CRITERIA = ["mrmr", "jmi", "mifs", "d1", "max_relevance"]


def random_draws(rng, count, n):
    """Subsets of all sizes, empty and whole ones among them."""
    return rng.random((count, n)) < rng.choice([0.0, 0.1, 0.3, 0.5, 0.8, 1.0], size=(count, 1))


@pytest.mark.parametrize("criterion", CRITERIA)
def test_repair_and_choice_equal_their_twins(random_problem, criterion):
    rng = np.random.default_rng(31)
    for seed in range(60):
        problem, twin = random_problem(rng, criterion, tied=seed % 2 == 0, largest=12)
        candidates = problem.candidates
        drawn = random_draws(rng, 8, len(candidates))
        sets = [candidates[row].tolist() for row in drawn]
        repaired = repair_subsets(problem.units, drawn, scale=value_scale(problem.units))
        expected = [naive_rounding.repair(twin, subset) for subset in sets]
        assert [candidates[row].tolist() for row in repaired] == expected
        found = Found()
        rounded = round_draws(problem.units, found, drawn)
        assert found.indices == rounded.indices.tolist() == naive_rounding.best(twin, expected)
        assert rounded.mean_size == np.mean([len(subset) for subset in sets])
        assert rounded.value == pytest.approx(float(twin.value(found.indices, twin.k)), rel=1e-12, abs=1e-14)
        assert found.scores[-1] == pytest.approx(rounded.value, rel=1e-12, abs=1e-14)
        assert found.any_size is False


@pytest.mark.parametrize("criterion", CRITERIA)
def test_unrepaired_choice_equals_its_twin(random_problem, criterion):
    rng = np.random.default_rng(32)
    for seed in range(60):
        problem, twin = random_problem(rng, criterion, tied=seed % 2 == 0)
        drawn = random_draws(rng, 8, len(problem.candidates))
        drawn[0, 0] = True
        found = Found()
        round_draws(problem.units, found, drawn, repair=False)
        sets = [problem.candidates[row].tolist() for row in drawn if row.any()]
        assert found.indices == naive_rounding.best(twin, sets)
        assert found.any_size is True


def test_only_empty_draws_are_repaired_all_the_same(random_problem):
    problem, twin = random_problem(np.random.default_rng(1), "d1", tied=False, k=3)
    found = Found()
    rounded = round_draws(problem.units, found, np.zeros((4, len(problem.candidates)), bool), repair=False)
    assert found.indices == naive_rounding.repair(twin, [])
    assert found.any_size is False
    assert rounded.mean_size == 0.0


def test_repair_of_larger_problems_equals_the_twin():
    """Pools that halve several times, far too large and far too small draws beside each other."""
    rng = np.random.default_rng(33)
    n, k = 36, 3
    upper = np.triu(rng.integers(-3, 4, (n, n)), 1) / 64
    linear = rng.integers(0, 5, n) / 64
    Q = -(upper + upper.T) / 2 + np.diag(linear)
    pair = {(i, j): Fraction(float(upper[i, j])) for i in range(n) for j in range(i + 1, n)}
    twin = naive_search.NaiveProblem([Fraction(v) for v in linear], pair, "d1", Fraction(0), k, list(range(n)))
    drawn = np.zeros((4, n), dtype=bool)
    drawn[0, :2] = drawn[1, 10:20] = drawn[2, ::2] = drawn[3] = True
    repaired = repair_subsets(SubsetProblem.from_matrix(Q, k).units, drawn, scale=float(linear.max()))
    for before, after in zip(drawn, repaired, strict=True):
        assert np.flatnonzero(after).tolist() == naive_rounding.repair(twin, np.flatnonzero(before).tolist())


def test_nothing_hangs_on_batches_or_precision(monkeypatch):
    rng = np.random.default_rng(34)
    n, k = 50, 9
    upper = np.triu(rng.integers(-3, 4, (n, n)), 1) / 64
    Q = -(upper + upper.T) / 2 + np.diag(rng.integers(0, 5, n) / 64)
    factor = factor_of(solve(Q, k))

    def run(matrix):
        problem = SubsetProblem.from_matrix(matrix, k).units
        drawn = draw_subsets(factor, 70, np.random.default_rng(3))
        found, steps = Found(), []
        with listening(lambda stage, done, total: steps.append((stage, done, total))):
            rounded = round_draws(problem, found, drawn)
        repaired = repair_subsets(problem, drawn, scale=value_scale(problem))
        return drawn.tolist(), repaired.tolist(), found.indices, rounded.value, rounded.mean_size, steps

    *whole, steps = run(Q)
    assert steps[-1][0] == "rounding"
    assert steps[-1][1] == steps[-1][2]
    assert len(steps) == 1
    assert run(Q.astype(np.float32))[:-1] == tuple(whole)  # 64ths are exact in both
    monkeypatch.setattr(module, "NUMBERS_AT_ONCE", 7 * n)
    monkeypatch.setattr(module, "NUMBERS_REPAIRED_AT_ONCE", 7 * n)
    monkeypatch.setattr(module, "COLUMNS_AT_ONCE", 11)
    *parts, steps = run(Q)
    assert parts == whole
    assert len(steps) > 3


def test_values_are_the_criterion(random_problem):
    rng = np.random.default_rng(35)
    for criterion in CRITERIA:
        problem, _ = random_problem(rng, criterion, tied=False)
        subsets = random_draws(rng, 20, len(problem.candidates))
        expected = [problem.value(problem.candidates[row]) for row in subsets]
        np.testing.assert_allclose(subset_values(subsets, problem.candidate_matrix), expected, atol=1e-13)


def test_draws_are_those_of_the_twin():
    rng = np.random.default_rng(36)
    factor = rng.standard_normal((9, 4))
    drawn = draw_subsets(factor, 300, np.random.default_rng(5))
    normals = np.random.default_rng(5).standard_normal((300, 4))
    for row, g in zip(drawn, normals, strict=True):
        u = [math.fsum(factor[i, j] * g[j] for j in range(4)) for i in range(9)]
        assert np.flatnonzero(row).tolist() == naive_rounding.agree_with_entry_0(u)


@pytest.mark.parametrize("method", ["interior_point", "low_rank"])
def test_factor_gives_the_matrix_and_draws_its_law(method):
    """A feature agrees with entry 0 with probability 1 - arccos(Y_0i) / pi (Goemans and Williamson)."""
    rng = np.random.default_rng(37)
    Q = rng.standard_normal((30, 30))
    answer = solve(Q + Q.T, 8, method)
    factor = factor_of(answer)
    np.testing.assert_allclose(factor @ factor.T, answer.matrix, atol=2e-8)
    draws = 20_000
    often = draw_subsets(factor, draws, rng).mean(axis=0)
    expected = 1.0 - np.arccos(np.clip(answer.matrix[0, 1:], -1.0, 1.0)) / math.pi
    spread = np.sqrt(expected * (1.0 - expected) / draws)
    assert np.all(np.abs(often - expected) <= 5.0 * spread + 1e-3)


def test_an_indefinite_matrix_is_clipped():
    """What a loose solver hands on: eigenvalues somewhat below 0."""
    rng = np.random.default_rng(38)
    answer = solve(np.diag(rng.random(6)), 2)
    vectors = np.linalg.qr(rng.standard_normal((7, 7)))[0]
    spectrum = np.array([4.0, 2.0, 1.0, 0.5, 0.0, -1e-4, -1e-3])
    inexact = (vectors * spectrum) @ vectors.T
    factor = factor_of(type(answer)(**{**vars(answer), "dense": (inexact + inexact.T) / 2, "factor": None}))
    np.testing.assert_allclose(factor @ factor.T, (vectors * spectrum.clip(0.0)) @ vectors.T, atol=1e-12)


def test_found_keeps_a_better_start_until_the_end(make_problem, monkeypatch):
    """Interrupted, the better start stays; at the end the rounded subset stands, even if worse."""
    problem = make_problem([4.0, 3.0, 2.0, 1.0], np.zeros((4, 4)), "d1", 2)
    monkeypatch.setattr(module, "NUMBERS_REPAIRED_AT_ONCE", 4)
    drawn = np.array([[0, 0, 1, 1], [0, 1, 0, 1]], dtype=bool)
    found = Found()
    start_from_forward(problem.units, found, np.random.default_rng(0))
    assert (found.indices, found.scores) == ([0, 1], [7.0])

    def interrupt(stage, done, total):
        raise KeyboardInterrupt

    with listening(interrupt), pytest.raises(KeyboardInterrupt):
        round_draws(problem.units, found, drawn)
    assert (found.indices, found.scores) == ([0, 1], [7.0])
    round_draws(problem.units, found, drawn)
    assert (found.indices, found.scores) == ([1, 3], [3.0, 4.0])
