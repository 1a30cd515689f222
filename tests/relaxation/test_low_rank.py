"""The low-rank method: on the manifold, as good as interior point, its gap certified."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest

from certselect.certificate import upper_bound
from certselect.relaxation import Iterate, Status, solve
from relaxation.made_problems import best_value, degenerate, from_known_pair, random_problem, redundancy_like

BENCHMARK = Path(__file__).parents[2] / "benchmarks" / "contestants" / "problems.py"


@pytest.mark.parametrize(("n", "k"), [(8, 1), (40, 4), (40, 20), (40, 39), (150, 12)])
@pytest.mark.parametrize("make", [lambda n, k: random_problem(n, k), lambda n, k: redundancy_like(n, k, k)])
def test_agrees_with_interior_point(make, n: int, k: int) -> None:
    Q = make(n, k)
    answer, reference = solve(Q, k, "low_rank"), solve(Q, k)
    assert answer.status is Status.SOLVED
    size = max(abs(reference.primal_value), 1e-3 * k * np.abs(Q).max())
    assert reference.primal_value - 1.1e-3 * size <= answer.primal_value <= reference.dual_value + 1e-9 * size
    assert reference.primal_value - 1e-9 * size <= answer.dual_value <= reference.dual_value + 1.1e-3 * size


@pytest.mark.parametrize(("n", "k"), [(60, 6), (300, 12)])
def test_its_gap_is_certified(n: int, k: int) -> None:
    Q = redundancy_like(n, k, seed=2)
    answer = solve(Q, k, "low_rank")
    bound = upper_bound(Q, k, answer.multipliers)
    assert (bound - answer.primal_value) / abs(answer.primal_value) <= 1e-3


def test_factor_is_feasible() -> None:
    answer = solve(redundancy_like(80, 10, seed=0), 10, "low_rank")
    V, Y = answer.factor, answer.matrix
    assert V is not None
    assert V.shape[1] < 20
    np.testing.assert_allclose(np.diag(Y), 1.0, atol=1e-12)
    np.testing.assert_allclose(V.T @ np.concatenate([[2.0 * 10 - 80], -np.ones(80)]), 0.0, atol=1e-9)
    assert answer.diagonal_residual < 1e-12
    assert answer.face_residual < 1e-10


def test_tighter_tolerance_is_reached() -> None:
    Q, optimum, _ = from_known_pair(50, 9, 2, seed=1)
    answer = solve(Q, 9, "low_rank", tol=1e-5)
    assert answer.status is Status.SOLVED
    assert answer.primal_value == pytest.approx(optimum, rel=1e-5)


@pytest.mark.parametrize("name", list(degenerate(3, 0)))
@pytest.mark.parametrize(("n", "ks"), [(2, [1]), (3, [1, 2]), (9, [1, 4, 8])])
def test_degenerate_problems_keep_a_valid_bound(name: str, n: int, ks: list[int]) -> None:
    Q = degenerate(n, seed=n)[name]
    for k in ks:
        answer = solve(Q, k, "low_rank")
        assert np.isfinite(answer.primal_value)
        assert np.isfinite(answer.multipliers).all()
        bound = upper_bound(Q, k, answer.multipliers)
        assert bound >= best_value(Q, k) - 1e-13 * k * np.abs(Q).max()
        if n > 3:
            assert answer.status in (Status.SOLVED, Status.NEARLY_SOLVED)


def test_same_answer_every_time() -> None:
    """On this problem, from the benchmarks, Lanczos draws a vector of its own."""
    spec = importlib.util.spec_from_file_location("problems_of_benchmarks", BENCHMARK)
    assert spec is not None
    assert spec.loader is not None
    benchmark = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(benchmark)
    Q = benchmark.gaussian_problem(300, 20, np.float64)
    once, again = solve(Q, 20, "low_rank"), solve(Q, 20, "low_rank")
    np.testing.assert_array_equal(once.multipliers, again.multipliers)


def test_single_precision_matrix() -> None:
    Q = redundancy_like(100, 8, seed=3)
    answer = solve(Q.astype(np.float32), 8, "low_rank")
    assert answer.status is Status.SOLVED
    assert answer.dual_value == pytest.approx(solve(Q, 8).dual_value, rel=1.5e-3)


def test_stops() -> None:
    Q = redundancy_like(60, 6, seed=0)
    seen: list[Iterate] = []
    answer = solve(Q, 6, "low_rank", max_iterations=2, callback=seen.append)
    assert answer.status is Status.STOPPED_BY_ITERATIONS
    assert [iterate.iteration for iterate in seen] == [0, 1, 2]
    assert upper_bound(Q, 6, answer.multipliers) >= answer.primal_value
    assert solve(Q, 6, "low_rank", max_seconds=0.0).status is Status.STOPPED_BY_TIME
