"""The solvers on every backend that is present: the answers of the cores of this machine, to tolerance."""

import numpy as np
import pytest

from certselect.certificate import upper_bound
from certselect.relaxation import Status, solve
from certselect.relaxation.arrays import CPU, Arrays
from certselect.relaxation.nonnegative import Splitting
from relaxation.made_problems import degenerate, random_problem, redundancy_like, with_duplicates

SIZES = np.random.default_rng(12).integers(1, 5, 40)


@pytest.mark.parametrize("method", ["interior_point", "low_rank"])
@pytest.mark.parametrize("sizes", [None, SIZES], ids=["plain", "sizes"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_the_answer_is_that_of_the_cpu(arrays: Arrays, method: str, sizes: np.ndarray | None, dtype: type) -> None:
    for Q in (redundancy_like(40, 12, seed=12), random_problem(40, seed=2)):
        Q = Q.astype(dtype)
        here, there = solve(Q, 12, method, sizes=sizes), solve(Q, 12, method, sizes=sizes, arrays=arrays)
        assert there.status is here.status is Status.SOLVED
        tol = 2e-6 if method == "interior_point" else 1.1e-3
        assert there.dual_value == pytest.approx(here.dual_value, rel=tol)
        assert there.primal_value == pytest.approx(here.primal_value, rel=tol)
        for array in (there.multipliers, there.matrix, there.membership):
            assert type(array) is np.ndarray
            assert array.dtype == np.float64
        np.testing.assert_allclose(np.diag(there.matrix), 1.0, atol=1e-6)
        assert upper_bound(Q, 12, there.multipliers, sizes) <= there.dual_value + 1e-5 * abs(there.dual_value)


@pytest.mark.parametrize("sizes", [None, np.arange(24) % 12 % 3 + 1], ids=["plain", "sizes"])
def test_copies(arrays: Arrays, sizes: np.ndarray | None) -> None:
    Q = with_duplicates(24, seed=3)
    here, there = solve(Q, 7, sizes=sizes), solve(Q, 7, sizes=sizes, arrays=arrays)
    assert there.status is Status.SOLVED
    assert there.dual_value == pytest.approx(here.dual_value, rel=2e-6)
    assert there.matrix.shape == (25, 25)


@pytest.mark.parametrize("name", list(degenerate(3, 0)))
def test_degenerate_problems(arrays: Arrays, name: str) -> None:
    Q = degenerate(9, seed=9)[name]
    for k in (1, 4, 8):
        answer = solve(Q, k, arrays=arrays)
        assert answer.status in (Status.SOLVED, Status.NEARLY_SOLVED)


@pytest.mark.parametrize("method", ["interior_point", "low_rank"])
def test_a_warm_start(arrays: Arrays, method: str) -> None:
    Q = redundancy_like(120, 10, seed=1)
    before = solve(Q, 10, method, arrays=arrays)
    cold, warm = solve(Q, 11, method, arrays=arrays), solve(Q, 11, method, warm_start=before, arrays=arrays)
    assert warm.status is Status.SOLVED
    assert warm.iterations < cold.iterations or (method == "low_rank" and warm.iterations == cold.iterations)
    assert warm.dual_value == pytest.approx(cold.dual_value, rel=2e-6 if method == "interior_point" else 2e-3)


def test_stops(arrays: Arrays) -> None:
    Q = redundancy_like(40, 8, seed=0)
    assert solve(Q, 8, max_iterations=2, arrays=arrays).status is Status.STOPPED_BY_ITERATIONS
    assert solve(Q, 8, max_seconds=0.0, arrays=arrays).status is Status.STOPPED_BY_TIME
    assert solve(Q, 8, tol=-1.0, arrays=arrays).status is Status.NUMERICAL_TROUBLE  # out of reach: it runs to a stall


@pytest.mark.parametrize("n", [60, 220, 640])  # decomposed, filtered, in single precision
def test_rounds_of_the_nonnegative_relaxation(arrays: Arrays, n: int) -> None:
    k, sizes = 10, np.ones(n, dtype=int)
    Q = redundancy_like(n, k, seed=5)
    subset = np.zeros(n)
    subset[np.argsort(-Q.diagonal())[:k]] = 1.0
    slacks = []
    for place in (CPU, arrays):
        rounds = Splitting.from_subset(Q, k, sizes, subset, arrays=place)
        rounds.advance(20)
        N, w = rounds.slack()
        assert type(N) is type(w) is np.ndarray
        slacks.append(N)
    np.testing.assert_allclose(slacks[1], slacks[0], atol=2e-2 * np.abs(slacks[0]).max())


class TestDenseAlgebra:
    """Each operation of a backend against NumPy's plain one."""

    n = 7
    A, B = np.random.default_rng(1).standard_normal((2, n, n))
    S = A @ A.T + np.eye(n)
    u, v = np.random.default_rng(2).standard_normal((2, n))

    def test_factors(self, arrays: Arrays) -> None:
        L, v = arrays.symmetric(self.S), arrays.at_hand(self.v)
        assert arrays.factor(L)
        np.testing.assert_allclose(arrays.fetched(arrays.solve(L, v)), np.linalg.solve(self.S, self.v), atol=1e-12)
        arrays.ready_for_vectors(L)
        root = np.linalg.cholesky(self.S)
        half, other = arrays.half_solve(L, v), arrays.half_solve_transposed(L, v)
        np.testing.assert_allclose(arrays.fetched(half), np.linalg.solve(root, self.v), atol=1e-12)
        np.testing.assert_allclose(arrays.fetched(other), np.linalg.solve(root.T, self.v), atol=1e-12)
        out, scratch, B = (arrays.symmetric(self.B) for _ in range(3))
        B[...] = arrays.at_hand(self.B)  # not symmetric
        arrays.minus_symmetric_solve(L, B, scratch, out)
        solved = np.linalg.solve(self.S, self.B)
        np.testing.assert_allclose(arrays.fetched(out), -0.5 * (solved + solved.T), atol=1e-12)
        assert arrays.inverse(L, out)
        np.testing.assert_allclose(arrays.fetched(out), np.linalg.inv(self.S), atol=1e-12)

    @pytest.mark.parametrize("spoilt", [-1.0, np.nan])
    def test_what_has_no_factor(self, arrays: Arrays, spoilt: float) -> None:
        S = self.S.copy()
        S[3, 3] = spoilt
        assert not arrays.factor(arrays.symmetric(S))

    def test_updates(self, arrays: Arrays) -> None:
        u, v = arrays.at_hand(self.u), arrays.at_hand(self.v)
        both = np.outer(self.u, self.v) + np.outer(self.v, self.u)
        M = arrays.symmetric(self.S)
        arrays.subtract_both(M, u, v)
        np.testing.assert_allclose(arrays.fetched(M), self.S - both, atol=1e-14)
        M = arrays.symmetric(self.S)
        arrays.subtract_lower(M, u, v)
        np.testing.assert_allclose(np.tril(arrays.fetched(M)), np.tril(self.S - both), atol=1e-14)
        M = arrays.symmetric(self.S)
        arrays.add_square(M, u)
        np.testing.assert_allclose(np.tril(arrays.fetched(M)), np.tril(self.S + np.outer(self.u, self.u)), atol=1e-14)

    def test_products(self, arrays: Arrays) -> None:
        S, B = arrays.symmetric(self.S), arrays.symmetric(self.B)
        B[...] = arrays.at_hand(self.B)  # not symmetric
        assert arrays.inner(S, B) == pytest.approx(float((self.S * self.B).sum()))
        np.testing.assert_allclose(arrays.fetched(arrays.times(S, arrays.at_hand(self.v))), self.S @ self.v)
        np.testing.assert_allclose(arrays.fetched(arrays.column_products(S, B)), (self.S * self.B).sum(axis=0))
        arrays.remove_from_columns(B, arrays.at_hand(self.v / np.linalg.norm(self.v)))
        expected = self.B - np.outer(self.v, self.v @ self.B) / (self.v @ self.v)
        np.testing.assert_allclose(arrays.fetched(B), expected, atol=1e-14)

    def test_the_diagonal_can_be_written(self, arrays: Arrays) -> None:
        S = arrays.symmetric(self.S)
        arrays.diagonal(S)[:] = 2.0
        np.testing.assert_array_equal(arrays.fetched(S).diagonal(), 2.0)


def test_the_stand_in_refuses_what_cupy_would() -> None:
    from relaxation.stand_in import AsOnGpu

    there, here = AsOnGpu().at_hand(np.ones(3)), np.ones(3)
    for mixed in (lambda: there + here, lambda: here @ there, lambda: np.vdot(here, there), lambda: there[here > 0]):
        with pytest.raises(TypeError, match="of this machine"):
            mixed()
