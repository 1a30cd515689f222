"""Guaranteed ratios, and whether a problem is one that they count for."""

import math
from itertools import combinations, pairwise

import numpy as np
import pytest

from certselect import SubsetProblem, information_terms, select, subset_problem
from certselect.errors import InvalidInput
from certselect.theory import backward_ratio, check_nonnegative, cobra_ratio, rounding_ratio
from certselect.theory.guarantees import PAIR_FACTOR, SIGN_FACTOR

# The paper's Table 1 (label app-ratio): n/k, backward elimination and COBRA, as printed.
TABLE_1 = [
    (2, "0.4", "0.48"),
    (3, "0.25", "0.33"),
    (4, "0.16", "0.24"),
    (6, "0.10", "0.13"),
    (8, "0.071", "0.082"),
    (10, "0.055", "0.056"),
    (20, "0.026", "0.015"),
]


@pytest.mark.parametrize(("part", "backward", "cobra"), TABLE_1)
def test_table_1_to_the_printed_digits(part, backward, cobra):
    n = 240
    digits = len(backward) - 2
    # The paper cuts digits off: 1/6 is printed 0.16 and 1/18 0.055. The 1e-9 is for 0.1 and 0.25.
    assert math.floor(backward_ratio(n // part, n) * 10**digits + 1e-9) / 10**digits == float(backward)
    assert cobra_ratio(n // part, n) == float(cobra)
    # What is derived from first principles is no less than what is printed.
    assert rounding_ratio(2400 // part, 2400) >= float(cobra)


def test_ratios_by_hand():
    assert backward_ratio(1, 2) == pytest.approx(4 / 9)
    assert backward_ratio(2, 6) == pytest.approx(1 / 4)  # both formulas meet at k = n/3
    assert backward_ratio(1, 4) == pytest.approx(1 / 6)
    for ratio in (backward_ratio, cobra_ratio, rounding_ratio):
        assert ratio(7, 7) == 1.0
    assert cobra_ratio(45, 100) == 0.33  # between n/3 and n/2
    assert cobra_ratio(4, 100) == 0.0


@pytest.mark.parametrize("ratio", [backward_ratio, cobra_ratio, rounding_ratio])
def test_ratios_grow_with_k_and_stay_below_one(ratio):
    found = [ratio(k, 60) for k in range(1, 61)]
    assert all(before <= after + 1e-12 for before, after in pairwise(found))
    assert found[0] >= 0.0
    assert found[-1] == 1.0


@pytest.mark.parametrize("ratio", [backward_ratio, cobra_ratio, rounding_ratio])
@pytest.mark.parametrize("k", [0, 6])
def test_sizes_there_are_not_are_refused(ratio, k):
    with pytest.raises(InvalidInput, match="1 <= k <= n"):
        ratio(k, 5)


def test_the_factors_hold_for_random_vectors_and_are_nearly_met():
    """How often signs agree, by the angles between three random unit vectors."""
    vectors = np.random.default_rng(0).normal(size=(20_000, 3, 3))
    vectors /= np.linalg.norm(vectors, axis=2, keepdims=True)
    cosines = np.stack([(vectors[:, i] * vectors[:, j]).sum(axis=1) for i, j in ((0, 1), (0, 2), (1, 2))])
    angles = np.arccos(np.clip(cosines, -1, 1))
    all_agree = 1 - angles.sum(axis=0) / (2 * math.pi)
    assert (all_agree >= PAIR_FACTOR * (1 + cosines.sum(axis=0)) / 4 - 1e-12).all()
    assert (angles / math.pi >= SIGN_FACTOR * (1 - cosines) / 2 - 1e-12).all()
    grid = np.linspace(0.01, 1.9, 10_001)
    assert ((1 - 3 * grid / (2 * math.pi)) * 4 / (1 + 3 * np.cos(grid))).min() == pytest.approx(PAIR_FACTOR, abs=1e-5)
    wide = np.linspace(0.01, math.pi, 10_001)
    assert (2 * wide / (math.pi * (1 - np.cos(wide)))).min() == pytest.approx(SIGN_FACTOR, abs=1e-5)


def heaviest(Q, k):
    return max(Q[np.ix_(some, some)].sum() for some in combinations(range(len(Q)), k))


@pytest.mark.parametrize("seed", range(6))
def test_searches_keep_their_promise_on_random_graphs(seed):
    rng = np.random.default_rng(seed)
    n, k = 12, [3, 4, 6][seed % 3]
    Q = np.triu(rng.random((n, n)) * (rng.random((n, n)) < 0.3), k=1)
    Q += Q.T
    problem = SubsetProblem.from_matrix(Q, k)
    assert check_nonnegative(problem).entries_hold
    best = heaviest(Q, k)
    assert select(problem, "backward").objective >= backward_ratio(k, n) * best
    assert select(problem, "cobra", random_state=0).objective >= rounding_ratio(k, n) * best


def naive_negative(problem):
    """Entries and pairs with a negative weight, by the definition, of problems that are not near 0."""
    Q, k = problem.matrix, problem.k
    entries = [(i, j) for i in range(len(Q)) for j in range(i, len(Q)) if Q[i, j] < -1e-12]
    pairs = [
        (i, j)
        for i, j in combinations(range(len(Q)), 2)
        if 2 * Q[i, j] + (Q[i, i] + Q[j, j]) / (k - 1) < -1e-12
    ]  # fmt: skip
    return entries, pairs


@pytest.fixture(scope="module")
def terms():
    rng = np.random.default_rng(3)
    y = rng.integers(0, 3, 300)
    noisy = (y[:, None] + rng.integers(0, 3, (300, 6))) // 2
    copies = np.column_stack([noisy[:, 0], noisy[:, 1], rng.integers(0, 3, 300)])
    return information_terms(np.column_stack([noisy, copies, copies]), y, measure="plugin", correction="none")


@pytest.mark.parametrize("criterion", ["jmi", "mrmr", "d1", "mifs", "max_relevance"])
@pytest.mark.parametrize("k", [2, 5])
def test_negative_weights_are_found(terms, criterion, k):
    problem = subset_problem(terms, k, criterion, copies="all")
    found = check_nonnegative(problem)
    entries, pairs = naive_negative(problem)
    assert list(map(tuple, found.negative_entries.tolist())) == entries
    assert list(map(tuple, found.negative_pairs.tolist())) == pairs
    assert (found.entries_hold, found.pairs_hold) == (not entries, not pairs)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_jmi_always_has_nonnegative_pairs_and_mrmr_has_not(dtype):
    rng = np.random.default_rng(5)
    y = rng.integers(0, 2, 200)
    X = rng.integers(0, 3, (200, 8))
    X[:, 4:] = X[:, :4]  # copies that say nearly nothing of the class
    X[:, 0] = X[:, 4] = np.arange(200) // 2 % 2
    y = np.arange(200) // 100 * (X[:, 1] >= 0)  # independent of the first feature: weights of exactly 0
    terms = information_terms(X, y, dtype=dtype, measure="plugin", correction="none")
    found = check_nonnegative(subset_problem(terms, 4, "jmi", copies="all"))
    assert found.pairs_hold
    assert not found.entries_hold
    mrmr = check_nonnegative(subset_problem(terms, 4, "mrmr", copies="all"))
    assert [0, 4] in mrmr.negative_pairs.tolist()
    assert not mrmr.pairs_hold


def test_backward_on_jmi_removes_by_the_weights_of_pairs(terms):
    """What makes the theorem speak of it: plain peeling of the graph with weights I(Xi,Xj;C)."""
    weights, left = terms.joint_relevance.copy(), list(range(terms.n_features))
    np.fill_diagonal(weights, 0.0)
    while len(left) > 4:
        degrees = weights[np.ix_(left, left)].sum(axis=1)
        least = degrees <= degrees.min() + 1e-9
        left.pop(int(np.flatnonzero(least)[-1]))
    assert sorted(select(subset_problem(terms, 4, "jmi", copies="all"), "backward").indices.tolist()) == left


def test_constants_and_excluded_features_do_not_count():
    Q = np.array([[1.0, 0.5, -9.0], [0.5, 1.0, 0.0], [-9.0, 0.0, 1.0]])
    assert check_nonnegative(SubsetProblem.from_matrix(Q, 2, exclude=[2])).entries_hold
    found = check_nonnegative(SubsetProblem.from_matrix(Q, 2, exclude=[1]))
    assert found.negative_pairs.tolist() == [[0, 2]]  # columns of the table


@pytest.mark.parametrize(("k", "constraints", "words"), [(1, {}, "no pairs"), (2, {"include": [0]}, "constraints")])
def test_problems_the_theorems_do_not_speak_of_are_refused(k, constraints, words):
    with pytest.raises(InvalidInput, match=words):
        check_nonnegative(SubsetProblem.from_matrix(np.eye(4), k, **constraints))
