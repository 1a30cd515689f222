"""The relaxation where entries count for several features, against other solvers and its own conditions."""

import numpy as np
import pytest

from certselect.certificate import upper_bound
from certselect.errors import InvalidInput
from certselect.relaxation import Relaxation, Status, solve
from certselect.relaxation.face import inside_face, uniform_average
from relaxation.made_constraints import subsets_of_size
from relaxation.made_problems import degenerate, random_problem, redundancy_like


def sizes_of(n: int, seed: int) -> np.ndarray:
    return np.random.default_rng(seed).integers(1, 5, n)


def normal(k: int, sizes: np.ndarray) -> np.ndarray:
    return np.concatenate([[2.0 * k - sizes.sum()], -sizes])


def assert_optimal(Q: np.ndarray, sizes: np.ndarray, answer: Relaxation) -> None:
    """Feasible on both sides and a gap within tolerance, all computed here."""
    n, a = len(Q), normal(answer.k, sizes)
    Y, d = answer.matrix, answer.multipliers
    sums = Q.sum(axis=1)
    C = np.block([[sums.sum(), sums[None, :]], [sums[:, None], Q]])
    basis = np.linalg.svd(a[:, None])[0][:, 1:]
    size = answer.k * np.abs(Q).max()
    np.testing.assert_allclose(np.diag(Y), 1.0, atol=1e-6)
    np.testing.assert_allclose(Y @ a, 0.0, atol=1e-8 * n * np.abs(a).max())
    assert np.linalg.eigvalsh(Y)[0] > -1e-9 * n
    assert np.linalg.eigvalsh(basis.T @ (np.diag(d) - C) @ basis)[0] >= -1e-10 * np.abs(C).max() * n
    assert d.sum() / 4 == pytest.approx(answer.dual_value, rel=1e-12, abs=1e-14 * size)
    assert np.vdot(C, Y) / 4 == pytest.approx(answer.primal_value, rel=1e-4, abs=1e-5 * size)
    assert answer.dual_value - answer.primal_value <= 1e-6 * max(abs(answer.primal_value), 1e-3 * size)


@pytest.mark.parametrize(("n", "k"), [(12, 5), (30, 9), (30, 40), (80, 20)])
@pytest.mark.parametrize("make", [lambda n, k: random_problem(n, k), lambda n, k: redundancy_like(n, k, k)])
def test_optimality_conditions_hold(make, n: int, k: int) -> None:
    Q, sizes = make(n, k), sizes_of(n, k)
    answer = solve(Q, k, sizes=sizes)
    assert answer.status is Status.SOLVED
    assert_optimal(Q, sizes, answer)


@pytest.mark.parametrize(("n", "k"), [(8, 7), (20, 6), (30, 25)])
def test_clarabel_agrees(n: int, k: int) -> None:
    pytest.importorskip("clarabel")
    for Q in (random_problem(n, k), redundancy_like(n, k, k)):
        sizes = sizes_of(n, n)
        ours, theirs = solve(Q, k, sizes=sizes, tol=1e-8), solve(Q, k, "clarabel", sizes=sizes, tol=1e-8)
        assert theirs.status in (Status.SOLVED, Status.NEARLY_SOLVED)
        size = k * np.abs(Q).max()
        # It meets eq_20 without facial reduction, and stops a little above.
        assert theirs.dual_value == pytest.approx(ours.dual_value, rel=1e-4, abs=1e-5 * size)


@pytest.mark.parametrize(("n", "k"), [(20, 6), (40, 12), (120, 30)])
def test_low_rank_agrees(n: int, k: int) -> None:
    Q, sizes = redundancy_like(n, k, seed=k), sizes_of(n, k)
    answer, reference = solve(Q, k, "low_rank", sizes=sizes), solve(Q, k, sizes=sizes)
    assert answer.status is Status.SOLVED
    assert answer.method == "low_rank"
    assert answer.primal_value == pytest.approx(reference.primal_value, rel=1.1e-3)
    assert answer.dual_value >= reference.primal_value
    np.testing.assert_allclose(np.diag(answer.matrix), 1.0, atol=1e-12)
    np.testing.assert_allclose(answer.factor.T @ normal(k, sizes), 0.0, atol=1e-8)
    bound = upper_bound(Q, k, answer.multipliers, sizes)
    assert bound <= answer.primal_value * (1 + 2e-3)
    for relaxation in (answer, reference):
        assert relaxation.membership @ sizes == pytest.approx(k)


def test_low_rank_falls_back_where_a_factor_has_no_room(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("certselect.relaxation.low_rank._Ascent._return", lambda self, V: None)
    answer = solve(random_problem(6, seed=0), 5, "low_rank", sizes=sizes_of(6, 0))
    assert answer.method == "interior_point"
    assert answer.status is Status.SOLVED


@pytest.mark.parametrize("name", list(degenerate(3, 0)))
@pytest.mark.parametrize("method", ["interior_point", "low_rank"])
def test_degenerate_problems_keep_a_valid_bound(name: str, method: str) -> None:
    for n, seed in ((2, 0), (4, 1), (8, 2)):
        Q, sizes = degenerate(n, seed)[name], sizes_of(n, seed)
        for k in {int(sizes[0]), int(sizes[:-1].sum())}:
            answer = solve(Q, k, method, sizes=sizes, max_iterations=200)
            assert np.isfinite(answer.multipliers).all()
            best = max(Q[np.ix_(list(s), list(s))].sum() for s in subsets_of_size(sizes, k))
            assert upper_bound(Q, k, answer.multipliers, sizes) >= best - 1e-12 * k * np.abs(Q).max()


def test_no_interior_ends_soon_with_a_bound() -> None:
    """The big one is in every subset: no feasible matrix is positive definite on the face."""
    Q, sizes = random_problem(4, seed=0), np.array([1, 1, 1, 9])
    answer = solve(Q, 10, sizes=sizes)
    assert answer.iterations < 100
    assert np.isfinite(answer.multipliers).all()
    best = max(Q[np.ix_(list(s), list(s))].sum() for s in subsets_of_size(sizes, 10))
    assert best <= upper_bound(Q, 10, answer.multipliers, sizes) <= best + 0.2 * np.abs(Q).max()


def test_the_start_is_inside_the_face() -> None:
    sizes = sizes_of(15, 3)
    for k in (1, 10, int(sizes.sum()) - 1):
        Y = inside_face(15, k, sizes)
        np.testing.assert_allclose(Y @ normal(k, sizes), 0.0, atol=1e-10)
        assert np.linalg.eigvalsh(Y)[1] > 0.0
    np.testing.assert_allclose(inside_face(15, 4, np.ones(15, dtype=int)), uniform_average(15, 4), atol=1e-14)


def test_sizes_of_one_are_no_sizes() -> None:
    Q = redundancy_like(20, 6, seed=1)
    plain, sized = solve(Q, 6), solve(Q, 6, sizes=np.ones(20, dtype=int))
    np.testing.assert_array_equal(plain.multipliers, sized.multipliers)
    assert sized.sizes is None


def test_all_and_none_need_no_solver() -> None:
    Q, sizes = random_problem(5, seed=0), np.array([1, 2, 1, 3, 1])
    everything, nothing = solve(Q, 8, sizes=sizes), solve(Q, 0, sizes=sizes)
    assert everything.dual_value == pytest.approx(Q.sum())
    np.testing.assert_allclose(everything.membership, 1.0)
    assert nothing.dual_value == 0.0
    np.testing.assert_allclose(nothing.membership, 0.0)
    assert solve(np.zeros((0, 0)), 0, sizes=np.zeros(0, dtype=int)).multipliers.shape == (1,)


def test_the_same_sizes_may_be_a_start_and_others_are_not_used() -> None:
    Q, sizes = redundancy_like(60, 20, seed=0), sizes_of(60, 1)
    cold = solve(Q, 20, sizes=sizes)
    warm = solve(1.01 * Q, 20, sizes=sizes, warm_start=cold)
    assert warm.status is Status.SOLVED
    assert warm.iterations < cold.iterations
    assert warm.dual_value == pytest.approx(1.01 * cold.dual_value, rel=2e-6)
    for other in (solve(Q, 20), solve(Q, 21, sizes=sizes)):
        unused = solve(Q, 20, sizes=sizes, warm_start=other)
        np.testing.assert_array_equal(unused.multipliers, cold.multipliers)
    np.testing.assert_array_equal(solve(Q, 20, warm_start=cold).multipliers, solve(Q, 20).multipliers)


@pytest.mark.parametrize(
    ("k", "sizes", "word"),
    [(7, [1, 2, 3], "k=7"), (2, [1, 2], "sizes"), (2, [0, 1, 1], "sizes"), (2, [0.5, 1.0, 1.0], "sizes")],
)
def test_what_cannot_be_solved_is_refused(k: int, sizes: list[float], word: str) -> None:
    with pytest.raises(InvalidInput, match=word):
        solve(np.eye(3), k, sizes=np.array(sizes))


def test_one_entry_that_does_not_fit_is_refused() -> None:
    with pytest.raises(InvalidInput, match="k=1"):
        solve(np.eye(1), 1, sizes=np.array([2]))
