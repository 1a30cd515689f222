"""The relaxation against known optima, exhaustive search and its own optimality conditions."""

import numpy as np
import pytest

from certselect.errors import InvalidInput
from certselect.relaxation import Iterate, Relaxation, Status, solve
from relaxation.made_problems import (
    best_value,
    degenerate,
    from_known_pair,
    random_problem,
    redundancy_like,
    signs,
)


def lifted(Q: np.ndarray) -> np.ndarray:
    sums = Q.sum(axis=1)
    return np.block([[sums.sum(), sums[None, :]], [sums[:, None], Q]])


def face_basis(n: int, k: int) -> np.ndarray:
    """All y with a'y = 0; where k = n only one of them is left, y = e."""
    if k == n:
        return np.ones((n + 1, 1))
    normal = np.concatenate([[2.0 * k - n], -np.ones(n)])
    return np.linalg.svd(normal[:, None])[0][:, 1:]


def assert_optimal(Q: np.ndarray, answer: Relaxation, tol: float) -> None:
    """Feasible on both sides and a gap within tol, all computed here."""
    n, k = len(Q), answer.k
    Y, d, C, basis = answer.matrix, answer.multipliers, lifted(Q), face_basis(len(Q), answer.k)
    size = max(np.abs(Q).max() * k, 1e-300)
    np.testing.assert_allclose(np.diag(Y), 1.0, atol=1e-5)
    np.testing.assert_allclose(Y @ np.concatenate([[2.0 * k - n], -np.ones(n)]), 0.0, atol=1e-8 * n)
    assert np.linalg.eigvalsh((Y + Y.T) / 2)[0] > -1e-9 * n
    assert np.linalg.eigvalsh(basis.T @ (np.diag(d) - C) @ basis)[0] >= -1e-10 * np.abs(C).max() * n
    assert d.sum() / 4 == pytest.approx(answer.dual_value, rel=1e-12, abs=1e-14 * size)
    primal = np.vdot(C, Y) / 4
    assert primal == pytest.approx(answer.primal_value, rel=1e-4, abs=1e-5 * size)
    assert answer.dual_value - answer.primal_value <= tol * max(abs(answer.primal_value), 1e-3 * size)


@pytest.mark.parametrize(
    ("n", "k", "subsets"), [(3, 1, 1), (6, 3, 2), (12, 5, 1), (20, 4, 3), (40, 39, 2), (60, 12, 5)]
)
@pytest.mark.parametrize("seed", range(3))
def test_known_optimum_is_found(n: int, k: int, subsets: int, seed: int) -> None:
    Q, optimum, chosen = from_known_pair(n, k, subsets, seed)
    size = k * np.abs(Q).max()
    for subset in chosen:
        assert Q[np.ix_(subset, subset)].sum() == pytest.approx(optimum, abs=1e-10 * size)
    answer = solve(Q, k)
    assert answer.status is Status.SOLVED
    assert answer.dual_value == pytest.approx(optimum, rel=2e-6, abs=1e-8 * size)
    assert answer.dual_value >= optimum - 1e-11 * size
    assert_optimal(Q, answer, 1e-6)


def test_unique_known_optimum_gives_its_subset() -> None:
    Q, _, (subset,) = from_known_pair(30, 8, 1, seed=5)
    Y = solve(Q, 8, tol=1e-9).matrix
    y = signs(30, subset)
    np.testing.assert_allclose(Y, np.outer(y, y), atol=1e-3)


@pytest.mark.parametrize("k", [1, 2, 7, 20, 39])
def test_optimality_conditions_hold(k: int) -> None:
    for Q in (random_problem(40, seed=k), redundancy_like(40, k, seed=k)):
        answer = solve(Q, k)
        assert answer.status is Status.SOLVED
        assert_optimal(Q, answer, 1e-6)


@pytest.mark.parametrize("name", list(degenerate(3, 0)))
@pytest.mark.parametrize(
    ("n", "ks"), [(1, [1]), (2, [1, 2]), (3, [1, 2, 3]), (9, [1, 4, 8, 9]), (30, [1, 2, 15, 29, 30])]
)
def test_degenerate_problems_are_solved(name: str, n: int, ks: list[int]) -> None:
    Q = degenerate(n, seed=n)[name]
    for k in ks:
        answer = solve(Q, k)
        assert answer.status in (Status.SOLVED, Status.NEARLY_SOLVED)
        assert_optimal(Q, answer, 1e-6 if answer.status is Status.SOLVED else 1e-3)
        if n <= 9:
            assert answer.dual_value >= best_value(Q, k) - 1e-12 * np.abs(Q).max() * n


@pytest.mark.parametrize("scale", [1e-12, 1e-6, 1e6, 1e12])
def test_scale_does_not_matter(scale: float) -> None:
    Q = redundancy_like(25, 6, seed=1)
    here, there = solve(Q, 6), solve(scale * Q, 6)
    assert there.status is Status.SOLVED
    assert there.dual_value == pytest.approx(scale * here.dual_value, rel=1e-6)
    assert there.primal_value == pytest.approx(scale * here.primal_value, rel=2e-6)


def test_order_of_features_does_not_matter() -> None:
    Q, order = random_problem(20, seed=2), np.random.default_rng(3).permutation(20)
    here, there = solve(Q, 7, tol=1e-8), solve(Q[np.ix_(order, order)], 7, tol=1e-8)
    assert there.dual_value == pytest.approx(here.dual_value, rel=1e-7)


def test_same_answer_every_time() -> None:
    Q = random_problem(30, seed=4)
    np.testing.assert_array_equal(solve(Q, 9).multipliers, solve(Q, 9).multipliers)


def test_single_precision_matrix() -> None:
    Q = redundancy_like(25, 6, seed=1)
    assert solve(Q.astype(np.float32), 6).dual_value == pytest.approx(solve(Q, 6).dual_value, rel=1e-5)


class TestStatuses:
    Q = redundancy_like(40, 8, seed=0)

    def test_stopped_by_iterations(self) -> None:
        answer = solve(self.Q, 8, max_iterations=2)
        assert answer.status is Status.STOPPED_BY_ITERATIONS
        assert answer.iterations == 2

    def test_stopped_by_time(self) -> None:
        answer = solve(self.Q, 8, max_seconds=0.0)
        assert answer.status is Status.STOPPED_BY_TIME
        assert answer.iterations == 0
        assert np.isfinite(answer.multipliers).all()

    # A negative tolerance is out of reach whatever rounding does: the solver runs until it stalls.
    def test_nearly_solved_where_a_stall_comes_close(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("certselect.relaxation.interior_point.NEARLY", -1e-9)
        answer = solve(self.Q, 8, tol=-1.0)
        assert answer.status is Status.NEARLY_SOLVED
        assert abs(answer.gap) <= 1e-9

    def test_a_stall_far_from_the_tolerance_is_called_trouble(self) -> None:
        answer = solve(self.Q, 8, tol=-1.0)
        assert answer.status is Status.NUMERICAL_TROUBLE
        assert abs(answer.gap) <= 1e-9

    def test_every_stop_leaves_a_feasible_dual(self) -> None:
        basis, C = face_basis(40, 8), lifted(self.Q)
        seen: list[Iterate] = []
        answer = solve(self.Q, 8, callback=seen.append)
        assert [iterate.iteration for iterate in seen] == list(range(answer.iterations + 1))
        for iterate in seen:
            assert np.linalg.eigvalsh(basis.T @ (np.diag(iterate.multipliers) - C) @ basis)[0] > 0
            assert iterate.multipliers.sum() / 4 == pytest.approx(iterate.dual_value)
            assert iterate.primal_value <= answer.dual_value
        assert seen[-1].dual_value == answer.dual_value


def test_interrupt_passes_through_and_the_callback_keeps_the_bound() -> None:
    seen: list[Iterate] = []

    def interrupt(iterate: Iterate) -> None:
        seen.append(iterate)
        if iterate.iteration == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        solve(random_problem(15, seed=0), 5, callback=interrupt)
    assert seen[-1].dual_value >= best_value(random_problem(15, seed=0), 5)


@pytest.mark.parametrize(
    ("Q", "k", "method", "word"),
    [
        (np.zeros((2, 3)), 1, "auto", "shape"),
        (np.array([[np.nan, 0], [0, 1]]), 1, "auto", "NaN"),
        (np.array([[1.0, 2], [0, 1]]), 1, "auto", "symmetric"),
        (np.eye(3), 0, "auto", "k=0"),
        (np.eye(3), 4, "auto", "k=4"),
        (np.eye(3), 2, "simplex", "method"),
    ],
)
def test_what_cannot_be_solved_is_refused(Q: np.ndarray, k: int, method: str, word: str) -> None:
    with pytest.raises(InvalidInput, match=word):
        solve(Q, k, method)
