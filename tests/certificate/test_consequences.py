"""Consequences: whatever N and w are, no allowed subset exceeds what they are said to prove."""

import contextlib
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from certificate.made_reduced import allowed, at_least, best, made_reduced
from certselect.certificate import least_slack, matrix_errors, open_problem, rows
from certselect.certificate.consequences import consequences
from certselect.certificate.lanczos import lowest_eigenvalue
from certselect.certificate.least_slack import LeastSlack
from certselect.certificate.open_problem import OpenProblem
from certselect.criteria.reduced import ReducedProblem

seeds = st.integers(0, 2**32 - 1)


def plain(Q: np.ndarray, k: int, constant: float = 0.0) -> ReducedProblem:
    m = len(Q)
    return ReducedProblem(Q, k, constant, np.ones(m, dtype=int), (), None, np.inf, np.arange(m), ())


def made_slack(rng: np.random.Generator, Q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Any symmetric N, semidefinite or not, and any w, of any size."""
    m, size = len(Q), max(float(np.abs(Q).max(initial=0.0)), 1e-30)
    G = rng.standard_normal((m, m)) * size
    w = rng.standard_normal(m) * size / 4
    kind = rng.integers(7)
    N = G + G.T
    if kind == 1:
        N = G @ G.T / size
    if kind == 2:
        N = G[:, : max(m // 2, 1)] @ G[:, : max(m // 2, 1)].T / size
    if kind == 3:
        N = np.zeros((m, m))
    if kind == 4:
        N = -Q.astype(np.float64)
    if kind == 5:
        N = G @ G.T / size + 5.0 * size * np.eye(m)
    if kind == 6:
        N = size * np.outer(np.ones(m), np.ones(m)) + 1e-3 * size * np.eye(m)
    w = w * rng.choice([0.0, 1.0, 1.0, 1e-3, 1e8])
    return 0.5 * (N + N.T) * 10.0 ** rng.choice([-300, -160, -9, -1, 0, 0, 0, 0, 1, 9, 120, 290]), w


def check(problem: ReducedProblem, opened: OpenProblem, N: np.ndarray, w: np.ndarray) -> None:
    """Every bound against the exact maximum over the subsets it is about."""
    positions = opened.positions.tolist()
    fixed = set(opened.taken)
    subsets = [each for each in allowed(problem) if fixed <= each <= fixed.union(positions)]
    pairs = np.array([(i, j) for i in range(len(opened)) for j in range(i)], dtype=np.intp).reshape(-1, 2)
    proved = consequences(opened, N, w, pairs)
    assert proved.price >= 0.0
    assert at_least(proved.bound, best(problem, subsets))
    for unit, position in enumerate(positions):
        assert at_least(proved.if_in[unit], best(problem, [each for each in subsets if position in each]))
        assert at_least(proved.if_out[unit], best(problem, [each for each in subsets if position not in each]))
    for (i, j), bound in zip(pairs.tolist(), proved.if_both.tolist(), strict=True):
        assert at_least(bound, best(problem, [each for each in subsets if {positions[i], positions[j]} <= each]))


@settings(max_examples=600, deadline=None)
@given(seeds)
def test_no_allowed_subset_exceeds_what_is_proved_whatever_the_slack(seed: int) -> None:
    problem, rng = made_reduced(seed), np.random.default_rng(seed)
    opened = OpenProblem.of(problem)
    while True:
        if opened.k > 0 and len(opened) > 0:
            N, w = made_slack(rng, opened.matrix)
            check(problem, opened, N, w)
        if len(opened) == 0 or rng.random() < 0.4:
            break
        unit = int(rng.integers(len(opened)))
        opened = opened.with_unit(unit) if rng.random() < 0.5 else opened.without(np.arange(len(opened)) == unit)
    assert opened.k <= problem.k


@settings(max_examples=200, deadline=None)
@given(seeds, st.sampled_from([1e-310, 1e-290, 1e-200, 1e100, 1e200, 1e290]))
def test_bounds_hold_at_every_scale(seed: int, scale: float) -> None:
    rng = np.random.default_rng(seed)
    problem = made_reduced(seed)
    Q = problem.matrix.astype(np.float64)
    largest = max(float(np.abs(Q).max()), 1.0)
    scaled = ReducedProblem(
        Q / largest * scale,
        problem.k,
        0.0,
        problem.sizes,
        problem.rivals,
        problem.costs,
        problem.budget,
        problem.units,
        (),
    )
    opened = OpenProblem.of(scaled)
    if opened.k > 0:
        N, w = made_slack(rng, opened.matrix / scale)
        tame = max(float(np.abs(N).max()), float(np.abs(w).max()), 1.0)
        check(scaled, opened, N / tame * scale, w / tame * scale)
    assert len(opened) <= len(Q)


@settings(max_examples=200, deadline=None)
@given(seeds)
def test_whole_numbers_are_bounded_to_the_last_bit(seed: int) -> None:
    """Bounds that are whole numbers when nothing is rounded come out at least that, and hardly more."""
    rng = np.random.default_rng(seed)
    m = int(rng.integers(2, 8))
    k = int(rng.integers(1, m + 1))
    linear = rng.integers(-9, 10, m)
    problem = plain(np.diag(linear).astype(float), k, float(rng.integers(-5, 6)))
    proved = consequences(OpenProblem.of(problem), np.zeros((m, m)), np.zeros(m))
    subsets = allowed(problem)
    wanted = [(proved.bound, subsets)]
    wanted += [(float(proved.if_in[i]), [each for each in subsets if i in each]) for i in range(m)]
    wanted += [(float(proved.if_out[i]), [each for each in subsets if i not in each]) for i in range(m)]
    for bound, about in wanted:
        exact = best(problem, about)
        if exact is None:
            assert bound == -np.inf
        else:
            assert exact <= Fraction(bound) <= exact + Fraction(1e-11)


def filled(worths: dict[int, Fraction], sizes: list[int], room: int) -> Fraction | None:
    """The most that fractions of units add up to when they fill a room: the best per column first."""
    total = Fraction(0)
    for unit in sorted(worths, key=lambda unit: -worths[unit] / sizes[unit]):
        part = min(sizes[unit], room)
        total += worths[unit] * part / sizes[unit]
        room -= part
    return total if room == 0 else None


def by_rows(problem: OpenProblem, w: np.ndarray, inside: set[int], outside: set[int]) -> Fraction | None:
    """The bound of the module's docstring for N = 0 and no budget, in fractions; rows only shrink where it says so."""
    m, k, s = len(problem), problem.k, [int(size) for size in problem.sizes]
    u = [Fraction(float(each)) for each in w]
    B = [[Fraction(float(problem.matrix[i, j])) + u[i] * s[j] + s[i] * u[j] for j in range(m)] for i in range(m)]
    g = [B[i][i] - 2 * k * u[i] for i in range(m)]
    never = problem.never_both()
    single = max(s) == 1

    def beside(i: int, out: set[int]) -> set[int]:
        return {j for j in range(m) if j != i and j not in out and (never is None or not never[i, j])}

    left = k - sum(s[i] for i in inside)
    fixed = sum((g[i] for i in inside), Fraction(0))
    fixed += sum((B[i][j] for i in inside for j in inside if i != j), Fraction(0))
    worths = {}
    for j in set.intersection(set(range(m)) - inside - outside, *(beside(i, set()) for i in inside)):
        # Units of several sizes keep the one that is in or out as a neighbour.
        row = {each: B[j][each] for each in beside(j, inside | outside if single else set())}
        rest = filled(row, s, left - s[j]) if left >= s[j] else None
        if rest is not None:
            worths[j] = g[j] + rest + 2 * sum((B[i][j] for i in inside), Fraction(0))
    best = filled(worths, s, left) if left >= 0 else None
    return None if best is None else Fraction(problem.constant) + fixed + best


@settings(max_examples=200, deadline=None)
@given(seeds)
def test_rows_add_up_to_what_they_do_one_by_one(seed: int) -> None:
    problem, rng = made_reduced(seed), np.random.default_rng(seed)
    opened = OpenProblem.of(replace(problem, costs=None, budget=np.inf))
    m = len(opened)
    if opened.k == 0:
        return
    w = rng.standard_normal(m) * float(np.abs(opened.matrix).max()) / 4
    proved = consequences(opened, np.zeros((m, m)), w)
    pairs = [(proved.bound, by_rows(opened, w, set(), set()))]
    for i in range(m):
        pairs.append((float(proved.if_in[i]), by_rows(opened, w, {i}, set())))
        pairs.append((float(proved.if_out[i]), by_rows(opened, w, set(), {i})))
    size = opened.k**2 * (float(np.abs(opened.matrix).max()) + 4.0 * float(np.abs(w).max()) * 3) + abs(opened.constant)
    for bound, exact in pairs:
        if exact is None:
            assert bound == -np.inf
        else:
            assert exact <= Fraction(bound) <= exact + Fraction(1e-12 * size + 1e-270)


@settings(max_examples=100, deadline=None)
@given(seeds)
def test_an_exact_dual_solution_proves_the_optimum(seed: int) -> None:
    """Q = Diag(c) + u1' + 1u' - A, A semidefinite with A x = 0 for the k largest c: N = A, w = -u leave Diag(c)."""
    rng = np.random.default_rng(seed)
    m = int(rng.integers(3, 9))
    k = int(rng.integers(1, m))
    c = np.sort(rng.random(m))[::-1]
    x = (np.arange(m) < k).astype(float)
    G = rng.standard_normal((m, m))
    G -= np.outer(G @ x, x) / k
    A = G.T @ G
    u = rng.standard_normal(m)
    Q = np.diag(c - 2.0 * k * u) + np.outer(u, np.ones(m)) + np.outer(np.ones(m), u) - A
    problem = plain(Q, k)
    optimum = float(best(problem, allowed(problem)) or 0)
    proved = consequences(OpenProblem.of(problem), 0.5 * (A + A.T), -u)
    assert optimum <= proved.bound <= optimum + 1e-9
    assert abs(optimum - c[:k].sum()) <= 1e-9
    # Each unit's other case costs at least what the next best c is behind.
    assert (proved.if_out[:k] <= optimum - (c[:k] - c[k]) + 1e-9).all()
    assert (proved.if_in[k:] <= optimum - (c[k - 1] - c[k:]) + 1e-9).all()


def test_a_price_makes_a_budget_count() -> None:
    """Worth 2 at cost 2 or worth 1 at cost 1, budget 3: the fractional best is exact."""
    costs = np.array([2.0, 2.0, 1.0, 1.0])
    problem = ReducedProblem(np.diag([4.0, 4.0, 1.0, 1.0]), 2, 0.0, np.ones(4, int), (), costs, 3.0, np.arange(4), ())
    proved = consequences(OpenProblem.of(problem), np.zeros((4, 4)), np.zeros(4))
    assert 5.0 <= proved.bound <= 5.0 + 1e-6
    assert proved.price == pytest.approx(3.0, abs=1e-4)


def test_rivals_and_sizes_leave_nothing_where_nothing_fits() -> None:
    problem = ReducedProblem(np.eye(3), 2, 0.0, np.ones(3, int), (np.array([0, 1]),), None, np.inf, np.arange(3), ())
    proved = consequences(OpenProblem.of(problem), np.zeros((3, 3)), np.zeros(3), np.array([[0, 1], [0, 2]]))
    assert proved.if_out[2] == -np.inf
    assert proved.if_both[0] == -np.inf
    assert 2.0 <= proved.if_both[1] <= 2.0 + 1e-12
    sized = ReducedProblem(np.eye(2), 2, 0.0, np.full(2, 2), (), None, np.inf, np.arange(2), ())
    proved = consequences(OpenProblem.of(sized), np.zeros((2, 2)), np.zeros(2), np.array([[0, 1]]))
    assert proved.if_both[0] == -np.inf
    assert 1.0 <= proved.bound <= 1.0 + 1e-12


@pytest.mark.parametrize("wrong", [np.nan, np.inf, 1e308])
def test_what_is_no_number_proves_nothing(wrong: float) -> None:
    opened = OpenProblem.of(plain(np.eye(3), 2))
    proved = consequences(opened, np.full((3, 3), wrong), np.zeros(3), np.array([[0, 1]]))
    assert proved.bound == np.inf
    assert (proved.if_in == np.inf).all()
    assert (proved.if_out == np.inf).all()
    assert (proved.if_both == np.inf).all()
    assert consequences(opened, np.eye(3), np.full(3, wrong)).bound == np.inf


@pytest.mark.parametrize("tiny", [5e-324, 1e-310, 1e-300])
def test_a_slack_about_to_underflow_proves_what_none_does(tiny: float) -> None:
    problem = plain(np.diag([3.0, 2.0, 1.0]), 2)
    proved = consequences(OpenProblem.of(problem), -tiny * np.eye(3), np.zeros(3))
    assert 5.0 <= proved.bound <= 5.0 + 1e-12


def test_a_problem_without_subsets_has_no_bound() -> None:
    opened = OpenProblem.of(plain(np.eye(3), 4))
    assert consequences(opened, np.eye(3), np.zeros(3)).bound == -np.inf


@settings(max_examples=150, deadline=None)
@given(seeds)
def test_the_least_slack_is_that_of_all_real_vectors_but_for_rounding(seed: int) -> None:
    """Against a solve of the optimality conditions, for N far from singular."""
    rng = np.random.default_rng(seed)
    m, k = int(rng.integers(3, 9)), int(rng.integers(1, 4))
    sizes = rng.integers(1, 4, m)
    G = rng.standard_normal((m, m))
    N = G @ G.T + 0.1 * np.eye(m)
    N = 0.5 * (N + N.T) / np.abs(N).max()
    least = LeastSlack(N, sizes, k, k)

    def smallest(conditions: np.ndarray, right: np.ndarray) -> float:
        lines = len(conditions)
        system = np.block([[2 * N, conditions.T], [conditions, np.zeros((lines, lines))]])
        v = np.linalg.solve(system, np.concatenate([np.zeros(m), right]))[:m]
        return float(v @ N @ v)

    scale = smallest(sizes[None].astype(float), np.array([float(k)]))
    assert least.anywhere == pytest.approx(scale, rel=1e-8, abs=1e-10)
    for entry in (0.0, 1.0):
        proved = np.broadcast_to(least.where(entry), (m,))
        for i in range(m):
            wanted = smallest(np.array([sizes, np.arange(m) == i], dtype=float), np.array([float(k), entry]))
            assert proved[i] <= wanted * (1 + 1e-10) + 1e-12
            assert proved[i] == pytest.approx(wanted, rel=1e-6, abs=1e-8)


@contextlib.contextmanager
def worked_as_if_large(block: int = 2) -> Iterator[None]:
    """A few rows at a time, and a look at the lowest eigenvalue: as for matrices of thousands of units."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(rows, "ONE_GO", 0)
        for module in (rows, open_problem, matrix_errors, least_slack):
            patched.setattr(module, "BLOCK", block)
        yield


@settings(max_examples=250, deadline=None)
@given(seeds)
def test_no_allowed_subset_exceeds_what_is_proved_of_large_problems(seed: int) -> None:
    problem, rng = made_reduced(seed, most=7), np.random.default_rng(seed)
    with worked_as_if_large(int(rng.integers(1, 4))):
        opened = OpenProblem.of(problem)
        if opened.k > 0 and len(opened) > 0:
            check(problem, opened, *made_slack(rng, opened.matrix))
    whole = OpenProblem.of(problem)
    assert np.array_equal(opened.matrix, whole.matrix)
    assert np.allclose(opened.off, whole.off, rtol=1e-12, atol=0.0)


@settings(max_examples=150, deadline=None)
@given(seeds)
def test_some_rows_at_a_time_give_what_all_of_them_give(seed: int) -> None:
    problem, rng = made_reduced(seed), np.random.default_rng(seed)
    opened = OpenProblem.of(problem)
    if opened.k == 0:
        return
    m = len(opened)
    N, w = made_slack(rng, opened.matrix)
    pairs = np.array([(i, j) for i in range(m) for j in range(i)], dtype=np.intp).reshape(-1, 2)
    wanted = consequences(opened, N, w, pairs)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(rows, "ONE_GO", 0)
        patched.setattr(rows, "BLOCK", int(rng.integers(1, 4)))
        proved = consequences(opened, N, w, pairs)
        quick = consequences(opened, N, w, cases=False)
    assert quick.bound == proved.bound
    for name in ("bound", "price", "if_in", "if_out", "if_both"):
        assert np.allclose(getattr(proved, name), getattr(wanted, name), rtol=1e-13, atol=1e-300)


@pytest.mark.parametrize("lowest", [-1e-2, -1.0])
def test_a_shift_of_a_large_matrix_is_hardly_more_than_it_needs(lowest: float) -> None:
    """Of a known lowest eigenvalue: after one look at it, the shift is a tenth above what has to be."""
    rng = np.random.default_rng(0)
    basis = np.linalg.qr(rng.standard_normal((60, 60)))[0]
    N = (basis * np.concatenate([[lowest], rng.random(59)])) @ basis.T
    N = 0.5 * (N + N.T)
    with worked_as_if_large(16):
        least = LeastSlack(N, np.ones(60, dtype=int), 5, 5)
    assert -5 * lowest <= least.shift_cost <= -5 * 1.1 * lowest


@settings(max_examples=60, deadline=None)
@given(seeds)
def test_the_lowest_eigenvalue_is_estimated_from_above(seed: int) -> None:
    rng = np.random.default_rng(seed)
    m = int(rng.integers(1, 60))
    G = rng.standard_normal((m, int(rng.integers(1, m + 1))))
    matrix = G @ G.T * rng.choice([-1.0, 0.0, 1.0])
    exact, scale = np.linalg.eigvalsh(matrix)[0], np.abs(matrix).max() * m
    assert -1e-12 * scale <= lowest_eigenvalue(matrix)[0] - exact <= (1e-9 if m <= 30 else 1e-2) * scale
