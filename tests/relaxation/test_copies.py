"""Copies among the entries: found exactly, merged without a change of the answer."""

import importlib
import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from certselect.certificate import upper_bound
from certselect.relaxation import Relaxation, Status, solve
from certselect.relaxation.programme import Copies, find_copies
from relaxation.made_problems import best_value, redundancy_like

solving = importlib.import_module("certselect.relaxation.solve")


def with_copies(Q: np.ndarray, original: list[int], alike: float) -> np.ndarray:
    """The problem in which entry i is a copy of entry original[i] of Q; two copies share `alike` of their own value."""
    full = Q[np.ix_(original, original)].copy()
    for i, j in itertools.combinations(range(len(original)), 2):
        if original[i] == original[j]:
            full[i, j] = full[j, i] = -alike * abs(Q[original[i], original[i]])
    return full


def swapped(Q: np.ndarray, i: int, j: int) -> np.ndarray:
    order = np.arange(len(Q))
    order[[i, j]] = j, i
    return Q[np.ix_(order, order)]


def classes_by_swapping(Q: np.ndarray) -> list[int]:
    """For every entry the first one it can change places with: every pair is tried."""
    return [next(j for j in range(len(Q)) if j == i or np.array_equal(swapped(Q, i, j), Q)) for i in range(len(Q))]


def averaged(M: np.ndarray, copies: Copies) -> np.ndarray:
    """M averaged over all orders of the entries of every class, one order after the other."""
    members = [np.flatnonzero(copies.class_of == c) for c in range(len(copies.counts))]
    total, orders = np.zeros_like(M), 0
    for arrangement in itertools.product(*(itertools.permutations(each) for each in members)):
        order = np.arange(len(M))
        for places, entries in zip(members, arrangement, strict=True):
            order[places] = entries
        total += M[np.ix_(order, order)]
        orders += 1
    return total / orders


def solve_unmerged(
    monkeypatch: pytest.MonkeyPatch, Q: np.ndarray, k: int, sizes: np.ndarray | None = None
) -> Relaxation:
    with monkeypatch.context() as patch:
        patch.setattr(solving, "find_copies", lambda Q, sizes: None)
        return solve(Q, k, sizes=sizes)


@given(
    values=st.lists(st.integers(-1, 1), min_size=15, max_size=15),
    original=st.lists(st.integers(0, 4), min_size=2, max_size=7),
)
def test_classes_are_those_found_by_swapping(values: list[int], original: list[int]) -> None:
    Q = np.zeros((5, 5))
    Q[np.triu_indices(5)] = values
    Q = with_copies(Q + np.triu(Q, 1).T, original, 2.0)
    copies, expected = find_copies(Q), classes_by_swapping(Q)
    if copies is None:
        assert expected == list(range(len(Q)))
    else:
        assert copies.class_of[0] == 0
        assert (copies.first[copies.class_of[1:]] - 1).tolist() == expected
        assert copies.counts.tolist() == np.bincount(copies.class_of).tolist()


def test_nearly_alike_is_not_alike() -> None:
    Q = with_copies(redundancy_like(6, 3, seed=1), [0, 1, 2, 3, 4, 5, 2], 1.0)
    assert find_copies(Q) is not None
    Q[0, 6] = Q[6, 0] = np.nextafter(Q[0, 6], 1.0)
    assert find_copies(Q) is None


@pytest.mark.parametrize("original", [[0, 0, 1, 2, 2, 2], [0, 1, 2, 3, 0], [0, 0, 0]])
def test_a_merged_matrix_and_its_spread_are_the_average_over_exchanges(original: list[int]) -> None:
    copies = find_copies(with_copies(redundancy_like(4, 2, seed=3), original, 1.0))
    assert copies is not None
    A = np.random.default_rng(0).standard_normal((len(original) + 1,) * 2)
    average = averaged(A + A.T, copies)
    np.testing.assert_allclose(
        copies.expand(copies.merge_matrix(A + A.T), copies.apart(average[1:, 1:])), average, atol=1e-14
    )
    v = copies.class_of * 1.5
    np.testing.assert_allclose(
        v @ average @ v, copies.merge_vector(v) @ copies.merge_matrix(average) @ copies.merge_vector(v)
    )


@pytest.mark.parametrize("alike", [0.0, 0.3, 1.0, -1.0])
@pytest.mark.parametrize("k", [1, 4, 11, 23])
def test_the_answer_is_that_of_the_unmerged_problem(monkeypatch: pytest.MonkeyPatch, k: int, alike: float) -> None:
    original = [0, 0, *range(12), 3, 3, 3, 3, *range(6)]
    Q = with_copies(redundancy_like(12, k, seed=k), original, alike)
    merged, whole = solve(Q, k), solve_unmerged(monkeypatch, Q, k)
    assert merged.status is whole.status is Status.SOLVED
    size = k * np.abs(Q).max()
    assert merged.dual_value == pytest.approx(whole.dual_value, rel=2e-6, abs=1e-8 * size)
    assert np.linalg.eigvalsh(merged.matrix)[0] > -1e-9
    np.testing.assert_allclose(merged.matrix.diagonal(), 1.0, atol=1e-6)
    normal = np.concatenate([[2.0 * k - len(Q)], -np.ones(len(Q))])
    np.testing.assert_allclose(merged.matrix @ normal, 0.0, atol=1e-8)
    assert merged.primal_value == pytest.approx(
        float((Q * 0.25 * (1.0 + merged.matrix[0, 1:] + merged.matrix[1:, :1] + merged.matrix[1:, 1:])).sum()),
        rel=1e-5,
        abs=1e-8 * size,
    )


def test_copies_of_unlike_sizes_are_no_copies() -> None:
    original = [0, 0, 1, 0, 1, 0, 2]
    Q = with_copies(redundancy_like(3, 2, seed=1), original, 1.0)
    copies = find_copies(Q, np.array([2, 1, 1, 1, 1, 2, 1]))
    assert copies is not None
    assert copies.class_of.tolist() == [0, 1, 2, 3, 2, 3, 1, 4]
    assert copies.first.tolist() == [0, 1, 2, 3, 7]
    assert copies.counts.tolist() == [1, 2, 2, 2, 1]
    assert find_copies(Q[:2, :2], np.array([1, 2])) is None


@pytest.mark.parametrize("alike", [0.0, 0.3, 1.0, -1.0])
@pytest.mark.parametrize("k", [5, 11, 30])
def test_the_answer_is_that_of_the_unmerged_problem_with_sizes(
    monkeypatch: pytest.MonkeyPatch, k: int, alike: float
) -> None:
    original = np.array([0, 0, *range(12), 3, 3, 3, 3, *range(6)])
    Q = with_copies(redundancy_like(12, k, seed=k), original.tolist(), alike)
    sizes = original % 3 + 1
    sizes[-2] = 4  # alike, but for its size
    merged, whole = solve(Q, k, sizes=sizes), solve_unmerged(monkeypatch, Q, k, sizes)
    assert merged.status is whole.status is Status.SOLVED
    size = k * np.abs(Q).max()
    assert merged.dual_value == pytest.approx(whole.dual_value, rel=2e-6, abs=1e-8 * size)
    assert merged.primal_value == pytest.approx(whole.primal_value, rel=2e-6, abs=1e-8 * size)
    assert upper_bound(Q, k, merged.multipliers, sizes) <= merged.dual_value + 1e-6 * size
    np.testing.assert_allclose(merged.matrix.diagonal(), 1.0, atol=1e-6)
    assert np.linalg.eigvalsh(merged.matrix)[0] > -1e-9
    assert merged.membership @ sizes == pytest.approx(k, abs=1e-6)
    again = solve(1.01 * Q, k, sizes=sizes, warm_start=merged)
    assert again.status is Status.SOLVED
    assert again.dual_value == pytest.approx(1.01 * whole.dual_value, rel=2e-6, abs=1e-8 * size)


def test_auto_counts_copies_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Thousands of columns of which few differ are a small problem."""
    original = np.random.default_rng(0).integers(0, 60, 5000)
    few = redundancy_like(60, 12, seed=1).astype(np.float32)
    Q = few[np.ix_(original, original)]
    Q[original[:, None] == original] = -0.3
    np.fill_diagonal(Q, few[original, original])
    merged = []
    monkeypatch.setattr(Copies, "expand", lambda self, Y, spread: merged.append(Y) or Y)  # 5000 x 5000 is not needed
    answer = solve(Q, 12)
    assert answer.method == "interior_point"
    assert answer.status is Status.SOLVED
    assert merged[0].shape == (61, 61)
    assert answer.multipliers.shape == (5001,)
    assert answer.dual_value >= solve(few, 12).primal_value  # whoever may choose copies can also leave them


@pytest.mark.parametrize("original", [[0, 0], [0, 0, 0, 0, 0], [0, 1, 1, 0, 1, 0], [0, 0, 0, 1]])
def test_hardly_anything_but_copies(original: list[int]) -> None:
    base = np.array([[0.7, -0.2], [-0.2, 0.4]])
    for alike in (0.0, 1.0, -1.0):
        Q = with_copies(base, original, alike)
        for k in range(1, len(Q) + 1):
            best = best_value(Q, k)
            answer = solve(Q, k)
            assert answer.status is Status.SOLVED
            assert answer.dual_value >= best - 1e-9


@settings(max_examples=200, deadline=None)
@given(
    seed=st.integers(0, 1000),
    original=st.lists(st.integers(0, 4), min_size=3, max_size=9),
    alike=st.floats(-1.0, 1.0),
    data=st.data(),
)
def test_no_subset_is_worth_more_than_the_certified_bound(
    seed: int, original: list[int], alike: float, data: st.DataObject
) -> None:
    k = data.draw(st.integers(1, len(original)))
    Q = with_copies(redundancy_like(5, k, seed), original, alike)
    answer = solve(Q, k)
    bound = upper_bound(Q, k, answer.multipliers)
    assert bound >= best_value(Q, k)
    assert bound <= answer.dual_value + 1e-6 * k * np.abs(Q).max()


def test_a_warm_start_from_another_size_and_from_other_classes() -> None:
    original = [*range(10), 1, 1, 4, 5]
    Q = with_copies(redundancy_like(10, 5, seed=2), original, 1.0)
    cold, before = solve(Q, 6), solve(Q, 5)
    assert solve(Q, 6, warm_start=before).dual_value == pytest.approx(cold.dual_value, rel=2e-6)
    other = Q.copy()
    other[10, 10] += 0.1  # no longer a copy of 1 and 11
    unlike = solve(other, 5)
    assert solve(Q, 6, warm_start=unlike).dual_value == pytest.approx(cold.dual_value, rel=2e-6)


def test_callers_see_multipliers_of_all_entries() -> None:
    original = [0, 0, 1, 2, 3, 3]
    Q = with_copies(redundancy_like(4, 3, seed=7), original, 1.0)
    seen = []
    answer = solve(Q, 3, callback=seen.append)
    best = best_value(Q, 3)
    for iterate in seen:
        assert upper_bound(Q, 3, iterate.multipliers) >= best
        assert iterate.multipliers.sum() / 4 == pytest.approx(iterate.dual_value)
    np.testing.assert_array_equal(seen[-1].multipliers, answer.multipliers)
    assert answer.multipliers[1] == answer.multipliers[2]
