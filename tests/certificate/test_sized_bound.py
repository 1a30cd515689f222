"""Bounds where entries count for several features: valid whatever the multipliers, tight with good ones."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from certselect.certificate import prove_bound
from certselect.certificate.bound import BY_CHOLESKY, BY_COUNTING, row_sum_bound
from certselect.errors import InvalidInput
from certselect.relaxation import solve
from relaxation.made_constraints import exact_value, made_matrix, subsets_of_size
from relaxation.made_problems import random_problem, redundancy_like

seeds = st.integers(0, 2**32 - 1)


def sized_problem(rng: np.random.Generator) -> tuple[np.ndarray, int, np.ndarray]:
    """Q, a k that some subset has, and sizes."""
    n = int(rng.integers(1, 10))
    sizes = rng.integers(1, int(rng.integers(2, 6)), n)
    return made_matrix(rng, n), int(sizes[rng.random(n) < 0.5].sum()), sizes


@settings(max_examples=300, deadline=None)
@given(seeds)
def test_no_subset_exceeds_the_bound_whatever_the_multipliers(seed: int) -> None:
    rng = np.random.default_rng(seed)
    Q, k, sizes = sized_problem(rng)
    d = rng.standard_normal(len(Q) + 1) * np.abs(Q).max() * 10.0 ** rng.integers(-3, 4)
    if rng.random() < 0.1:
        d[0] = rng.choice([np.nan, np.inf, -1e300, 1e300])
    bound = prove_bound(Q, k, d, sizes).bound
    assert math.isfinite(bound)
    best = max(exact_value(Q, subset) for subset in subsets_of_size(sizes, k))
    assert Fraction(bound) >= best
    if k:
        assert Fraction(row_sum_bound(Q, k, sizes)) >= best


@settings(max_examples=60, deadline=None)
@given(seeds)
def test_the_bound_of_a_relaxation_holds_and_is_its_dual_value(seed: int) -> None:
    rng = np.random.default_rng(seed)
    Q, k, sizes = sized_problem(rng)
    if len(Q) == 1:
        return
    answer = solve(Q, k, sizes=sizes)
    proved = prove_bound(Q, k, answer.multipliers, sizes)
    assert Fraction(proved.bound) >= max(exact_value(Q, subset) for subset in subsets_of_size(sizes, k))
    if proved.shown_by == BY_CHOLESKY:
        assert proved.bound <= answer.dual_value + 1e-7 * k * np.abs(Q).max()


@pytest.mark.parametrize("seed", range(20))
def test_twin_in_rational_arithmetic(seed: int) -> None:
    """The claim itself, exactly: N(d) + hI is psd, h what the bound adds to sum(d)/4 for each possible entry."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(3, 7))
    sizes = rng.integers(1, 4, n)
    k = int(sizes[: n - 1].sum())
    Q = random_problem(n, seed)
    d = solve(Q, k, sizes=sizes, max_iterations=int(rng.integers(1, 20))).multipliers
    if seed % 2:
        d = d + 0.1 * np.abs(d).max() * rng.standard_normal(n + 1)
    proved = prove_bound(Q, k, d, sizes)
    assert Fraction(proved.bound) >= max(exact_value(Q, subset) for subset in subsets_of_size(sizes, k))
    if proved.shown_by != BY_CHOLESKY:
        return
    most = max(count for count in range(n + 1) if sum(sorted(sizes.tolist())[:count]) <= k)
    exact_d = [Fraction(entry) for entry in d.tolist()]
    t = sum(exact_d) / (4 * k)
    shift = (Fraction(proved.bound) - k * t) / most
    assert shift >= 0
    s = [Fraction(int(size)) for size in sizes]
    w = [(exact_d[i + 1] - t * s[i]) / (2 * k) for i in range(n)]
    N = [[-Fraction(float(Q[i, j])) - w[i] * s[j] - s[i] * w[j] for j in range(n)] for i in range(n)]
    for i in range(n):
        N[i][i] += exact_d[i + 1] + shift
    assert positive_definite(N)


def positive_definite(M: list[list[Fraction]]) -> bool:
    """By elimination without pivoting, exactly."""
    M = [row[:] for row in M]
    for p in range(len(M)):
        if M[p][p] <= 0:
            return False
        for i in range(p + 1, len(M)):
            factor = M[i][p] / M[p][p]
            M[i] = [entry - factor * above for entry, above in zip(M[i], M[p], strict=True)]
    return True


@pytest.mark.parametrize(("n", "k"), [(40, 12), (200, 30)])
def test_little_is_lost_to_rigour(n: int, k: int) -> None:
    sizes = np.random.default_rng(n).integers(1, 5, n)
    Q = redundancy_like(n, k, seed=0)
    answer = solve(Q, k, sizes=sizes)
    proved = prove_bound(Q, k, answer.multipliers, sizes)
    assert proved.shown_by == BY_CHOLESKY
    assert answer.dual_value < proved.bound <= answer.dual_value + 1e-9 * abs(answer.dual_value)


def test_sizes_of_one_are_no_sizes() -> None:
    Q, ones = random_problem(8, seed=0), np.ones(8, dtype=int)
    d = solve(Q, 3).multipliers
    assert prove_bound(Q, 3, d, ones).bound == pytest.approx(prove_bound(Q, 3, d).bound, rel=1e-13)
    assert row_sum_bound(Q, 3, ones) == row_sum_bound(Q, 3)


def test_equal_sizes_are_a_smaller_k() -> None:
    Q = random_problem(8, seed=1)
    answer = solve(Q, 9, sizes=np.full(8, 3))
    assert prove_bound(Q, 9, answer.multipliers, np.full(8, 3)).bound == pytest.approx(
        prove_bound(Q, 3, solve(Q, 3).multipliers).bound, rel=1e-5
    )


def test_where_there_is_nothing_to_choose() -> None:
    assert prove_bound(np.zeros((0, 0)), 0, np.zeros(1), np.zeros(0, dtype=int)).bound == 0.0
    assert prove_bound(np.eye(2), 0, np.zeros(3), np.array([1, 2])).bound == 0.0
    none = prove_bound(np.eye(2), 3, np.zeros(3), np.array([2, 2]))
    assert none.bound == -math.inf
    assert none.shown_by == BY_COUNTING


def test_row_sums_are_exact_where_all_are_chosen() -> None:
    Q, sizes = random_problem(6, seed=0), np.array([1, 2, 3, 1, 2, 3])
    assert row_sum_bound(Q, 12, sizes) == pytest.approx(Q.sum(), rel=1e-13)


@pytest.mark.parametrize(
    ("k", "sizes"), [(7, [1, 2, 3]), (-1, [1, 2, 3]), (2, [1, 2]), (2, [0, 1, 1]), (2, [1.0, 1.0, 1.0])]
)
def test_nonsense_is_refused(k: int, sizes: list[int]) -> None:
    with pytest.raises(InvalidInput):
        prove_bound(np.eye(3), k, np.zeros(4), np.array(sizes))
