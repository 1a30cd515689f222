"""The bound holds for every subset, whatever the multipliers; and it is no looser than it must be."""

import math
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest

import certselect.certificate.bound as bound
from certselect.certificate import prove_bound, upper_bound
from certselect.certificate.bound import BY_CHOLESKY, BY_ROW_SUMS, row_sum_bound
from certselect.errors import InvalidInput
from certselect.relaxation import solve
from relaxation.made_problems import best_value, degenerate, from_known_pair, random_problem, redundancy_like


def small_problem(rng: np.random.Generator) -> np.ndarray:
    """Positive and negative pair terms, zeros, duplicates, several scales; 1 to 10 features."""
    n = int(rng.integers(1, 11))
    Q = random_problem(n, int(rng.integers(1 << 30)))
    kind = rng.integers(7)
    if kind == 1:
        Q = -np.abs(Q)
        np.fill_diagonal(Q, np.abs(np.diag(Q)))
    elif kind == 2:
        Q = np.abs(Q)
    elif kind == 3:
        Q = np.round(Q)
    elif kind == 4:
        source = rng.integers(0, n, n)
        Q = Q[np.ix_(source, source)]
    elif kind == 5:
        Q = Q * (rng.random((n, n)) < 0.3)
        Q = Q + Q.T
    elif kind == 6:
        Q = list(degenerate(n, int(rng.integers(1 << 30))).values())[rng.integers(10)]
    return Q * 10.0 ** rng.integers(-12, 13)


def garbage(rng: np.random.Generator, n: int, size: float) -> np.ndarray:
    d = rng.standard_normal(n + 1) * size * 10.0 ** rng.integers(-3, 4)
    if rng.random() < 0.1:
        d[rng.integers(n + 1)] = rng.choice([np.nan, np.inf, -np.inf, 1e300, -1e300, 5e-324])
    return d


def exactly_at_least(bound: float, Q: np.ndarray, k: int) -> bool:
    """bound >= the best subset's value, the latter rounded only once."""
    best = best_value(Q, k)
    if bound >= best + 1e-9 * abs(best):
        return True
    return bound >= best - 1e-13 * k * k * np.abs(Q).max() and Fraction(bound) >= exact_best(Q, k)


def exact_best(Q: np.ndarray, k: int) -> Fraction:
    exact = [[Fraction(entry) for entry in row] for row in Q.tolist()]
    return max(sum((exact[i][j] for i in s for j in s), Fraction(0)) for s in combinations(range(len(Q)), k))


def test_no_subset_exceeds_the_bound_whatever_the_multipliers() -> None:
    rng = np.random.default_rng(0)
    for _ in range(700):
        Q = small_problem(rng)
        for k in range(1, len(Q) + 1):
            bound = upper_bound(Q, k, garbage(rng, len(Q), np.abs(Q).max() + 1e-15))
            assert math.isfinite(bound)
            assert exactly_at_least(bound, Q, k)


@pytest.mark.parametrize("max_iterations", [1, None])
def test_no_subset_exceeds_the_bound_of_the_solver(max_iterations: int | None) -> None:
    rng = np.random.default_rng(1)
    for _ in range(60):
        Q = small_problem(rng)
        for k in range(1, len(Q) + 1):
            answer = solve(Q, k, max_iterations=max_iterations)
            bound = upper_bound(Q, k, answer.multipliers)
            assert exactly_at_least(bound, Q, k)
            if max_iterations is None:
                assert bound <= answer.dual_value + 1e-9 * k * np.abs(Q).max()


@pytest.mark.slow
def test_no_subset_exceeds_the_bound_on_thousands_of_larger_problems() -> None:
    rng = np.random.default_rng(2)
    for _ in range(120):
        n = int(rng.integers(11, 15))
        Q = [random_problem, lambda n, s: redundancy_like(n, 3, s)][rng.integers(2)](n, int(rng.integers(1 << 30)))
        for k in range(1, n + 1):
            solved = [solve(Q, k, max_iterations=iterations).multipliers for iterations in (1, 100)]
            # Both bounds at once, as listing the subsets takes longest: the lower one is the one to doubt.
            assert exactly_at_least(min(upper_bound(Q, k, multipliers) for multipliers in solved), Q, k)


def positive_semidefinite(M: list[list[Fraction]]) -> bool:
    """Exact: eliminate pivot by pivot (LDL'); a zero pivot must have a zero column."""
    M = [row[:] for row in M]
    n = len(M)
    for p in range(n):
        if M[p][p] < 0 or (M[p][p] == 0 and any(M[i][p] != 0 for i in range(p, n))):
            return False
        if M[p][p] == 0:
            continue
        for i in range(p + 1, n):
            factor = M[i][p] / M[p][p]
            for j in range(p + 1, n):
                M[i][j] -= factor * M[p][j]
    return True


@pytest.mark.parametrize("seed", range(40))
def test_twin_in_rational_arithmetic(seed: int) -> None:
    """The claim itself, exactly: some d' near d with sum(d')/4 = bound has a psd slack matrix.

    bound = sum(d)/4 + k s: the shift s raises d_i by s and d_0 by (4k - n) s, so N(d') = N(d) + sI.
    """
    rng = np.random.default_rng(seed)
    Q = small_problem(rng)
    while not 3 <= len(Q) <= 6 or not Q.any():
        Q = small_problem(rng)
    n, k = len(Q), int(rng.integers(2, len(Q)))
    d = solve(Q, k, max_iterations=int(rng.integers(1, 20))).multipliers
    if seed % 2:
        d = d + 0.1 * np.abs(d).max() * rng.standard_normal(n + 1)
    proved = prove_bound(Q, k, d)
    if proved.shown_by == BY_ROW_SUMS:
        assert Fraction(proved.bound) >= exact_best(Q, k)
        return
    exact_d = [Fraction(entry) for entry in d.tolist()]
    shift = (Fraction(proved.bound) - sum(exact_d) / 4) / k
    assert shift >= 0
    total = sum(exact_d) + 4 * k * shift
    p = [entry + shift for entry in exact_d[1:]]
    w = [entry / (2 * k) - total / (8 * k * k) for entry in p]
    exact_Q = [[Fraction(entry) for entry in row] for row in Q.tolist()]
    N = [[(p[i] if i == j else Fraction(0)) - exact_Q[i][j] - w[i] - w[j] for j in range(n)] for i in range(n)]
    assert positive_semidefinite(N)


def true_dual(Q: np.ndarray, k: int, d: np.ndarray) -> float:
    w = d[1:] / (2 * k) - d.sum() / (8 * k * k)
    lowest = np.linalg.eigvalsh(np.diag(d[1:]) - Q - w[:, None] - w)[0]
    return d.sum() / 4 - k * min(0.0, lowest)


@pytest.mark.parametrize(("n", "k"), [(60, 5), (60, 30), (60, 59), (500, 12)])
def test_little_is_lost_to_rigour(n: int, k: int) -> None:
    Q = redundancy_like(n, k, seed=0)
    answer = solve(Q, k)
    proved = prove_bound(Q, k, answer.multipliers)
    assert proved.shown_by == BY_CHOLESKY
    assert proved.shift == 0.0
    assert answer.dual_value < proved.bound <= answer.dual_value + 1e-9 * abs(answer.dual_value)
    rng = np.random.default_rng(0)
    perturbed = answer.multipliers + 1e-3 * np.abs(answer.multipliers).max() * rng.standard_normal(n + 1)
    proved = prove_bound(Q, k, perturbed)
    assert proved.shift > 0.0 or proved.shown_by == BY_ROW_SUMS
    assert proved.bound <= true_dual(Q, k, perturbed) * (1 + 1e-8)


def test_known_optimum_is_proved() -> None:
    Q, optimum, _ = from_known_pair(20, 6, 2, seed=0)
    bound = upper_bound(Q, 6, solve(Q, 6, tol=1e-9).multipliers)
    assert optimum <= bound + 1e-12 * np.abs(Q).max()
    assert bound == pytest.approx(optimum, rel=1e-7)


def test_row_sums_are_exact_at_the_ends() -> None:
    Q = random_problem(8, seed=0)
    assert row_sum_bound(Q, 1) == pytest.approx(np.diag(Q).max(), rel=1e-14)
    assert row_sum_bound(Q, 8) == pytest.approx(Q.sum(), rel=1e-13)


@pytest.mark.parametrize("d", [np.full(6, np.nan), np.full(6, np.inf), np.full(6, -1e308), np.zeros(6)])
def test_useless_multipliers_fall_back_to_row_sums(d: np.ndarray) -> None:
    Q = random_problem(5, seed=1)
    assert best_value(Q, 2) <= upper_bound(Q, 2, d) <= row_sum_bound(Q, 2)


@pytest.mark.parametrize("size", [1e-300, 1e-160, 1e160, 1e300])
def test_extreme_scales_stay_valid(size: float) -> None:
    Q = random_problem(6, seed=2) * size
    d = solve(random_problem(6, seed=2), 3).multipliers * size
    bound = upper_bound(Q, 3, d)
    assert Fraction(bound) >= exact_best(Q, 3)
    assert bound <= true_dual(Q / size, 3, d / size) * size * (1 + 1e-9)


def test_what_lacks_symmetry_is_averaged() -> None:
    Q, skew = random_problem(9, seed=3), np.triu(random_problem(9, seed=4), 1)
    d = solve(Q, 4).multipliers
    assert upper_bound(Q + skew - skew.T, 4, d) == pytest.approx(prove_bound(Q, 4, d).bound, rel=1e-9)


@pytest.mark.parametrize("skewed", [False, True])
def test_single_precision_is_taken_at_its_word(skewed: bool) -> None:
    for seed in range(20):
        Q = (random_problem(8, seed) + skewed * np.triu(random_problem(8, seed + 1), 1)).astype(np.float32)
        d = solve((Q + Q.T) / 2, 3, tol=1e-9).multipliers
        proved = prove_bound(Q, 3, d)
        assert Fraction(proved.bound) >= exact_best(Q, 3)
        assert proved.bound <= true_dual((Q.astype(float) + Q.T) / 2, 3, d) * (1 + 1e-9)


@pytest.mark.parametrize(
    ("Q", "k", "d"),
    [
        (np.eye(3), 0, np.zeros(4)),
        (np.eye(3), 4, np.zeros(4)),
        (np.eye(3), 2, np.zeros(3)),
        (np.full((2, 2), np.nan), 1, np.zeros(3)),
        (np.zeros((2, 3)), 1, np.zeros(3)),
    ],
)
def test_nonsense_is_refused(Q: np.ndarray, k: int, d: np.ndarray) -> None:
    with pytest.raises(InvalidInput):
        upper_bound(Q, k, d)


def test_zeros_of_many_features_are_bounded_by_row_sums_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """They mean that there was no time; other multipliers, and fewer features, are worth a factorisation."""
    Q = random_problem(20, 7)
    nothing, something = np.zeros(21), np.full(21, 0.1)
    kept = prove_bound(Q, 5, nothing)
    monkeypatch.setattr(bound, "ZEROS_UP_TO", 19)
    quick = prove_bound(Q, 5, nothing)
    assert (quick.bound, quick.shown_by) == (row_sum_bound(Q, 5), BY_ROW_SUMS)
    assert kept.bound <= quick.bound
    monkeypatch.setattr(bound, "_cholesky_bound", lambda *given: (-1.0, 0.0))
    assert prove_bound(Q, 5, nothing).shown_by == BY_ROW_SUMS
    assert prove_bound(Q, 5, something).shown_by == BY_CHOLESKY
    monkeypatch.setattr(bound, "ZEROS_UP_TO", 20)
    assert prove_bound(Q, 5, nothing).shown_by == BY_CHOLESKY
