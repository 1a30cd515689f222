"""What one size teaches the next: an interior point of the new face, and fewer iterations."""

import numpy as np
import pytest

from certselect.errors import InvalidInput
from certselect.relaxation import Status, solve
from certselect.relaxation.face import PULL, carried_over, uniform_average
from relaxation.made_problems import from_known_pair, redundancy_like


def on_face(Y: np.ndarray, k: int) -> bool:
    n = len(Y) - 1
    return np.allclose(Y @ np.concatenate([[2.0 * k - n], -np.ones(n)]), 0.0, atol=1e-8 * n)


@pytest.mark.parametrize("new_k", [1, 5, 8, 9, 12, 29])
def test_carried_over_lands_inside_the_new_face(new_k: int) -> None:
    Y = carried_over(solve(redundancy_like(30, 8, seed=0), 8).matrix, 8, new_k)
    np.testing.assert_allclose(np.diag(Y), 1.0, atol=1e-12)
    assert on_face(Y, new_k)
    assert np.linalg.eigvalsh(Y)[1] > 0.0


def test_carrying_over_one_subset_is_the_average_over_its_neighbours() -> None:
    y = np.array([1.0, 1, 1, 1, -1, -1])
    dropped = np.array([[1.0, 1, 1, -1, -1, -1], [1, 1, -1, 1, -1, -1], [1, -1, 1, 1, -1, -1]])
    added = np.array([[1.0, 1, 1, 1, 1, -1], [1, 1, 1, 1, -1, 1]])
    for new_k, neighbours in ((2, dropped), (4, added)):
        expected = (1 - PULL) * neighbours.T @ neighbours / len(neighbours) + PULL * uniform_average(5, new_k)
        np.testing.assert_allclose(carried_over(np.outer(y, y), 3, new_k), expected, atol=1e-12)


@pytest.mark.parametrize("method", ["interior_point", "low_rank"])
def test_a_neighbour_costs_less_and_answers_the_same(method: str) -> None:
    Q = redundancy_like(120, 10, seed=1)
    previous = solve(Q, 10, method)
    cold, warm = solve(Q, 11, method), solve(Q, 11, method, warm_start=previous)
    assert warm.status is Status.SOLVED
    assert warm.iterations < cold.iterations or (method == "low_rank" and warm.iterations == cold.iterations)
    assert warm.dual_value == pytest.approx(cold.dual_value, rel=2e-6 if method == "interior_point" else 2e-3)


@pytest.mark.parametrize("new_k", [1, 2, 20, 39])
def test_any_size_may_start_from_any_other(new_k: int) -> None:
    previous = solve(redundancy_like(40, 8, seed=1), 8)
    Q, optimum, _ = from_known_pair(40, new_k, 1, seed=new_k)
    warm = solve(Q, new_k, warm_start=previous)
    assert warm.status is Status.SOLVED
    assert warm.dual_value == pytest.approx(optimum, rel=2e-6, abs=1e-8 * new_k * np.abs(Q).max())


def test_the_whole_set_may_be_a_start() -> None:
    Q = redundancy_like(15, 5, seed=1)
    assert solve(Q, 14, warm_start=solve(Q, 15)).status is Status.SOLVED


def test_other_features_are_refused() -> None:
    with pytest.raises(InvalidInput, match="warm start"):
        solve(np.eye(5), 2, warm_start=solve(np.eye(4), 2))
